"""Limits: which selections are affordable, and how large coefficients may be.

Prices and budget are the decimals that were given: exact rationals, from their shortest form
that is the same number. A selection is affordable if its exact total is at most the budget times
1 + 1e-9, so that three times 100 / 3 are within 100. The checker has code of its own for that rule.

A coefficient lies in an interval that contains 0: at most so large, and of one sign. A limit of a
predictor holds for each of its columns.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import gcd, inf, nextafter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import (
    Float,
    by_label,
    check_integer,
    floats,
    non_negative,
    positive,
    some_of,
)
from .errors import InfeasibleError, InvalidProblemError
from .predictors import Predictors

MaxCoefficient = float | ArrayLike | Mapping[str, float] | None
Signs = str | Iterable[str | None] | Mapping[str, str | None] | None

GENEROSITY = Fraction(1, 10**9)  # by which a total may exceed the budget, of the budget
LARGEST_WHOLE = 2**53  # up to here doubles have every whole number
_MOST = 1 + GENEROSITY
_ROUNDING = 2.0**-50  # more than two prices' rounding, relatively
_LARGEST_TOTAL = 2**250  # of prices in units, which the core adds in 256 bits


class Fee(NamedTuple):
    """A price paid once if any of its members is bought: the pair that users give, checked."""

    amount: float
    members: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Prices:
    """Prices and a budget as whole numbers of a unit that all of them have in common: exactly.

    Attributes
    ----------
    unit : Fraction
        The largest amount of which all prices are multiples.
    costs : ndarray of shape (n_predictors,)
        What each predictor costs, in units: integers of Python, or of 64 bits if totals fit.
    fees : list of int
        The shared fees, in units.
    budget : int or float
        The largest affordable total, in units; infinite if there is no budget.
    """

    unit: Fraction
    costs: NDArray[Any]
    fees: list[int]
    budget: int | float

    @classmethod
    def of(cls, costs: Float, fees: list[float], budget: float) -> Prices:
        """Bring amounts to their common unit."""
        given, places = np.append(costs, fees) if fees else costs, 0
        if given.sum() < LARGEST_WHOLE and ((whole := given.astype(np.int64)) == given).all():
            divisor = int(np.gcd.reduce(whole)) or 1
            whole = whole // divisor if divisor > 1 else whole
        else:
            decimals = [Decimal(repr(amount)) for amount in given.tolist()]
            places = max([0, *(-int(d.as_tuple().exponent) for d in decimals)])
            amounts = [int(d.scaleb(places)) for d in decimals]
            divisor = gcd(*amounts) or 1
            amounts = [amount // divisor for amount in amounts]
            whole = np.array(amounts, dtype=np.int64 if sum(amounts) < 2**62 else object)
        unit = Fraction(divisor, 10**places) if places else Fraction(divisor)
        most: int | float = inf
        if budget < inf:
            total = largest_total(budget)
            most = total.numerator * unit.denominator // (total.denominator * unit.numerator)
        n = len(costs)
        prices = cls(unit, whole[:n], whole[n:].tolist(), most)
        is_long = budget < inf and whole.dtype == object
        if is_long and sum(map(sum, prices.relevant)) >= _LARGEST_TOTAL:
            raise InvalidProblemError(
                "costs: prices within the budget have too many digits to be added exactly; "
                "round them, or count them in another unit."
            )
        return prices

    @cached_property
    def relevant(self) -> tuple[list[int], list[int], list[int]]:
        """Costs, fees and [budget] in units, none of them larger than it matters.

        A budget is no more than everything costs, a price that is not affordable just above it.
        """
        prices, n = [*self.costs.tolist(), *self.fees], len(self.costs)
        total = sum(prices)
        budget = int(min(self.budget, total))
        if budget < max(prices, default=0):
            prices = [min(price, budget + 1) for price in prices]
        if total >= _LARGEST_TOTAL and sum(prices) + budget >= _LARGEST_TOTAL:
            prices, budget = _compressed(prices, budget)
        return prices[:n], prices[n:], [budget]

    @cached_property
    def is_short(self) -> bool:
        """Whether all totals that matter are whole numbers that a double has."""
        costs, fees, _ = self.relevant
        return self.budget < inf and sum(costs) + sum(fees) <= LARGEST_WHOLE

    def amount_of(self, units: int) -> float:
        """Return a number of units as the amount of money that it is."""
        return units * self.unit.numerator / self.unit.denominator  # rounded once

    def budget_below(self, units: int) -> float:
        """Return a budget that buys what costs less than a number of units, and no more."""
        total = units * self.unit
        budget = float(total - self.unit)
        if largest_total(budget) >= total:
            budget = float(total / _MOST)
        while largest_total(budget) >= total:
            budget = nextafter(budget, 0.0)
        return budget

    def row(self) -> tuple[Float, Float, float]:
        """Return costs, fees and budget as a row of a linear program, which is never too strict."""
        scale, generosity = (1.0, 0.0) if self.is_short else (float(self.unit), _ROUNDING)
        costs, fees, budget = (scale * np.array(p, dtype=np.float64) for p in self.relevant)
        return costs, fees, float(budget[0]) * (1 + generosity)


def _compressed(prices: list[int], budget: int) -> tuple[list[int], int]:
    """Return smaller numbers that make the same selections affordable.

    Where all larger prices are multiples of more than the smaller ones come to together, that
    common amount may be any that is more than these.
    """
    small = list(prices)
    ranked = sorted((g for g, p in enumerate(prices) if p <= budget), key=prices.__getitem__)
    smaller, most = 0, budget
    for i, g in enumerate(ranked):
        common, enough = gcd(*(small[h] for h in ranked[i:])), smaller + 1
        if common > enough:
            most = most // common * enough + min(most % common, smaller)
            for h in ranked[i:]:
                small[h] = small[h] // common * enough
        smaller += small[g]
    most = min(most, smaller)
    return [p if was <= budget else most + 1 for p, was in zip(small, prices, strict=True)], most


def exact(amount: float) -> Fraction:
    """Return an amount of money as the decimal number that was given."""
    is_whole = amount == int(amount) and amount < LARGEST_WHOLE
    return Fraction(int(amount)) if is_whole else Fraction(repr(float(amount)))


def largest_total(budget: float) -> Fraction:
    """Return the largest total that a budget buys."""
    return exact(budget) * _MOST


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
    """

    costs: Float
    budget: float
    max_features: int
    fees: tuple[Fee, ...]
    include: tuple[int, ...]
    exclude: tuple[int, ...]
    lower: Float
    upper: Float

    @classmethod
    def of(
        cls, predictors: Predictors, max_coefficient: MaxCoefficient, signs: Signs, **given: Any
    ) -> Limits:
        """Return the limits that the arguments of a problem state, for its predictors."""
        lower, upper = _intervals(predictors, max_coefficient, signs)
        checked = {name: check(predictors, given[name]) for name, check in _CHECKS.items()}
        _check_disjoint(predictors, checked["include"], checked["exclude"])
        return cls(lower=lower, upper=upper, **checked)

    def changed(self, predictors: Predictors, **given: Any) -> Limits:
        """Return these limits with some arguments of a problem in place of the old ones."""
        checked = {name: _CHECKS[name](predictors, value) for name, value in given.items()}
        include, exclude = (
            checked.get("include", self.include),
            checked.get("exclude", self.exclude),
        )
        _check_disjoint(predictors, include, exclude)
        return replace(self, **checked)

    def __post_init__(self) -> None:
        """Check that some selection is affordable."""
        include = self.include
        if len(include) > self.max_features:
            raise InfeasibleError(
                f"include: {len(include)} predictors exceed max_features={self.max_features}; "
                "raise it or include fewer."
            )
        if self.budget < inf and self.units_of(include) > self.prices.budget:
            raise InfeasibleError(
                f"include: its predictors cost {self.cost_of(include):g}, which exceeds "
                f"budget={self.budget:g}; raise it or include fewer."
            )

    def __getstate__(self) -> dict[str, Any]:
        return {given.name: getattr(self, given.name) for given in fields(self)}

    @property
    def n_predictors(self) -> int:
        """Number of predictors that can be bought."""
        return len(self.costs)

    @cached_property
    def prices(self) -> Prices:
        """Prices and budget in exact units."""
        return Prices.of(self.costs, [fee.amount for fee in self.fees], self.budget)

    @cached_property
    def has_intervals(self) -> bool:
        """Whether any coefficient is limited."""
        return bool(np.isfinite(self.lower).any() or np.isfinite(self.upper).any())

    def units_of(self, support: tuple[int, ...]) -> int:
        """Price of a selection in units, each fee paid once."""
        chosen, prices = set(support), self.prices
        total = sum(prices.costs[list(support)].tolist())
        for amount, fee in zip(prices.fees, self.fees, strict=True):
            if not chosen.isdisjoint(fee.members):
                total += amount
        return int(total)

    def total_of(self, support: tuple[int, ...]) -> Fraction:
        """Price of a selection, each fee paid once."""
        return self.units_of(support) * self.prices.unit

    def cost_of(self, support: tuple[int, ...]) -> float:
        """Price of a selection as the double that is next to it."""
        if not self.fees and self.budget == inf:
            paid = self.costs[list(support)].tolist()
            if all(cost == int(cost) for cost in paid):
                return float(sum(map(int, paid)))
        return self.prices.amount_of(self.units_of(support))

    def is_affordable(self, support: tuple[int, ...]) -> bool:
        """Whether a selection is within all limits."""
        return (
            len(support) <= self.max_features
            and set(self.include) <= set(support)
            and set(self.exclude).isdisjoint(support)
            and (self.budget == inf or self.units_of(support) <= self.prices.budget)
        )

    def addable(self, support: tuple[int, ...]) -> list[int]:
        """Return the predictors that can still be bought, each on its own, in ascending order."""
        taken, missing = {*support, *self.exclude}, set(self.include).difference(support)
        if len(support) >= self.max_features or not set(self.exclude).isdisjoint(support):
            return []
        affordable: Iterable[int] = range(self.n_predictors)
        if self.budget < inf:
            totals = self.prices.costs + self.units_of(support)
            for amount, fee in zip(self.prices.fees, self.fees, strict=True):
                if set(fee.members).isdisjoint(support):
                    totals[list(fee.members)] += amount
            affordable = (totals <= self.prices.budget).nonzero()[0].tolist()
        return [g for g in affordable if g not in taken and missing <= {g}]

    def added_price(self, support: tuple[int, ...], predictor: int) -> float:
        """Return the price of adding a predictor to a support: its cost and unpaid fees.

        In units; without a budget costs do not count, and every predictor has the price 1.
        """
        if self.budget == inf:
            return 1.0
        price = int(self.prices.costs[predictor])
        for amount, fee in zip(self.prices.fees, self.fees, strict=True):
            if predictor in fee.members and not set(fee.members).intersection(support):
                price += amount
        return float(price)


