"""All selections whose objective is below a threshold, as seen from Python."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from ..problem import SubsetProblem
from .compilation import ready_kernels
from .kernels.layout import IN, LEFT_OUT, LISTED, NODES, OPEN, UPPER, Listing
from .kernels.listing import run_listing
from .prepare import FIRST_SLOTS, Prepared, enlarge, plant, prepare
from .slices import first_slice, next_slice


@dataclass(frozen=True)
class Model:
    """One selection, and the ridge fit on it.

    Attributes
    ----------
    support : tuple of int
        Sorted indices of the predictors bought.
    cost : float
        What they cost, fees included.
    objective : float
        Penalised loss.
    coef : ndarray of shape (n_columns,)
        One coefficient per column of X.
    intercept : float
        The unpenalised intercept.
    """

    support: tuple[int, ...]
    cost: float
    objective: float
    coef: NDArray[np.float64]
    intercept: float


def list_models(
    problem: SubsetProblem, threshold: float, limit: int, time_limit: float = inf
) -> tuple[list[Model], bool]:
    """Return the models below the threshold, and whether these are all of them.

    If there are more than `limit`, the best are returned; after `time_limit` seconds, those found.
    They are in no particular order.
    """
    started = perf_counter()
    ready_kernels("listing.run_listing")
    prepared = prepare(problem)
    work = prepared.work
    work.scalar[UPPER] = threshold
    tree = plant(prepared, FIRST_SLOTS)
    listing = Listing(
        status=np.empty((limit, problem.n_predictors), dtype=np.int8),
        theta=np.empty((limit, problem.n_columns)),
        theta0=np.empty(limit),
        objective=np.empty(limit),
    )
    n_slice = first_slice(prepared.data.X.size)
    while True:
        slice_started, nodes_before = perf_counter(), int(work.counter[NODES])
        done = run_listing(
            prepared.data, prepared.limits, work, tree, prepared.root, listing, n_slice
        )
        now = perf_counter()
        if done or now - started >= time_limit:
            break
        if work.counter[OPEN] == len(tree.heap):
            tree = enlarge(tree)
        n_slice = next_slice(int(work.counter[NODES]) - nodes_before, now - slice_started)
    models = [_model(problem, prepared, listing, i) for i in range(int(work.counter[LISTED]))]
    return models, bool(done and work.counter[LEFT_OUT] == 0)


def _model(problem: SubsetProblem, prepared: Prepared, listing: Listing, place: int) -> Model:
    support = tuple(np.flatnonzero(listing.status[place] == IN).tolist())
    coef = prepared.coefficients(listing.theta[place])
    intercept = float(listing.theta0[place])
    return Model(
        support=support,
        cost=problem.constraints.cost_of(support),
        objective=problem.objective(coef, intercept),
        coef=coef,
        intercept=intercept,
    )
