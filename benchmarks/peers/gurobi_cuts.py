"""Outer approximation in one tree of Gurobi, within the size that its free licence allows.

The model has a variable for each predictor and fee, and one for the loss: far fewer than the 2000
of the free licence. Cuts are lazy constraints, added at selections and at fractional nodes.
"""

from __future__ import annotations

from time import process_time
from typing import Any

import gurobipy
import numpy as np
from gurobipy import GRB

import shortlist as sl

from .answer import Answer
from .cut import (
    FRACTIONAL_VIOLATION,
    GAP,
    MAX_ROUNDS,
    SMALLEST_VIOLATION,
    Float,
    Tangents,
    linear_rows,
)


def solve(problem: sl.SubsetProblem, time_limit: float) -> Answer:
    """Run Gurobi on the linear rows, with cuts as it goes."""
    started = process_time()
    tangents = Tangents(problem)
    matrix, limits, lower, upper = linear_rows(problem)
    with (
        gurobipy.Env(params={"OutputFlag": 0}) as environment,
        gurobipy.Model(env=environment) as model,
    ):
        x = model.addMVar(len(lower), lb=lower, ub=upper, vtype=GRB.INTEGER)
        loss = model.addVar(lb=0.0, obj=1.0)
        model.addConstr(matrix @ x <= limits)
        z = x.tolist()[: problem.n_predictors]
        rounds = {"node": -1.0, "count": 0}

        def add_cut(point: Float, value: float, tolerance: float) -> None:
            cut = tangents.at(np.clip(point, 0.0, 1.0))
            if value < (cut.constant - float(cut.slopes @ point)) * (1.0 - tolerance):
                model.cbLazy(
                    loss + gurobipy.quicksum(v * g for v, g in zip(cut.slopes, z, strict=True))
                    >= cut.constant
                )

        def separate(_: Any, where: int) -> None:
            if process_time() - started > time_limit:
                model.terminate()
            elif where == GRB.Callback.MIPSOL:
                point = np.round(model.cbGetSolution(z))
                add_cut(point, model.cbGetSolution(loss), SMALLEST_VIOLATION)
            elif where == GRB.Callback.MIPNODE:
                if model.cbGet(GRB.Callback.MIPNODE_STATUS) != GRB.OPTIMAL:
                    return
                node = model.cbGet(GRB.Callback.MIPNODE_NODCNT)
                rounds["count"] = rounds["count"] + 1 if node == rounds["node"] else 0
                rounds["node"] = node
                if node == 0 or rounds["count"] < MAX_ROUNDS:
                    add_cut(
                        np.array(model.cbGetNodeRel(z)),
                        model.cbGetNodeRel(loss),
                        FRACTIONAL_VIOLATION,
                    )

        model.Params.LazyConstraints = 1
        model.Params.Threads = 1
        model.Params.MIPGap = GAP
        model.Params.MIPGapAbs = 0.0
        model.optimize(separate)
        support = problem.limits.include
        if model.SolCount > 0:
            support = tuple(g for g, variable in enumerate(z) if variable.X > 0.5)
        status = "optimal" if model.Status == GRB.OPTIMAL else "time_limit"
        return Answer(support, status, max(0.0, model.ObjBound), int(model.NodeCount))
