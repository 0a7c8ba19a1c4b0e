"""A selection rule as a backend: the ridge fit on what the rule buys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

from ..backends import Backend, solve, uninterrupted
from ..backends.conclusion import conclude
from ..backends.support_fit import SupportFits, SupportModel
from ..errors import InvalidProblemError
from ..options import Options
from ..problem import SubsetProblem
from ..result import Solution, Status


@dataclass(frozen=True)
class Heuristic(Backend):
    """A backend that buys what its rule chooses.

    It proves nothing, so the lower bound is 0, as it is for every loss. A rule runs to its end
    whatever the limits of the options. Rules that rank predictors before any fit take no notice of
    limits on coefficients; the fits of the others, and the model, respect them.
    """

    rule: Callable[[SubsetProblem], tuple[int, ...]]
    ignores_ridge: bool = False  # whether the rule buys the same at every ridge

    def solve(self, problem: SubsetProblem, options: Options) -> Solution:
        """Return the best model on the support that the rule chooses."""
        started = perf_counter()
        return _fitted(problem, self.rule(problem), started)

    def solve_ridges(
        self, problem: SubsetProblem, ridges: Sequence[float], options: Options
    ) -> list[Solution]:
        """Return the model of each ridge; the time of a choice made once counts for the first."""
        if not self.ignores_ridge:
            return super().solve_ridges(problem, ridges, options)
        started = perf_counter()
        support = self.rule(problem)
        solutions = []
        for ridge in ridges:
            solutions.append(_fitted(problem.with_ridge(ridge), support, started))
            started = perf_counter()
        return solutions


def check_logistic(problem: SubsetProblem, backend: str, does: str) -> None:
    """Raise unless the loss is the one that a rule is made for."""
    if not problem.loss.gives_risks:
        raise InvalidProblemError(
            f"backend: {backend!r} {does} logistic regressions; use loss='logistic' or a backend "
            "such as 'forward' or 'swap'."
        )


def _fitted(problem: SubsetProblem, support: tuple[int, ...], started: float) -> Solution:
    """Return the best model on a support.

    The native backend fits it several times faster than numpy, which remains for what is beyond it,
    such as columns that are nearly dependent and large.
    """
    others = set(range(problem.n_predictors)).difference(support)
    alone = problem.with_limits(include=support, exclude=sorted(others))
    solution = uninterrupted(solve(alone, gap=0.0))
    if solution.status is Status.OPTIMAL:
        model = SupportModel(support, solution.coef, solution.intercept, solution.objective)
    else:
        model, _ = SupportFits(problem).fit(support)
    return conclude(
        problem,
        model,
        lower_bound=0.0,
        stopped=Status.HEURISTIC,
        gap=0.0,
        nodes=0,
        started=started,
    )
