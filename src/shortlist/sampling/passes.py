"""Many dual points evaluated in one pass over all rows, by matrix products on blocks of them.

For coefficients theta and an intercept, `families` gives every row its a. Of each point the pass
keeps the sums that its bounds depend on: by stratum, the losses, the slopes sum_m w_m a_m x_m and
the mass sum_m w_m a_m. The entropy follows from them, because H(a) = loss(u) - a u at the a of a
linear predictor u.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from ..arguments import Float
from ..blocks import one_thread, release, row_blocks
from ..families import RowMoments, RowSums
from ..problem import SubsetProblem

_ROWS = 2**11  # of a block: its margins stay in the cache
_POINTS = 64  # at a time, likewise


class Sums(NamedTuple):
    """Sums over rows, by stratum: for labels, the negative rows and the positive ones."""

    loss: Float  # (n_strata, n_points)
    mass: Float  # (n_strata, n_points)
    slope: Float  # (n_strata, n_columns, n_points)
    weight: Float  # (n_strata,)
    of_weights: Float  # (n_strata, n_columns + 1): w (x, 1)
    of_outcomes: Float  # (n_strata, n_columns + 1): w y (x, 1)
    x_log_x: Float  # (n_strata,): w y log y, where y is a count
    curvature: Float  # (n, n): sum_m d_m (x_m, 1)(x_m, 1)' on the columns of `Curved`, if asked for


class Curved(NamedTuple):
    """A point whose Hessian is wanted, on some columns and the intercept."""

    place: int
    columns: NDArray[np.int64]


class Evaluated(NamedTuple):
    """The bounds and objectives of points.

    Attributes
    ----------
    objective : ndarray of shape (n_points,)
        The penalised loss of each point.
    entropy : ndarray of shape (n_points,)
        sum_m w_m H(a_m), less the rounding of bounds.
    values : ndarray of shape (n_points, n_predictors)
        The v_g of the predictors.
    slope : ndarray of shape (n_columns, n_points)
        -sum_m w_m a_m x_m.
    mismatch : ndarray of shape (n_points,)
        -sum_m w_m a_m, which is 0 for the a that bounds are made of.
    curvature : ndarray of shape (n + 1, n + 1)
        The Hessian of the loss at the one point where it was asked for; the intercept comes last.
    """

    objective: Float
    entropy: Float
    values: Float
    slope: Float
    mismatch: Float
    curvature: Float


def reach_of(problem: SubsetProblem) -> float:
    """Return the largest sum_m w_m |x_m| of a column, which rounding is proportional to."""
    total = np.zeros(problem.n_columns)
    for rows, block in row_blocks(problem.X, _ROWS):
        total += problem.weights[rows] @ np.abs(block)
    return float(total.max(initial=0.0))


def evaluate(
    problem: SubsetProblem,
    coefs: Float,
    intercepts: Float,
    pool: ThreadPoolExecutor | None = None,
    *,
    curved: Curved | None = None,
    every: int = 1,
    rounding: float = 0.0,
) -> Evaluated:
    """Evaluate points, whose coefficients are the columns of `coefs`, in one pass over the rows.

    Threads of the pool, if there is one, take blocks side by side. Their sums are added in order,
    so that the number of threads changes no bit. With `every`, only one block in `every` is read,
    and weights are scaled accordingly: the result is an estimate. `rounding` is taken off the
    entropy. Outcomes far from zero are centred, so that nothing cancels.
    """
    intercepts = intercepts - problem.response.centre
    sums = _total(problem, coefs, intercepts, pool, curved, every)
    if every > 1:
        strata = problem.response.strata
        scale = np.bincount(strata, problem.weights) / sums.weight
        scaled = [(scale * part.T).T for part in sums[:-1]]
        sums = Sums._make([*scaled, sums.curvature])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # a u, summed over a stratum, is theta's slope + theta_0's mass.
        products = np.einsum("np,cnp->cp", coefs, sums.slope) + intercepts * sums.mass
        entropies = sums.loss - products
        moments = RowMoments(
            sums.of_weights.sum(axis=0), sums.of_outcomes.sum(axis=0), float(sums.x_log_x.sum())
        )
        of_rows = RowSums(entropies, sums.mass, sums.slope)
        entropy, slope = problem.family.feasible_sums(of_rows, moments)
        of_columns = slope**2 / (2 * problem.ridge)
        values = np.zeros((len(intercepts), problem.n_predictors))
        np.add.at(values.T, problem.column_predictor, of_columns)
        entropy = entropy - rounding
        objective = sums.loss.sum(axis=0) + 0.5 * problem.ridge * (coefs**2).sum(axis=0)
    # A point too extreme to have a bound gives the one that always holds.
    is_extreme = ~np.isfinite(entropy + values.sum(axis=1))
    entropy[is_extreme], values[is_extreme] = 0.0, 0.0
    return Evaluated(
        objective=objective,
        entropy=entropy,
        values=values,
        slope=-sums.slope.sum(axis=0),
        mismatch=-sums.mass.sum(axis=0),
        curvature=sums.curvature,
    )


def _total(
    problem: SubsetProblem,
    coefs: Float,
    intercepts: Float,
    pool: ThreadPoolExecutor | None,
    curved: Curved | None,
    every: int,
) -> Sums:
    """Add up the sums of all blocks, in their order."""
    starts = range(0, problem.n_rows, _ROWS * every)
    centre = problem.response.centre

    def work(start: int) -> Sums:
        rows = slice(start, start + _ROWS)
        block = np.asarray(problem.X[rows], np.float64)
        outcomes = problem.response.values[rows] - centre
        sums = _sums(problem, rows, block, outcomes, coefs, intercepts, curved)
        release(problem.X)
        return sums

    with one_thread():
        return reduce(_added, map(work, starts) if pool is None else pool.map(work, starts))


def _added(total: Sums, some: Sums) -> Sums:
    """Add to the sums of the rows before, in place."""
    for all_rows, more in zip(total, some, strict=True):
        all_rows += more
    return total


def _sums(
    problem: SubsetProblem,
    rows: slice,
    block: Float,
    outcomes: Float,
    coefs: Float,
    intercepts: Float,
    curved: Curved | None,
) -> Sums:
    n_columns, n_points = coefs.shape
    n_curved = 0 if curved is None else len(curved.columns) + 1
    family, strata = problem.family, problem.response.rows(rows).strata
    weights = problem.weights[rows]
    n_strata = problem.response.n_strata
    shapes = [
        (n_points,), (n_points,), (n_columns, n_points), (), (n_columns + 1,), (n_columns + 1,), (),
    ]  # fmt: skip
    empty = [np.empty((n_strata, *shape)) for shape in shapes]
    sums = Sums._make([*empty, np.zeros((n_curved, n_curved))])
    for c in range(n_strata):
        mine = np.flatnonzero((strata == c) & (weights > 0))
        X, y, w = block[mine], outcomes[mine], weights[mine]
        sums.weight[c] = w.sum()
        sums.of_weights[c] = *(w @ X), w.sum()
        sums.of_outcomes[c] = *((w * y) @ X), w @ y
        sums.x_log_x[c] = w @ xlogy(y, y) if problem.response.kind == "counts" else 0.0
        for first in range(0, n_points, _POINTS):
            some = slice(first, first + _POINTS)
            u = X @ coefs[:, some]
            u += intercepts[some]
            with np.errstate(invalid="ignore", over="ignore"):  # of a point that went astray
                a = family.slope(y[:, None], u, 0.0)
                a *= w[:, None]
                sums.loss[c, some] = w @ family.value(y[:, None], u)
                sums.mass[c, some] = a.sum(axis=0)
                sums.slope[c][:, some] = X.T @ a
            if curved is not None and first <= curved.place < first + _POINTS:
                d = w * family.curvature(y, u[:, curved.place - first], 0.0)
                design = np.column_stack([X[:, curved.columns], np.ones(len(X))])
                sums.curvature[:] += (design.T * d) @ design
    return sums
