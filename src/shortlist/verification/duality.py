"""Losses and lower bounds in balls of python-flint, which contain the exact value.

The a of a row may be any that its loss allows, as bounds hold for all of them. So where a ball
leaves open on which side of an end it lies, a is that end, exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import inf, nextafter
from typing import NamedTuple

import numpy as np
from flint import arb, arb_mat
from numpy.typing import NDArray

from ..certificate import Point
from ..problem import SubsetProblem
from .affordability import Affordability

_VALUE_BITS = 60  # all values together are about 2**60 on the grid, and fit into an int64
_LARGEST_EXPONENT = 5000  # of 2; no data and no sensible point lead to more


# An a of a hinge that is this close to 0, or to 1, is not moved.
_AT_END = arb(2) ** -20


class ProofError(Exception):
    """The certificate proves less than it claims; the message is the verdict's reason."""


class BallLoss(NamedTuple):
    """One loss.

    `value` returns the loss of a margin. `dual` returns H(a) and a, given the margin, the change of
    the margin along the correction (0 if there is none) and the smoothing.
    """

    value: Callable[[arb], arb]
    dual: Callable[[arb, arb, arb], tuple[arb, arb]]


def _logistic(margin: arb) -> tuple[arb, arb, arb]:
    """Return log(1 + exp(-margin)), a = sigmoid(-margin), and 1 - a, all of them accurately."""
    if margin > 0:
        odds = (-margin).exp()
        return odds.log1p(), odds / (1 + odds), 1 / (1 + odds)
    odds = margin.exp()
    return odds.log1p() - margin, 1 / (1 + odds), odds / (1 + odds)


def _logistic_dual(margin: arb, move: arb, smoothing: arb) -> tuple[arb, arb]:
    """Return H(a') and a' = a + a (1 - a) t, -t being the change of the margin.

    Then a' is a (1 + (1 - a) t) and 1 - a' is (1 - a) (1 - a t). An a' that may lie outside [0, 1]
    is replaced by the end there, whose entropy is 0.
    """
    loss, a, b = _logistic(margin)
    if move == 0:
        return loss + a * margin, a
    up, down = 1 - b * move, 1 + a * move
    if not up > 0:
        return arb(0), arb(0)
    if not down > 0:
        return arb(0), arb(1)
    a, b = a * up, b * down
    less, more = (a, b) if a < b else (b, a)
    return -less * less.log() - more * (-less).log1p(), a


def _shortfall(margin: arb) -> arb:
    """Return max(0, 1 - margin)."""
    return (1 - margin).max(arb(0))


def _squared_hinge_dual(margin: arb, move: arb, smoothing: arb) -> tuple[arb, arb]:
    """Return H(a) and a = 2 (1 - margin), at least 0, moved unless it is at its end."""
    a = 2 * (1 - margin)
    if a > _AT_END:
        a -= 2 * move
    if not a > 0:
        a = arb(0)
    return a - a * a / 4, a


def _hinge_dual(margin: arb, move: arb, smoothing: arb) -> tuple[arb, arb]:
    """Return a = (1 - margin) / smoothing in [0, 1], moved unless it is at an end, twice.

    For H(a) = a.
    """
    a = (1 - margin) / smoothing
    if a > _AT_END and a < 1 - _AT_END:
        a -= move / smoothing
    if not a > 0:
        a = arb(0)
    elif not a < 1:
        a = arb(1)
    return a, a


_LOSSES = {
    "logistic": BallLoss(lambda margin: _logistic(margin)[0], _logistic_dual),
    "squared_hinge": BallLoss(lambda margin: _shortfall(margin) ** 2, _squared_hinge_dual),
    "hinge": BallLoss(_shortfall, _hinge_dual),
}


def check_point(problem: SubsetProblem, point: Point) -> None:
    """Refuse a point that is none of this problem."""
    n = len(point.columns)
    if len(point.values) != n or (point.correction and len(point.correction) != n + 1):
        raise ProofError("A point has more or fewer values than columns.")
    for column in point.columns:
        if not 0 <= column < problem.n_columns:
            raise ProofError(f"A point has a coefficient for column {column}.")
    if problem.loss.is_smoothed != (point.smoothing > 0):
        raise ProofError("A point has a smoothing that the loss does not need, or lacks it.")


class ExactData:
    """The rows of positive weight, one part per class."""

    def __init__(self, problem: SubsetProblem) -> None:
        used = problem.weights > 0
        self.parts = [_Part(problem, np.flatnonzero(used & (problem.signs == y))) for y in (-1, 1)]
        self.column_predictor = problem.column_predictor.tolist()
        self.n_predictors = problem.n_predictors
        self.ridge = arb(problem.ridge)
        self.loss = _LOSSES[problem.loss.name]
        limits = problem.limits
        self.intervals = list(zip(limits.lower.tolist(), limits.upper.tolist(), strict=True))

    def spread(self, columns: tuple[int, ...], values: tuple[float, ...]) -> arb_mat:
        """Return one value for each column, and the first value, of the intercept, as the last."""
        spread = [arb(0)] * len(self.column_predictor)
        for column, value in zip(columns, values[1:], strict=True):
            spread[column] = arb(value)
        return _vector([*spread, arb(values[0])])

    def objective_above(self, model: Point) -> float:
        """Return an upper bound on the objective of a model."""
        if model.correction or model.smoothing:
            raise ProofError("The model has a correction, which only points of the proof have.")
        if len(model.values) != len(model.columns):
            raise ProofError("The model has more or fewer values than columns.")
        if len(set(model.columns)) < len(model.columns):
            raise ProofError("The model has two coefficients for a column.")
        coef = dict(zip(model.columns, model.values, strict=True))
        for n, (lower, upper) in enumerate(self.intervals):
            if not lower <= coef.get(n, 0.0) <= upper:
                raise ProofError(f"The model's coefficient of column {n} is beyond its limits.")
        objective = self.ridge / 2 * sum((arb(t) * arb(t) for t in model.values), arb(0))
        objective += sum((part.loss(self.loss, model) for part in self.parts), arb(0))
        near = float(objective.upper())
        return near if arb(near) >= objective else nextafter(near, inf)


