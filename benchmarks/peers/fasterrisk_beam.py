"""FasterRisk: beam search for a number of columns, in an environment of its own."""

from __future__ import annotations

import shortlist as sl

from .answer import Answer, is_number_only
from .environment import ask


def solve(problem: sl.SubsetProblem, time_limit: float) -> Answer | None:
    """Return its answer for a number of columns; None for what it has no words for."""
    if not is_number_only(problem):
        return None
    return ask("fasterrisk", problem, time_limit, max_features=problem.limits.max_features)
