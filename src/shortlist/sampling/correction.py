"""Points of a proof on a sample, moved to where they prove as much on all rows.

On the sample a point has slopes s, on which its bounds depend through v = s^2 / (2 ridge). On all
rows the same coefficients have slopes that differ by noise, which a weak ridge makes large in v. A
Newton step moves the coefficients to where the slopes on all rows are s again. Its Hessian is that
of the sample: it is off by a few per cent, and so is the step. As many steps as are needed follow.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..certificate import Point
from ..problem import SubsetProblem
from ..solver.kernels.layout import FREE
from ..solver.leaves import Leaves
from .passes import Evaluated

Float = NDArray[np.float64]


class Points:
    """Points of one tree: where they are, and which slopes they should have.

    Attributes
    ----------
    coefs : ndarray of shape (n_columns, n_points)
        Coefficients.
    intercepts : ndarray of shape (n_points,)
        Intercepts.
    columns : list of ndarray
        The columns that matter to each point.
    is_fit : ndarray of shape (n_points,)
        Whether a point tends to the best model on its columns. Others tend to given slopes.
    """

    def __init__(self, sample: SubsetProblem, points: Sequence[Point], leaves: Leaves) -> None:
        self._sample = sample
        self._centre = sample.weights / sample.weights.sum() @ sample.X
        self._X = sample.X - self._centre
        self.coefs = np.zeros((sample.n_columns, len(points)))
        self.intercepts = np.zeros(len(points))
        self._target = np.zeros_like(self.coefs)
        self._factors: list[tuple[Float, Float, float] | None] = [None] * len(points)
        self.columns, self.is_fit = _columns_of(sample, len(points), leaves)
        for p, point in enumerate(points):
            self._place(p, point)

    def _place(self, p: int, point: Point) -> None:
        """Start at the end of a point's step; aim at the slopes that it has on the sample."""
        sample, columns = self._sample, list(point.columns)
        coef, step = np.zeros(sample.n_columns), np.zeros(sample.n_columns)
        intercept, step0 = point.intercept, 0.0
        coef[columns] = point.values
        if point.correction:
            step0, step[columns] = point.correction[0], point.correction[1:]
        self.coefs[:, p], self.intercepts[p] = coef + step, intercept + step0
        if self.is_fit[p]:
            self._target[:, p] = sample.ridge * self.coefs[:, p]
            return
        margins = sample.signs * (sample.X @ coef + intercept)
        a = sample.loss.dual(margins, 0.0)
        if point.correction:
            moves = sample.signs * (sample.X @ step + step0)
            a -= sample.loss.curvature(margins, 0.0) * moves
            a = np.clip(a, 0.0, sample.loss.largest)
        self._target[:, p] = (sample.weights * a * sample.signs) @ sample.X

    def correct(self, p: int, evaluated: Evaluated, place: int) -> None:
        """Take a Newton step, from where the point was evaluated on all rows."""
        columns = self.columns[p]
        factor = self._factor(p)
        if factor is None:
            return
        cholesky, mean, total = factor
        slope = evaluated.slope[columns, place] - self._target[columns, p]
        mismatch = evaluated.mismatch[place]
        step = cho_solve((cholesky, True), slope - mean * mismatch)
        self.coefs[columns, p] += step
        self.intercepts[p] += mismatch / total - mean @ step
        self._target[columns, p] += self._sample.ridge * step

    def set_curvature(self, p: int, curvature: Float) -> None:
        """Take the Hessian of all rows for the next steps of a point."""
        total = float(curvature[-1, -1])
        self._factors[p] = None
        if total > 0:
            mean = curvature[-1, :-1] / total
            centred = curvature[:-1, :-1] - total * np.outer(mean, mean)
            self._factors[p] = _factorised(centred, mean, total, self._sample.ridge)

    def _factor(self, p: int) -> tuple[Float, Float, float] | None:
        """Return the Cholesky factor, the columns' means and the total of the curvature."""
        if self._factors[p] is None:
            sample, columns = self._sample, self.columns[p]
            margins = sample.signs * (sample.X @ self.coefs[:, p] + self.intercepts[p])
            d = sample.weights * sample.loss.curvature(margins, 0.0)
            total = float(d.sum())
            if not total > 0:
                return None
            X = self._X[:, columns]
            mean = d @ X / total
            hessian = (X.T * d) @ X - total * np.outer(mean, mean)
            mean += self._centre[columns]
            self._factors[p] = _factorised(hessian, mean, total, sample.ridge)
        return self._factors[p]


def _factorised(
    hessian: Float, mean: Float, total: float, ridge: float
) -> tuple[Float, Float, float] | None:
    """Return the Cholesky factor of a Hessian with the ridge, and what goes with it."""
    hessian[np.diag_indices_from(hessian)] += ridge
    try:
        return (cho_factor(hessian, lower=True)[0] if len(mean) else hessian), mean, total
    except (LinAlgError, ValueError):
        return None


def _columns_of(
    problem: SubsetProblem, n_points: int, leaves: Leaves
) -> tuple[list[NDArray[np.int64]], NDArray[np.bool_]]:
    """Return the columns that matter to each point, and whether it is a fit on them.

    What no leaf of a point can buy does not matter. A point is a fit if its leaves can buy the
    same, and add one predictor at most.
    """
    some = np.zeros((n_points, problem.n_predictors), dtype=np.bool_)
    every = np.ones_like(some)
    np.logical_or.at(some, leaves.point, leaves.can_buy)
    np.logical_and.at(every, leaves.point, leaves.can_buy)
    is_fit = (some == every).all(axis=1)
    n_free = (leaves.status == FREE).sum(axis=1)
    np.logical_and.at(is_fit, leaves.point, np.minimum(n_free, leaves.most) <= 1)
    return [problem.columns_of(np.flatnonzero(row)) for row in some], is_fit
