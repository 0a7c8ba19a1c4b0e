"""The staircase, the best model for every budget, and its lowest step that is good enough."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..arguments import is_share
from ..backends import check_problem
from ..display import panel
from ..errors import InvalidProblemError
from ..limits import GENEROSITY, largest_total
from ..native.search import has_shared_tree, solve_budgets
from ..problem import SubsetProblem
from ..solution import Progress, Solution, Status
from .record import GAP, ListOf, best_of, changes, joined, make_record, names_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LIMIT_LABELS = {"budget": "budget", "max_features": "number of predictors"}


@dataclass(frozen=True)
class PathStep:
    """A selection that is the best one from a budget on, until the next step.

    Attributes
    ----------
    limit : float
        The smallest budget (or number of predictors) that buys it.
    problem : SubsetProblem
        The problem that the solution solves, for `verify`: its limit is the step's or higher,
        but below the next step.
    solution : Solution
        The best model at that limit.
    gained, lost : tuple of int
        Predictors that are bought here and not one step before, and the other way round.
    """

    limit: float
    problem: SubsetProblem
    solution: Solution
    gained: tuple[int, ...]
    lost: tuple[int, ...]


@dataclass(frozen=True)
class Path(ListOf[PathStep]):
    """The exact staircase, cheapest first: a sequence of `PathStep`.

    Attributes
    ----------
    steps : tuple of PathStep
        From the cheapest selection to the best one that the problem's limits allow.
    limit_name : str
        The limit that rises from step to step: "budget" or "max_features".
    highest_limit : float
        Up to where the staircase is known: the problem's own limit, infinity without one.
    names : tuple of str
        Names of the predictors.
    is_certified : bool
        Whether all of it is proven: every solve on the way ended with a proof.
    """

    steps: tuple[PathStep, ...]
    limit_name: str
    highest_limit: float
    names: tuple[str, ...]
    is_certified: bool

    _listed = "steps"

    def at(self, limit: float) -> PathStep:
        """Return the step that a budget (or a number of predictors) buys."""
        lowest, highest = self.steps[0].limit, self.highest_limit
        largest_limit = highest * (1 + float(GENEROSITY))
        affordable = [step for step in self.steps if self._is_within(step, limit)]
        if not affordable or not limit <= largest_limit:
            raise InvalidProblemError(
                f"limit: the path is known from {lowest:g} to {highest:g}, so it does not say "
                f"what {limit!r} buys; solve it with other limits."
            )
        return affordable[-1]

    def _is_within(self, step: PathStep, limit: float) -> bool:
        """Whether a limit buys the step; of a budget a total may be a little more, see `limits`."""
        if self.limit_name != "budget" or not 0 <= limit < inf:
            return step.limit <= limit
        return step.problem.limits.total_of(step.solution.support) <= largest_total(limit)

    def to_records(self) -> list[dict[str, Any]]:
        """Return one record per step, as JSON values.

        Returns
        -------
        list of dict
            `limit`, from which on it is the best, `cost`, `objective`, `predictors`, `gained` and
            `lost` since the step before, `lower_bound` and `is_proven`.
        """
        return [
            {"limit": step.limit}
            | make_record(self.names, step.solution, step.gained, step.lost)
            | {
                "lower_bound": step.solution.lower_bound,
                "is_proven": step.solution.status is Status.OPTIMAL,
            }
            for step in self.steps
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per step: limit, cost, objective, bound, and predictors."""
        columns = ["limit", "cost", "objective", "lower_bound", "n_predictors"]
        records = joined(self.to_records())
        for record, step in zip(records, self.steps, strict=True):
            record["n_predictors"] = len(step.solution.support)
        frame = pd.DataFrame(records, columns=[*columns, "gained", "lost", "predictors"])
        return frame.rename(columns={"limit": self.limit_name})

    def _repr_html_(self) -> str:
        limit = _LIMIT_LABELS[self.limit_name]
        return panel(
            f"Best model for every {limit}: {'' if self.is_certified else 'not '}all steps proven",
            is_proven=self.is_certified,
            header=[limit, "penalised loss", "predictors", "change"],
            rows=(
                (
                    step["limit"],
                    step["objective"],
                    ", ".join(step["predictors"]),
                    ", ".join(
                        [f"+ {name}" for name in step["gained"]]
                        + [f"\N{MINUS SIGN} {name}" for name in step["lost"]]
                    ),
                )
                for step in self.to_records()
            ),
        )

    def plot(self) -> Figure:
        """Draw the staircase, and below it which predictors each step buys (extra `plots`)."""
        from ..plots import plot_staircase

        label = _LIMIT_LABELS[self.limit_name]
        steps = pd.DataFrame(self.to_records())
        return plot_staircase(steps, xlabel=label, highest=self.highest_limit)


