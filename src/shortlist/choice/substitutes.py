"""Substitutes: the best purchase when a predictor cannot be measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..backends import check_problem, solve, uninterrupted
from ..errors import InvalidProblemError
from ..problem import Predictor, SubsetProblem
from ..solution import Progress, Solution, Status
from .near_optimal import GAP
from .record import Listed, changes, excess, joined, make_record, names_of


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
        What its absence costs: the objective of `solution` minus that of the best model. Each is
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
class Substitutes(Listed[Substitute]):
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
            `objective`, `predictors`, what is `gained` instead, what else is `lost`, `is_proven`.
        """
        return [
            {
                "without": self.names[item.predictor],
                "excess": excess(item.solution.objective, self.best.objective),
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
        """Return one row per predictor: what its absence costs, and what is bought instead."""
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
    """Find the best affordable model when a predictor cannot be measured, and what that costs.

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
        As in `solve`, for each solve. What it raises ends all of them.
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
    given = None if predictor is None else problem.index_of("predictor", predictor)
    if given in limits.include:
        raise InvalidProblemError(
            f"predictor: {problem.name_of(given)} is in include, so every model has it; "
            "remove it from include first."
        )

    def best_of(limited: SubsetProblem) -> Solution:
        return uninterrupted(
            solve(limited, gap=gap, time_limit=time_limit, callback=callback, threads=threads)
        )

    best = best_of(problem)
    missing = [g for g in best.support if g not in limits.include] if given is None else [given]
    found = []
    for g in missing:
        solution = best
        if g in best.support:
            solution = best_of(problem.with_limits(exclude=(*limits.exclude, g)))
        increase = solution.objective - best.objective
        found.append(Substitute(g, solution, increase, *changes(best.support, solution.support)))
    return Substitutes(best, tuple(found), names_of(problem))
