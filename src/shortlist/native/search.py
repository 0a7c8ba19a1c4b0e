"""Searches of the core in slices, between which limits, callback and Ctrl-C are looked at.

One search finds the best model, all models below a threshold, or the best model at every budget.
The tree does not depend on the slices.
"""

from __future__ import annotations

import multiprocessing
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import inf
from pathlib import Path
from sys import maxsize
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..arguments import Float
from ..errors import ShortlistWarning
from ..problem import SubsetProblem
from ..solution import ListedModel, Options, Progress, Solution, Status, solution_of
from .confirmation import confirmed, is_rounding_harmless
from .core import Prepared, core, prepare
from .proof import BudgetProver, Prover, Record, RecordFiles

_FIRST_SLICE = 4e6  # entries of X that the nodes of the first slice may read once
_SLICE_SECONDS = 0.05
_POLISH_SECONDS = 0.3  # that a search which was broken off still takes for its model
_LARGEST_TRACE = 2**30  # bytes, where it cannot go to files
_PART_OF_TRACE = 2**27  # bytes that go to files at a time
_SHARE_OF_FREE = 0.5  # of the memory that is free, which a search may take
_LITTLE = 2**26  # bytes that need no limit
_SMALL_TREE = 0.5  # of what a search may take: with a larger tree it goes depth first
_FREE_ELSEWHERE = 2**32  # bytes, where the system does not say what is free
_LARGEST_TABLE = 20_000  # cells: budgets times predictors
# Relative tolerances below which coefficients and changes of the loss count as rounding.
_NEGLIGIBLE, _ROUNDING = 1e-9, 1e-13


def branch_and_bound(problem: SubsetProblem, options: Options) -> Solution:
    """Return the best affordable model; see `shortlist.solve`."""
    started = perf_counter()
    prepared = prepare(problem)
    gap = max(options.gap, problem.family.resolution)
    search = core.Search(prepared.problem, prepared.limits, gap)
    search.limit_trace(maxsize)
    if options.warm_start is not None:
        search.suggest(options.warm_start)
    with RecordFiles() as files:
        status = _drive(problem, search, prepared, options, started, files)
        prover = Prover.of(problem, prepared, search, files)
    if search.objective < inf:
        if status is not Status.OPTIMAL:  # a search that ends by itself has polished its model
            search.polish(inf if status is Status.NODE_LIMIT else _POLISH_SECONDS)
        model = _without_zeros(problem, search.incumbent(), prepared)
    else:  # it was interrupted before its first model
        model = _empty_model(problem, prepared)
    found: dict[str, Any] = {
        "lower_bound": max(problem.scale.least, search.lower_bound),
        "gap": gap,
        "nodes": search.nodes,
        "prover": prover,
    }
    seconds = perf_counter() - started
    solution = solution_of(problem, *model, status=status, seconds=seconds, **found)
    if not solution.objective <= problem.scale.above(prepared.problem.null_objective, _ROUNDING):
        # Rounding has spoilt all models: the one without coefficients is better.
        model = _empty_model(problem, prepared)
        solution = solution_of(problem, *model, status=status, seconds=seconds, **found)
    try:
        return confirmed(problem, prepared, solution, gap)
    except KeyboardInterrupt:  # the model is found, and what was to be checked is not claimed
        least = problem.scale.least
        return replace(solution, status=Status.INTERRUPTED, lower_bound=least)


def _empty_model(
    problem: SubsetProblem, prepared: Prepared
) -> tuple[tuple[int, ...], Float, float]:
    """Return what must be bought, with coefficients of 0."""
    intercept = prepared.problem.null_intercept
    return problem.limits.include, *prepared.model(np.zeros(problem.n_columns), intercept)