def solve_path(
    problem: SubsetProblem,
    *,
    time_limit: float | None = None,
    callback: Callable[[Progress], None] | None = None,
    threads: int | None = None,
) -> Path:
    """Find every budget at which the best affordable selection changes.

    With a budget or with costs, the budget runs from the cost of `include` up to the problem's
    budget (or, if it has none, the price of everything), at the problem's `max_features`.
    Otherwise the number of predictors runs up to `max_features`. Objectives that differ by less
    than 1e-9 (with the hinge 1e-6), relatively, count as equal, and the cheaper selection is then
    the step.

    Parameters
    ----------
    problem : SubsetProblem
        Data, prices and limits.
    time_limit : float, optional
        Seconds for each step; steps that needed more say so in their solution's status. Without
        it and a callback, whole prices and no limit on the number let one search serve all budgets.
    callback : callable, optional
        As in `solve`, for each step. An exception that it raises ends the path.
    threads : int, optional
        As in `solve`, for each step; one search that serves all budgets has one thread.

    Returns
    -------
    Path
        The steps, as a sequence, a table and a figure.

    Examples
    --------
    >>> import shortlist as sl
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]
    >>> problem = sl.SubsetProblem(X, [0, 0, 1, 1], ridge=0.1, budget=7, costs=[4, 3])
    >>> [(step.limit, step.solution.support) for step in sl.solve_path(problem)]
    [(0.0, ()), (4.0, (0,)), (7.0, (0, 1))]
    """
    check_problem(problem)
    limits = problem.limits
    current, name = _first_problem(problem)
    by_budget = name == "budget"
    highest = limits.budget
    if not by_budget and limits.max_features < limits.n_predictors - len(limits.exclude):
        highest = float(limits.max_features)
    options = {"time_limit": time_limit, "callback": callback, "threads": threads}
    solutions: Iterable[tuple[SubsetProblem, Solution]] = _solve_downwards(current, name, **options)
    if by_budget and time_limit is None and callback is None and has_shared_tree(current):
        of_budgets = solve_budgets(current, GAP)
        if of_budgets is not None:
            solutions = reversed(of_budgets)
    found: list[tuple[SubsetProblem, Solution]] = []
    is_certified = True
    for solved, solution in solutions:
        is_certified = is_certified and solution.status is Status.OPTIMAL
        if found and solution.objective <= problem.scale.above(
            found[-1][1].objective, problem.family.resolution
        ):
            found.pop()  # as good and not dearer
        found.append((solved, solution))
    return Path(
        tuple(_steps(found[::-1], by_budget)), name, highest, names_of(problem), is_certified
    )


@dataclass(frozen=True)
class Cheapest:
    """The cheapest selection within a share of the best one's objective.

    Attributes
    ----------
    tolerance : float
        The share asked for.
    limit_name : str
        The limit that it lowers: "budget", or "max_features" where nothing has a price.
    limit : float
        The smallest limit that buys a selection within the tolerance, which is its cost.
    solution : Solution
        The best selection at that limit.
    best : Solution
        The best selection at the problem's own limit.
    is_proven : bool
        Whether no cheaper selection is within the tolerance: every search on the way ended with a
        proof.
    """

    tolerance: float
    limit_name: str
    limit: float
    solution: Solution
    best: Solution
    is_proven: bool

    @property
    def excess(self) -> float:
        """By how much its objective is above the best one, relatively."""
        return self.best.scale.excess(self.solution.objective, self.best.objective)