def given_limits(owner: object) -> dict[str, Any]:
    """Return the limits among the parameters of an estimator, as arguments of `SubsetProblem`."""
    return {name: getattr(owner, name) for name in (*_CHECKS, "max_coefficient", "signs")}


def stated_limits(limits: Limits, predictors: Predictors) -> dict[str, Any]:
    """Return limits as arguments of `SubsetProblem`, predictors by number.

    Limits on the coefficients of a predictor are its first column's.
    """
    first = [int(np.argmax(predictors.owner == g)) for g in range(predictors.number)]
    lower, upper = limits.lower[first], limits.upper[first]
    largest = np.maximum(-lower, upper)
    return {
        "budget": None if limits.budget == inf else limits.budget,
        "costs": limits.costs,
        "max_features": limits.max_features,
        "fees": limits.fees,
        "include": limits.include,
        "exclude": limits.exclude,
        "max_coefficient": [None if most == inf else float(most) for most in largest],
        "signs": [
            "positive" if low == 0 else "negative" if high == 0 else None
            for low, high in zip(lower, upper, strict=True)
        ],
    }


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
    predictors: Predictors, include: tuple[int, ...], exclude: tuple[int, ...]
) -> None:
    both = set(include).intersection(exclude)
    if both:
        raise InvalidProblemError(
            f"include and exclude: {predictors.name_of(min(both))} is in both; remove it from one."
        )


