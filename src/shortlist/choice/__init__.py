"""Other choices: near-optimal models, the best purchase for every budget, substitutes."""

from ..solution import ListedModel
from .near_optimal import NearOptimal, near_optimal
from .path import Path, PathStep, solve_path
from .sensitivity import (
    PriceRange,
    PriceRanges,
    Substitute,
    Substitutes,
    price_ranges,
    substitutes,
)

__all__ = [
    "ListedModel",
    "NearOptimal",
    "Path",
    "PathStep",
    "PriceRange",
    "PriceRanges",
    "Substitute",
    "Substitutes",
    "near_optimal",
    "price_ranges",
    "solve_path",
    "substitutes",
]
