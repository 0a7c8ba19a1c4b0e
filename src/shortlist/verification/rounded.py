"""Lower bounds of many points at a time, in doubles, with what rounding may have changed taken off.

The a of a row may be any that its loss allows. So a is computed as it comes, and only what follows
from it has to be exact or bounded. A sum of n products of doubles, in any order, is off by less
than n 2^-53 times the sum of their sizes (Higham, Accuracy and Stability of Numerical Algorithms,
chapter 3); entropies are sums of positive series, whose relative error is known. Where that is not
good enough, `duality` works with balls instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import frexp, inf, log, nextafter
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from ..arguments import Float
from ..certificate import Point
from ..problem import SubsetProblem
from .affordability import Affordability

_UNIT = 2.0**-53  # the relative error of an operation
_OPERATIONS = 128  # that an entropy takes at most, and those at the end
_ROWS = 2048  # of a block
_VALUE_BITS = 60  # all values together are about 2**60 on the grid, and fit into an int64
# With numbers between these, and a 0 or at least the first, no product leaves the range of doubles.
_SMALLEST, _LARGEST = 2.0**-120, 2.0**120


class RoundedLoss(NamedTuple):
    """One loss: about the a of margins, the largest a, and H(a) with its size.

    `dual` takes margins, how they change along the correction, or None, and the smoothing.
    H(a) is wrong by at most `_OPERATIONS` units of the size, which is at least |H(a)|.
    """

    dual: Callable[[Float, Float | None, Float], Float]
    largest: float
    entropy: Callable[[Float], tuple[Float, Float]]


def _logistic_dual(margin: Float, move: Float | None, smoothing: Float) -> Float:
    a = expit(-margin)
    return a if move is None else a * (1.0 - expit(margin) * move)


def _logistic_entropy(a: Float) -> tuple[Float, Float]:
    """Return H(a) = -c log c - (1 - c) log(1 - c) for c = min(a, 1 - a), which is exact.

    With c = m 2^e and m from 1/2 to 1 both logarithms are sums of positive terms: log 2, and the
    series of 2 atanh(s) at s = (1 - m) / (1 + m) and s = c / (2 - c), neither above 1/3.
    """
    c = np.where(a <= 0.5, a, 1.0 - a)
    m, e = np.frexp(c)
    of_c = -e * log(2.0) + _twice_atanh((1.0 - m) / (1.0 + m))
    entropy = c * of_c + (1.0 - c) * _twice_atanh(c / (2.0 - c))
    return entropy, entropy


def _twice_atanh(s: Float) -> Float:
    """Return 2 atanh(s) for 0 <= s <= 1/3; what the series leaves out is below 2^-60 of it."""
    square = s * s
    total = np.full_like(s, 2.0 / 37.0)
    for k in range(35, 0, -2):
        total = total * square + 2.0 / k
    return total * s


def _squared_hinge_dual(margin: Float, move: Float | None, smoothing: Float) -> Float:
    a = 2.0 * (1.0 - margin)
    if move is not None:
        a = np.where(a > 0.0, a - 2.0 * move, a)
    return a


def _squared_hinge_entropy(a: Float) -> tuple[Float, Float]:
    square = 0.25 * a * a
    return a - square, a + square


def _hinge_dual(margin: Float, move: Float | None, smoothing: Float) -> Float:
    a = (1.0 - margin) / smoothing
    if move is not None:
        a = np.where((a > 0.0) & (a < 1.0), a - move / smoothing, a)
    return a


_LOSSES = {
    "logistic": RoundedLoss(_logistic_dual, 1.0, _logistic_entropy),
    "squared_hinge": RoundedLoss(_squared_hinge_dual, _LARGEST, _squared_hinge_entropy),
    "hinge": RoundedLoss(_hinge_dual, 1.0, lambda a: (a, a)),
}


class RoundedPoint(NamedTuple):
    """A lower bound of the entropy of a dual point, and upper bounds of the predictors' values."""

    entropy: float
    values: Float

    def bound(
        self,
        affordability: Affordability,
        bought: frozenset[int],
        forbidden: frozenset[int],
        at_most: int,
    ) -> float:
        """Return a lower bound on all models that buy at most so many more predictors."""
        taken = float(self.values[list(bought)].sum())
        free = sorted(affordability.free(bought, forbidden))
        values = self.values[free]
        total = float(values.sum())
        if not total < _LARGEST:
            return -inf
        if total > 0.0:
            bits = _VALUE_BITS - frexp(total)[1]
            on_grid = np.ceil(np.ldexp(values, bits)).astype(np.int64)
            most = affordability.most_valuable(on_grid, bought, free, at_most)
            taken += float(np.ldexp(float(most), -bits))
        n_operations = len(bought) + 8
        return _below(self.entropy - taken, n_operations * _UNIT * (abs(self.entropy) + taken))


