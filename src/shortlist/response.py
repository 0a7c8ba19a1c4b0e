"""The outcome of each row, checked: the label of one of two classes, a number or a count."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import Booleans, Float, Int, floats, in_range, unmasked
from .errors import InvalidProblemError

_FAR = 32.0  # ranges from 0

# Pairs of words, the event second, in lower case.
_OBVIOUS = frozenset(
    [
        *[("0", "1"), ("-1", "1"), ("false", "true"), ("f", "t"), ("n", "y"), ("n", "j")],
        *[("no", "yes"), ("nein", "ja"), ("nee", "ja"), ("nej", "ja"), ("nei", "ja")],
        *[("non", "oui"), ("no", "si"), ("no", "sí"), ("no", "sì"), ("nao", "sim"), ("não", "sim")],
        *[("nie", "tak"), ("ne", "ano"), ("ei", "kyllä"), ("nem", "igen")],
        *[("negative", "positive"), ("negativ", "positiv"), ("neg", "pos"), ("-", "+")],
        *[("absent", "present"), ("absence", "presence"), ("control", "case")],
        *[("alive", "dead"), ("alive", "died"), ("live", "die"), ("living", "dead")],
        *[("lived", "died"), ("survived", "died"), ("survivor", "dead"), ("survival", "death")],
        *[("lebend", "tot"), ("lebt", "tot"), ("lebend", "verstorben"), ("überlebt", "verstorben")],
        *[("well", "ill"), ("well", "sick"), ("healthy", "ill"), ("healthy", "sick")],
        *[("healthy", "diseased"), ("normal", "abnormal")],
        *[("gesund", "krank"), ("benign", "malignant"), ("benigne", "maligne")],
    ]
)


class ForCore(NamedTuple):
    """Outcomes as the compiled core takes them.

    Attributes
    ----------
    factor, value : ndarray of shape (n_rows,)
        What rows are multiplied with, and what a loss needs to know beside that.
    times : tuple, optional
        Of outcomes that are times: the block and the stratum of each row, and whether ties are
        Efron's.
    """

    factor: Float
    value: Float
    times: tuple[Int, Int, bool] | tuple[()] = ()


@dataclass(frozen=True, eq=False)
class Response:
    """What the rows of a problem have for an outcome.

    Attributes
    ----------
    kind : str
        "labels", "numbers", "counts" or "times" (`event_times`).
    values : ndarray of shape (n_rows,)
        The outcomes; labels are -1 and 1.
    classes : ndarray
        What the labels -1 and 1 stand for; empty for numbers and counts.
    centre : float
        What is taken off numbers that are far from 0; the intercept makes up for it.
    """

    kind: str
    values: Float
    classes: NDArray[Any] = field(default_factory=lambda: np.empty(0))
    centre: float = 0.0

    @classmethod
    def of(cls, y: ArrayLike, n_rows: int, kind: str) -> Response:
        """Check the outcomes of n_rows rows.

        Examples
        --------
        >>> from shortlist.response import Response
        >>> Response.of(["well", "ill", "well"], 3, "labels").values.tolist()
        [1.0, -1.0, 1.0]
        """
        given = np.asarray(unmasked("y", y))
        if given.ndim == 2 and given.shape[1] == 1:
            given = given[:, 0]
        if given.ndim != 1 or len(given) != n_rows:
            raise InvalidProblemError(
                f"y: expected {n_rows} {kind}, one per row of X, but got shape {given.shape}."
            )
        if kind == "labels":
            classes, values = _labels_of(given)
            return cls(kind, values, classes)
        values = _numbers_of(given, kind)
        return cls(kind, values, centre=_centre_of(values) if kind == "numbers" else 0.0)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """What defines the outcomes, for a digest."""
        return (self.values,)

    @property
    def for_core(self) -> ForCore:
        """The outcomes as the core takes them."""
        if self.kind == "labels":
            return ForCore(-self.values, np.zeros(len(self.values)))
        return ForCore(np.ones(len(self.values)), self.values - self.centre)

    def at_risk(self, weights: Float) -> Int:
        """Return the rows that the loss depends on: of weight above 0."""
        return np.flatnonzero(weights > 0)

    def constant_columns(self, X: Float) -> Booleans:
        """Return which columns of rows that the loss depends on no model can use."""
        constant: Booleans = np.ptp(X, axis=0) == 0
        return constant

    @property
    def strata(self) -> Int:
        """The stratum of each row: folds and samples have rows of each in proportion."""
        return (self.values > 0).astype(np.int64) * (self.kind == "labels")

    @property
    def n_strata(self) -> int:
        """How many strata there are."""
        return 2 if self.kind == "labels" else 1

    def rows(self, chosen: Any) -> Response:
        """Return the outcomes of some rows."""
        return replace(self, values=self.values[chosen])

    def can_be_fitted(self, weights: Float) -> bool:
        """Whether the rows of weight above 0 have two outcomes, without which none can be told."""
        used = self.values[weights > 0]
        return len(used) > 0 and bool(used.min() < used.max())

    def weights(self, sample_weight: ArrayLike | None) -> Float:
        """Check weights of the rows; they are 1 by default."""
        n_rows = len(self.values)
        if sample_weight is None and self.kind == "labels":
            return np.ones(n_rows)  # both classes have some
        given = np.ones(n_rows) if sample_weight is None else sample_weight
        weights = floats("sample_weight", given)
        if weights.shape != (n_rows,):
            raise InvalidProblemError(
                f"sample_weight: expected {n_rows} weights, one per row, "
                f"but got shape {weights.shape}."
            )
        if not weights.min(initial=0.0) >= 0 or not np.isfinite(weights.sum()):
            raise InvalidProblemError("sample_weight: weights must be finite and at least 0.")
        if not self.can_be_fitted(weights):
            raise InvalidProblemError(self._why_nothing_fits(weights))
        in_range("sample_weight", float(weights.max()))
        return weights

    def _why_nothing_fits(self, weights: Float) -> str:
        if self.kind == "labels":
            return (
                "sample_weight: the weights of one class are all zero; "
                "give both classes rows of weight > 0."
            )
        n = np.count_nonzero(weights)
        if n == 0:
            return "sample_weight: all weights are zero; give some rows weight > 0."
        alike = f"the {n} outcomes of weight above 0 are all alike, which is"
        rows = "1 sample is" if n == 1 else alike
        return f"y: {rows} too few to predict anything; use other rows."


def _labels_of(labels: NDArray[Any]) -> tuple[NDArray[Any], Float]:
    """Return the two classes, smaller first, and the labels as -1 and 1."""
    if labels.dtype.kind in "biuf" and len(labels) > 0:
        # Two reductions instead of the sort of np.unique: this is on the path of every fit.
        low, high = labels.min(), labels.max()
        if not isfinite(low) or not isfinite(high):
            raise InvalidProblemError("y: contains NaN or infinity; remove those rows.")
        positive = labels == high
        n_known = np.count_nonzero(positive) + np.count_nonzero(labels == low)
        if low != high and n_known == len(labels):
            return np.array([low, high], dtype=labels.dtype), np.where(positive, 1.0, -1.0)
    try:
        classes = np.unique(labels)
    except TypeError:
        raise InvalidProblemError(
            "y: labels must all be of one type and none missing; convert or remove those rows."
        ) from None
    if len(classes) != 2:
        count = "only 1 class" if len(classes) == 1 else f"{len(classes)} classes"
        raise InvalidProblemError(
            f"y: has {count} but exactly 2 are needed; select or merge classes."
        )
    return classes, np.where(labels == classes[1], 1.0, -1.0)


def _centre_of(values: Float) -> float:
    """Return the middle of numbers that are far from 0, else 0."""
    low, high = values.min(initial=np.inf), values.max(initial=-np.inf)
    middle = float(low + (high - low) / 2.0) if len(values) else 0.0
    return middle if abs(middle) > _FAR * (high - low) else 0.0


def _numbers_of(given: NDArray[Any], kind: str) -> Float:
    """Return numbers, or counts, that losses can be made of."""
    values = floats("y", given)
    if not np.isfinite(values).all():
        raise InvalidProblemError("y: contains NaN or infinity; remove those rows.")
    largest = float(np.abs(values).max(initial=0.0))
    if largest > 0:
        in_range("y", largest, "state it in another unit")
    if kind == "counts" and values.min(initial=0.0) < 0:
        raise InvalidProblemError(
            f"y: counts must be at least 0, but one is {values.min():g}; remove those rows."
        )
    return values


def obvious_event(values: Sequence[str]) -> str | None:
    """Return the event of a pair such as 0 and 1, no and yes or alive and dead; else None.

    Examples
    --------
    >>> from shortlist.response import obvious_event
    >>> obvious_event(["ja", "nein"]), obvious_event(["die", "live"]), obvious_event(["1", "2"])
    ('ja', 'die', None)
    >>> obvious_event(["0_no", "1_yes"])
    '1_yes'
    """
    if len(values) != 2:
        return None
    for other, event in (tuple(values), tuple(reversed(values))):
        if (_unnumbered(other), _unnumbered(event)) in _OBVIOUS:
            return event
    return None


def _unnumbered(value: str) -> str:
    """Return a value in lower case, without a number before a word, as in 1_yes."""
    return re.sub(r"^\d+[\s_.:)=-]+(?=\D)", "", value.strip().lower())
