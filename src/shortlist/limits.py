"""Limits: which selections are affordable, and how large coefficients may be.

Only this module decides what is affordable within rounding. Prices are brought to a common
denominator, so that a total of 0.1 + 0.2 is within a budget of 0.3. Prices without a short one are
rounded to a grid of 2^-52 of the budget, on which every sum is exact too: in whatever order they
are added, the total is the same. The budget is generous by 1e-14 of itself, but never by a whole
unit nor by the smallest price.

A coefficient lies in an interval that contains 0: at most so large, and of one sign. A limit of a
predictor holds for each of its columns.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import floor, frexp, fsum, gcd, inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .arguments import (
    Float,
    by_label,
    floats,
    is_integer,
    non_negative,
    positive,
    some_of,
)
from .errors import InfeasibleError, InvalidProblemError

if TYPE_CHECKING:
    from .problem import SubsetProblem

MaxCoefficient = float | ArrayLike | Mapping[str, float] | None
Signs = str | Iterable[str | None] | Mapping[str, str | None] | None

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


@dataclass(frozen=True, eq=False)
class Limits:
    """The affordable selections, and the intervals of the coefficients.

    Attributes
    ----------
    costs : ndarray of shape (n_predictors,)
        The price of each predictor.
    budget : float
        Infinite if there is none.
    max_features : int
        The number of predictors if there is no limit.
    fees : tuple of Fee
        Prices that are paid once.
    include, exclude : tuple of int
        Predictors that must, or must not, be bought.
    lower, upper : ndarray of shape (n_columns,)
        The interval of each column's coefficient: at most and at least 0, infinite without a limit.
    has_intervals : bool
        Whether any coefficient is limited.
    unit : tuple of int
        Numerator and denominator of the amount in which exact prices are counted.
    integral : bool
        Whether all prices are whole numbers of units.
    unit_costs, unit_fees, unit_budget
        Costs, fees and the generous budget in units. Sums of them are exact.
    unit_step : float
        The smallest difference between two totals that counts, in units.
    """

    costs: Float
    budget: float
    max_features: int
    fees: tuple[Fee, ...]
    include: tuple[int, ...]
    exclude: tuple[int, ...]
    lower: Float
    upper: Float
    has_intervals: bool = field(init=False)
    unit: tuple[int, int] = field(init=False)
    integral: bool = field(init=False)
    unit_costs: Float = field(init=False)
    unit_fees: Float = field(init=False)
    unit_budget: float = field(init=False)
    unit_step: float = field(init=False)

    @classmethod
    def of(
        cls, problem: SubsetProblem, max_coefficient: MaxCoefficient, signs: Signs, **given: Any
    ) -> Limits:
        """Return the limits that the arguments of a problem state, once it has its predictors."""
        lower, upper = _intervals(problem, max_coefficient, signs)
        checked = {name: check(problem, given[name]) for name, check in _CHECKS.items()}
        _check_disjoint(problem, checked["include"], checked["exclude"])
        return cls(lower=lower, upper=upper, **checked)

    def changed(self, problem: SubsetProblem, **given: Any) -> Limits:
        """Return these limits with some arguments of a problem in place of the old ones."""
        checked = {name: _CHECKS[name](problem, value) for name, value in given.items()}
        include, exclude = (
            checked.get("include", self.include),
            checked.get("exclude", self.exclude),
        )
        _check_disjoint(problem, include, exclude)
        return replace(self, **checked)

    def __post_init__(self) -> None:
        """Bring all prices to a common unit and check that some selection is affordable."""
        amounts = np.array([fee.amount for fee in self.fees], dtype=np.float64)
        prices, n = np.concatenate([self.costs, amounts]), self.n_predictors
        unit, integral, units, unit_budget, unit_step = _in_units(prices, self.budget)
        self.__dict__.update(
            unit=unit, integral=integral, unit_costs=units[:n], unit_fees=units[n:],
            unit_budget=unit_budget, unit_step=unit_step,
            has_intervals=bool(np.isfinite(self.lower).any() or np.isfinite(self.upper).any()),
        )  # fmt: skip
        include = self.include
        if len(include) > self.max_features:
            raise InfeasibleError(
                f"include: {len(include)} predictors exceed max_features={self.max_features}; "
                "raise it or include fewer."
            )
        if include and self.unit_cost_of(include) > unit_budget:
            raise InfeasibleError(
                f"include: its predictors cost {self.cost_of(include):g}, which exceeds "
                f"budget={self.budget:g}; raise it or include fewer."
            )

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
        """Whether a selection is within all limits."""
        return (
            len(support) <= self.max_features
            and set(self.include) <= set(support)
            and set(self.exclude).isdisjoint(support)
            and self.unit_cost_of(support) <= self.unit_budget
        )

    def addable(self, support: tuple[int, ...]) -> list[int]:
        """Return the predictors that can still be bought, each on its own, in ascending order."""
        taken, missing = {*support, *self.exclude}, set(self.include).difference(support)
        if len(support) >= self.max_features or not set(self.exclude).isdisjoint(support):
            return []
        totals = self.unit_cost_of(support) + self.unit_costs
        for amount, fee in zip(self.unit_fees, self.fees, strict=True):
            if set(fee.members).isdisjoint(support):
                totals[list(fee.members)] += amount
        affordable = (totals <= self.unit_budget).nonzero()[0].tolist()
        return [g for g in affordable if g not in taken and missing <= {g}]

    def added_price(self, support: tuple[int, ...], predictor: int) -> float:
        """Return the price of adding a predictor to a support: its cost and unpaid fees.

        In units; without a budget costs do not count, and every predictor has the price 1.
        """
        if self.budget == inf:
            return 1.0
        price = float(self.unit_costs[predictor])
        for amount, fee in zip(self.unit_fees, self.fees, strict=True):
            if predictor in fee.members and not set(fee.members).intersection(support):
                price += float(amount)
        return price


def given_limits(owner: object) -> dict[str, Any]:
    """Return the limits among the parameters of an estimator, as arguments of `SubsetProblem`."""
    return {name: getattr(owner, name) for name in (*_CHECKS, "max_coefficient", "signs")}


def limits_without(given: dict[str, Any], absent: Collection[str]) -> dict[str, Any]:
    """Return the arguments of `SubsetProblem` that remain when some predictors are not offered.

    An argument of another form than the documented one is left to `SubsetProblem` to refuse.
    """
    mappings = ("costs", "max_coefficient", "signs")
    return given | {
        **{name: _entries_without(given[name], absent) for name in mappings},
        "fees": _fees_without(given["fees"], absent),
        "exclude": [name for name in given["exclude"] if name not in absent],
    }


def _check_disjoint(
    problem: SubsetProblem, include: tuple[int, ...], exclude: tuple[int, ...]
) -> None:
    both = set(include).intersection(exclude)
    if both:
        raise InvalidProblemError(
            f"include and exclude: {problem.name_of(min(both))} is in both; remove it from one."
        )


def _max_features(problem: SubsetProblem, max_features: Any) -> int:
    if max_features is None:
        return problem.n_predictors
    if not is_integer(max_features, 0):
        raise InvalidProblemError(
            f"max_features: must be an integer of at least 0 or None, not {max_features!r}."
        )
    return min(int(max_features), problem.n_predictors)


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
                f"costs: no cost for {some_of(missing)}; give every predictor one, or exclude it."
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


_CHECKS: dict[str, Callable[[SubsetProblem, Any], Any]] = {
    "include": lambda problem, include: problem.support_of("include", include),
    "exclude": lambda problem, exclude: problem.support_of("exclude", exclude),
    "max_features": _max_features,
    "costs": _costs,
    "budget": lambda _, budget: (
        inf if budget is None or budget == inf else non_negative("budget", budget)
    ),
    "fees": _fees,
}


def _intervals(
    problem: SubsetProblem, max_coefficient: MaxCoefficient, signs: Signs
) -> tuple[Float, Float]:
    """Return the ends of the interval of each column's coefficient."""
    upper = np.full(problem.n_predictors, inf)
    for g, value in _by_predictor(problem, "max_coefficient", max_coefficient):
        is_infinite = isinstance(value, float | np.floating) and value == inf
        if value is not None and not is_infinite:
            upper[g] = positive(f"max_coefficient of {problem.name_of(g)}", value)
    lower = -upper
    for g, sign in _by_predictor(problem, "signs", signs):
        if sign == "positive":
            lower[g] = 0.0
        elif sign == "negative":
            upper[g] = 0.0
        elif sign is not None:
            raise InvalidProblemError(
                f"signs: the sign of {problem.name_of(g)} must be 'positive', 'negative' "
                f"or None, not {sign!r}."
            )
    owner = problem.column_predictor
    return lower[owner], upper[owner]


