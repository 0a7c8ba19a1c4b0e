"""Search on a sample of the rows, prove on all of them: the rounds of it.

1. Draw a sample, find its best model, and list all selections that are nearly as good on it: that
   is a tree, whose leaves cover every affordable selection.
2. Move the points of the tree to where they prove as much on all rows, in passes over these, and
   fit the listed selections.
3. If leaves stay open, draw a larger sample. If that is not worth it any more, the usual search
   takes over from the best model; it needs the data in memory.

Proofs hold for all rows. The sample decides nothing but the time that they take.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from math import inf, sqrt
from time import perf_counter

import numpy as np

from ..arguments import Float, Int
from ..blocks import BLOCK, is_on_disk, row_blocks
from ..native.proof import Prover
from ..native.search import branch_and_bound, list_models, usable_cores
from ..problem import SubsetProblem
from ..solution import Options, Progress, Solution, Status, solution_of
from .proof import BestModel, SampleProof

__all__ = ["draw_sample", "solve_on_sample", "usual_size"]

_SMALLEST_GAP = 1e-9  # as in the usual search
# Listed are selections whose objective is higher by this multiple of n^-1/2, which is of the order
# of the noise of a sample of n rows; fewer if there are too many of them.
_TOLERANCES = (2.0, 0.5, 0.1)
_MOST_LISTED = 64
_GROWTH = 4  # of the sample from round to round
_MOST_PASSES = 12
_SEED = 20231
_PER_ROOT, _FEWEST = 25, 5_000
_MOST_ADDED = 100  # rows for each column that would be constant


def solve_on_sample(problem: SubsetProblem, options: Options, n_rows: int) -> Solution:
    """Solve a problem by a search on `n_rows` rows to begin with; see `shortlist.solve`."""
    search = _Search(problem, options)
    try:
        status = search.run(n_rows)
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    return search.take_over() if status is None else search.solution(status)


class _Search:
    """The state of one solve: the best model, and the proof that reaches farthest."""

    def __init__(self, problem: SubsetProblem, options: Options) -> None:
        self._problem = problem
        self._options = options
        self._gap = max(options.gap, _SMALLEST_GAP)
        self._started = perf_counter()
        self._deadline = inf
        if options.time_limit is not None:
            self._deadline = self._started + options.time_limit
        self._model = BestModel(problem)
        self._proof: SampleProof | None = None
        self._nodes = 0

    def run(self, n_rows: int) -> Status | None:
        """Play rounds; return why they ended, or None if the usual search should take over."""
        threads = self._options.threads or usable_cores()
        with ThreadPoolExecutor(threads) if threads > 1 else nullcontext() as pool:
            while True:
                sample = draw_sample(self._problem, n_rows)
                if sample is None:
                    break
                tree = self._tree(sample)
                if isinstance(tree, Status):
                    return tree
                if tree is not None:
                    status = self._prove(
                        SampleProof(self._problem, sample, tree, self._model), pool
                    )
                    if status is not None:
                        return status
                n_rows *= _GROWTH
        return Status.STALLED if is_on_disk(self._problem.X) and self._proof else None

    def _tree(self, sample: SubsetProblem) -> Prover | Status | None:
        """Return a tree of the sample, None if too many selections are nearly as good as the best.

        Or return the limit that came first.
        """
        options = replace(self._options, time_limit=self._seconds_left(), callback=None)
        best = branch_and_bound(sample, options)
        self._nodes += best.nodes
        if best.status not in (Status.OPTIMAL, Status.STALLED):
            return best.status
        for tolerance in _TOLERANCES:
            threshold = best.objective * (1.0 + max(tolerance / sqrt(sample.n_rows), 2 * self._gap))
            listing = list_models(
                sample, threshold, _MOST_LISTED, self._seconds_left(), with_proof=True
            )
            self._nodes += listing.nodes
            if perf_counter() >= self._deadline:
                return Status.TIME_LIMIT
            if listing.is_complete and listing.prover is not None:
                return listing.prover
        return None

    def _prove(self, proof: SampleProof, pool: ThreadPoolExecutor | None) -> Status | None:
        """Pass over all rows as long as that helps; return why the search ends, if it does."""
        proof.approach(pool)
        for _ in range(_MOST_PASSES):
            hope = proof.improve(self._gap, pool)
            if self._proof is None or proof.lower_bound() >= self._proof.lower_bound():
                self._proof = proof
            if not hope:
                break
            self._report()
            if perf_counter() >= self._deadline:
                return Status.TIME_LIMIT
        is_closed = proof.lower_bound() >= self._model.objective * (1.0 - self._gap)
        return Status.OPTIMAL if is_closed else None

    def _seconds_left(self) -> float | None:
        return None if self._deadline == inf else max(0.0, self._deadline - perf_counter())

    def _report(self) -> None:
        if self._options.callback is not None and self._proof is not None:
            self._options.callback(
                Progress(
                    nodes=self._nodes,
                    open_nodes=len(self._proof.open_points(self._gap)),
                    objective=self._model.objective,
                    lower_bound=self._proof.lower_bound(),
                    seconds=perf_counter() - self._started,
                )
            )

    def take_over(self) -> Solution:
        """Run the usual search, from the best model so far."""
        options = replace(self._options, time_limit=self._seconds_left())
        if self._model.objective < inf:
            options = replace(options, warm_start=self._model.support)
        solution = branch_and_bound(self._problem, options)
        seconds = perf_counter() - self._started
        return replace(solution, nodes=solution.nodes + self._nodes, seconds=seconds)

    def solution(self, status: Status) -> Solution:
        """Return the best model with the bound that is proven."""
        problem, model = self._problem, self._model
        # If a limit came first: the predictors of `include`, with coefficients of 0.
        if model.objective == inf:
            outcomes, weights = problem.response.values, problem.weights
            model.intercept = problem.family.null_intercept(outcomes, weights)
        return solution_of(
            problem,
            model.support,
            model.coef,
            model.intercept,
            status=status,
            lower_bound=0.0 if self._proof is None else self._proof.lower_bound(),
            gap=self._gap,
            nodes=self._nodes,
            seconds=perf_counter() - self._started,
            prover=self._proof,
        )


def usual_size(n_rows: int) -> int:
    """Return the number of rows that `sample="auto"` draws.

    Coefficients from n rows are off by about n^-1/2, and a Newton step on all rows squares that. So
    the error that is left after one step stays the same, compared with the n_rows^-1/2 at which
    all rows resolve coefficients, if n is a multiple of the square root of n_rows.
    """
    return max(_FEWEST, int(_PER_ROOT * sqrt(n_rows)))


def draw_sample(problem: SubsetProblem, n_rows: int) -> SubsetProblem | None:
    """Return the problem on about `n_rows` rows, or None if that is more than half of them.

    Each stratum, a class of labels, gives rows in proportion to how many it has, but at least a
    quarter of the sample, or all of its rows if these are fewer. Rows are drawn without
    replacement, each as likely as any other of its stratum, whose weights are scaled to its total.
    To columns that would be constant, though they are not in the data, rows with another value are
    added.
    """
    rng = np.random.default_rng(_SEED)
    used = problem.weights > 0
    strata = problem.response.strata
    counts = np.bincount(strata[used], minlength=problem.response.n_strata).tolist()
    n_used = sum(counts)
    if 2 * n_rows > n_used:
        return None
    shares = [min(n, max(n_rows * n // n_used, n_rows // 4, 1)) for n in counts]
    chosen = np.sort(
        np.concatenate(
            [
                _rows_of_stratum(problem, c, np.sort(rng.choice(n, share, replace=False)))
                for c, (n, share) in enumerate(zip(counts, shares, strict=True))
            ]
        )
    )
    X = _rows_of(problem, chosen)
    constant = np.flatnonzero(np.ptp(X, axis=0) == 0)
    if len(constant):
        added = np.setdiff1d(_other_values(problem, constant, X[0, constant]), chosen)
        if len(added):
            X = np.concatenate([X, _rows_of(problem, added)])
            chosen = np.concatenate([chosen, added])
    weights = problem.weights[chosen]
    for c in range(len(counts)):
        mine = strata[chosen] == c
        weights[mine] *= problem.weights.sum(where=strata == c) / weights[mine].sum()
    return problem.with_rows(X, problem.response.rows(chosen), weights)


def _rows_of_stratum(problem: SubsetProblem, stratum: int, positions: Int) -> Int:
    """Return the rows at some positions among the rows of a stratum that count, by blocks."""
    found, n_before, strata = [], 0, problem.response.strata
    for start in range(0, problem.n_rows, BLOCK):
        rows = slice(start, start + BLOCK)
        mine = start + np.flatnonzero((strata[rows] == stratum) & (problem.weights[rows] > 0))
        first, last = np.searchsorted(positions, (n_before, n_before + len(mine)))
        found.append(mine[positions[first:last] - n_before])
        n_before += len(mine)
    return np.concatenate(found)


def _rows_of(problem: SubsetProblem, rows: Int) -> Float:
    """Return some rows, read in the order of the table."""
    X = np.empty((len(rows), problem.n_columns))
    for read, block in row_blocks(problem.X):
        first, last = np.searchsorted(rows, (read.start, read.stop))
        if first < last:
            X[first:last] = block[rows[first:last] - read.start]
    return X


def _other_values(problem: SubsetProblem, columns: Int, values: Float) -> Int:
    """Return the first rows in which any of the columns has another value, a few for each."""
    found: list[Int] = []
    n_left = np.full(len(columns), _MOST_ADDED)
    for read, block in row_blocks(problem.X):
        is_other = (block[:, columns] != values) & (problem.weights[read] > 0)[:, None]
        is_other &= np.cumsum(is_other, axis=0) <= n_left
        n_left -= is_other.sum(axis=0)
        found.append(read.start + np.flatnonzero(is_other.any(axis=1)))
        if not n_left.any():
            break
    return np.concatenate(found)