def cheapest_within(
    problem: SubsetProblem,
    tolerance: float = 0.01,
    *,
    null_objective: float | None = None,
    time_limit: float | None = None,
    callback: Callable[[Progress], None] | None = None,
    threads: int | None = None,
) -> Cheapest:
    """Find the cheapest selection whose objective is within a tolerance of the optimum.

    The limit goes down from selection to selection, each of them the best for less than the one
    before costs, until one is worse than the tolerance allows. All that cost less are then worse
    too. Of several selections that cost the same, the one with the smallest objective is found.

    Parameters
    ----------
    problem : SubsetProblem
        Data, prices and limits; without prices the fewest predictors are the cheapest.
    tolerance : float
        Relative to the optimum: 0.01 gives up at most 1 %. Of a partial likelihood it is a share of
        the weight of the events.
    null_objective : float, optional
        The objective of no model; then the tolerance is relative to the gain of the optimum over
        it.
    time_limit : float, optional
        Seconds for each search; after it, `is_proven` is False.
    callback, threads
        As in `solve`.

    Returns
    -------
    Cheapest
        The selection, the limit that buys it, and whether it is proven to be the cheapest.

    Examples
    --------
    >>> import shortlist as sl
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]
    >>> problem = sl.SubsetProblem(X, [0, 0, 1, 1], ridge=0.1, budget=7, costs=[4, 3])
    >>> found = sl.cheapest_within(problem, 0.2)
    >>> found.limit, found.solution.support, found.best.support, found.is_proven
    (4.0, (0,), (0, 1), True)
    """
    if not is_share(tolerance):
        raise InvalidProblemError(
            f"tolerance: must be a share from 0 to below 1, such as 0.01, not {tolerance!r}."
        )
    check_problem(problem)
    first, limit_name = _first_problem(problem)
    best = chosen = None
    is_proven = True
    options = {"time_limit": time_limit, "callback": callback, "threads": threads}
    for _, solution in _solve_downwards(first, limit_name, **options):
        is_proven = is_proven and solution.status is Status.OPTIMAL
        best = best or solution
        share = max(float(tolerance), problem.family.resolution)
        highest = problem.scale.above(best.objective, share)
        if null_objective is not None:
            gain = max(0.0, null_objective - best.objective)
            least = problem.scale.above(best.objective, problem.family.resolution)
            highest = max(best.objective + tolerance * gain, least)
        if solution.objective > highest:
            break
        chosen = solution
    assert best is not None and chosen is not None  # the first search finds a selection
    limit = chosen.cost if limit_name == "budget" else float(len(chosen.support))
    return Cheapest(float(tolerance), limit_name, limit, chosen, best, is_proven)


def _first_problem(problem: SubsetProblem) -> tuple[SubsetProblem, str]:
    """Return the problem at its highest limit, and the name of the limit that goes down from there.

    That is the budget if there is one, or prices; it is no more than everything costs.
    """
    limits = problem.limits
    if limits.budget == inf and (limits.costs == 1.0).all() and not limits.fees:
        return problem, "max_features"
    everything = tuple(g for g in range(limits.n_predictors) if g not in limits.exclude)
    if limits.cost_of(everything) < limits.budget:
        problem = problem.with_limits(budget=limits.cost_of(everything))
    return problem, "budget"


def _solve_downwards(
    problem: SubsetProblem,
    limit_name: str,
    **options: Any,
) -> Iterator[tuple[SubsetProblem, Solution]]:
    """Solve at the highest limit, then just below what that solution takes, and so on."""
    current: SubsetProblem | None = problem
    while current is not None:
        solution = best_of(current, **options)
        yield current, solution
        current = _next_limits(current, solution, limit_name == "budget")


def _next_limits(
    problem: SubsetProblem, solution: Solution, by_budget: bool
) -> SubsetProblem | None:
    """The problem whose limit is just below what the solution takes; None at the lowest."""
    limits = problem.limits
    if not by_budget:
        n = len(solution.support)
        return problem.with_limits(max_features=n - 1) if n > len(limits.include) else None
    budget = limits.prices.budget_below(limits.units_of(solution.support))
    is_lowest = budget < 0 or limits.total_of(limits.include) > largest_total(budget)
    return None if is_lowest else problem.with_limits(budget=budget)


def _steps(found: list[tuple[SubsetProblem, Solution]], by_budget: bool) -> Iterator[PathStep]:
    before: tuple[int, ...] = ()
    for problem, solution in found:
        limit = solution.cost if by_budget else float(len(solution.support))
        yield PathStep(limit, problem, solution, *changes(before, solution.support))
        before = solution.support
