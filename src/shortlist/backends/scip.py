"""The paper's conic model, solved by SCIP.

SCIP works with tolerances: a solution may violate every constraint a little, and its objective is
then a little too low. So the selection it finds is fitted again and scored by the problem, and what
the tolerance may have added to SCIP's lower bound is taken off. If the two do not meet, the status
is STALLED, although SCIP calls its own solution optimal.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from ..conic.model import conic_model, point_of
from ..conic.scip import build_scip, import_pyscipopt, with_bounds
from ..options import Options, Progress
from ..problem import SubsetProblem
from ..result import Solution, Status
from . import Backend
from .conclusion import conclude
from .support_fit import SupportFits

# The violation that SCIP allows; its default of 1e-6 made objectives 2e-6 to 2e-5 too low.
_TOLERANCE = 1e-8
_ENDINGS = {
    "optimal": None,
    "gaplimit": None,
    "timelimit": Status.TIME_LIMIT,
    "totalnodelimit": Status.NODE_LIMIT,
    "userinterrupt": Status.INTERRUPTED,
}


class ScipBackend(Backend):
    """SCIP on the scaled model with bounds, which serves it best; needs `shortlist[scip]`."""

    def solve(self, problem: SubsetProblem, options: Options) -> Solution:
        """Return the best model found, with an honest status and lower bound."""
        started = perf_counter()
        import_pyscipopt()
        fits = SupportFits(problem)
        best, _ = fits.fit(options.warm_start or problem.constraints.include)
        model = with_bounds(conic_model(problem, scaled=True), best.objective)
        # What each term of the objective may contribute to an error of the bound.
        allowance = _TOLERANCE * float(model.cost.sum())
        scip, x = build_scip(model)
        _set_parameters(scip, options)
        _start_from(scip, x, point_of(problem, model, best.support, best.coef, best.intercept))
        reporter = None
        if options.callback is not None:
            reporter = _report(scip, options.callback, best.objective, allowance, started)
        nodes = 0  # of the runs before this one, which SCIP forgets
        while True:
            if options.time_limit is not None:
                left = options.time_limit - (perf_counter() - started)
                scip.setParam("limits/time", max(0.0, left))
            if options.node_limit is not None:
                scip.setParam("limits/totalnodes", max(1, options.node_limit - nodes))
            scip.optimize()
            if reporter is not None and reporter.error is not None:
                raise reporter.error
            if scip.getNSols() == 0:
                break
            solution = scip.getBestSol()
            support = model.support_of(np.array([scip.getSolVal(solution, v) for v in x]))
            if problem.constraints.is_affordable(support):
                found, _ = fits.fit(support)
                best = found if found.objective < best.objective else best
                break
            # Affordable within SCIP's tolerance only: no selection buys all of these.
            nodes += scip.getNTotalNodes()
            scip.freeTransform()
            scip.addCons(sum(x[model.blocks["z"]][g] for g in support) <= len(support) - 1)
        if scip.getStatus() not in _ENDINGS:
            raise RuntimeError(f"SCIP ended with the status {scip.getStatus()!r}.")
        return conclude(
            problem,
            best,
            lower_bound=scip.getDualbound() - allowance,
            stopped=_ENDINGS[scip.getStatus()],
            gap=options.gap,
            nodes=nodes + scip.getNTotalNodes(),
            started=started,
        )


def _set_parameters(scip: Any, options: Options) -> None:
    scip.setParam("numerics/feastol", _TOLERANCE)
    # Half of the gap is left to the tolerance.
    scip.setParam("limits/gap", 0.5 * options.gap)


def _start_from(scip: Any, x: list[Any], values: Any) -> None:
    """Give SCIP a solution, which lacks the variables that only SCIP has."""
    solution = scip.createPartialSol()
    for variable, value in zip(x, values.tolist(), strict=True):
        scip.setSolVal(solution, variable, value)
    scip.addSol(solution)


def _report(
    scip: Any,
    callback: Callable[[Progress], None],
    first_objective: float,
    allowance: float,
    started: float,
) -> Any:
    """Call back after every node; an exception stops the search and is kept in `error`."""
    pyscipopt = import_pyscipopt()

    class Reporter(pyscipopt.Eventhdlr):  # type: ignore[misc, name-defined]
        error: Exception | None = None

        def eventinit(self) -> None:
            self.model.catchEvent(pyscipopt.SCIP_EVENTTYPE.NODESOLVED, self)

        def eventexit(self) -> None:
            self.model.dropEvent(pyscipopt.SCIP_EVENTTYPE.NODESOLVED, self)

        def eventexec(self, event: Any) -> None:
            progress = Progress(
                nodes=self.model.getNTotalNodes(),
                open_nodes=len(self.model.getOpenNodes()),
                objective=min(first_objective, self.model.getPrimalbound()),
                lower_bound=max(0.0, self.model.getDualbound() - allowance),
                seconds=perf_counter() - started,
            )
            try:
                callback(progress)
            except KeyboardInterrupt:
                self.model.interruptSolve()
            except Exception as error:
                self.error = error
                self.model.interruptSolve()

    reporter = Reporter()
    scip.includeEventhdlr(reporter, "progress", "tells the callback")
    return reporter
