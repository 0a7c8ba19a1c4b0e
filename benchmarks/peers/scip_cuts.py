"""Outer approximation in one tree of SCIP: cuts are separated at fractional nodes too."""

from __future__ import annotations

from time import process_time
from typing import Any

import numpy as np
from pyscipopt import SCIP_RESULT, Conshdlr, Model, quicksum  # type: ignore[attr-defined]

import shortlist as sl

from .answer import Answer
from .cut import FRACTIONAL_VIOLATION, GAP, MAX_ROUNDS, SMALLEST_VIOLATION, Tangents, linear_rows


class _Losses(Conshdlr):
    """Keeps the variable `loss` above the best loss of the selection z."""

    def __init__(self, problem: sl.SubsetProblem, z: list[Any], loss: Any) -> None:
        self.tangents, self.z, self.loss = Tangents(problem), z, loss
        self.node, self.rounds = -1, 0

    def _cut_off(self, solution: Any, tolerance: float, add: bool) -> bool:
        """Whether the cut at a solution is violated there; adds it if so and asked for."""
        z = np.array([self.model.getSolVal(solution, variable) for variable in self.z])
        whole = np.abs(z - np.round(z)).max() < 1e-6
        z = np.round(z) if whole else np.clip(z, 0.0, 1.0)
        cut = self.tangents.at(z)
        value = cut.constant - float(cut.slopes @ z)
        violated = bool(self.model.getSolVal(solution, self.loss) < value * (1.0 - tolerance))
        if violated and add:
            plane = quicksum(
                float(v) * variable for v, variable in zip(cut.slopes, self.z, strict=True)
            )
            self.model.addCons(self.loss + plane >= cut.constant)
        return violated

    def conscheck(self, constraints: Any, solution: Any, *_: Any) -> dict[str, Any]:
        violated = self._cut_off(solution, SMALLEST_VIOLATION, add=False)
        return {"result": SCIP_RESULT.INFEASIBLE if violated else SCIP_RESULT.FEASIBLE}

    def consenfolp(self, *_: Any) -> dict[str, Any]:
        violated = self._cut_off(None, SMALLEST_VIOLATION, add=True)
        return {"result": SCIP_RESULT.CONSADDED if violated else SCIP_RESULT.FEASIBLE}

    def consenfops(self, *_: Any) -> dict[str, Any]:
        return self.consenfolp()

    def conssepalp(self, *_: Any) -> dict[str, Any]:
        node = self.model.getCurrentNode().getNumber()
        self.rounds = self.rounds + 1 if node == self.node else 0
        self.node = node
        if node > 1 and self.rounds >= MAX_ROUNDS:
            return {"result": SCIP_RESULT.DIDNOTRUN}
        violated = self._cut_off(None, FRACTIONAL_VIOLATION, add=True)
        return {"result": SCIP_RESULT.CONSADDED if violated else SCIP_RESULT.DIDNOTFIND}

    def conslock(self, constraint: Any, locktype: Any, up: int, down: int) -> None:
        for variable in self.z:
            self.model.addVarLocks(variable, up + down, up + down)
        self.model.addVarLocks(self.loss, up, down)


def solve(problem: sl.SubsetProblem, time_limit: float) -> Answer:
    """Run SCIP on the linear rows, with cuts as it goes."""
    started = process_time()
    scip = Model()
    scip.hideOutput()
    matrix, limits, lower, upper = linear_rows(problem)
    x = [scip.addVar(vtype="I", lb=lo, ub=up) for lo, up in zip(lower, upper, strict=True)]
    loss = scip.addVar(lb=0.0)
    for row, limit in zip(matrix, limits, strict=True):
        scip.addCons(quicksum(float(row[j]) * x[j] for j in np.flatnonzero(row)) <= float(limit))
    scip.setObjective(loss)
    losses = _Losses(problem, x[: problem.n_predictors], loss)
    scip.includeConshdlr(
        losses, "losses", "the best loss of a selection", sepapriority=1, enfopriority=-1,
        chckpriority=-1, sepafreq=1, needscons=False,
    )  # fmt: skip
    scip.setParam("limits/gap", GAP)
    scip.setParam("timing/clocktype", 1)  # CPU time
    scip.setParam("limits/time", max(0.0, time_limit - (process_time() - started)))
    # Presolve must not decide z from the rows alone.
    scip.setParam("misc/allowstrongdualreds", False)
    scip.setParam("misc/allowweakdualreds", False)
    scip.optimize()
    status = "optimal" if scip.getStatus() in ("optimal", "gaplimit") else "time_limit"
    support = problem.limits.include
    if scip.getNSols() > 0:
        solution = scip.getBestSol()
        support = tuple(g for g, z in enumerate(losses.z) if scip.getSolVal(solution, z) > 0.5)
    return Answer(support, status, max(0.0, scip.getDualbound()), scip.getNTotalNodes())
