"""Search on a sample of the rows, prove on all of them."""

from .search import solve_on_sample

__all__ = ["solve_on_sample"]
