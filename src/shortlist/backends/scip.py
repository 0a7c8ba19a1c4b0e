"""The paper's conic model, solved by SCIP; `conic_search` deals with its tolerances."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from ..conic.model import point_of
from ..conic.scip import build_scip, import_pyscipopt, with_bounds
from ..problem import SubsetProblem
from ..solution import Options, Progress, Solution, Status
from .backend import Backend
from .conic_search import TOLERANCE, ConicSearch, SolverRun

_IPOPT_OPTIONS = Path(__file__).with_name("ipopt.opt")
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
        import_pyscipopt()
        search = ConicSearch(problem, options)
        best = search.best
        model = with_bounds(search.model, best.objective, problem.scale.least)
        scip, x = build_scip(model)
        # SCIP's default of 1e-6 made objectives 2e-6 to 2e-5 too low.
        scip.setParam("numerics/feastol", TOLERANCE)
        scip.setParam("limits/gap", search.gap)
        if "nlpi/ipopt/optfile" in scip.getParams():  # SCIP may be built without Ipopt
            scip.setParam("nlpi/ipopt/optfile", str(_IPOPT_OPTIONS))
        # A solution to start from, which lacks the variables that only SCIP has.
        start = scip.createPartialSol()
        values = point_of(problem, model, best.support, best.coef, best.intercept).tolist()
        for variable, value in zip(x, values, strict=True):
            scip.setSolVal(start, variable, value)
        scip.addSol(start)
        reporter = None
        if options.callback is not None:
            reporter = _report(scip, search, options.callback)

        def run(seconds_left: float | None, nodes_left: int | None) -> SolverRun:
            if seconds_left is not None:
                scip.setParam("limits/time", seconds_left)
            if nodes_left is not None:
                scip.setParam("limits/totalnodes", nodes_left)
            scip.optimize()
            if reporter is not None and reporter.error is not None:
                raise reporter.error
            found = None
            if scip.getNSols() > 0:
                solution = scip.getBestSol()
                found = np.array([scip.getSolVal(solution, variable) for variable in x])
            return SolverRun(scip.getStatus(), found, scip.getDualbound(), scip.getNTotalNodes())

        def forbid(support: tuple[int, ...]) -> None:
            scip.freeTransform()
            scip.addCons(sum(x[model.blocks["z"]][g] for g in support) <= len(support) - 1)

        return search.solve(run, forbid, _ENDINGS)


def _report(scip: Any, search: ConicSearch, callback: Callable[[Progress], None]) -> Any:
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
                objective=min(search.best.objective, self.model.getPrimalbound()),
                lower_bound=max(
                    search.problem.scale.least, self.model.getDualbound() - search.allowance
                ),
                seconds=perf_counter() - search.started,
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
