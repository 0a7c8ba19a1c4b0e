"""Concordance of risks with times to an event: who has the higher risk has the event first."""

from __future__ import annotations

from math import nan

import numpy as np

from .arguments import Booleans, Float, Int


def harrell_concordance(times: Float, events: Booleans, risks: Float, weights: Float) -> float:
    """Return Harrell's concordance: the share of pairs whose risks are in the order of the times.

    Two rows make a pair if one has the event and the other is longer at risk: a row that is
    censored at the time of an event is. Equal risks count a half, and a pair the product of its
    weights. It takes O(n log(n)^2) operations.

    Parameters
    ----------
    times, risks, weights : ndarray of shape (n_rows,)
        Times, risks in any unit, and weights of at least 0.
    events : ndarray of bool, shape (n_rows,)
        Whether the event was observed.

    Returns
    -------
    float
        From 0 to 1; NaN if there is no pair.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.concordance import harrell_concordance
    >>> times, events = np.array([1.0, 2.0, 3.0]), np.array([True, True, False])
    >>> round(harrell_concordance(times, events, np.array([3.0, 1.0, 2.0]), np.ones(3)), 3)
    0.667
    """
    order = np.lexsort((~events, times))  # at one time the events come first
    times, events, weights = times[order], events[order], weights[order]
    rank = np.unique(risks[order], return_inverse=True)[1]
    of_event = times[events]
    n_alike = np.searchsorted(of_event, of_event, "right") - np.searchsorted(of_event, of_event)
    first = np.searchsorted(times, of_event) + n_alike  # who is longer at risk
    longer = np.append(np.cumsum(weights[::-1])[::-1], 0.0)[first]
    pairs = weights[events] @ longer
    concordant = weights[events] @ _lower(rank, weights, first, rank[events])
    return float(concordant / pairs) if pairs > 0 else nan


def _lower(rank: Int, weights: Float, first: Int, below: Int) -> Float:
    """Return the weight of rows from `first` on with a rank below `below`, and half of the equal.

    Rows from a place on are blocks of 1, 2, 4, ... rows, at most one of each size, each of which
    begins at a multiple of its size. Where blocks are sorted by rank, a bisection finds a sum.
    """
    n_rows = len(rank)
    sums = np.zeros(len(first))
    by_rank = np.argsort(rank, kind="stable")
    for bit in range(n_rows.bit_length()):
        order = by_rank[np.argsort(by_rank >> bit, kind="stable")]
        keys = (order >> bit) * n_rows + rank[order]
        cumulated = np.append(0.0, np.cumsum(weights[order]))
        is_one = (first >> bit) % 2 == 1
        block = first[is_one] >> bit
        key = block * n_rows + below[is_one]
        least, most = np.searchsorted(keys, key), np.searchsorted(keys, key, "right")
        before = cumulated[np.minimum(block << bit, n_rows)]
        sums[is_one] += 0.5 * (cumulated[least] + cumulated[most]) - before
        first = first + (is_one.astype(np.int64) << bit)
    return sums
