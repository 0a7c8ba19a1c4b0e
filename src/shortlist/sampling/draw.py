"""A uniform sample of the rows of each stratum, as a problem of its own."""

from __future__ import annotations

from math import sqrt

import numpy as np

from ..arguments import Float, Int
from ..blocks import BLOCK, row_blocks
from ..problem import SubsetProblem

_SEED = 20231
_PER_ROOT, _FEWEST = 25, 5_000
_MOST_ADDED = 100  # rows for each column that would be constant


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
