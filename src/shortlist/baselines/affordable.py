"""Affordable predictors and their prices; buying by value or in a given order."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from ..arguments import Float
from ..limits import Limits

Support = tuple[int, ...]


def addable(limits: Limits, support: Support) -> list[int]:
    """Return the predictors that can still be bought, each on its own, in ascending order."""
    return [
        g
        for g in range(limits.n_predictors)
        if g not in support and limits.is_affordable((*support, g))
    ]


def price_of(limits: Limits, support: Support, predictor: int) -> float:
    """Return what a predictor costs on top of a support without it: its cost and unpaid fees.

    Without a budget costs do not count: every predictor then has the price 1.
    """
    if limits.budget == inf:
        return 1.0
    price = float(limits.unit_costs[predictor])
    for amount, fee in zip(limits.unit_fees, limits.fees, strict=True):
        if predictor in fee.members and not set(fee.members).intersection(support):
            price += float(amount)
    return price


def buy_by_value(limits: Limits, values: Float) -> Support:
    """Buy what has the largest value per price, again and again, while something is affordable.

    Free predictors come first; ties go to the larger value, then to the lower index. Predictors
    without value are not bought. What must be included is bought before all others.
    """
    support = limits.include
    while True:
        best, best_rank = None, (0.0, 0.0)
        for g in addable(limits, support):
            price = price_of(limits, support, g)
            rank = (values[g] / price if price > 0 else inf, values[g])
            if values[g] > 0 and rank > best_rank:
                best, best_rank = g, rank
        if best is None:
            return tuple(sorted(support))
        support = (*support, best)


def buy_in_order(limits: Limits, order: Iterable[int]) -> Support:
    """Buy each predictor in turn that is still affordable, after those that must be included.

    The order is not read on when nothing is affordable any more.
    """
    support = limits.include
    left = addable(limits, support)
    for g in order if left else ():
        if g in left:
            support = (*support, g)
            left = addable(limits, support)
            if not left:
                break
    return tuple(sorted(support))
