"""Other choices: near-optimal models, the best purchase for every budget, substitutes."""

from ..solver.listing import Model
from .near_optimal import NearOptimal, near_optimal
from .path import Path, PathStep, solve_path
from .price_ranges import PriceRange, PriceRanges, price_ranges
from .substitutes import Substitute, Substitutes, substitutes

__all__ = [
    "Model",
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