class _Part:
    """The rows of a class."""

    def __init__(self, problem: SubsetProblem, rows: NDArray[np.intp]) -> None:
        self._problem, self._rows = problem, rows
        self._weights = [arb(w) for w in problem.weights[rows].tolist()]

    def _signed(self, columns: tuple[int, ...] | slice) -> NDArray[np.float64]:
        """Return y_m (x_m, 1), of some columns."""
        X, signs = self._problem.X[self._rows][:, columns], self._problem.signs[self._rows]
        signed: NDArray[np.float64] = signs[:, None] * np.column_stack([X, np.ones(len(signs))])
        return signed

    @cached_property
    def _signed_rows(self) -> arb_mat:
        return arb_mat(self._signed(slice(None)).tolist())

    @cached_property
    def weighted(self) -> arb_mat:
        """A row for each column: w_m y_m (x_m, 1)."""
        columns = self._signed(slice(None)).T.tolist()
        return arb_mat(
            [[w * x for w, x in zip(self._weights, column, strict=True)] for column in columns]
        )

    def _total(self, values: list[arb]) -> arb:
        """Return sum_m w_m value_m."""
        return (_vector(self._weights).transpose() * _vector(values))[0, 0]

    def loss(self, loss: BallLoss, model: Point) -> arb:
        """Return sum_m w_m loss(margin_m)."""
        X = arb_mat(self._signed(model.columns).tolist())
        margins = X * _vector([arb(t) for t in (*model.values, model.intercept)])
        return self._total([loss.value(margin) for margin in margins.entries()])

    def dual(
        self, loss: BallLoss, theta: arb_mat, delta: arb_mat | None, smoothing: arb
    ) -> tuple[arb, list[arb]]:
        """Return sum_m w_m H(a_m), and every a_m."""
        margins = (self._signed_rows * theta).entries()
        moves = [arb(0)] * len(margins) if delta is None else (self._signed_rows * delta).entries()
        rows = zip(margins, moves, strict=True)
        entropies, a = zip(*(loss.dual(*row, smoothing) for row in rows), strict=True)
        return self._total(list(entropies)), list(a)


class DualPoint:
    """The a of a point: its entropy, and the value of every predictor.

    A point too extreme to have them gives the bound that holds anyway: no loss is below 0.
    """

    def __init__(self, data: ExactData, point: Point) -> None:
        self.entropy, self.values = arb(0), [arb(0)] * data.n_predictors
        theta = data.spread(point.columns, (point.intercept, *point.values))
        delta = data.spread(point.columns, point.correction) if point.correction else None
        smoothing = arb(point.smoothing)
        slopes, masses, entropies = [], [], []
        for part in data.parts:
            entropy, a = part.dual(data.loss, theta, delta, smoothing)
            slope = part.weighted * _vector(a)  # sum_m w_m a_m y_m (x_m, 1)
            slopes.append(slope)
            masses.append(abs(slope.entries()[-1]))
            entropies.append(entropy)
        # The smaller mass is kept: both factors are at most 1, and H(rho a) >= rho H(a).
        kept = min(mass.lower() for mass in masses)
        if not kept > 0:
            return
        rho = [kept / mass for mass in masses]
        entropy = rho[0] * entropies[0] + rho[1] * entropies[1]
        slope = slopes[0] * rho[0] + slopes[1] * rho[1]
        values = [arb(0)] * data.n_predictors
        for n, g in enumerate(data.column_predictor):
            values[g] += _value(slope[n, 0], data.ridge, *data.intervals[n])
        if sum(values, entropy).is_finite():
            self.entropy, self.values = entropy, values

    def bound(
        self,
        affordability: Affordability,
        bought: frozenset[int],
        forbidden: frozenset[int],
        at_most: int,
    ) -> float:
        """Return a lower bound on all models that buy at most so many more predictors."""
        free = sorted(affordability.free(bought, forbidden))
        lower = self.entropy - sum((self.values[g] for g in bought), arb(0))
        # The grid is that of the free predictors: others may be worth more by many orders.
        total = sum((self.values[g] for g in free), arb(0)).upper()
        if total > 0:
            mantissa, exponent = map(int, total.man_exp())
            size = exponent + mantissa.bit_length()  # the total is below 2**size
            if abs(size) > _LARGEST_EXPONENT:
                return 0.0
            grid = arb(2) ** (_VALUE_BITS - size)
            values = np.array([int((self.values[g] * grid).upper().ceil().fmpz()) for g in free])
            lower -= arb(affordability.most_valuable(values, bought, free, at_most)) / grid
        near = float(lower.lower())
        return near if arb(near) <= lower else nextafter(near, -inf)


def _value(slope: arb, ridge: arb, lower: float, upper: float) -> arb:
    """Return the maximum of slope t - ridge/2 t^2 over lower <= t <= upper, or more.

    The maximum over all t, which is taken where rounding leaves it open, is a little larger.
    """
    best = slope / ridge
    if best > arb(upper):
        return arb(upper) * (slope - ridge * arb(upper) / 2)
    if best < arb(lower):
        return arb(lower) * (slope - ridge * arb(lower) / 2)
    return slope * best / 2


def _vector(entries: list[arb]) -> arb_mat:
    return arb_mat(len(entries), 1, entries)
