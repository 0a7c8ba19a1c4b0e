"""Intervals for values over resamples."""

from __future__ import annotations

from functools import cache
from math import nan

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binomtest

from ..errors import InvalidProblemError

_ROUNDING = 1e-9  # of (n + 1) p, which is 1 for 39 values and 95 %


def percentile_interval(values: ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """Return the percentile interval of bootstrap values.

    The ends are the (n + 1) p-th smallest values, for 399 values and 95 % the 10th and the 390th.
    NaN if there are too few values to have such ends: 95 % takes at least 39.

    Examples
    --------
    >>> from shortlist.evaluation import percentile_interval
    >>> [round(end, 9) for end in percentile_interval(range(1, 400))]
    [10.0, 390.0]
    """
    tail = tail_of(level)
    array = np.asarray(values, dtype=np.float64)
    if (len(array) + 1) * tail < 1 - _ROUNDING:
        return nan, nan
    lower, upper = np.quantile(array, [tail, 1 - tail], method="weibull").tolist()
    return lower, upper


@cache  # scipy takes half a millisecond, and a table has the same few counts again and again
def share_interval(count: int, total: int, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's interval for a share of which `count` of `total` were seen.

    Examples
    --------
    >>> from shortlist.evaluation import share_interval
    >>> [round(end, 3) for end in share_interval(0, 399)]
    [0.0, 0.01]
    """
    interval = binomtest(count, total).proportion_ci(1 - 2 * tail_of(level), method="wilson")
    return float(interval.low), float(interval.high)


def tail_of(level: float) -> float:
    """Return the share beyond each end of an interval; raise if the level makes no sense."""
    if not 0 < level < 1:
        raise InvalidProblemError(f"level: must be between 0 and 1, not {level!r}.")
    return (1 - level) / 2
