"""Affordable predictors and their prices; buying by value or in a given order."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from ..arguments import Float
from ..constraints import Constraints

Support = tuple[int, ...]


def addable(constraints: Constraints, support: Support) -> list[int]:
    """Return the predictors that can still be bought, each on its own, in ascending order."""
    return [
        g
        for g in range(constraints.n_predictors)
        if g not in support and constraints.is_affordable((*support, g))
    ]


def price_of(constraints: Constraints, support: Support, predictor: int) -> float:
    """Return what a predictor costs on top of a support without it: its cost and unpaid fees.

    Without a budget costs do not count: every predictor then has the price 1.
    """
    if constraints.budget == inf:
        return 1.0
    price = float(constraints.unit_costs[predictor])
    for amount, fee in zip(constraints.unit_fees, constraints.fees, strict=True):
        if predictor in fee.members and not set(fee.members).intersection(support):
            price += float(amount)
    return price


def buy_by_value(constraints: Constraints, values: Float) -> Support:
    """Buy what has the largest value per price, again and again, while something is affordable.

    Free predictors come first; ties go to the larger value, then to the lower index. Predictors
    without value are not bought. What must be included is bought before all others.
    """
    support = constraints.include
    while True:
        best, best_rank = None, (0.0, 0.0)
        for g in addable(constraints, support):
            price = price_of(constraints, support, g)
            rank = (values[g] / price if price > 0 else inf, values[g])
            if values[g] > 0 and rank > best_rank:
                best, best_rank = g, rank
        if best is None:
            return tuple(sorted(support))
        support = (*support, best)


def buy_in_order(constraints: Constraints, order: Iterable[int]) -> Support:
    """Buy each predictor in turn that is still affordable, after those that must be included.

    The order is not read on when nothing is affordable any more.
    """
    support = constraints.include
    left = addable(constraints, support)
    for g in order if left else ():
        if g in left:
            support = (*support, g)
            left = addable(constraints, support)
            if not left:
                break
    return tuple(sorted(support))
