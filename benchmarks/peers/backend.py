"""Our own backends as peers: SCIP on the conic model, and the heuristics."""

from __future__ import annotations

from time import process_time

import shortlist as sl
from shortlist.solution import Progress

from .answer import Answer, Peer

_WALL = 10.0  # a backend goes by the wall clock; the multiple of its CPU seconds that it may take


def peer_of(backend: str) -> Peer:
    """Return the peer that solves with this backend."""

    def solve(problem: sl.SubsetProblem, time_limit: float) -> Answer:
        solution, status = solve_within(problem, backend, time_limit)
        return Answer(solution.support, status, solution.lower_bound, solution.nodes)

    return solve


def solve_within(
    problem: sl.SubsetProblem, backend: str, time_limit: float
) -> tuple[sl.Solution, str]:
    """Return the solution that a backend has after some CPU seconds at most, and its status."""
    started = process_time()

    def stop(_: Progress) -> None:
        if process_time() - started > time_limit:
            raise KeyboardInterrupt

    solution = sl.solve(problem, backend, time_limit=_WALL * time_limit, callback=stop, threads=1)
    stopped = solution.status is sl.Status.INTERRUPTED
    return solution, "time_limit" if stopped else solution.status.value
