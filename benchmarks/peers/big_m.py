"""The selection by big-M rows that papers on support vector machines use, solved by SCIP.

Labbé, Martínez-Merino and Rodríguez-Chía, "Mixed integer linear programming for feature selection
in support vector machine" (2019), limit the number of columns by -M z_n <= theta_n <= M z_n and
sum_n z_n <= k. Where columns have prices, as in models of cost-constrained machines, that is
sum_n c_n z_n <= budget. Their norms differ from ours, and so do their optima: here the objective is
ours, with the squared norm, and only the selection is theirs. M is a bound on every coefficient of
an optimum: ridge/2 theta_n^2 is at most the objective of the model without coefficients.
"""

from __future__ import annotations

from math import sqrt
from time import process_time

import numpy as np
from pyscipopt import Model, quicksum  # type: ignore[attr-defined]

import shortlist as sl

from .answer import Answer, is_plain
from .cut import GAP, linear_rows


def solve(problem: sl.SubsetProblem, time_limit: float) -> Answer | None:
    """Run SCIP on slack variables, big-M rows and a quadratic objective."""
    if problem.family.name not in ("hinge", "squared_hinge") or not is_plain(problem):
        return None
    started = process_time()
    scip = Model()
    scip.hideOutput()
    matrix, limits, lower, upper = linear_rows(problem)
    z = [scip.addVar(vtype="I", lb=lo, ub=up) for lo, up in zip(lower, upper, strict=True)]
    for row, limit in zip(matrix, limits, strict=True):
        scip.addCons(quicksum(float(row[j]) * z[j] for j in np.flatnonzero(row)) <= float(limit))
    intercept = problem.family.null_intercept(problem.response.values, problem.weights)
    highest = problem.objective(np.zeros(problem.n_columns), intercept)
    most = sqrt(2.0 * highest / problem.ridge)
    theta = [scip.addVar(lb=-most, ub=most) for _ in range(problem.n_columns)]
    theta_0 = scip.addVar(lb=None)
    slack = [scip.addVar() for _ in range(problem.n_rows)]
    for coefficient, chosen in zip(theta, z, strict=False):
        scip.addCons(coefficient <= most * chosen)
        scip.addCons(-coefficient <= most * chosen)
    for x, y, e in zip(problem.X, problem.response.values, slack, strict=True):
        score = quicksum(float(y * v) * t for v, t in zip(x, theta, strict=True))
        scip.addCons(score + float(y) * theta_0 + e >= 1.0)
    losses = slack if problem.family.name == "hinge" else [e * e for e in slack]
    total = quicksum(float(w) * e for w, e in zip(problem.weights, losses, strict=True))
    objective = scip.addVar(lb=0.0, ub=highest)
    scip.addCons(total + problem.ridge / 2 * quicksum(t * t for t in theta) <= objective)
    scip.setObjective(objective)
    scip.setParam("limits/gap", GAP)
    scip.setParam("timing/clocktype", 1)  # CPU time
    scip.setParam("limits/time", max(0.0, time_limit - (process_time() - started)))
    scip.optimize()
    status = "optimal" if scip.getStatus() in ("optimal", "gaplimit") else "time_limit"
    support: tuple[int, ...] = ()
    if scip.getNSols() > 0:
        solution = scip.getBestSol()
        n = problem.n_predictors
        support = tuple(g for g in range(n) if scip.getSolVal(solution, z[g]) > 0.5)
    return Answer(support, status, max(0.0, scip.getDualbound()), scip.getNTotalNodes())