def _by_predictor(problem: SubsetProblem, argument: str, given: Any) -> list[tuple[int, Any]]:
    """Return predictors with their values: one for all, one for each in order, or by name."""
    if given is None:
        return []
    given, n_predictors = by_label(given), problem.n_predictors
    if isinstance(given, Mapping):
        return [(problem.index_of(argument, name), value) for name, value in given.items()]
    if isinstance(given, str) or not isinstance(given, Iterable):
        return [(g, given) for g in range(n_predictors)]
    values = list(given)
    if len(values) != n_predictors:
        raise InvalidProblemError(
            f"{argument}: expected {n_predictors} values, one per predictor, but got {len(values)}."
        )
    return list(enumerate(values))


def _entries_without(values: Any, absent: Collection[str]) -> Any:
    values = by_label(values)
    if not isinstance(values, Mapping):
        return values
    return {name: value for name, value in values.items() if name not in absent}


def _fees_without(fees: Any, absent: Collection[str]) -> Any:
    if not isinstance(fees, list | tuple):
        return fees
    return [
        (fee[0], [name for name in fee[1] if name not in absent])
        if isinstance(fee, list | tuple) and len(fee) == 2 and isinstance(fee[1], list | tuple)
        else fee
        for fee in fees
    ]


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
        # A price far beyond the budget needs no more digits, and none is below two steps.
        steps = np.minimum(np.rint(prices / grid), _LARGEST_WHOLE)
    steps = np.where(prices > 0, np.maximum(steps, 2.0), 0.0)
    smallest = steps.min(where=steps > 0, initial=inf)
    generosity = max(1, floor(min(_ROUNDING * budget / grid, smallest / 2)))
    unit_budget = (floor(budget / grid) + generosity) * grid
    return (1, 1), False, steps * grid, unit_budget, 2 * generosity * grid
