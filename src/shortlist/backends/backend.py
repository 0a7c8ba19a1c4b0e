"""The interface of a backend, and the result of one that fits the supports it finds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING

from ..problem import SubsetProblem
from ..solution import Options, Solution, Status, solution_of

if TYPE_CHECKING:
    from .support_fit import SupportModel  # loads SciPy


class Backend(ABC):
    """A way to solve a problem: one subclass, in one file, with one entry in the registry."""

    @abstractmethod
    def solve(self, problem: SubsetProblem, options: Options) -> Solution:
        """Return the best affordable model found, and an honest lower bound and status.

        The options are valid, and `options.warm_start`, if any, is affordable.
        """

    def solve_ridges(
        self, problem: SubsetProblem, ridges: Sequence[float], options: Options
    ) -> list[Solution]:
        """Solve the problem at each ridge; a backend that can share work overrides this."""
        return [uninterrupted(self.solve(problem.with_ridge(r), options)) for r in ridges]


def uninterrupted(solution: Solution) -> Solution:
    """Return the solution, or raise KeyboardInterrupt if Ctrl-C ended its solve.

    So Ctrl-C during one of many solves ends all of them.
    """
    if solution.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return solution


def conclude(
    problem: SubsetProblem,
    model: SupportModel | Solution,
    *,
    lower_bound: float,
    stopped: Status | None,
    gap: float,
    nodes: int,
    started: float,
) -> Solution:
    """Return the result of a solve that `started` at a time, and was `stopped` or came to its end.

    At its end the gap decides the status, not the solver's opinion of its own model.
    """
    return solution_of(
        problem,
        model.support,
        model.coef,
        model.intercept,
        status=stopped or Status.OPTIMAL,
        lower_bound=max(problem.scale.least, lower_bound),
        gap=gap,
        nodes=nodes,
        seconds=perf_counter() - started,
    )
