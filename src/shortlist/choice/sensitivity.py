"""How the best selection depends on one predictor: on its absence, and on its price."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter
from typing import Any

import pandas as pd

from ..backends import check_problem
from ..errors import InvalidProblemError
from ..limits import exact, largest_total
from ..problem import Predictor, SubsetProblem
from ..solution import Progress, Solution, Status
from .record import GAP, ListOf, best_of, changes, joined, make_record, names_of


@dataclass(frozen=True)
class Substitute:
    """The best affordable model without one predictor.

    Attributes
    ----------
    predictor : int
        The predictor that cannot be measured.
    solution : Solution
        The best model without it.
    increase : float
        The cost of its absence: the objective of `solution` minus the best model's. Each is
        known up to the gap.
    gained, lost : tuple of int
        Predictors that are bought instead, and those that are no longer bought.
    """

    predictor: int
    solution: Solution
    increase: float
    gained: tuple[int, ...]
    lost: tuple[int, ...]


@dataclass(frozen=True)
class Substitutes(ListOf[Substitute]):
    """Substitutes for one or more predictors: a sequence of `Substitute`.

    Attributes
    ----------
    best : Solution
        The best model of the problem as it is.
    substitutes : tuple of Substitute
        In the order of the predictors.
    names : tuple of str
        Names of the problem's predictors.
    """

    best: Solution
    substitutes: tuple[Substitute, ...]
    names: tuple[str, ...]

    _listed = "substitutes"

    def to_records(self) -> list[dict[str, Any]]:
        """Return one record per predictor, as JSON values.

        Returns
        -------
        list of dict
            The predictor that is missing (`without`), the `excess` over the best model, `cost`,
            `objective`, `predictors`, those `gained` instead, those `lost` besides, `is_proven`.
        """
        return [
            {
                "without": self.names[item.predictor],
                "excess": self.best.scale.excess(item.solution.objective, self.best.objective),
            }
            | make_record(
                self.names,
                item.solution,
                item.gained,
                tuple(g for g in item.lost if g != item.predictor),
            )
            | {"is_proven": item.solution.status is Status.OPTIMAL}
            for item in self.substitutes
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per predictor: the cost of its absence, and its substitutes."""
        frame = pd.DataFrame(
            joined(self.to_records()),
            columns=["without", "excess", "objective", "cost", "gained", "lost"],
        )
        frame.insert(1, "increase", [item.increase for item in self.substitutes])
        return frame.set_index("without")


def substitutes(
    problem: SubsetProblem,
    predictor: Predictor | None = None,
    *,
    gap: float = GAP,
    time_limit: float | None = None,
    callback: Callable[[Progress], None] | None = None,
    threads: int | None = None,
) -> Substitutes:
    """Find the best affordable model when a predictor cannot be measured, and its excess.

    Parameters
    ----------
    problem : SubsetProblem
        Data, prices and limits.
    predictor : name or index, optional
        By default each predictor of the best model in turn, those in `include` excepted.
    gap : float
        As for `solve`.
    time_limit : float, optional
        Seconds for each solve; the status of each solution says whether it was enough.
    callback : callable, optional
        As in `solve`, for each solve. An exception that it raises ends all of them.
    threads : int, optional
        As in `solve`.

    Returns
    -------
    Substitutes
        One per predictor, as a sequence and as a table.

    Examples
    --------
    >>> import shortlist as sl
    >>> X = [[0.0, 1.0, 0.1], [1.0, 0.0, 0.9], [2.0, 1.0, 2.2], [3.0, 0.0, 2.8]]
    >>> problem = sl.SubsetProblem(X, [0, 0, 1, 1], ridge=0.1, max_features=1)
    >>> [(s.predictor, s.solution.support) for s in sl.substitutes(problem)]
    [(2, (0,))]
    """
    check_problem(problem)
    limits = problem.limits
    given = None if predictor is None else problem.predictors.index_of("predictor", predictor)
    if given in limits.include:
        raise InvalidProblemError(
            f"predictor: {problem.name_of(given)} is in include, so every model has it; "
            "remove it from include first."
        )
    options = {"gap": gap, "time_limit": time_limit, "callback": callback, "threads": threads}
    best = best_of(problem, **options)
    missing = [g for g in best.support if g not in limits.include] if given is None else [given]
    found = []
    for g in missing:
        solution = best
        if g in best.support:
            solution = best_of(problem.with_limits(exclude=(*limits.exclude, g)), **options)
        increase = solution.objective - best.objective
        found.append(Substitute(g, solution, increase, *changes(best.support, solution.support)))
    return Substitutes(best, tuple(found), names_of(problem))


