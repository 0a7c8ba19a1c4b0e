"""Natural cubic splines, as clinical prediction models write them.

With knots t_1 < ... < t_k a number x enters the log-odds as itself and as k - 2 curves, j = 1 to
k - 2:

    [ (x - t_j)_+^3  -  (x - t_{k-1})_+^3 (t_k - t_j) / (t_k - t_{k-1})
      + (x - t_k)_+^3 (t_{k-1} - t_j) / (t_k - t_{k-1}) ] / (t_k - t_1)^2

Each is 0 below t_1 and a straight line above t_k, so nothing bends where there are no data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

Float = NDArray[np.float64]

# Where Harrell (Regression Modeling Strategies, 2015) puts 3, 4 and 5 knots.
KNOT_QUANTILES = {
    3: (0.10, 0.50, 0.90),
    4: (0.05, 0.35, 0.65, 0.95),
    5: (0.05, 0.275, 0.50, 0.725, 0.95),
}


def spline_curves(x: Float, knots: Sequence[float]) -> list[Float]:
    """Return the curves of a natural cubic spline at x, none for fewer than three knots."""
    if len(knots) < 3:
        return []
    last, before = knots[-1], knots[-2]
    inside = np.minimum(x, last)
    beyond = np.maximum(x - last, 0.0)
    late = np.maximum(inside - before, 0.0) ** 3 / (last - before)
    curves = []
    for knot in knots[:-2]:
        cubic = np.maximum(inside - knot, 0.0) ** 3 - (last - knot) * late
        # Above the last knot the cubes cancel to this line; computed as cubes they lose digits.
        line = 3.0 * (last - knot) * (before - knot) * beyond
        curves.append((cubic + line) / (last - knots[0]) ** 2)
    return curves


class NaturalSpline(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Replace each column by itself and the curves of its natural cubic spline.

    Parameters
    ----------
    n_knots : int, optional
        3, 4 or 5 knots at fixed quantiles of each column; None leaves the columns as they are.
        A column in which some of these coincide gets fewer, and none if fewer than three remain.

    Attributes
    ----------
    knots_ : list of tuple of float
        The knots of each column.
    """

    def __init__(self, n_knots: int | None = None) -> None:
        self.n_knots = n_knots

    def fit(self, X: Float, y: Any = None) -> NaturalSpline:
        """Place the knots."""
        self.knots_ = [self._place(column) for column in np.asarray(X).T]
        return self

    def transform(self, X: Float) -> Float:
        """Return each column followed by its curves."""
        columns = []
        for column, knots in zip(np.asarray(X).T, self.knots_, strict=True):
            columns += [column, *spline_curves(column, knots)]
        return np.column_stack(columns)

    def _place(self, column: Float) -> tuple[float, ...]:
        if self.n_knots is None:
            return ()
        knots = np.unique(np.quantile(column, KNOT_QUANTILES[self.n_knots], method="nearest"))
        spread = float(column.max() - column.min())
        apart = knots[np.concatenate([[True], np.diff(knots) > 1e-6 * spread])]
        return tuple(apart.tolist()) if len(apart) >= 3 else ()