def _max_features(predictors: Predictors, max_features: Any) -> int:
    if max_features is None:
        return predictors.number
    check_integer("max_features", max_features, 0, or_none=True)
    return min(int(max_features), predictors.number)


def _costs(predictors: Predictors, costs: Any) -> Float:
    n_predictors = predictors.number
    if costs is None:
        return np.ones(n_predictors)
    costs = by_label(costs)
    if isinstance(costs, Mapping):
        values = np.full(n_predictors, np.nan)
        for name, cost in costs.items():
            values[predictors.index_of("costs", name)] = non_negative(f"costs of {name!r}", cost)
        missing = [predictors.name_of(int(g)) for g in np.flatnonzero(np.isnan(values))]
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
        bad = predictors.name_of(int(np.flatnonzero(~((values >= 0) & (values < inf)))[0]))
        raise InvalidProblemError(
            f"costs: the cost of {bad} must be a finite number of at least 0."
        )
    return values


def _fees(predictors: Predictors, fees: Any) -> tuple[Fee, ...]:
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
        checked.append(Fee(non_negative("fees", amount), predictors.support_of("fees", members)))
    return tuple(fee for fee in checked if fee.members)


_CHECKS: dict[str, Callable[[Predictors, Any], Any]] = {
    "include": lambda predictors, include: predictors.support_of("include", include),
    "exclude": lambda predictors, exclude: predictors.support_of("exclude", exclude),
    "max_features": _max_features,
    "costs": _costs,
    "budget": lambda _, budget: (
        inf if budget is None or budget == inf else non_negative("budget", budget)
    ),
    "fees": _fees,
}


def _intervals(
    predictors: Predictors, max_coefficient: MaxCoefficient, signs: Signs
) -> tuple[Float, Float]:
    """Return the ends of the interval of each column's coefficient."""
    upper = np.full(predictors.number, inf)
    for g, value in _by_predictor(predictors, "max_coefficient", max_coefficient):
        is_infinite = isinstance(value, float | np.floating) and value == inf
        if value is not None and not is_infinite:
            upper[g] = positive(f"max_coefficient of {predictors.name_of(g)}", value)
    lower = -upper
    for g, sign in _by_predictor(predictors, "signs", signs):
        if sign == "positive":
            lower[g] = 0.0
        elif sign == "negative":
            upper[g] = 0.0
        elif sign is not None:
            raise InvalidProblemError(
                f"signs: the sign of {predictors.name_of(g)} must be 'positive', 'negative' "
                f"or None, not {sign!r}."
            )
    owner = predictors.owner
    return lower[owner], upper[owner]


def _by_predictor(predictors: Predictors, argument: str, given: Any) -> list[tuple[int, Any]]:
    """Return predictors with their values: one for all, one for each in order, or by name."""
    if given is None:
        return []
    given, n_predictors = by_label(given), predictors.number
    if isinstance(given, Mapping):
        return [(predictors.index_of(argument, name), value) for name, value in given.items()]
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
