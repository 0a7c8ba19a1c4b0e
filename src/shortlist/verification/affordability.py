"""Affordability and the largest value of affordable selections, in exact integers.

A price is the decimal number that was given, the shortest one that is the same double, and a
selection is affordable if its total is at most the budget times 1 + 1e-9.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, floor, gcd, inf, lcm

import numpy as np
from numpy.typing import NDArray

from ..problem import SubsetProblem

_IMPOSSIBLE = -(2**61)  # a value: values add up to about 2**60, so that it stays negative
_TABLE_CELLS = 20_000_000
_GENEROUS = 1 + Fraction(1, 10**9)  # what a total may be of the budget


class Affordability:
    """The limits on selections, with exact prices; without a budget all prices are 0."""

    def __init__(self, problem: SubsetProblem) -> None:
        limits = problem.limits
        self.include, self.exclude = frozenset(limits.include), frozenset(limits.exclude)
        self._all = frozenset(range(limits.n_predictors))
        self.max_features = limits.max_features
        self.has_budget = limits.budget < inf
        prices = [*limits.costs.tolist(), *(float(fee.amount) for fee in limits.fees)]
        exact = [Fraction(repr(p)) if self.has_budget else Fraction(0) for p in prices]
        unit = lcm(*(p.denominator for p in exact))
        amounts = [int(p * unit) for p in exact]
        common = gcd(*amounts) or 1
        amounts = [amount // common for amount in amounts]
        most = Fraction(repr(float(limits.budget))) * _GENEROUS if self.has_budget else Fraction(0)
        self.budget = floor(most * unit / common)
        self.costs, self.fees = amounts[: limits.n_predictors], amounts[limits.n_predictors :]
        self.fees_of: list[list[int]] = [
            [f for f, fee in enumerate(limits.fees) if g in fee.members]
            for g in range(limits.n_predictors)
        ]

    def paid(self, bought: frozenset[int]) -> set[int]:
        """Return the fees that are paid."""
        return {f for g in bought for f in self.fees_of[g]}

    def left(self, bought: frozenset[int]) -> int:
        """Return the rest of the budget."""
        fees = sum(self.fees[f] for f in self.paid(bought))
        return self.budget - fees - sum(self.costs[g] for g in bought)

    def exceeded(self, bought: frozenset[int]) -> bool:
        """Whether the predictors bought exceed a limit."""
        return len(bought) > self.max_features or self.left(bought) < 0

    def free(self, bought: frozenset[int], forbidden: frozenset[int]) -> frozenset[int]:
        """Return the undecided predictors that are affordable next."""
        if len(bought) >= self.max_features:
            return frozenset()
        undecided = self._all - bought - forbidden
        if not self.has_budget:
            return undecided
        left, paid = self.left(bought), self.paid(bought)
        return frozenset(
            g
            for g in undecided
            if self.costs[g] + sum(self.fees[f] for f in self.fees_of[g] if f not in paid) <= left
        )

    def at_most_one(self, bought: frozenset[int], free: frozenset[int]) -> bool:
        """Whether no two of the free predictors are affordable together, be fees paid or not."""
        cheapest = sorted(self.costs[g] for g in free)[:2]
        return (
            len(cheapest) < 2
            or len(bought) + 2 > self.max_features
            or sum(cheapest) > self.left(bought)
        )

    def most_valuable(
        self,
        value_of_free: NDArray[np.int64],
        bought: frozenset[int],
        free: Sequence[int],
        at_most: int,
    ) -> int:
        """Return an upper bound on the total value of an affordable selection from `free`."""
        number = min(at_most, self.max_features - len(bought), len(free))
        best = int(np.sort(value_of_free)[len(free) - number :].sum())
        if not self.has_budget or number <= 1:
            return best
        values = dict(zip(free, value_of_free.tolist(), strict=True))
        paid = self.paid(bought)
        # A predictor with several fees is charged the dearest only, which leaves a valid bound.
        by_fee: dict[int, list[int]] = {}
        for g in sorted(free):
            dearest = max(self.fees_of[g], key=lambda f: self.fees[f], default=-1)
            by_fee.setdefault(-1 if dearest in paid else dearest, []).append(g)
        left = self.left(bought)
        small = len(free) * (left + 1) <= _TABLE_CELLS
        return min(best, (self._table if small else self._priced)(values, by_fee, left))

    def _table(self, values: Mapping[int, int], by_fee: dict[int, list[int]], left: int) -> int:
        """Exact for few different prices: the best value for every amount up to the rest."""
        best = np.zeros(left + 1, dtype=np.int64)
        for f, members in by_fee.items():
            entered = best.copy() if f < 0 else _after_paying(self.fees[f], best)
            for g in members:
                bought = _after_paying(self.costs[g], entered) + values[g]
                np.maximum(entered, bought, out=entered)
            np.maximum(best, entered, out=best)
        return int(best[-1])

    def _priced(self, values: Mapping[int, int], by_fee: dict[int, list[int]], left: int) -> int:
        """For any prices: the values above the cost at mu per unit, plus mu times the rest.

        The bound holds for every mu >= 0. It is convex and piecewise linear in mu.
        """

        def bound(mu: Fraction) -> Fraction:
            p, q = mu.numerator, mu.denominator
            total = p * left
            for f, members in by_fee.items():
                worth = sum(max(0, q * values[g] - p * self.costs[g]) for g in members)
                total += worth if f < 0 else max(0, worth - p * self.fees[f])
            return Fraction(total, q)

        breakpoints = {Fraction(0)}
        for f, members in by_fee.items():
            breakpoints.update(
                Fraction(values[g], self.costs[g]) for g in members if self.costs[g] > 0
            )
            # A fee is worth paying up to the largest ratio of value to price of any part.
            value, price = 0, self.fees[f] if f >= 0 else 0
            if price > 0:
                ratio = Fraction(0)
                useful = [g for g in members if values[g] > 0]
                for g in sorted(useful, key=lambda g: Fraction(self.costs[g], values[g])):
                    value, price = value + values[g], price + self.costs[g]
                    ratio = max(ratio, Fraction(value, price))
                breakpoints.add(ratio)
        ordered = sorted(breakpoints)
        low, high = 0, len(ordered) - 1
        while low < high:
            middle = (low + high) // 2
            if bound(ordered[middle]) <= bound(ordered[middle + 1]):
                high = middle
            else:
                low = middle + 1
        return ceil(bound(ordered[low]))


def _after_paying(amount: int, best: NDArray[np.int64]) -> NDArray[np.int64]:
    """The best value for every sum of money, if `amount` is paid first."""
    moved = np.full_like(best, _IMPOSSIBLE)
    if amount < len(best):
        moved[amount:] = best[: len(best) - amount]
    return moved
