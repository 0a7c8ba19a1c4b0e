"""Other choices: near-optimal models, the best purchase for every budget, substitutes."""

from ..solution import ListedModel
from .near_optimal import NearOptimal, near_optimal
from .path import Cheapest, Path, PathStep, cheapest_within, solve_path
from .sensitivity import (
    PriceRange,
    PriceRanges,
    Substitute,
    Substitutes,
    price_ranges,
    substitutes,
)

__all__ = [
    "Cheapest",
    "ListedModel",
    "NearOptimal",
    "Path",
    "PathStep",
    "PriceRange",
    "PriceRanges",
    "Substitute",
    "Substitutes",
    "cheapest_within",
    "near_optimal",
    "price_ranges",
    "solve_path",
    "substitutes",
]
