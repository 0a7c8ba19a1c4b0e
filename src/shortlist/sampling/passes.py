"""Many dual points evaluated in one pass over all rows, by matrix products on blocks of them.

For coefficients theta and an intercept, `losses` gives every row its a. Of each point the pass
keeps the sums that its bounds depend on: by class, the losses, the slopes sum_m w_m a_m x_m and
the mass sum_m w_m a_m. The entropy follows from them, because H(a) = loss(t) + a t at the a of a
margin t.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arguments import Float
from ..blocks import one_thread, release, row_blocks
from ..problem import SubsetProblem

_ROWS = 2**11  # of a block: its margins stay in the cache
_POINTS = 64  # at a time, likewise
_CLASSES = (-1.0, 1.0)


class Sums(NamedTuple):
    """Sums over rows, by class: negative, positive."""

    loss: Float  # (2, n_points)
    mass: Float  # (2, n_points)
    slope: Float  # (2, n_columns, n_points)
    weight: Float  # (2,)
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
        sum_m w_m a_m y_m x_m.
    mismatch : ndarray of shape (n_points,)
        sum_m w_m a_m y_m, which is 0 for the a that bounds are made of: one class is scaled down.
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
    so that the number of threads changes no bit. With `every`, only every so many blocks are read,
    and weights are scaled accordingly: the result is an estimate. `rounding` is taken off the
    entropy.
    """
    sums = _total(problem, coefs, intercepts, pool, curved, every)
    if every > 1:
        classes = [problem.weights[problem.signs == y].sum() for y in _CLASSES]
        scale = np.array(classes) / sums.weight
        sums = sums._replace(
            loss=scale[:, None] * sums.loss,
            mass=scale[:, None] * sums.mass,
            slope=scale[:, None, None] * sums.slope,
        )
    # a t, summed over a class, is y (theta's slope + theta_0's mass).
    products = np.einsum("np,cnp->cp", coefs, sums.slope) + intercepts * sums.mass
    entropies = np.maximum(sums.loss + np.array(_CLASSES)[:, None] * products, 0.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # The heavier class is scaled down, so that sum w a y = 0; H(rho a) >= rho H(a).
        rho = np.minimum(sums.mass[::-1] / sums.mass, 1.0)
        balanced = rho[1] * sums.slope[1] - rho[0] * sums.slope[0]
        of_columns = balanced**2 / (2 * problem.ridge)
        values = np.zeros((len(intercepts), problem.n_predictors))
        np.add.at(values.T, problem.column_predictor, of_columns)
        entropy = (rho * entropies).sum(axis=0) - rounding
        objective = sums.loss.sum(axis=0) + 0.5 * problem.ridge * (coefs**2).sum(axis=0)
    # A point too extreme to have a bound gives the one that always holds.
    is_extreme = ~np.isfinite(entropy + values.sum(axis=1))
    entropy[is_extreme], values[is_extreme] = 0.0, 0.0
    return Evaluated(
        objective=objective,
        entropy=entropy,
        values=values,
        slope=sums.slope[1] - sums.slope[0],
        mismatch=sums.mass[1] - sums.mass[0],
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
    total: Sums | None = None
    starts = range(0, problem.n_rows, _ROWS * every)

    def work(start: int) -> Sums:
        rows = slice(start, start + _ROWS)
        block = np.asarray(problem.X[rows], np.float64)
        sums = _sums(problem, rows, block, coefs, intercepts, curved)
        release(problem.X)
        return sums

    with one_thread():
        for sums in map(work, starts) if pool is None else pool.map(work, starts):
            if total is None:
                total = sums
            else:
                for all_rows, some in zip(total, sums, strict=True):
                    all_rows += some
    assert total is not None  # a problem has rows
    return total


def _sums(
    problem: SubsetProblem,
    rows: slice,
    block: Float,
    coefs: Float,
    intercepts: Float,
    curved: Curved | None,
) -> Sums:
    n_columns, n_points = coefs.shape
    n_curved = 0 if curved is None else len(curved.columns) + 1
    sums = Sums(
        np.empty((2, n_points)), np.empty((2, n_points)), np.empty((2, n_columns, n_points)),
        np.empty(2), np.zeros((n_curved, n_curved)),
    )  # fmt: skip
    signs, weights = problem.signs[rows], problem.weights[rows]
    for c, y in enumerate(_CLASSES):
        mine = np.flatnonzero((signs == y) & (weights > 0))
        X, w = block[mine], weights[mine]
        sums.weight[c] = w.sum()
        for first in range(0, n_points, _POINTS):
            some = slice(first, first + _POINTS)
            margins = X @ coefs[:, some]
            margins += intercepts[some]
            if y < 0:
                np.negative(margins, out=margins)
            a = problem.loss.dual(margins, 0.0)
            a *= w[:, None]
            sums.loss[c, some] = w @ problem.loss.value(margins)
            sums.mass[c, some] = a.sum(axis=0)
            sums.slope[c][:, some] = X.T @ a
            if curved is not None and first <= curved.place < first + _POINTS:
                d = w * problem.loss.curvature(margins[:, curved.place - first], 0.0)
                design = np.column_stack([X[:, curved.columns], np.ones(len(X))])
                sums.curvature[:] += (design.T * d) @ design
    return sums
