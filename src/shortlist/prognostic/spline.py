"""Natural cubic splines, as clinical prediction models write them.

With knots t_1 < ... < t_k a number x enters the log-odds as itself and as k - 2 curves, j = 1 to
k - 2:

    [ (x - t_j)_+^3  -  (x - t_{k-1})_+^3 (t_k - t_j) / (t_k - t_{k-1})
      + (x - t_k)_+^3 (t_{k-1} - t_j) / (t_k - t_{k-1}) ] / (t_k - t_1)^2

Each is 0 below t_1 and a straight line above t_k, so nothing bends where there are no data.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

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


def place_knots(x: Float, n_knots: int | None) -> tuple[float, ...]:
    """Return 3, 4 or 5 knots at fixed quantiles of x; none for None, which is linear.

    Where some of these coincide there are fewer, and none if fewer than three remain.
    """
    if n_knots is None:
        return ()
    knots = np.unique(np.quantile(x, KNOT_QUANTILES[n_knots], method="nearest"))
    spread = float(x.max() - x.min())
    apart = knots[np.concatenate([[True], np.diff(knots) > 1e-6 * spread])]
    return tuple(apart.tolist()) if len(apart) >= 3 else ()
