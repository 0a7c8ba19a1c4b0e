"""All selections whose objective is below a threshold, as seen from Python."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from ..problem import SubsetProblem
from .compilation import ready_kernels
from .kernels.layout import IN, LEFT_OUT, LISTED, OPEN, UPPER, Listing
from .kernels.listing import run_listing
from .prepare import enlarge, plant, prepare

_FIRST_SLOTS = 64
_FIRST_SLICE = 4e6  # entries of X that the nodes of the first slice may read once
_SLICE_SECONDS = 0.05


@dataclass(frozen=True)
class ListedModel:
    """A selection and the ridge fit on it."""

    support: tuple[int, ...]
    coef: NDArray[np.float64]
    intercept: float
    objective: float


def list_selections(
    problem: SubsetProblem, threshold: float, limit: int, time_limit: float = inf
) -> tuple[list[ListedModel], bool]:
    """Return the models below the threshold, and whether these are all of them.

    If there are more than `limit`, the best are returned; after `time_limit` seconds, those found.
    """
    started = perf_counter()
    ready_kernels()
    prepared = prepare(problem)
    work = prepared.work
    work.scalar[UPPER] = threshold
    tree = plant(prepared, _FIRST_SLOTS)
    n_columns, n_predictors = problem.n_columns, problem.n_predictors
    listing = Listing(
        status=np.empty((limit, n_predictors), dtype=np.int8),
        theta=np.empty((limit, n_columns)),
        theta0=np.empty(limit),
        objective=np.empty(limit),
    )
    n_slice = max(1, int(_FIRST_SLICE / (1 + prepared.data.X.size)))
    while True:
        slice_started = perf_counter()
        done = run_listing(
            prepared.data, prepared.limits, work, tree, prepared.root, listing, n_slice
        )
        now = perf_counter()
        if done or now - started >= time_limit:
            break
        if work.counter[OPEN] == len(tree.heap):
            tree = enlarge(tree)
        ratio = _SLICE_SECONDS / max(now - slice_started, 1e-6)
        n_slice = max(1, int(n_slice * min(max(ratio, 0.25), 4.0)))
    models = []
    for i in range(int(work.counter[LISTED])):
        coef = prepared.coefficients(listing.theta[i])
        intercept = float(listing.theta0[i])
        support = tuple(np.flatnonzero(listing.status[i] == IN).tolist())
        objective = problem.objective(coef, intercept)
        models.append(ListedModel(support, coef, intercept, objective))
    return models, bool(done and work.counter[LEFT_OUT] == 0)
