"""Peers in environments of their own: El0ps, FasterRisk and bcselector."""

from __future__ import annotations

import numpy as np

import shortlist as sl

from .answer import Answer, is_number_only, is_plain
from .environment import ask


def solve_el0ps(problem: sl.SubsetProblem, time_limit: float) -> Answer | None:
    """Return the answer of El0ps, an exact tree for the penalised form, for a number of columns.

    The time is that of the whole search for the penalty that gives this number.
    """
    if not is_number_only(problem):
        return None
    return ask("el0ps", problem, time_limit, max_features=problem.limits.max_features)


def solve_fasterrisk(problem: sl.SubsetProblem, time_limit: float) -> Answer | None:
    """Return the answer of FasterRisk, a beam search, for a number of columns."""
    if not is_number_only(problem):
        return None
    return ask("fasterrisk", problem, time_limit, max_features=problem.limits.max_features)


def solve_bcselector(problem: sl.SubsetProblem, time_limit: float) -> Answer | None:
    """Buy columns in the order of bcselector, information over cost; None without a budget."""
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
