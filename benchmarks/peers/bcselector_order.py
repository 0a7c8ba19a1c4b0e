"""bcselector: columns in the order of information over cost, in an environment of its own."""

from __future__ import annotations

import numpy as np

import shortlist as sl

from .answer import Answer, is_plain
from .environment import ask


def solve(problem: sl.SubsetProblem, time_limit: float) -> Answer | None:
    """Return what its order buys; None without a budget, or for what it has no words for."""
    limits = problem.limits
    limited = limits.max_features < problem.n_predictors or limits.fees
    if limits.budget == np.inf or limited or not is_plain(problem):
        return None
    return ask(
        "bcselector",
        problem,
        time_limit,
        costs=limits.costs.tolist(),
        budget=limits.budget,
    )
