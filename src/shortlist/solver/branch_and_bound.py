"""The best affordable model, by branch and bound."""

from __future__ import annotations

from contextlib import closing
from math import inf
from time import perf_counter
from typing import Any

import numpy as np

from ..problem import SubsetProblem
from ..solution import Options, Solution, Status, solution_of
from .compilation import ready_kernels
from .confirmation import confirmed
from .driver import Run
from .kernels.layout import IN
from .kernels.search import polish, run_search
from .packed import Packed
from .prepare import prepare
from .recording import Recording
from .rounds import Rounds
from .scratch import give_back


def branch_and_bound(
    problem: SubsetProblem, options: Options, packed: Packed | None = None
) -> Solution:
    """Solve a problem, whose packed data may be at hand; see `shortlist.solve`."""
    started = perf_counter()
    ready_kernels()
    prepared = prepare(problem, packed=packed)
    search, warm = prepared.search, prepared.scratch.warm
    gap = max(options.gap, problem.loss.resolution)
    if options.warm_start is not None:
        warm[list(options.warm_start)] = True
    run = Run(prepared, Recording(prepared.scratch))
    rounds = Rounds(run, options, gap, started)

    def advance(n_nodes: int) -> bool:
        n_left = rounds.first_node - int(run.tree.now["nodes"])
        if n_left <= 0 < run.n_open():
            rounds.play()
            return False
        n_nodes = min(n_nodes, max(n_left, 0))
        return bool(run_search(search, run.tree, run.recording.trace, warm, gap, n_nodes))

    with closing(rounds):
        status = run.drive(advance, options, started)
    solution = _solution(problem, run, status, gap, started)
    give_back(prepared.scratch)
    return solution


def _solution(
    problem: SubsetProblem, run: Run, status: Status, gap: float, started: float
) -> Solution:
    search = run.prepared.search
    incumbent: Any = search.incumbent
    if incumbent.score["objective"] < inf:
        if status is not Status.OPTIMAL:  # a search that ends by itself has polished it
            polish(search)
        coef, intercept = run.prepared.model(incumbent.theta, incumbent.score["intercept"])
        # What was bought, without predictors whose coefficients are exactly 0.
        used = {*problem.column_predictor[coef.nonzero()[0]].tolist(), *problem.limits.include}
        bought = (incumbent.status == IN).nonzero()[0].tolist()
        support = tuple(g for g in bought if g in used)
    else:
        # Interrupted before the first model: what must be bought, with coefficients of 0.
        coef = np.zeros(problem.n_columns)
        intercept = search.data.null_intercept
        support = problem.limits.include
    solution = solution_of(
        problem,
        support,
        coef,
        intercept,
        status=status,
        lower_bound=run.lower_bound(),
        gap=gap,
        nodes=int(run.tree.now["nodes"]),
        seconds=perf_counter() - started,
        prover=run.prover(problem),
    )
    return confirmed(problem, run.prepared, solution, gap)