@dataclass(frozen=True)
class PriceRange:
    """The prices of one predictor at which the chosen selection stays optimal.

    All other prices are as they are. It is optimal for prices above `low` (and at `low` if
    `includes_low`) up to and including `high`.

    Attributes
    ----------
    predictor : int
        The predictor whose price moves.
    price : float
        Its price in the problem.
    low, high : float
        Ends of the range; `high` may be infinite.
    includes_low : bool
        Whether the selection is optimal at `low` too, which is so only if `low` is 0.
    rival : tuple of int
        The better selection that becomes affordable at `low`; empty if there is none.
    """

    predictor: int
    price: float
    low: float
    high: float
    includes_low: bool
    rival: tuple[int, ...]


@dataclass(frozen=True)
class PriceRanges(ListOf[PriceRange]):
    """A range for each predictor: a sequence of `PriceRange`.

    Attributes
    ----------
    solution : Solution
        The selection whose optimality the ranges are about.
    ranges : tuple of PriceRange
        In the order of the predictors.
    names : tuple of str
        Names of the predictors.
    """

    solution: Solution
    ranges: tuple[PriceRange, ...]
    names: tuple[str, ...]

    _listed = "ranges"

    def to_frame(self) -> pd.DataFrame:
        """Return one row per predictor: whether it is bought, its price, and the range."""
        frame = pd.DataFrame(self.ranges, columns=["predictor", "price", "low", "high", "rival"])
        frame.insert(1, "bought", frame["predictor"].isin(self.solution.support))
        frame["rival"] = [", ".join(self.names[g] for g in r.rival) for r in self.ranges]
        frame["predictor"] = [self.names[r.predictor] for r in self.ranges]
        return frame.set_index("predictor")


def price_ranges(problem: SubsetProblem) -> PriceRanges:
    """Find, for each predictor, the prices at which the best selection stays the best.

    A higher price of a bought predictor matters once the selection exceeds the budget. A lower
    price matters once a better selection with that predictor fits into the budget: this is found
    by solving with the predictor at price 0, and then at the prices where a better one appears.
    Objectives that differ by less than 1e-9 (with the hinge 1e-6), relatively, count as equal.

    Parameters
    ----------
    problem : SubsetProblem
        Data, prices and a budget.

    Returns
    -------
    PriceRanges
        One range per predictor, as a sequence and as a table.

    Examples
    --------
    >>> import shortlist as sl
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]
    >>> problem = sl.SubsetProblem(X, [0, 0, 1, 1], ridge=0.1, budget=5, costs=[4, 3])
    >>> [(r.low, r.high) for r in sl.price_ranges(problem)]
    [(2.0, 5.0), (1.0, inf)]
    """
    check_problem(problem)
    limits = problem.limits
    if limits.budget == inf:
        raise InvalidProblemError(
            "problem: has no budget, so no price matters; give it costs and a budget."
        )
    best = _optimum(problem)
    ranges = []
    for g in range(problem.n_predictors):
        price = float(limits.costs[g])
        left = max(Fraction(0), exact(limits.budget) - limits.total_of(best.support))
        high = float(exact(price) + left) if g in best.support else inf
        low, rival = _lowest_price(problem, best, g)
        ranges.append(PriceRange(g, price, low, high, not rival, rival))
    return PriceRanges(best, tuple(ranges), names_of(problem))


def _optimum(problem: SubsetProblem) -> Solution:
    """Solve precisely enough to resolve ties."""
    solution = best_of(problem)
    if solution.status is Status.MEMORY_LIMIT:
        raise InvalidProblemError(
            f"problem: memory ran out, which leaves a gap of "
            f"{solution.gap:.2g}; offer fewer predictors, or solve it where there is more of it."
        )
    if solution.status is not Status.OPTIMAL:
        raise InvalidProblemError(
            f"problem: rounding leaves a gap of {solution.gap:.2g} where {GAP:g} is needed to say "
            "which selection is the best; bring the columns to a common scale or raise ridge."
        )
    return solution


def _lowest_price(problem: SubsetProblem, best: Solution, g: int) -> tuple[float, tuple[int, ...]]:
    """The highest price of g at which a better selection is affordable, and that selection."""
    limits = problem.limits
    with_g = tuple(sorted({*limits.include, g}))
    budget, most = exact(limits.budget), largest_total(limits.budget)
    low = price = 0.0
    rival: tuple[int, ...] = ()
    while price < limits.costs[g]:
        costs = limits.costs.copy()
        costs[g] = price
        cheaper = problem.with_limits(costs=costs)
        if not cheaper.limits.is_affordable(with_g):
            break
        solution = _optimum(cheaper.with_limits(include=with_g))
        if solution.objective >= problem.scale.below(best.objective, problem.family.resolution):
            break
        # Affordable as long as the price of g is at most the rest of the budget.
        others = cheaper.limits.total_of(solution.support) - exact(price)
        left = max(Fraction(0), budget - others)
        low, rival = min(float(left), float(limits.costs[g])), solution.support
        # The next higher price at which another rival may be the last affordable one.
        price = float(max(most - others, budget - others + limits.prices.unit))
        while exact(price) <= most - others:
            price = nextafter(price, inf)
    return low, rival
