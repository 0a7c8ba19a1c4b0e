"""The data of a problem in the layout of the kernels, packed once for many solves."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from fractions import Fraction
from math import inf, isfinite, nan, sqrt
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..blocks import row_blocks
from ..problem import SubsetProblem
from .kernels.layout import FREE, OUT, Data
from .kernels.pack import (
    constant_columns,
    is_packed,
    merge_rows,
    pack_table,
    weigh_rows,
)

_MOST_KEPT = 2**26  # bytes, of all packed data together
_MOST_TABLES = 8
_FAR = 2.0**5  # spreads from zero at which a column is centred


class Weighted(NamedTuple):
    """Packed data with the weights of one problem, which any ridge and loss can be given."""

    weights: NDArray[np.float64]  # of all rows, by class
    data: Data
    centre: NDArray[np.float64]  # what was taken off each column: 0, unless it is far from zero
    distance: float  # of these columns from zero, in spreads, at most
    rounding: float  # of a bound at a ridge of 1, at most: see `confirmation`
    decided: NDArray[np.int8]  # what the data decide: constant predictors are not worth buying


class Packed:
    """Features, labels and groups of a problem, without its weights, ridge, prices and limits.

    Rows are ordered by class and carry their sign, identical ones are merged, and columns are
    ordered by predictor. Once there are weights, columns far from zero are centred. Nothing changes
    once it is made, so that threads can share it.
    """

    def __init__(self, problem: SubsetProblem) -> None:
        n_columns, n_predictors = problem.n_columns, problem.n_predictors
        self._table: weakref.ref[NDArray[np.float64]] = weakref.ref(problem.X)
        self._signs = problem.signs.copy()
        self._column_predictor = problem.column_predictor.copy()
        self.columns = np.argsort(problem.column_predictor, kind="stable")
        self.owner = problem.column_predictor[self.columns]
        self.start = np.searchsorted(self.owner, np.arange(n_predictors + 1))
        self.widest = int(np.diff(self.start).max(initial=1))
        positive = problem.signs > 0
        self._rows = np.concatenate([positive.nonzero()[0], (~positive).nonzero()[0]])
        self._sign = -problem.signs[self._rows]
        n_positive = int(np.count_nonzero(positive))
        X = np.empty((n_columns, problem.n_rows))
        if problem.X.dtype == np.float64:
            pack_table(*_flat(problem.X), self._rows, self.columns, self._sign, X)
        else:  # without a copy of the whole table as float64
            place = np.argsort(self._rows)
            for rows, block in row_blocks(problem.X):
                X[:, place[rows]] = (-problem.signs[rows, None] * block[:, self.columns]).T
        self._place = np.empty(problem.n_rows, dtype=np.int64)
        n_left, self._n_positive = merge_rows(X, n_positive, self._place)
        self._X = X if n_left == problem.n_rows else np.ascontiguousarray(X[:, :n_left])
        self._last: Weighted | None = None

    @property
    def is_alive(self) -> bool:
        """Whether the table that this was packed from still exists."""
        return self._table() is not None

    @property
    def nbytes(self) -> int:
        """The memory that this may take: the rows, and those that counted last."""
        return 2 * self._X.nbytes

    def is_of(self, problem: SubsetProblem) -> bool:
        """Whether the problem has these data.

        Its table is the caller's, who may have changed it in place: it is compared in full, which
        takes one pass.
        """
        return (
            self._table() is problem.X
            and problem.X.dtype == np.float64  # what else there is, is packed anew
            and np.array_equal(self._signs, problem.signs)
            and np.array_equal(self._column_predictor, problem.column_predictor)
            and is_packed(
                *_flat(problem.X), self._rows, self.columns, self._sign, self._place, self._X
            )
        )

    def weighted(self, problem: SubsetProblem) -> Weighted:
        """Return the rows that count in a problem with these data; the last ones are kept."""
        weights, last = problem.weights[self._rows], self._last
        if last is None or not np.array_equal(weights, last.weights):
            last = self._last = self._weigh(weights)
        return last

    def _weigh(self, weights: NDArray[np.float64]) -> Weighted:
        X = self._X
        kept, w = np.empty(X.shape[1], dtype=np.int64), np.empty(X.shape[1])
        n_kept, n_positive = weigh_rows(weights, self._place, self._n_positive, kept, w)
        if n_kept < len(kept) or (kept[1:] < kept[:-1]).any():
            w = w[:n_kept].copy()
            X = X.take(kept[:n_kept], axis=1)
        X, centre, distance = _centred(X, n_positive)
        no_limits = np.full(len(X), inf)
        data = Data(
            X, w, n_positive, self.start, self.owner, -no_limits, no_limits,
            is_limited=False, ridge=nan, loss=0, width=0.0, null_intercept=nan, null_objective=nan,
        )  # fmt: skip
        return Weighted(weights, data, centre, distance, _rounding(X, w), self._decided(data))

    def _decided(self, data: Data) -> NDArray[np.int8]:
        decided = np.full(len(self.start) - 1, FREE, dtype=np.int8)
        constant = np.empty(len(data.X), dtype=np.bool_)
        constant_columns(data.X, data.n_positive, constant)
        if constant.any():
            decided[np.setdiff1d(np.arange(len(decided)), self.owner[~constant])] = OUT
        return decided


def _centred(
    X: NDArray[np.float64], n_positive: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Take the middle off columns far from zero, which is exact.

    Returns the columns, what was taken off, and the largest distance from zero in spreads. Positive
    rows, which come first, carry a minus sign.
    """
    centre = np.zeros(len(X))
    with np.errstate(over="ignore"):
        # Most columns are not far even from their first value to their last.
        near = np.abs(X[:, 0] + X[:, -1]) * (_FAR - 1) >= np.abs(X[:, 0])
        candidates = (~near).nonzero()[0]
        if not len(candidates):
            return X, centre, 0.0
        positive, negative = X[candidates, :n_positive], X[candidates, n_positive:]
        low = np.minimum(-positive.max(axis=1), negative.min(axis=1))
        high = np.maximum(-positive.min(axis=1), negative.max(axis=1))
        spread = high - low
        is_far = (spread > 0) & (np.maximum(-low, high) > _FAR * spread)
    far = candidates[is_far]
    if not len(far):
        return X, centre, 0.0
    centre[far] = (low + spread / 2)[is_far]
    X = X.copy()
    X[far, :n_positive] += centre[far, None]
    X[far, n_positive:] -= centre[far, None]
    return X, centre, float(np.abs(centre[far] / spread[is_far]).max())


