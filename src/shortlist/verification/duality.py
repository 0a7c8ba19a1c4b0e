"""Losses and lower bounds in balls of python-flint, which contain the exact value.

The a of a row may be any that its loss allows, as bounds hold for all of them. So where a ball
leaves open on which side of an end it lies, a is that end, exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from math import inf, nextafter
from typing import NamedTuple

import numpy as np
from flint import arb, arb_mat

from ..certificate import Point
from ..problem import SubsetProblem
from .affordability import Affordability
from .risk_sets import Exact, RiskSets

_VALUE_BITS = 60  # all values together are about 2**60 on the grid, and fit into an int64
_LARGEST_EXPONENT = 5000  # of 2; no data and no sensible point lead to more


# An a of a hinge that is this close to 0, or to 1, is not moved.
_AT_END = arb(2) ** -20


class ProofError(Exception):
    """The certificate proves less than it claims; the message is the verdict's reason."""


class Row(NamedTuple):
    """A row at a point: its outcome, linear predictor, the change of that along the correction."""

    y: arb
    u: arb
    move: arb
    smoothing: arb


class BallFamily(NamedTuple):
    """One family of outcomes.

    `loss` returns the loss of outcomes, linear predictors and weights. `dual` returns the sum of
    w H(a) and the w a of rows and their weights, for a dual point: its w a add up to 0. It returns
    None if there is none.
    """

    loss: Callable[[Sequence[arb], Sequence[arb], Sequence[arb]], arb]
    dual: Callable[[Sequence[Row], Sequence[arb]], tuple[arb, list[arb]] | None]


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


def _sum_of(
    value: Callable[[arb, arb], arb],
) -> Callable[[Sequence[arb], Sequence[arb], Sequence[arb]], arb]:
    """Return the loss of rows that add theirs up."""

    def loss(outcomes: Sequence[arb], u: Sequence[arb], weights: Sequence[arb]) -> arb:
        rows = zip(weights, outcomes, u, strict=True)
        return sum((w * value(y, of_row) for w, y, of_row in rows), arb(0))

    return loss


def _of_margins(
    value: Callable[[arb], arb], dual: Callable[[arb, arb, arb], tuple[arb, arb]]
) -> BallFamily:
    """Return the family of a loss of the margin y u, given H(a) and a = minus its derivative."""

    def balanced(rows: Sequence[Row], weights: Sequence[arb]) -> tuple[arb, list[arb]] | None:
        """Scale the heavier class down: both factors are at most 1, and H(rho a) >= rho H(a)."""
        found = [dual(row.y * row.u, row.y * row.move, row.smoothing) for row in rows]
        mass = {True: arb(0), False: arb(0)}
        for row, w, (_, a) in zip(rows, weights, found, strict=True):
            mass[bool(row.y > 0)] += w * a
        kept = min(each.lower() for each in mass.values())
        if not kept > 0:
            return None
        rho = [kept / mass[bool(row.y > 0)] for row in rows]
        parts = list(zip(rows, weights, rho, found, strict=True))
        entropy = sum((w * r * of_row for _, w, r, (of_row, _) in parts), arb(0))
        return entropy, [-row.y * w * r * a for row, w, r, (_, a) in parts]

    return BallFamily(_sum_of(lambda y, u: value(y * u)), balanced)


def _centred(rows: Sequence[Row], weights: Sequence[arb]) -> tuple[arb, list[arb]]:
    """Return the dual point of squared errors: a = u - y, moved, less its mean."""
    a = [row.u - row.y + row.move for row in rows]
    weighted = [w * of_row for w, of_row in zip(weights, a, strict=True)]
    mean = sum(weighted, arb(0)) / sum(weights, arb(0))
    weighted = [of_row - w * mean for w, of_row in zip(weights, weighted, strict=True)]
    entropy = sum(
        (
            -wa * (row.y + (of_row - mean) / 2)
            for row, wa, of_row in zip(rows, weighted, a, strict=True)
        ),
        arb(0),
    )
    return entropy, weighted


def _x_log_x(x: arb) -> arb:
    """Return x log x; not a number if x is not exactly 0 but may be."""
    return arb(0) if x == 0 else x * x.log()


def _scaled(rows: Sequence[Row], weights: Sequence[arb]) -> tuple[arb, list[arb]] | None:
    """Return the dual point of counts: means exp(u), moved, scaled to add up to the counts."""
    means = []
    for row in rows:
        mean = row.u.exp() * (1 + row.move)
        means.append(mean if mean > 0 else arb(0))
    total = sum((w * mean for w, mean in zip(weights, means, strict=True)), arb(0))
    if not total > 0:
        return None
    counts = sum((w * row.y for w, row in zip(weights, rows, strict=True)), arb(0))
    means = [mean * counts / total for mean in means]
    parts = list(zip(rows, weights, means, strict=True))
    entropy = sum(
        (w * (mean - _x_log_x(mean) - row.y + _x_log_x(row.y)) for row, w, mean in parts), arb(0)
    )
    return entropy, [w * (mean - row.y) for row, w, mean in parts]


_FAMILIES = {
    "logistic": _of_margins(lambda margin: _logistic(margin)[0], _logistic_dual),
    "squared_hinge": _of_margins(lambda margin: _shortfall(margin) ** 2, _squared_hinge_dual),
    "hinge": _of_margins(_shortfall, _hinge_dual),
    "squared_error": BallFamily(_sum_of(lambda y, u: (y - u) ** 2 / 2), _centred),
    "poisson": BallFamily(_sum_of(lambda y, u: u.exp() - y * u - y + _x_log_x(y)), _scaled),
}


