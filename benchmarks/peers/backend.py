"""Our own backends as peers: SCIP on the conic model, and the heuristics."""

from __future__ import annotations

import shortlist as sl

from .answer import Answer, Peer


def peer_of(backend: str) -> Peer:
    """Return the peer that solves with this backend."""

    def solve(problem: sl.SubsetProblem, time_limit: float) -> Answer:
        solution = sl.solve(problem, backend, time_limit=time_limit)
        return Answer(solution.support, solution.status.value, solution.lower_bound, solution.nodes)

    return solve
