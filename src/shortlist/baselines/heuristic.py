"""From a rule that chooses a support to a backend: the ridge fit on what the rule buys."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from ..backends.support_fit import SupportFits
from ..options import Options
from ..problem import SubsetProblem
from ..result import Solution, Status


class Heuristic:
    """A backend that buys what its rule chooses.

    It proves nothing, so the lower bound is 0, as it is for every loss. A rule runs to its end
    whatever the limits of the options.
    """

    rule: Callable[[SubsetProblem], tuple[int, ...]]

    def solve(self, problem: SubsetProblem, options: Options) -> Solution:
        """Return the best model on the support that the rule chooses."""
        start = perf_counter()
        support = self.rule(problem)
        model, _ = SupportFits(problem).fit(support)
        return Solution(
            status=Status.HEURISTIC,
            support=support,
            cost=problem.constraints.cost_of(support),
            coef=model.coef,
            intercept=model.intercept,
            objective=model.objective,
            lower_bound=0.0,
            nodes=0,
            seconds=perf_counter() - start,
        )
