"""Stability of selections: inclusion, model and co-selection frequencies.

A selection is a bool matrix, a row per resample and a column per predictor. A DataFrame names
the predictors, as `Evaluation.selection` does.
"""

from __future__ import annotations

from collections import Counter
from math import nan, sqrt
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm

from ..errors import InvalidProblemError
from .metric import share_interval


class Stability(NamedTuple):
    """Nogueira's stability of selections, and its confidence interval."""

    value: float
    lower: float
    upper: float


def inclusion_frequencies(selection: Any, level: float = 0.95) -> pd.DataFrame:
    """Return how often each predictor is selected.

    Parameters
    ----------
    selection : DataFrame or array-like of bool, of shape (n_resamples, n_predictors)
        Which predictors each resample selects.
    level : float
        Coverage of the intervals, which are Wilson's: they depend on the number of resamples.

    Returns
    -------
    DataFrame
        Per predictor `frequency`, `lower` and `upper`.

    Examples
    --------
    >>> from shortlist.evaluation import inclusion_frequencies
    >>> inclusion_frequencies([[1, 0], [1, 1], [1, 0], [1, 0]]).round(2)
               frequency  lower  upper
    predictor
    x0              1.00   0.51    1.0
    x1              0.25   0.05    0.7
    """
    chosen, names = _check(selection)
    counts = chosen.sum(axis=0)
    ends = [share_interval(int(count), len(chosen), level) for count in counts]
    frame = pd.DataFrame(ends, columns=["lower", "upper"], index=pd.Index(names, name="predictor"))
    frame.insert(0, "frequency", counts / len(chosen))
    return frame


def model_frequencies(selection: Any) -> pd.DataFrame:
    """Return how often each set of predictors is selected, the most frequent first.

    Parameters
    ----------
    selection : DataFrame or array-like of bool, of shape (n_resamples, n_predictors)
        Which predictors each resample selects.

    Returns
    -------
    DataFrame
        Per model its predictors (`model`, a tuple of names), their number (`size`), and the
        `count` and `frequency` of the resamples that select it; of equally frequent ones the one
        with earlier predictors comes first.

    Examples
    --------
    >>> from shortlist.evaluation import model_frequencies
    >>> model_frequencies([[1, 0], [1, 1], [1, 0], [1, 0]])
          model  size  count  frequency
    0     (x0,)     1      3       0.75
    1  (x0, x1)     2      1       0.25
    """
    chosen, names = _check(selection)
    counts = Counter(tuple(np.flatnonzero(row).tolist()) for row in chosen)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return pd.DataFrame(
        {
            "model": [tuple(names[g] for g in support) for support, _ in ranked],
            "size": [len(support) for support, _ in ranked],
            "count": [count for _, count in ranked],
            "frequency": [count / len(chosen) for _, count in ranked],
        }
    )


def stability(selection: Any, level: float = 0.95) -> Stability:
    """Return Nogueira's stability, with its asymptotic confidence interval.

    It is 1 if every resample selects the same, and 0 on average if selections are drawn at random;
    it allows for the numbers selected (Nogueira, Sechidis and Brown 2018).

    Parameters
    ----------
    selection : DataFrame or array-like of bool, of shape (n_resamples, n_predictors)
        Which predictors each resample selects; at least two resamples.
    level : float
        Coverage of the interval.

    Returns
    -------
    Stability
        `value`, `lower` and `upper`; NaN if every resample selects nothing, or everything.

    Examples
    --------
    >>> from shortlist.evaluation import stability
    >>> round(stability([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]]).value, 2)
    0.33
    """
    chosen, _ = _check(selection)
    n_resamples, n_predictors = chosen.shape
    if n_resamples < 2:
        raise InvalidProblemError("selection: stability needs at least 2 resamples.")
    frequency = chosen.mean(axis=0)
    sizes = chosen.sum(axis=1)
    share = sizes.mean() / n_predictors
    at_random = share * (1 - share)
    if at_random == 0:
        return Stability(nan, nan, nan)
    variance = frequency * (1 - frequency) * n_resamples / (n_resamples - 1)
    value = 1 - variance.mean() / at_random
    # The influence of each resample, in the notation of the paper phi_i.
    own_share = sizes / n_predictors
    influence = (
        (chosen * frequency).mean(axis=1)
        - own_share * share
        + 0.5 * value * (2 * own_share * share - own_share - share + 1)
    ) / at_random
    error = 2 * sqrt(np.mean((influence - influence.mean()) ** 2) / n_resamples)
    half_width = float(norm.ppf(0.5 + level / 2)) * error
    return Stability(float(value), float(value - half_width), float(value + half_width))


def co_selection(selection: Any) -> pd.DataFrame:
    """Return how often two predictors are selected together.

    Parameters
    ----------
    selection : DataFrame or array-like of bool, of shape (n_resamples, n_predictors)
        Which predictors each resample selects.

    Returns
    -------
    DataFrame
        Per pair (`first`, `second`) the share of resamples that select both (`together`), what that
        would be if one did not depend on the other (`expected`), and the `correlation`: negative
        for predictors that stand in for each other, NaN if one is always or never selected.

    Examples
    --------
    >>> from shortlist.evaluation import co_selection
    >>> co_selection([[1, 0], [0, 1], [1, 0], [0, 1]])
      first second  together  expected  correlation
    0    x0     x1       0.0      0.25         -1.0
    """
    chosen, names = _check(selection)
    frequency = chosen.mean(axis=0)
    together = chosen.T.astype(np.float64) @ chosen / len(chosen)
    expected = np.outer(frequency, frequency)
    deviation = np.sqrt(frequency * (1 - frequency))
    with np.errstate(invalid="ignore"):
        correlation = (together - expected) / np.outer(deviation, deviation)
    rows, columns = np.triu_indices(len(names), 1)
    return pd.DataFrame(
        {
            "first": [names[g] for g in rows],
            "second": [names[g] for g in columns],
            "together": together[rows, columns],
            "expected": expected[rows, columns],
            "correlation": correlation[rows, columns],
        }
    )


def _check(selection: Any) -> tuple[NDArray[np.bool_], list[str]]:
    chosen = np.asarray(selection)
    if chosen.ndim != 2 or 0 in chosen.shape or not np.isin(chosen, (0, 1)).all():
        raise InvalidProblemError(
            "selection: expected a table of true and false, a row per resample and a column per "
            "predictor, with at least one of each."
        )
    if hasattr(selection, "columns"):
        return chosen.astype(bool), [str(name) for name in selection.columns]
    return chosen.astype(bool), [f"x{g}" for g in range(chosen.shape[1])]
