"""The affordable selections Z: prices, shared fees, limits, and what must or must not be bought.

Prices are brought to a common denominator once, so that a total of 0.1 + 0.2 is within a budget
of 0.3 and every later comparison is exact. Prices without a short decimal form stay real numbers,
compared with a relative tolerance of 1e-9.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, inf

import numpy as np
from numpy.typing import NDArray

from .errors import InfeasibleError

_DENOMINATORS = (1, 10, 100, 1000, 2, 3, 4, 6, 8, 12, 10_000, 100_000, 1_000_000)
_RELATIVE_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Fee:
    """A price paid once if any of its members is bought."""

    amount: float
    members: tuple[int, ...]


@dataclass(frozen=True)
class Constraints:
    """The set Z of affordable selections of `n_predictors` predictors.

    `unit_costs`, `unit_fees` and `unit_budget` are the prices in units of
    `unit` (numerator, denominator); when `integral`
    is true they are whole numbers. A limit that does not exist is `inf` (budget) or
    `n_predictors` (max_features).
    """

    costs: NDArray[np.float64]
    budget: float
    max_features: int
    fees: tuple[Fee, ...]
    include: tuple[int, ...]
    exclude: tuple[int, ...]
    unit: tuple[int, int]
    integral: bool
    unit_costs: NDArray[np.float64]
    unit_fees: NDArray[np.float64]
    unit_budget: float

    @classmethod
    def build(
        cls,
        costs: NDArray[np.float64],
        budget: float,
        max_features: int,
        fees: tuple[Fee, ...] = (),
        include: tuple[int, ...] = (),
        exclude: tuple[int, ...] = (),
    ) -> Constraints:
        """Bring all prices to a common unit and check that some selection is affordable."""
        amounts = np.array([fee.amount for fee in fees], dtype=np.float64)
        if budget == inf:
            unit, integral, unit_costs, unit_fees, unit_budget = (1, 1), False, costs, amounts, inf
        else:
            prices = np.concatenate([costs, amounts]) if len(fees) else costs
            unit, integral, units, unit_budget = _common_unit(prices, budget)
            unit_costs, unit_fees = units[: len(costs)], units[len(costs) :]
        constraints = cls(
            costs, budget, max_features, fees, include, exclude,
            unit, integral, unit_costs, unit_fees, unit_budget,
        )  # fmt: skip
        if len(include) > max_features:
            raise InfeasibleError(
                f"include: {len(include)} predictors exceed max_features={max_features}; "
                "raise it or include fewer."
            )
        if include and constraints.unit_cost_of(include) > unit_budget:
            raise InfeasibleError(
                f"include: its predictors cost {constraints.cost_of(include):g}, which exceeds "
                f"budget={budget:g}; raise it or include fewer."
            )
        return constraints

    @property
    def n_predictors(self) -> int:
        """Number of predictors that can be bought."""
        return len(self.costs)

    def unit_cost_of(self, support: tuple[int, ...]) -> float:
        """Price of a selection in units, each fee paid once."""
        chosen = set(support)
        total = float(sum(self.unit_costs[g] for g in support))
        for amount, fee in zip(self.unit_fees, self.fees, strict=True):
            if not chosen.isdisjoint(fee.members):
                total += float(amount)
        return total

    def cost_of(self, support: tuple[int, ...]) -> float:
        """Price of a selection, each fee paid once."""
        numerator, denominator = self.unit
        return self.unit_cost_of(support) * numerator / denominator

    def is_affordable(self, support: tuple[int, ...]) -> bool:
        """Whether a selection is in Z."""
        return (
            len(support) <= self.max_features
            and set(self.include) <= set(support)
            and set(self.exclude).isdisjoint(support)
            and self.unit_cost_of(support) <= self.unit_budget
        )


def _common_unit(
    prices: NDArray[np.float64], budget: float
) -> tuple[tuple[int, int], bool, NDArray[np.float64], float]:
    """Return (unit, integral, prices in units, budget in units, rounded down if integral)."""
    for denominator in _DENOMINATORS:
        scaled = prices * denominator
        units = np.rint(scaled)
        # Relative to the price itself, so that a tiny price is never taken for no price at all.
        if np.all(np.abs(scaled - units) <= _RELATIVE_TOLERANCE * scaled):
            if units.max(initial=0.0) > 2.0**52:
                break
            divisor = gcd(*units.astype(np.int64).tolist()) or 1
            in_units = budget * denominator / divisor
            unit_budget = np.floor(in_units + min(_RELATIVE_TOLERANCE * in_units, 0.5))
            return (divisor, denominator), True, units / divisor, float(unit_budget)
    return (1, 1), False, prices, budget * (1 + _RELATIVE_TOLERANCE)
