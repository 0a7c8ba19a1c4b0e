"""Times to an event, or to the end of observation, and Cox's partial likelihood of them.

The loss of a Cox regression is the negative logarithm of the partial likelihood. It is a sum of
terms, with ties as Efron or Breslow have them:

    wt log( sum_j c_j exp(u_j) )  less the sum of w u over the events,   j at risk at a time

With Breslow a time has one term, c = w and wt the weight W of its events. With Efron it has as many
as there are events, n: in the one with l of them gone, c_j = w_j (1 - l / n) for the events, and
wt = W / n. Rows are at risk from the start until their time, and only with rows of their stratum.

The dual points are distributions over the rows at risk, one for each term: pi = c exp(u) / S, S
being the sum above, for any u. Their entropy is sum_j pi_j log(c_j / pi_j), and the slopes are
of q = sum wt pi - the weights of the events. That adds up to 0 in each stratum, so there is
no intercept and nothing to balance.

All is computed by sums that are cumulated over the times, in the order of the rows and the terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import lgamma, log
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import Booleans, Float, Int, floats, unmasked
from .errors import InvalidProblemError
from .response import ForCore, Response

TIES = ("efron", "breslow")
_WIDEST = 600.0  # range of linear predictors; the loss is infinite beyond it


def survival(time: ArrayLike, event: ArrayLike) -> NDArray[Any]:
    """Return times to an event, or to the end of observation, as one outcome.

    Parameters
    ----------
    time : array-like of shape (n_rows,)
        Until the event, or until the end of observation; above 0.
    event : array-like of shape (n_rows,)
        Whether the event was observed: booleans, or 0 and 1.

    Returns
    -------
    ndarray of shape (n_rows,)
        A structured array with the fields `event` and `time`, as scikit-survival has them.

    Examples
    --------
    >>> import shortlist as sl
    >>> y = sl.survival([3.0, 5.0, 2.0], [1, 0, 1])
    >>> y["time"].tolist(), y["event"].tolist()
    ([3.0, 5.0, 2.0], [True, False, True])
    """
    times, events = _checked(
        np.asarray(unmasked("time", time)), np.asarray(unmasked("event", event))
    )
    outcome = np.empty(len(times), dtype=[("event", bool), ("time", np.float64)])
    outcome["event"], outcome["time"] = events, times
    return outcome


@dataclass(frozen=True, eq=False)
class Survival(Response):
    """Times, the `values`, and which of them ended with an event.

    Attributes
    ----------
    events : ndarray of bool, shape (n_rows,)
        Whether the event was observed.
    stratum : ndarray of int, shape (n_rows,)
        The stratum of each row, from 0 on.
    ties : str
        "efron" or "breslow".
    """

    events: Booleans = field(default_factory=lambda: np.empty(0, dtype=bool))
    stratum: Int = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    ties: str = "efron"

    @classmethod
    def of_times(
        cls, y: Any, n_rows: int, *, ties: str = "efron", strata: ArrayLike | None = None
    ) -> Survival:
        """Check the times and events of n_rows rows.

        Examples
        --------
        >>> from shortlist.event_times import Survival
        >>> Survival.of_times([[3.0, 1], [5.0, 0], [2.0, 1]], 3).events.tolist()
        [True, False, True]
        """
        if ties not in TIES:
            raise InvalidProblemError(f"ties: must be 'efron' or 'breslow', not {ties!r}.")
        times, events = times_and_events(y)
        if len(times) != n_rows:
            raise InvalidProblemError(
                f"y: expected {n_rows} times, one per row of X, but got {len(times)}."
            )
        return cls("times", times, events=events, stratum=_codes(strata, n_rows), ties=ties)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """What defines the outcomes, for a digest."""
        return self.values, self.events, self.stratum, np.array([self.ties == "efron"])

    @property
    def for_core(self) -> ForCore:
        """What the core multiplies rows with, and what a loss needs to know beside that."""
        block = np.full(len(self.values), -1, dtype=np.int64)
        n_blocks = 0
        for rows in self._rows_of_strata():
            times = -np.unique(-self.values[rows[self.events[rows]]])  # the latest first
            place = np.searchsorted(-times, -self.values[rows], side="left")
            is_known = place < len(times)
            block[rows[is_known]] = n_blocks + place[is_known]
            n_blocks += len(times)
        is_efron = self.ties == "efron"
        ones = np.ones(len(self.values))
        return ForCore(ones, self.events.astype(np.float64), (block, self.stratum, is_efron))

    @property
    def strata(self) -> Int:
        """Whether each row has an event: folds have rows with one in proportion."""
        return self.events.astype(np.int64)

    @property
    def n_strata(self) -> int:
        """How many kinds of rows folds have in proportion."""
        return 2

    def rows(self, chosen: Any) -> Survival:
        """Return the outcomes of some rows."""
        return replace(
            self,
            values=self.values[chosen],
            events=self.events[chosen],
            stratum=self.stratum[chosen],
        )

    def can_be_fitted(self, weights: Float) -> bool:
        """Whether a row of weight above 0 has an event."""
        return bool(self.events[weights > 0].any())

    def at_risk(self, weights: Float) -> Int:
        """Return the rows of weight above 0 that are at risk when some row has the event."""
        used = weights > 0
        chosen = np.zeros(len(weights), dtype=bool)
        for rows in self._rows_of_strata():
            events = rows[self.events[rows] & used[rows]]
            if len(events):
                chosen[rows] = used[rows] & (self.values[rows] >= self.values[events].min())
        return np.flatnonzero(chosen)

    def constant_columns(self, X: Float) -> Booleans:
        """Return which columns of rows at risk are constant within every stratum."""
        constant = np.ones(X.shape[1], dtype=bool)
        for rows in self._rows_of_strata():
            constant &= np.ptp(X[rows], axis=0) == 0
        return constant

    def without_events(self, weights: Float) -> int:
        """Return how many strata have rows of weight above 0 but no event: they say nothing."""
        used = weights > 0
        return sum(
            bool(used[rows].any() and not (self.events & used)[rows].any())
            for rows in self._rows_of_strata()
        )

    def _rows_of_strata(self) -> list[Int]:
        order = np.argsort(self.stratum, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(self.stratum[order])) + 1)

    def _why_nothing_fits(self, weights: Float) -> str:
        if not weights.any():
            return "sample_weight: all weights are zero; give some rows weight > 0."
        if not self.events.any():
            return "y: no row has the event; check which value of the indicator stands for it."
        return "sample_weight: no row with the event has weight > 0; give one weight."


class PartialLikelihood:
    """The loss of rows as a function of their linear predictors, and its derivatives.

    Parameters
    ----------
    response : Survival
        Times and events, of rows that are all at risk at some time (`Survival.at_risk`).
    weights : ndarray of shape (n_rows,)
        Weights above 0.
    """

    def __init__(self, response: Survival, weights: Float) -> None:
        times, events = response.values, response.events
        self.order = np.lexsort((events, -times, response.stratum))
        self.weights, self.events = weights[self.order], events[self.order]
        self.of_events = self.weights * self.events
        stratum, times = response.stratum[self.order], times[self.order]
        # A block ends with the last event of a time.
        key_changes = np.append((np.diff(stratum) != 0) | (np.diff(times) != 0), True)
        self.ends = np.flatnonzero(key_changes & self.events) + 1
        self.starts = np.append(0, self.ends[:-1])
        self.times = times[self.ends - 1]
        self.block = np.repeat(np.arange(len(self.ends)), self.ends - self.starts)
        is_first = np.append(True, np.diff(stratum[self.ends - 1]) != 0)
        self.first = np.flatnonzero(is_first)
        self.total = np.add.reduceat(self.of_events, self.starts)
        n_events = np.add.reduceat(self.events.astype(np.int64), self.starts)
        n_terms = n_events if response.ties == "efron" else np.ones_like(n_events)
        self.term = np.repeat(np.arange(len(self.ends)), n_terms)  # the time of each term
        self.first_term = np.cumsum(n_terms) - n_terms
        n_gone = np.arange(len(self.term)) - self.first_term[self.term]
        self.gone = n_gone / n_terms[self.term]
        self.wt = (self.total / n_terms)[self.term]
        self.n_terms = n_terms

    def loss(self, u: Float) -> float:
        """Return the negative log partial likelihood."""
        h, _, S = self._point(u)
        if np.ptp(u) > _WIDEST:
            return np.inf
        return float(self.wt @ np.log(S) - self.of_events @ h)

    def least(self) -> float:
        """Return what the loss is at least: its infimum over linear predictors, rounded down."""
        efron = np.array([lgamma(n + 1) - n * log(n) for n in self.n_terms.tolist()])
        parts = np.append(self.total * np.log(self.total), self.total / self.n_terms * efron)
        sizes = np.abs(parts) + np.tile(self.total, 2)
        rounding = 8 * len(self.weights) * np.finfo(float).eps * float(sizes.sum())
        return float(parts.sum()) - rounding

    def slope(self, u: Float) -> Float:
        """Return the derivative of the loss in each linear predictor."""
        return self._in_given_order(self._slope(*self._point(u)[1:]))

    def weigh(self, u: Float, X: Float) -> Float:
        """Return W X, W being the second derivative of the loss."""
        _, e, S = self._point(u)
        x = X[self.order]
        d = e * self._to_rows(self.wt / S)
        # Not wt / S^2, which may be beyond the range of doubles.
        means = self._to_rows((self._sums((x.T * e).T).T / S * (self.wt / S)).T)
        return self._in_given_order((x.T * d - means.T * e).T)

    def root(self, u: Float, X: Float, penalty: Float) -> tuple[Float, Float]:
        """Return a factor L and a scale with L L' / (scale scale') = X' W X + diag(penalty)."""
        hessian = X.T @ self.weigh(u, X) + np.diag(penalty)
        scale = 1.0 / np.sqrt(np.maximum(np.diag(hessian), penalty))  # it may cancel
        scaled = 0.5 * (hessian + hessian.T) * scale * scale[:, None]
        values, vectors = np.linalg.eigh(scaled)
        roots = np.sqrt(np.maximum(values, np.finfo(float).eps))[:, None] * vectors.T
        return np.transpose(np.linalg.qr(roots, mode="r")), scale

    def dual_point(self, u: Float, a: Float | None = None) -> tuple[float, float, Float]:
        """Return the entropy of the dual point at u, the size of its parts, and q."""
        h, e, S = self._point(u)
        means = self._sums(e * h) / S
        entropy = self.wt * (np.log(S) - means)
        size = self.wt * (np.abs(np.log(S)) + np.abs(means))
        return float(entropy.sum()), float(size.sum()), self._in_given_order(self._slope(e, S))

    def log_cumulative_hazard(self, u: Float) -> tuple[Float, Float]:
        """Return event times and the logarithm of Breslow's estimate there, of a single stratum.

        It is the cumulative hazard of a row whose linear predictor is 0.
        """
        risk, _ = self._at_risk(self._point(u)[1])
        cumulated = self._from_last(self.total / risk)
        return self.times[::-1], np.log(cumulated)[::-1] - u.max()

    def _point(self, u: Float) -> tuple[Float, Float, Float]:
        u = u[self.order]
        h = np.maximum(u - u.max(), -_WIDEST)
        e = self.weights * np.exp(h)
        return h, e, self._sums(e)

    def _slope(self, e: Float, S: Float) -> Float:
        return e * self._to_rows(self.wt / S) - self.of_events

    def _at_risk(self, x: Float) -> tuple[Float, Float]:
        """Return sums over the rows at risk, and over those with the event, at each time."""
        blocks = np.add.reduceat(x, self.starts)
        risk = _cumulated(blocks, self.first)
        return risk, np.add.reduceat((x.T * self.events).T, self.starts)

    def _sums(self, x: Float) -> Float:
        """Return the sums of c_j x_j / w_j over the rows of each term."""
        risk, events = self._at_risk(x)
        return np.asarray((risk[self.term].T - self.gone * events[self.term].T).T)

    def _per_time(self, a: Float) -> Float:
        return np.asarray(np.add.reduceat(a, self.first_term))

    def _from_last(self, a: Float) -> Float:
        """Return sums over each time and the earlier ones of its stratum."""
        firsts = len(a) - np.append(self.first[1:], len(a))[::-1]
        return _cumulated(a[::-1], firsts)[::-1]

    def _to_rows(self, a: Float) -> Float:
        """Return for each row the sum of a c_j / w_j over the terms that it is in."""
        own = self._per_time((a.T * self.gone).T)[self.block]
        of_rows = self._from_last(self._per_time(a))[self.block].T - self.events * own.T
        return np.asarray(of_rows.T)

    def _in_given_order(self, values: Float) -> Float:
        given = np.empty_like(values)
        given[self.order] = values
        return given


