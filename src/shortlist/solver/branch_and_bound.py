"""The search as seen from Python: slices of compiled work between checks of the limits."""

from __future__ import annotations

from math import inf, log
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from ..options import Options, Progress
from ..problem import SubsetProblem
from ..result import Solution, Status
from .compilation import ready_kernels
from .kernels.layout import BEST_INTERCEPT, CLOSED, DIVE, IN, NODES, OPEN, SERIAL, UPPER, Tree
from .kernels.search import polish, run_search
from .kernels.tree import DIVE_SLOT
from .prepare import FIRST_SLOTS, Prepared, enlarge, plant, prepare
from .recording import Recording
from .slices import first_slice, next_slice

_SMALLEST_GAP = 1e-9  # fits are accurate to a tenth of this


def branch_and_bound(problem: SubsetProblem, options: Options) -> Solution:
    """Solve a problem; see `shortlist.solve`."""
    started = perf_counter()
    ready_kernels()
    prepared = prepare(problem)
    work = prepared.work
    gap = max(options.gap, _SMALLEST_GAP)
    warm = np.zeros(problem.n_predictors, dtype=np.bool_)
    if options.warm_start is not None:
        warm[list(options.warm_start)] = True
    tree = plant(prepared, FIRST_SLOTS)
    recording = Recording(prepared)
    status = Status.OPTIMAL
    n_slice = first_slice(prepared.data.X.size)
    try:
        while True:
            if options.node_limit is not None:
                n_slice = min(n_slice, options.node_limit - int(work.counter[NODES]))
            slice_started, nodes_before = perf_counter(), int(work.counter[NODES])
            done = run_search(
                prepared.data, prepared.limits, work, tree, recording.trace,
                prepared.root, warm, gap, n_slice,
            )  # fmt: skip
            if done:
                break
            now = perf_counter()
            if options.callback is not None:
                options.callback(_progress(prepared, tree, now - started))
            if options.node_limit is not None and work.counter[NODES] >= options.node_limit:
                status = Status.NODE_LIMIT
                break
            if options.time_limit is not None and now - started >= options.time_limit:
                status = Status.TIME_LIMIT
                break
            if work.counter[OPEN] == len(tree.heap):
                tree = enlarge(tree)
            recording.make_room()
            n_slice = next_slice(int(work.counter[NODES]) - nodes_before, now - slice_started)
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    return _solution(problem, prepared, tree, recording, status, options.gap, started)


def _worth_its_price(
    problem: SubsetProblem, support: list[int], coef: NDArray[np.float64]
) -> tuple[int, ...]:
    """What was bought, without predictors whose coefficients are exactly 0."""
    used = set(problem.column_predictor[np.flatnonzero(coef)].tolist())
    used.update(problem.constraints.include)
    return tuple(g for g in support if g in used)


def _lower_bound(prepared: Prepared, tree: Tree) -> float:
    """The minimum over closed leaves and open nodes; a loss is never below 0."""
    counter = prepared.work.counter
    if counter[SERIAL] == 0:
        return 0.0  # not even the root was looked at
    bound = float(prepared.work.scalar[CLOSED])
    if counter[OPEN] > 0:
        bound = min(bound, float(tree.bound[tree.heap[0]]))
    if counter[DIVE] > 0:
        bound = min(bound, float(tree.bound[DIVE_SLOT]))
    return max(bound, 0.0)


def _progress(prepared: Prepared, tree: Tree, seconds: float) -> Progress:
    counter = prepared.work.counter
    return Progress(
        nodes=int(counter[NODES]),
        open_nodes=int(counter[OPEN] + counter[DIVE]),
        objective=float(prepared.work.scalar[UPPER]),
        lower_bound=_lower_bound(prepared, tree),
        seconds=seconds,
    )


def _solution(
    problem: SubsetProblem,
    prepared: Prepared,
    tree: Tree,
    recording: Recording,
    status: Status,
    gap: float,
    started: float,
) -> Solution:
    work = prepared.work
    if work.scalar[UPPER] < inf:
        if status is not Status.OPTIMAL:  # a search that ends by itself has polished it
            polish(prepared.data, work)
        coef = prepared.coefficients(work.theta_best)
        intercept = float(work.scalar[BEST_INTERCEPT])
        support = _worth_its_price(problem, np.flatnonzero(work.status_best == IN).tolist(), coef)
    else:
        # Interrupted before the first model: what must be bought, with coefficients of 0.
        positive = prepared.data.w[: prepared.data.n_positive].sum()
        coef = np.zeros(problem.n_columns)
        intercept = log(positive / (prepared.data.w.sum() - positive))
        support = problem.constraints.include
    objective = problem.objective(coef, intercept)
    # The bound and the objective are rounded separately; a bound above the objective is rounding.
    lower_bound = min(_lower_bound(prepared, tree), objective)
    if status is Status.OPTIMAL and objective - lower_bound > max(gap, _SMALLEST_GAP) * objective:
        status = Status.STALLED
    return Solution(
        status=status,
        support=support,
        cost=problem.constraints.cost_of(support),
        coef=coef,
        intercept=intercept,
        objective=objective,
        lower_bound=lower_bound,
        nodes=int(work.counter[NODES]),
        seconds=perf_counter() - started,
        prover=recording.prover(problem, tree),
    )
