"""El0ps: an exact tree for the penalised form, in an environment of its own.

The time is that of the whole search for the penalty that gives the number of columns asked for.
"""

from __future__ import annotations

import shortlist as sl

from .answer import Answer, is_number_only
from .environment import ask


def solve(problem: sl.SubsetProblem, time_limit: float) -> Answer | None:
    """Return its answer for a number of columns; None for what it has no words for."""
    if not is_number_only(problem):
        return None
    return ask("el0ps", problem, time_limit, max_features=problem.limits.max_features)