def _cumulated(x: Float, first: Int) -> Float:
    """Return cumulated sums that start anew at each of some places, without differences."""
    ends = np.append(first[1:], len(x))
    return np.concatenate([np.cumsum(x[i:j], 0) for i, j in zip(first, ends, strict=True)])


def _codes(strata: ArrayLike | None, n_rows: int) -> Int:
    if strata is None:
        return np.zeros(n_rows, dtype=np.int64)
    given = np.asarray(unmasked("strata", strata))
    if given.shape != (n_rows,):
        raise InvalidProblemError(
            f"strata: expected {n_rows} of them, one per row of X, but got shape {given.shape}."
        )
    if given.dtype.kind == "f" and not np.isfinite(given).all():
        raise InvalidProblemError("strata: contains NaN or infinity; remove those rows.")
    try:
        return np.unique(given, return_inverse=True)[1].astype(np.int64)
    except TypeError:
        raise InvalidProblemError(
            "strata: must all be of one type and none missing; convert or remove those rows."
        ) from None


def times_and_events(y: Any) -> tuple[Float, Booleans]:
    """Return times and events of a structured array, a frame or an array of two columns.

    Examples
    --------
    >>> from shortlist.event_times import times_and_events
    >>> times_and_events([[3.0, 1], [5.0, 0]])[1].tolist()
    [True, False]
    """
    if hasattr(y, "columns"):
        columns: Sequence[Any] = [np.asarray(y[name]) for name in y.columns]
        if len(columns) == 2 and columns[0].dtype == bool:
            columns = columns[::-1]
    else:
        given = np.asanyarray(y)  # which may be masked
        if given.dtype.names is not None:
            columns = [np.asarray(unmasked("y", given[name])) for name in given.dtype.names]
            if len(columns) == 2 and given.dtype[0].kind == "b":
                columns = columns[::-1]
        else:
            columns = list(np.asarray(unmasked("y", given)).T) if given.ndim == 2 else []
    if len(columns) != 2:
        raise InvalidProblemError(
            "y: must have a time and an event indicator per row; use sl.survival(time, event), an "
            "array of two columns in this order, or a frame of two columns."
        )
    return _checked(*columns)


def _checked(time: NDArray[Any], event: NDArray[Any]) -> tuple[Float, Booleans]:
    times = floats("y", time)
    if times.ndim != 1 or event.shape != times.shape:
        raise InvalidProblemError(
            f"y: times and events must be one per row, but have shapes {times.shape} and "
            f"{event.shape}."
        )
    if not np.isfinite(times).all():
        raise InvalidProblemError("y: a time is missing or infinite; remove those rows.")
    if len(times) and set(np.unique(times)) == {0.0, 1.0}:
        raise InvalidProblemError(
            "y: the times are 0 and 1 only, as an event indicator is; give time first and event "
            "second."
        )
    if len(times) and times.min() <= 0:
        raise InvalidProblemError(
            f"y: times must be above 0, but one is {times.min():g}; remove those rows or shift "
            "the start of observation."
        )
    if event.dtype != bool:
        values = floats("y", event)
        if not np.isin(values, (0.0, 1.0)).all():
            other = values[~np.isin(values, (0.0, 1.0))][0]
            raise InvalidProblemError(
                f"y: the event indicator must be 0 or 1, or a boolean, but one is {other:g}; "
                "recode it, or give time first and event second."
            )
        event = values > 0
    return times, np.array(event, dtype=bool)
