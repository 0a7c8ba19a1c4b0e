"""From a rule that chooses a support to a backend: the ridge fit on what the rule buys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter

from ..backends import Backend
from ..backends.support_fit import Model, SupportFits
from ..options import Options
from ..problem import SubsetProblem
from ..result import Solution, Status


class Heuristic(Backend):
    """A backend that buys what its rule chooses.

    It proves nothing, so the lower bound is 0, as it is for every loss. A rule runs to its end
    whatever the limits of the options.
    """

    rule: Callable[[SubsetProblem], tuple[int, ...]]
    ignores_ridge = False  # whether the rule buys the same at every ridge

    def solve(self, problem: SubsetProblem, options: Options) -> Solution:
        """Return the best model on the support that the rule chooses."""
        start = perf_counter()
        support = self.rule(problem)
        model, _ = SupportFits(problem).fit(support)
        return _solution(problem, model, perf_counter() - start)

    def solve_ridges(
        self, problem: SubsetProblem, ridges: Sequence[float], options: Options
    ) -> list[Solution]:
        """Return the model of each ridge; the time of a choice made once counts for the first."""
        if not self.ignores_ridge:
            return super().solve_ridges(problem, ridges, options)
        start = perf_counter()
        support = self.rule(problem)
        model, solutions = None, []
        for ridge in ridges:
            at_ridge = problem.with_ridge(ridge)
            model, _ = SupportFits(at_ridge).fit(support, model)
            solutions.append(_solution(at_ridge, model, perf_counter() - start))
            start = perf_counter()
        return solutions


def _solution(problem: SubsetProblem, model: Model, seconds: float) -> Solution:
    return Solution(
        status=Status.HEURISTIC,
        support=model.support,
        cost=problem.constraints.cost_of(model.support),
        coef=model.coef,
        intercept=model.intercept,
        objective=model.objective,
        lower_bound=0.0,
        nodes=0,
        seconds=seconds,
    )