class RoundedData:
    """The rows of positive weight, by class."""

    def __init__(self, problem: SubsetProblem) -> None:
        self.problem = problem
        self.loss = _LOSSES[problem.loss.name]
        self.classes = [
            np.flatnonzero((problem.weights > 0) & (problem.signs == sign)) for sign in (-1, 1)
        ]
        self.is_tame = _is_tame(problem)
        #: How many points to evaluate at a time.
        self.batch = max(16, min(512, 2**19 // _ROWS, 2**22 // max(1, problem.n_columns)))

    def evaluate(self, points: Sequence[Point]) -> list[RoundedPoint | None]:
        """Return dual points; None for one without a bound that doubles can express."""
        if not self.is_tame:
            return [None] * len(points)
        with np.errstate(all="ignore"):
            return self._evaluate(points)

    def _evaluate(self, points: Sequence[Point]) -> list[RoundedPoint | None]:
        problem, ridge = self.problem, self.problem.ridge
        theta = self._spread(points, [(p.intercept, *p.values) for p in points])
        steps = [p.correction or (0.0,) * (len(p.columns) + 1) for p in points]
        delta = self._spread(points, steps) if any(p.correction for p in points) else None
        smoothing = np.array([p.smoothing for p in points])
        # 1. Of each class the entropy, and the slopes with the mass as the last of them.
        entropies, slopes, sizes, masses = [], [], [], []
        for rows in self.classes:
            entropy, size_of_entropy = np.zeros((2, len(points)))
            slope, size = np.zeros((2, problem.n_columns + 1, len(points)))
            for X, w in self._blocks(rows):
                moves = None if delta is None else X @ delta
                a = self._allowed(self.loss.dual(X @ theta, moves, smoothing))
                of_rows, size_of_rows = self.loss.entropy(a)
                entropy += w @ of_rows
                size_of_entropy += w @ size_of_rows
                weighted = w[:, None] * X
                slope += weighted.T @ a
                size += np.abs(weighted).T @ a
            n_operations = len(rows) + len(rows) // _ROWS + _OPERATIONS
            error = 1.01 * n_operations * _UNIT
            entropies.append((entropy, error * size_of_entropy))
            slopes.append(slope)
            sizes.append(error * size)
            masses.append((np.abs(slope[-1]), error * size[-1]))
        # 2. Scale the heavier class down. Both factors are at most 1, and H(rho a) >= rho H(a).
        kept = np.minimum(*(mass - error for mass, error in masses))
        entropy, error_of_entropy = np.zeros((2, len(points)))
        slope, error_of_slope = np.zeros((2, problem.n_columns, len(points)))
        for (mass, error), of_class, of_columns, size in zip(
            masses, entropies, slopes, sizes, strict=True
        ):
            rho = kept / mass
            off = rho * (1.1 * error / mass + _OPERATIONS * _UNIT)  # exactly, rho is so far from it
            entropy += rho * of_class[0]
            error_of_entropy += (rho + off) * of_class[1] + off * np.abs(of_class[0])
            slope += rho * of_columns[:-1]
            error_of_slope += (rho + off) * size[:-1] + off * np.abs(of_columns[:-1])
        # 3. Values are convex in the slope, so largest at an end of where it may be.
        lower, upper = problem.limits.lower[:, None], problem.limits.upper[:, None]
        value = np.zeros_like(slope)
        for end in (slope - error_of_slope, slope + error_of_slope):
            t = np.clip(end / ridge, lower, upper)
            np.maximum(value, t * (end - 0.5 * ridge * t), out=value)
        values = np.zeros((problem.n_predictors, len(points)))
        np.add.at(values, problem.column_predictor, value)
        values *= 1.0 + (problem.n_columns + _OPERATIONS) * _UNIT
        is_known = (kept > 0) & np.isfinite(values.sum(axis=0) + entropy + error_of_entropy)
        return [
            RoundedPoint(_below(entropy[i], 1.01 * error_of_entropy[i]), values[:, i].copy())
            if is_known[i]
            else None
            for i in range(len(points))
        ]

    def _spread(self, points: Sequence[Point], values: Sequence[tuple[float, ...]]) -> Float:
        """Return a value for each column and point, and the first value, the intercept's, last."""
        n = self.problem.n_columns
        spread = np.zeros((n + 1, len(points)))
        for i, (point, of_point) in enumerate(zip(points, values, strict=True)):
            spread[list(point.columns), i] = of_point[1:]
            spread[n, i] = of_point[0]
        return spread

    def _blocks(self, rows: np.ndarray) -> Iterator[tuple[Float, Float]]:
        """Yield y (x, 1) and w of blocks of rows."""
        problem = self.problem
        for start in range(0, len(rows), _ROWS):
            mine = rows[start : start + _ROWS]
            X = np.column_stack([np.asarray(problem.X[mine], dtype=float), np.ones(len(mine))])
            yield problem.signs[mine, None] * X, problem.weights[mine]

    def _allowed(self, a: Float) -> Float:
        """Return the nearest a that the loss allows; one that is tiny, or no number, becomes 0."""
        return np.where(a >= _SMALLEST, np.minimum(a, self.loss.largest), 0.0)


def _is_tame(problem: SubsetProblem) -> bool:
    """Whether all numbers of the problem are far from the ends of the range of doubles."""
    return all(
        ((sizes == 0.0) | ((sizes >= _SMALLEST) & (sizes <= _LARGEST))).all()
        for sizes in map(np.abs, (problem.X, problem.weights, np.array(problem.ridge)))
    )


def _below(value: float, error: float) -> float:
    """Return a number below value - error."""
    return nextafter(float(value) - 2.0 * float(error), -inf)