def _without_zeros(
    problem: SubsetProblem, incumbent: tuple[list[int], Float, float], prepared: Prepared
) -> tuple[tuple[int, ...], Float, float]:
    """Return the model without predictors whose coefficients are 0 within rounding."""
    bought, coef, intercept = incumbent
    coef, intercept = prepared.model(coef, intercept)
    columns = coef.nonzero()[0]
    sizes = [abs(value) for value in coef[columns].tolist()]
    if sizes and min(sizes) <= _NEGLIGIBLE * max(sizes):
        without = np.where(np.abs(coef) <= _NEGLIGIBLE * max(sizes), 0.0, coef)
        objectives = problem.objective(without, intercept), problem.objective(coef, intercept)
        if objectives[0] <= problem.scale.above(objectives[1], _ROUNDING):
            coef, columns = without, without.nonzero()[0]
    used = {*problem.column_predictor[columns].tolist(), *problem.limits.include}
    return tuple(g for g in bought if g in used), coef, intercept


class Listing(NamedTuple):
    """The models below a threshold, in no particular order.

    Attributes
    ----------
    models : list of ListedModel
        The models; the best, if there are more than the limit; after the time limit those found.
    is_complete : bool
        Whether these are all of them that there are.
    has_ended : bool
        Whether the search came to its end, and not to a limit of time or memory.
    is_safe : bool
        Whether rounding cannot have hidden any: not in bounds, and not by making a fit fail.
    prover : Prover, optional
        If it was wanted, and not too long: the tree, whose leaves cover all affordable selections.
    nodes : int
        How many nodes were processed.
    """

    models: list[ListedModel]
    is_complete: bool
    has_ended: bool
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
    """Return the models below the threshold, at most `limit`.

    What the callback raises ends the search.
    """
    started = perf_counter()
    prepared = prepare(problem)
    search = core.Search(prepared.problem, prepared.limits, 0.0)
    search.list_models(threshold, limit)
    search.limit_trace(maxsize if with_proof else 0)
    options = Options(time_limit=time_limit, callback=callback)
    status = _drive(problem, search, prepared, options, started)
    if status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return Listing(
        [_listed(problem, prepared, *model) for model in search.models()],
        is_complete=status is Status.OPTIMAL and search.n_left_out == 0,
        has_ended=status is Status.OPTIMAL,
        is_safe=is_rounding_harmless(problem, prepared, threshold) and search.n_doubtful == 0,
        prover=Prover.of(problem, prepared, search) if with_proof else None,
        nodes=search.nodes,
    )


def _listed(
    problem: SubsetProblem, prepared: Prepared, support: list[int], coef: Any, intercept: float
) -> ListedModel:
    coef, intercept = prepared.model(coef, intercept)
    bought = tuple(support)
    objective = problem.objective(coef, intercept)
    return ListedModel(bought, problem.limits.cost_of(bought), objective, coef, intercept)


def has_shared_tree(problem: SubsetProblem) -> bool:
    """Whether one tree can serve all budgets: whole prices, not too many, and no other limit."""
    limits = problem.limits
    return (
        limits.budget < inf
        and limits.max_features >= limits.n_predictors
        and (limits.prices.budget + 1) * limits.n_predictors <= _LARGEST_TABLE
    )


def solve_budgets(
    problem: SubsetProblem, gap: float
) -> list[tuple[SubsetProblem, Solution]] | None:
    """Solve the problem with every whole budget from what `include` costs, lowest first.

    Where memory does not suffice for the tree of all of them, nothing is proven: None.
    """
    started = perf_counter()
    gap = max(gap, problem.family.resolution)
    prepared = prepare(problem)
    search = core.Search(prepared.problem, prepared.limits, gap)
    search.find_staircase(int(problem.limits.prices.budget) + 1)
    search.limit_trace(maxsize)
    status = _drive(problem, search, prepared, Options(), started)
    if status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    if status is not Status.OPTIMAL:
        return None
    return list(_by_budget(problem, prepared, search, gap, perf_counter() - started))


