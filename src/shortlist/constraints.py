"""The affordable selections Z: prices, shared fees, limits, and what must or must not be bought.

This is the one place that says what is affordable within rounding. Prices are brought to a common
denominator, so that a total of 0.1 + 0.2 is within a budget of 0.3. Prices without a short one
are rounded to a grid of 2^-52 of the budget, on which every sum is exact too. So whoever adds
them up, in whatever order, comes to the same result. The budget is generous by 1e-14 of itself,
but never by a whole unit nor by the smallest price.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import floor, frexp, fsum, gcd, inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .arguments import Float, Predictor, by_label, floats, is_integer, non_negative, some_of
from .errors import InfeasibleError, InvalidProblemError

if TYPE_CHECKING:
    from .problem import SubsetProblem

_DENOMINATORS = (1, 10, 100, 1000, 2, 3, 4, 6, 8, 12, 10_000, 100_000, 1_000_000)
_ROUNDING = 1e-14  # of the budget
# A price is a multiple of a unit if it misses it by no more than this, relatively and in units.
_NEAR, _NEAR_UNITS = 1e-9, 1e-3
_GRID_BITS = 52
_SMALLEST_EXPONENT = -1000
_LARGEST_WHOLE = 2.0**53


class Fee(NamedTuple):
    """A price paid once if any of its members is bought: the pair that users give, checked."""

    amount: float
    members: tuple[int, ...]


@dataclass(frozen=True)
class Constraints:
    """The set Z of affordable selections of `n_predictors` predictors.

    `unit_costs`, `unit_fees` and `unit_budget` are the prices in units of
    `unit` (numerator, denominator); when `integral`
    is true they are whole numbers. `unit_step` is the smallest difference between two totals
    that counts. A limit that does not exist is `inf` (budget) or `n_predictors` (max_features).
    """

    costs: Float
    budget: float
    max_features: int
    fees: tuple[Fee, ...]
    include: tuple[int, ...]
    exclude: tuple[int, ...]
    unit: tuple[int, int]
    integral: bool
    unit_costs: Float
    unit_fees: Float
    unit_budget: float
    unit_step: float

    @classmethod
    def build(
        cls,
        costs: Float,
        budget: float,
        max_features: int,
        fees: tuple[Fee, ...] = (),
        include: tuple[int, ...] = (),
        exclude: tuple[int, ...] = (),
    ) -> Constraints:
        """Bring all prices to a common unit and check that some selection is affordable."""
        amounts = np.array([fee.amount for fee in fees], dtype=np.float64)
        prices, n = np.concatenate([costs, amounts]), len(costs)
        unit, integral, units, unit_budget, unit_step = _in_units(prices, budget)
        constraints = cls(
            costs, budget, max_features, fees, include, exclude,
            unit, integral, units[:n], units[n:], unit_budget, unit_step,
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

    def amount_of(self, units: float) -> float:
        """Return a number of units as the amount of money that it is."""
        numerator, denominator = self.unit
        return units * numerator / denominator

    def cost_of(self, support: tuple[int, ...]) -> float:
        """Price of a selection, each fee paid once."""
        if self.integral:
            return self.amount_of(self.unit_cost_of(support))
        chosen = set(support)
        fees = (fee.amount for fee in self.fees if not chosen.isdisjoint(fee.members))
        return fsum([*self.costs[list(support)].tolist(), *fees])

    def is_affordable(self, support: tuple[int, ...]) -> bool:
        """Whether a selection is in Z."""
        return (
            len(support) <= self.max_features
            and set(self.include) <= set(support)
            and set(self.exclude).isdisjoint(support)
            and self.unit_cost_of(support) <= self.unit_budget
        )


def constraints_of(
    problem: SubsetProblem,
    budget: float | None,
    costs: ArrayLike | Mapping[str, float] | None,
    max_features: int | None,
    fees: Sequence[tuple[float, Sequence[Predictor]]] | None,
    include: Sequence[Predictor],
    exclude: Sequence[Predictor],
) -> Constraints:
    """Return what is affordable, given the arguments of a problem that has its predictors."""
    included = problem.support_of("include", include)
    excluded = problem.support_of("exclude", exclude)
    both = set(included).intersection(excluded)
    if both:
        raise InvalidProblemError(
            f"include and exclude: {problem.name_of(min(both))} is in both; remove it from one."
        )
    if max_features is not None and not is_integer(max_features, 0):
        raise InvalidProblemError(
            f"max_features: must be an integer of at least 0 or None, not {max_features!r}."
        )
    n_predictors = problem.n_predictors
    return Constraints.build(
        _costs(problem, costs),
        inf if budget is None or budget == inf else non_negative("budget", budget),
        n_predictors if max_features is None else min(int(max_features), n_predictors),
        _fees(problem, fees),
        included,
        excluded,
    )


def _costs(problem: SubsetProblem, costs: Any) -> Float:
    n_predictors = problem.n_predictors
    if costs is None:
        return np.ones(n_predictors)
    costs = by_label(costs)
    if isinstance(costs, Mapping):
        values = np.full(n_predictors, np.nan)
        for name, cost in costs.items():
            values[problem.index_of("costs", name)] = non_negative(f"costs of {name!r}", cost)
        missing = [problem.name_of(int(g)) for g in np.flatnonzero(np.isnan(values))]
        if missing:
            raise InvalidProblemError(
                f"costs: no cost for {some_of(missing)}; give every predictor one."
            )
        return values
    values = floats("costs", costs)
    if values.shape != (n_predictors,):
        raise InvalidProblemError(
            f"costs: expected {n_predictors} values, one per predictor, "
            f"but got shape {values.shape}."
        )
    if not values.min(initial=0.0) >= 0 or not values.max(initial=0.0) < inf:
        bad = problem.name_of(int(np.flatnonzero(~((values >= 0) & (values < inf)))[0]))
        raise InvalidProblemError(
            f"costs: the cost of {bad} must be a finite number of at least 0."
        )
    return values


def _fees(problem: SubsetProblem, fees: Any) -> tuple[Fee, ...]:
    if fees is None:
        return ()
    if not isinstance(fees, Iterable):
        raise InvalidProblemError(
            f"fees: expected a list of pairs (amount, members), not {fees!r}."
        )
    checked = []
    for entry in fees:
        try:
            amount, members = entry
        except (TypeError, ValueError):
            raise InvalidProblemError(
                f"fees: each fee is a pair (amount, members), not {entry!r}."
            ) from None
        checked.append(Fee(non_negative("fees", amount), problem.support_of("fees", members)))
    return tuple(fee for fee in checked if fee.members)


def _in_units(prices: Float, budget: float) -> tuple[tuple[int, int], bool, Float, float, float]:
    """Return (unit, whether prices are whole) and, in units, (prices, generous budget, step)."""
    if budget == inf:
        return (1, 1), False, prices, inf, 0.0
    for denominator in _DENOMINATORS:
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = prices * denominator
            units = np.rint(scaled)
            # Relative to the price itself, so that a tiny one is never taken for none at all.
            near = np.abs(scaled - units) <= np.minimum(_NEAR * scaled, _NEAR_UNITS)
        if near.all():
            if np.minimum(units, budget * denominator + 1).sum() > _LARGEST_WHOLE:
                break
            divisor = gcd(*map(int, units.tolist())) or 1
            in_units = budget * denominator / divisor
            unit_budget = np.floor(in_units + min(_ROUNDING * in_units, 0.5))
            return (divisor, denominator), True, units / divisor, float(unit_budget), 1.0
    grid = 2.0 ** max(frexp(budget)[1] - _GRID_BITS, _SMALLEST_EXPONENT)
    with np.errstate(over="ignore"):
        # What is far beyond the budget needs no more digits, and no price is below two steps.
        steps = np.minimum(np.rint(prices / grid), _LARGEST_WHOLE)
    steps = np.where(prices > 0, np.maximum(steps, 2.0), 0.0)
    smallest = steps.min(where=steps > 0, initial=inf)
    generosity = max(1, floor(min(_ROUNDING * budget / grid, smallest / 2)))
    unit_budget = (floor(budget / grid) + generosity) * grid
    return (1, 1), False, steps * grid, unit_budget, 2 * generosity * grid
