"""Outer approximation with HiGHS, tree after tree, each with the cut at the last one's optimum.

HiGHS is that of scipy. The cuts of the continuous relaxation come first, which saves trees.
"""

from __future__ import annotations

from time import process_time

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

import shortlist as sl

from .answer import Answer
from .cut import GAP, Cut, Tangents, linear_rows

_RELAXED_GAP = 1e-4  # of the relaxation, after which trees begin


def solve(problem: sl.SubsetProblem, time_limit: float) -> Answer:
    """Add cuts until the best loss found is within the gap of the last tree's bound."""
    started = process_time()
    tangents = Tangents(problem)
    n = problem.n_predictors
    matrix, limits, lower, upper = linear_rows(problem)
    support, best, bound, nodes = problem.limits.include, np.inf, 0.0, 0
    z = lower[:n]
    cuts: list[Cut] = [tangents.at(z)]
    is_selection = np.arange(len(lower) + 1) < len(lower)  # variables: z, s and the loss
    whole = False
    while True:
        left = time_limit - (process_time() - started)
        if left <= 0:
            return Answer(support, "time_limit", bound, nodes)
        planes = np.array([[*cut.slopes, *np.zeros(len(lower) - n), 1.0] for cut in cuts])
        result = milp(
            c=(~is_selection).astype(float),
            integrality=(is_selection & whole).astype(int),
            bounds=Bounds(np.append(lower, 0.0), np.append(upper, np.inf)),
            constraints=[
                LinearConstraint(np.column_stack([matrix, np.zeros(len(matrix))]), -np.inf, limits),
                LinearConstraint(planes, [cut.constant for cut in cuts], np.inf),
            ],
            # HiGHS has no clock of CPU time; this only ends a tree that never would.
            options={"time_limit": 30.0 * left, "mip_rel_gap": 0.1 * GAP},
        )
        if result.x is None:
            return Answer(support, "time_limit", bound, nodes)
        z = np.round(result.x[:n]) if whole else np.clip(result.x[:n], 0.0, 1.0)
        claimed = float(result.mip_dual_bound) if whole else float(result.fun)
        nodes += int(result.mip_node_count or 0) if whole else 0
        bound = max(bound, claimed)
        cut = tangents.at(z)
        cuts.append(cut)
        loss = cut.constant - float(cut.slopes @ z)
        if whole:
            if loss < best:
                best, support = loss, tuple(np.flatnonzero(z).tolist())
            if best - bound <= GAP * best:
                return Answer(support, "optimal", bound, nodes)
        elif loss - claimed <= _RELAXED_GAP * loss:
            whole = True
