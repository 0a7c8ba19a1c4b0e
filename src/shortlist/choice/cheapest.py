"""The cheapest selection that is nearly as good as the best one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..arguments import is_share
from ..backends import check_problem
from ..errors import InvalidProblemError
from ..problem import SubsetProblem
from ..solution import Progress, Solution, Status
from .path import first_problem, solve_downwards
from .record import excess


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
        return excess(self.solution.objective, self.best.objective)


def cheapest_within(
    problem: SubsetProblem,
    tolerance: float = 0.01,
    *,
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
        Relative to the optimum: 0.01 gives up at most 1 %.
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
    first, limit_name = first_problem(problem)
    best = chosen = None
    is_proven = True
    for _, solution in solve_downwards(first, limit_name, time_limit, callback, threads):
        is_proven = is_proven and solution.status is Status.OPTIMAL
        best = best or solution
        highest = best.objective * (1.0 + max(float(tolerance), problem.loss.resolution))
        if solution.objective > highest:
            break
        chosen = solution
    assert best is not None and chosen is not None  # the first search finds a selection
    limit = chosen.cost if limit_name == "budget" else float(len(chosen.support))
    return Cheapest(float(tolerance), limit_name, limit, chosen, best, is_proven)
