"""All selections whose objective is below a threshold, as seen from Python."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import NamedTuple

import numpy as np

from ..problem import SubsetProblem
from ..solution import ListedModel, Options, Progress, Status
from .compilation import ready_kernels
from .confirmation import is_rounding_harmless
from .driver import Run
from .kernels.layout import IN
from .kernels.search import run_search
from .prepare import Prepared, prepare
from .recording import Prover, Recording
from .scratch import give_back


class Listing(NamedTuple):
    """The models below a threshold, in no particular order.

    Attributes
    ----------
    models : list of ListedModel
        The models; the best, if there are more than the limit; after the time limit those found.
    is_complete : bool
        Whether these are all of them that there are.
    is_safe : bool
        Whether rounding cannot have hidden any.
    prover : Prover, optional
        If it was wanted, and not too long: the tree, whose leaves cover all affordable selections.
    nodes : int
        How many nodes were processed.
    """

    models: list[ListedModel]
    is_complete: bool
    is_safe: bool
    prover: Prover | None
    nodes: int


def list_models(
    problem: SubsetProblem,
    threshold: float,
    limit: int,
    time_limit: float | None = None,
    callback: Callable[[Progress], None] | None = None,
    with_proof: bool = False,
) -> Listing:
    """Return the models below the threshold, at most so many.

    What the callback raises ends the search.
    """
    started = perf_counter()
    ready_kernels()
    prepared = prepare(problem, threshold, limit)
    search, listing, warm = prepared.search, prepared.search.listing, prepared.scratch.warm
    run = Run(prepared, Recording(prepared.scratch, wanted=with_proof))
    status = run.drive(
        lambda n_nodes: run_search(search, run.tree, run.recording.trace, warm, 0.0, n_nodes),
        Options(time_limit=time_limit, callback=callback),
        started,
    )
    if status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    models = [_model(problem, prepared, i) for i in range(int(listing.now["n_listed"]))]
    prover = run.prover(problem) if with_proof else None
    give_back(prepared.scratch)
    return Listing(
        models,
        is_complete=status is Status.OPTIMAL and int(listing.now["n_left_out"]) == 0,
        is_safe=is_rounding_harmless(problem, prepared, threshold),
        prover=prover,
        nodes=int(run.tree.now["nodes"]),
    )


def _model(problem: SubsetProblem, prepared: Prepared, place: int) -> ListedModel:
    listing = prepared.search.listing
    support = tuple(np.flatnonzero(listing.status[place] == IN).tolist())
    coef, intercept = prepared.model(listing.theta[place], listing.theta0[place])
    return ListedModel(
        support=support,
        cost=problem.limits.cost_of(support),
        objective=problem.objective(coef, intercept),
        coef=coef,
        intercept=intercept,
    )