def _of_risk_sets(loss: Exact) -> BallFamily:
    """Return the family of a partial likelihood: its dual points need nothing made feasible."""
    return BallFamily(
        lambda outcomes, u, weights: loss.loss(u),
        lambda rows, weights: loss.dual([row.u for row in rows], [row.move for row in rows]),
    )


def check_point(problem: SubsetProblem, point: Point) -> None:
    """Refuse a point that is none of this problem."""
    n = len(point.columns)
    if len(point.values) != n or (point.correction and len(point.correction) != n + 1):
        raise ProofError("A point has more or fewer values than columns.")
    for column in point.columns:
        if not 0 <= column < problem.n_columns:
            raise ProofError(f"A point has a coefficient for column {column}.")
    if problem.family.is_smoothed != (point.smoothing > 0):
        raise ProofError("A point has a smoothing that the loss does not need, or lacks it.")


class ExactData:
    """The rows of positive weight; of times, those at risk when there is an event.

    Attributes
    ----------
    least : float
        No loss is below it.
    """

    def __init__(self, problem: SubsetProblem) -> None:
        self._problem, self._used = problem, np.flatnonzero(problem.weights > 0)
        self._strata, self.least = [slice(None)], 0.0
        if problem.response.kind == "times":
            sets = RiskSets(problem)
            self._used, self._strata = sets.rows, sets.strata
            partial_likelihood = Exact(sets, [arb(w) for w in problem.weights[sets.rows].tolist()])
            self.family, self.least = (
                _of_risk_sets(partial_likelihood),
                _not_above(partial_likelihood.least()),
            )
        else:
            self.family = _FAMILIES[problem.family.name]
        self.weights = [arb(w) for w in problem.weights[self._used].tolist()]
        self.outcomes = [arb(y) for y in problem.response.values[self._used].tolist()]
        self.column_predictor = problem.column_predictor.tolist()
        self.n_predictors = problem.n_predictors
        self.ridge = arb(problem.ridge)
        limits = problem.limits
        self.intervals = list(zip(limits.lower.tolist(), limits.upper.tolist(), strict=True))

    def _rows(self, columns: tuple[int, ...] | slice) -> arb_mat:
        """Return the rows (x_m, 1), of some columns."""
        X = self._problem.X[self._used][:, columns]
        return arb_mat(np.column_stack([X, np.ones(len(X))]).tolist())

    def useless_predictors(self) -> frozenset[int]:
        """Predictors that are constant, or within each stratum: without them nothing gets worse."""
        X, varying = self._problem.X[self._used], set[int]()
        for stratum in self._strata:
            columns = np.flatnonzero(np.ptp(X[stratum], axis=0) > 0)
            varying.update(self.column_predictor[n] for n in columns)
        return frozenset(range(self.n_predictors)).difference(varying)

    @cached_property
    def rows(self) -> arb_mat:
        """The rows (x_m, 1)."""
        return self._rows(slice(None))

    @cached_property
    def columns(self) -> arb_mat:
        """A row for each column, and the last for the intercept."""
        return self.rows.transpose()

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
        u = self._rows(model.columns) * _vector([arb(t) for t in (*model.values, model.intercept)])
        objective += self.family.loss(self.outcomes, u.entries(), self.weights)
        return -_not_above(-objective)

    def dual(self, point: Point) -> tuple[arb, list[arb]] | None:
        """Return the entropy and the slopes of the columns, the intercept's last, of a point."""
        u = (self.rows * self.spread(point.columns, (point.intercept, *point.values))).entries()
        moves = [arb(0)] * len(u)
        if point.correction:
            moves = (self.rows * self.spread(point.columns, point.correction)).entries()
        smoothing = arb(point.smoothing)
        rows = [Row(*row, smoothing) for row in zip(self.outcomes, u, moves, strict=True)]
        found = self.family.dual(rows, self.weights)
        return None if found is None else (found[0], (self.columns * _vector(found[1])).entries())


class DualPoint:
    """The a of a point: its entropy, and the value of every predictor.

    A point too extreme to have them gives the bound that holds anyway, of the lowest loss.
    """

    def __init__(self, data: ExactData, point: Point) -> None:
        self.least = data.least
        self.entropy, self.values = arb(data.least), [arb(0)] * data.n_predictors
        found = data.dual(point)
        if found is None:
            return
        entropy, slopes = found
        values = [arb(0)] * data.n_predictors
        for n, g in enumerate(data.column_predictor):
            values[g] += _value(-slopes[n], data.ridge, *data.intervals[n])
        if sum(values, entropy).is_finite():
            self.entropy, self.values = entropy, values

    def bound(
        self,
        affordability: Affordability,
        bought: frozenset[int],
        forbidden: frozenset[int],
        at_most: int,
    ) -> float:
        """Return a lower bound on all models that buy at most `at_most` more predictors."""
        free = sorted(affordability.free(bought, forbidden))
        lower = self.entropy - sum((self.values[g] for g in bought), arb(0))
        # The grid is made for the free predictors: others may be worth more by many orders.
        total = sum((self.values[g] for g in free), arb(0)).upper()
        if total > 0:
            mantissa, exponent = map(int, total.man_exp())
            size = exponent + mantissa.bit_length()  # the total is below 2**size
            if abs(size) > _LARGEST_EXPONENT:
                return self.least
            grid = arb(2) ** (_VALUE_BITS - size)
            values = np.array([int((self.values[g] * grid).upper().ceil().fmpz()) for g in free])
            lower -= arb(affordability.most_valuable(values, bought, free, at_most)) / grid
        return _not_above(lower)


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


def _not_above(value: arb) -> float:
    """Return a number that is close to a value, and not above it."""
    near = float(value.lower())
    return near if arb(near) <= value else nextafter(near, -inf)


def _vector(entries: list[arb]) -> arb_mat:
    return arb_mat(len(entries), 1, entries)