def _by_budget(
    problem: SubsetProblem, prepared: Prepared, search: Any, gap: float, seconds: float
) -> Iterator[tuple[SubsetProblem, Solution]]:
    prover = Prover.of(problem, prepared, search)
    limits, stairs = problem.limits, search.stairs()
    for b in range(limits.units_of(limits.include), len(stairs)):
        support, coef, intercept, closed = stairs[b]
        coef, intercept = prepared.model(coef, intercept)
        smaller = problem.with_limits(budget=limits.prices.amount_of(b))
        solution = solution_of(
            problem,
            tuple(support),
            coef,
            intercept,
            status=Status.OPTIMAL,
            lower_bound=max(problem.scale.least, closed),
            gap=gap,
            nodes=search.nodes,
            seconds=seconds,
            prover=None if prover is None else BudgetProver(prover, smaller, b),
        )
        yield smaller, confirmed(smaller, prepared, solution, gap)


def _drive(
    problem: SubsetProblem,
    search: Any,
    prepared: Prepared,
    options: Options,
    started: float,
    files: RecordFiles | None = None,
) -> Status:
    """Run a search to its end or to a limit; return `Status.OPTIMAL` or which limit it was.

    A record that outgrows memory goes to the files, if there are any, or is given up.
    """
    n_entries = prepared.data.n_rows * prepared.data.n_columns
    n_slice = max(1, int(_FIRST_SLICE / (1 + n_entries)))
    node_limit = maxsize if options.node_limit is None else options.node_limit
    deadline = inf if options.time_limit is None else started + options.time_limit
    threads, most_bytes = 1, options.memory_limit
    largest = _LARGEST_TRACE if files is None else _PART_OF_TRACE
    most_of_trace = min(options.memory_limit or inf, largest)
    clock = perf_counter()
    try:
        while True:
            slice_started, nodes_before = clock, search.nodes
            is_done = search.run(n_slice, node_limit, threads, deadline - clock)
            tree_bytes, trace_bytes = search.tree_bytes, search.trace_bytes
            if most_bytes is None and tree_bytes + trace_bytes > _LITTLE:
                most_bytes = tree_bytes + trace_bytes + _SHARE_OF_FREE * _free_bytes()
            is_long = trace_bytes > min(most_of_trace, (most_bytes or inf) - tree_bytes)
            if is_long and not (files and files.add(Record.of(search.take_part_of_trace()))):
                search.limit_trace(0)
                _warn_of_length()
            if is_done:
                return Status.OPTIMAL
            if tree_bytes > (most_bytes or inf):
                return Status.MEMORY_LIMIT
            if tree_bytes > _SMALL_TREE * (most_bytes or inf):
                search.go_depth_first()
            clock = perf_counter()
            if options.callback is not None:
                options.callback(
                    Progress(
                        search.nodes,
                        search.n_open,
                        search.objective,
                        max(problem.scale.least, search.lower_bound),
                        clock - started,
                    )
                )
            if search.nodes >= node_limit:
                return Status.NODE_LIMIT
            if clock >= deadline:
                return Status.TIME_LIMIT
            # Slices of equal time, so that limits and Ctrl-C are noticed soon.
            ratio = _SLICE_SECONDS / max(clock - slice_started, 1e-6)
            n_slice = max(1, int((search.nodes - nodes_before) * min(max(ratio, 0.25), 4.0)))
            if threads == 1:  # not before the search has proved to be long
                threads = options.threads or usable_cores()
    except KeyboardInterrupt:
        return Status.INTERRUPTED
    except MemoryError:  # which loses the node, and with it the bound
        search.limit_trace(0)
        return Status.MEMORY_LIMIT


def _free_bytes() -> float:
    """Return how much memory is free, where the system says it."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return _FREE_ELSEWHERE
    fields = dict(line.split(":", 1) for line in lines)
    return 1024.0 * float(fields["MemAvailable"].split()[0])


def _warn_of_length() -> None:
    warnings.warn(
        "The proof would exceed the memory or the disk that it may take, so the search goes on "
        "without recording it and the solution will have no certificate.",
        ShortlistWarning,
        stacklevel=6,
    )


def usable_cores() -> int:
    """Return how many cores this process may use: one if it is one of many workers."""
    if multiprocessing.parent_process() is not None:
        return 1
    from joblib import cpu_count

    return int(cpu_count())