def _rounding(X: NDArray[np.float64], w: NDArray[np.float64]) -> float:
    """Return how much rounding may change a bound at a ridge of 1."""
    n_columns = max(1, 2**20 // len(w))  # at a time
    largest = 0.0
    with np.errstate(over="ignore"):
        for j in range(0, len(X), n_columns):
            largest = max(largest, float((np.abs(X[j : j + n_columns]) @ w).max()))
        return 2.0**-53 * largest * sqrt(w.sum())


def uncentred(
    intercept: float, values: Iterable[float], centres: Iterable[float]
) -> tuple[float, float]:
    """Return the intercept for columns that are not centred, and the rounding error of that."""
    pairs = [(value, centre) for value, centre in zip(values, centres, strict=True) if centre != 0]
    if not pairs or not isfinite(intercept + sum(abs(v * c) for v, c in pairs)):
        return float(intercept), 0.0
    exact = Fraction(intercept) - sum(Fraction(v) * Fraction(c) for v, c in pairs)
    return float(exact), float(exact - Fraction(float(exact)))


def _flat(X: NDArray[np.float64]) -> tuple[NDArray[np.float64], int, int]:
    """Return a table as one row, and the distances between its rows and its columns."""
    n_rows, n_columns = X.shape
    by_column = X.flags.f_contiguous
    flat = (X.T if by_column else np.ascontiguousarray(X)).reshape(-1).view(np.ndarray)
    flat.flags.writeable = False  # always, as that is part of the type
    return (flat, 1, n_rows) if by_column else (flat, n_columns, 1)


_kept: list[Packed] = []  # the one that was used last comes first
_lock = Lock()


def packed_of(problem: SubsetProblem) -> Packed:
    """Return the packed data of a problem, made anew only if they are not among those kept.

    Kept are those of the tables used last, up to 64 MiB in all. Larger ones are packed for every
    solve or sequence of solves, as memory then matters more than time. Those of a table that no
    longer exists go with the next call.
    """
    candidates = list(_kept)
    packed = next((packed for packed in candidates if packed.is_of(problem)), None)
    if packed is None:
        packed = Packed(problem)
    elif packed is candidates[0]:
        return packed
    with _lock:
        others = [other for other in _kept if other is not packed and other.is_alive]
        _kept[:] = [packed, *others][:_MOST_TABLES]
        while sum(kept.nbytes for kept in _kept) > _MOST_KEPT:
            # What does not fit at all leaves the others where they are.
            _kept.pop(0 if packed.nbytes > _MOST_KEPT else -1)
    return packed
