"""The search of a general solver on the conic model, as SCIP and MOSEK have in common.

They work with tolerances: a solution may violate every constraint a little, and its objective is
then a little too low. So the selection found is fitted again and scored by the problem, one that
only the tolerance affords is forbidden and the search repeated, and what the tolerance may have
added to the lower bound is taken off. If the two do not meet, the status is STALLED, although the
solver calls its own solution optimal.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import NamedTuple

from ..arguments import Float
from ..conic.model import conic_model
from ..problem import SubsetProblem
from ..solution import Options, Solution, Status
from .backend import conclude
from .support_fit import SupportFits

TOLERANCE = 1e-8  # the violation that the solvers may allow


class SolverRun(NamedTuple):
    """The answer of a solver to one run."""

    ending: str  # why it ended, in the solver's words
    x: Float | None  # the solution, if there is one
    lower_bound: float
    nodes: int


class ConicSearch:
    """The scaled model of a problem, which serves the solvers best, and the best selection so far.

    `allowance` is the error of a bound that the tolerance allows, over all terms. `gap` is the one
    that the solver is given, relative to its objective; the rest is left to the tolerance.
    """

    def __init__(self, problem: SubsetProblem, options: Options) -> None:
        self.started = perf_counter()
        self.problem, self.options = problem, options
        self.fits = SupportFits(problem)
        self.best, _ = self.fits.fit(options.warm_start or problem.limits.include)
        self.model = conic_model(problem, scaled=True)
        of_penalty = self.model.cost[self.model.blocks["r"]].sum()
        self.allowance = TOLERANCE * (self.model.loss.sensitivity + float(of_penalty))
        objective = self.best.objective
        self.gap = 0.5 * options.gap * problem.scale.of(objective) / (abs(objective) or 1.0)

    def solve(
        self,
        run: Callable[[float | None, int | None], SolverRun],
        forbid: Callable[[tuple[int, ...]], None],
        endings: dict[str, Status | None],
    ) -> Solution:
        """Return the best model found, with an honest status and lower bound.

        Parameters
        ----------
        run : callable
            Runs the solver, given the seconds and the nodes that are left, None for no limit.
        forbid : callable
            Adds the constraint that no selection buys all of these predictors.
        endings : dict
            The limit that an ending stands for; None if the solver has finished.
        """
        options, best, nodes = self.options, self.best, 0
        while True:
            seconds_left = nodes_left = None
            if options.time_limit is not None:
                seconds_left = max(0.0, options.time_limit - (perf_counter() - self.started))
            if options.node_limit is not None:
                nodes_left = max(1, options.node_limit - nodes)
            outcome = run(seconds_left, nodes_left)
            nodes += outcome.nodes
            if outcome.x is None:
                break
            support = self.model.support_of(outcome.x)
            if self.problem.limits.is_affordable(support):
                found, _ = self.fits.fit(support)
                best = found if found.objective < best.objective else best
                break
            forbid(support)
        if outcome.ending not in endings:
            raise RuntimeError(f"The solver ended with {outcome.ending!r}.")
        return conclude(
            self.problem,
            best,
            lower_bound=outcome.lower_bound - self.allowance,
            stopped=endings[outcome.ending],
            gap=options.gap,
            nodes=nodes,
            started=self.started,
        )
