"""The best affordable model, by branch and bound."""

from __future__ import annotations

from math import inf
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from ..options import Options
from ..problem import SubsetProblem
from ..result import Solution, Status
from .compilation import ready_kernels
from .confirmation import confirmed
from .driver import Run
from .kernels.layout import IN
from .kernels.search import polish, run_search
from .kernels.tree import Tree
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
    recording = Recording(prepared.scratch)
    run = Run(prepared, recording)
    rounds = Rounds(run, options, gap, started)

    def advance(tree: Tree, n_nodes: int) -> bool:
        n_left = rounds.first_node - int(tree.now["nodes"])
        if n_left <= 0 < tree.now["n_open"] + tree.now["n_diving"]:
            rounds.play()
            return False
        n_nodes = min(n_nodes, max(n_left, 0))
        return bool(run_search(search, tree, recording.trace, warm, gap, n_nodes))

    with rounds:
        status = run.drive(advance, options, started)
    solution = _solution(problem, run, status, gap, started)
    give_back(prepared.scratch)
    return solution


def _worth_its_price(
    problem: SubsetProblem, support: list[int], coef: NDArray[np.float64]
) -> tuple[int, ...]:
    """What was bought, without predictors whose coefficients are exactly 0."""
    used = set(problem.column_predictor[coef.nonzero()[0]].tolist())
    used.update(problem.constraints.include)
    return tuple(g for g in support if g in used)


def _solution(
    problem: SubsetProblem, run: Run, status: Status, gap: float, started: float
) -> Solution:
    search = run.prepared.search
    incumbent = search.incumbent
    if incumbent.score["objective"] < inf:
        if status is not Status.OPTIMAL:  # a search that ends by itself has polished it
            polish(search)
        coef = run.prepared.coefficients(incumbent.theta)
        intercept = run.prepared.intercept(incumbent.theta, float(incumbent.score["intercept"]))
        support = _worth_its_price(problem, (incumbent.status == IN).nonzero()[0].tolist(), coef)
    else:
        # Interrupted before the first model: what must be bought, with coefficients of 0.
        coef = np.zeros(problem.n_columns)
        intercept = search.data.null_intercept
        support = problem.constraints.include
    objective = problem.objective(coef, intercept)
    # The bound and the objective are rounded separately; a bound above the objective is rounding.
    lower_bound = min(run.lower_bound(), objective)
    if status is Status.OPTIMAL and objective - lower_bound > gap * objective:
        status = Status.STALLED
    solution = Solution(
        status=status,
        support=support,
        cost=problem.constraints.cost_of(support),
        coef=coef,
        intercept=intercept,
        objective=objective,
        lower_bound=lower_bound,
        nodes=int(run.tree.now["nodes"]),
        seconds=perf_counter() - started,
        names=tuple(map(problem.name_of, support)),
        prover=run.recording.prover(problem, run.prepared, run.tree, run.open_slots()),
    )
    return confirmed(problem, run.prepared, solution, gap)
