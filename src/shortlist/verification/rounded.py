"""Lower bounds of many points at a time, in doubles, with what rounding may have changed taken off.

The a of a row may be any that its loss allows. So a is computed as it comes, and only what follows
from it has to be exact or bounded. A sum of n products of doubles, in any order, is off by less
than n 2^-53 times the sum of their sizes (Higham, Accuracy and Stability of Numerical Algorithms,
chapter 3); entropies are sums of positive series, whose relative error is known. Where that is not
good enough, `duality` works with balls instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from math import frexp, inf, log, nextafter
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from ..arguments import Float
from ..certificate import Point
from ..problem import SubsetProblem
from .affordability import Affordability
from .risk_sets import RiskSets, Rounded

_UNIT = 2.0**-53  # the relative error of an operation
_OPERATIONS = 128  # that an entropy takes at most, and those at the end
_ROWS = 2048  # of a block
_VALUE_BITS = 60  # all values together are about 2**60 on the grid, and fit into an int64
# With numbers between these, and a 0 or at least the first, no product leaves the range of doubles.
_SMALLEST, _LARGEST = 2.0**-120, 2.0**120


class Parts(NamedTuple):
    """Sums over the rows of a class, or over all rows, of many points.

    The slopes are sums of w f (x, 1) a, f being -1 for the rows of a class with the label -1. Each
    is wrong by at most its error, and so is the entropy.
    """

    entropy: Float  # (n_points,)
    error_of_entropy: Float
    slope: Float  # (n_columns + 1, n_points)
    error_of_slope: Float


class RoundedFamily(NamedTuple):
    """One family of outcomes.

    `raw` takes outcomes, linear predictors, how they change along the correction, or None, and the
    smoothing; it returns any a that the loss allows, with labels -y a. `entropy` takes outcomes and
    these, and returns H with its size, at least its magnitude, of which it is wrong by at most
    `_OPERATIONS` units. `feasible` makes a dual point of the sums over the parts, given the moments
    of the outcomes.
    """

    raw: Callable[[Float, Float, Float | None, Float], Float]
    entropy: Callable[[Float, Float], tuple[Float, Float]]
    feasible: Callable[[list[Parts], Moments], Parts]


class Moments(NamedTuple):
    """Sums over the rows: w (x, 1) and w y (x, 1), each with its error, and w y log y."""

    weight: Float  # (n_columns + 1, 1)
    error_of_weight: Float
    outcome: Float
    error_of_outcome: Float
    x_log_x: float
    error_of_x_log_x: float


def _logistic_dual(margin: Float, move: Float | None, smoothing: Float) -> Float:
    a = expit(-margin)
    return a if move is None else _within(a * (1.0 - expit(margin) * move), 1.0)


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
    return _within(a, _LARGEST)


def _squared_hinge_entropy(a: Float) -> tuple[Float, Float]:
    square = 0.25 * a * a
    return a - square, a + square


def _hinge_dual(margin: Float, move: Float | None, smoothing: Float) -> Float:
    a = (1.0 - margin) / smoothing
    if move is not None:
        a = np.where((a > 0.0) & (a < 1.0), a - move / smoothing, a)
    return _within(a, 1.0)


def _within(a: Float, largest: float) -> Float:
    """Return the nearest a that the loss allows; one that is tiny, or no number, becomes 0."""
    return np.asarray(np.where(a >= _SMALLEST, np.minimum(a, largest), 0.0))


def _of_margins(
    dual: Callable[[Float, Float | None, Float], Float],
    entropy: Callable[[Float], tuple[Float, Float]],
) -> RoundedFamily:
    """Return the family of a loss of the margin y u."""
    return RoundedFamily(
        lambda y, u, moves, smoothing: dual(y * u, None if moves is None else y * moves, smoothing),
        lambda y, a: entropy(a),
        _balanced,
    )


def _balanced(classes: list[Parts], moments: Moments) -> Parts:
    """Scale the heavier class down. Both factors are at most 1, and H(rho a) >= rho H(a)."""
    masses = [(np.abs(part.slope[-1]), part.error_of_slope[-1]) for part in classes]
    kept = np.minimum(*(mass - error for mass, error in masses))
    total = [np.zeros_like(part) for part in classes[0]]
    for (mass, error), part in zip(masses, classes, strict=True):
        rho = kept / mass
        off = rho * (1.1 * error / mass + _OPERATIONS * _UNIT)  # exactly, rho is so far from it
        total[0] += rho * part.entropy
        total[1] += (rho + off) * part.error_of_entropy + off * np.abs(part.entropy)
        total[2] += rho * part.slope
        total[3] += (rho + off) * part.error_of_slope + off * np.abs(part.slope)
    total[0] = np.where(kept > 0, total[0], np.nan)
    return Parts(*total)


def _square(y: Float, a: Float) -> tuple[Float, Float]:
    """Return -a y - a^2 / 2, for outcomes from which any number may have been taken."""
    return -a * (y + 0.5 * a), np.abs(a) * (np.abs(y) + 0.5 * np.abs(a))


def _centred(parts: list[Parts], moments: Moments) -> Parts:
    """Take its mean c off a, which adds c sum_m w_m y_m + c^2 sum_m w_m / 2 to the entropy."""
    (entropy, error_of_entropy, slope, error_of_slope) = parts[0]
    total, error_of_total = moments.weight[-1], moments.error_of_weight[-1]
    mean = slope[-1] / total
    off = 1.1 * (error_of_slope[-1] + np.abs(mean) * error_of_total) / (total - error_of_total)
    off += _OPERATIONS * _UNIT * np.abs(mean)

    def error(moment: Float, error_of_moment: Float) -> Any:
        return off * (np.abs(moment) + error_of_moment) + np.abs(mean) * error_of_moment

    least_square = np.maximum(np.abs(mean) - off, 0.0) ** 2 * (total - error_of_total)
    return Parts(
        entropy + mean * moments.outcome[-1] + 0.5 * least_square,
        error_of_entropy + error(moments.outcome[-1], moments.error_of_outcome[-1]),
        slope - mean * moments.weight,
        error_of_slope + error(moments.weight, moments.error_of_weight),
    )


def _mean(y: Float, u: Float, move: Float | None, smoothing: Float) -> Float:
    mean = np.exp(u)
    return _within(mean if move is None else mean * (1.0 + move), _LARGEST)


def _minus_x_log_x(y: Float, x: Float) -> tuple[Float, Float]:
    """Return -x log x and its size."""
    log_x, size = _logarithm(np.where(x > 0.0, x, 1.0))
    return -x * log_x, x * size


def _logarithm(x: Float) -> tuple[Float, Float]:
    """Return log x = e log 2 + 2 atanh((m - 1) / (m + 1)), m near 1, and its size."""
    m, e = np.frexp(x)
    is_low = m < 0.7071
    m, e = np.where(is_low, 2.0 * m, m), np.where(is_low, e - 1, e)
    s = (m - 1.0) / (m + 1.0)
    of_m = np.sign(s) * _twice_atanh(np.abs(s))
    return e * log(2.0) + of_m, np.abs(e) * log(2.0) + np.abs(of_m)


def _scaled(parts: list[Parts], moments: Moments) -> Parts:
    """Scale means by rho to the total of the counts, N.

    The entropy becomes rho sum -w mean log mean - N log rho + sum w y log y.
    """
    (entropy, error_of_entropy, slope, error_of_slope) = parts[0]
    counts, error_of_counts = moments.outcome[-1], moments.error_of_outcome[-1]
    total, error_of_total = slope[-1], error_of_slope[-1]
    rho = counts / total
    off = 1.1 * (error_of_counts / counts + error_of_total / (total - error_of_total))
    off += _OPERATIONS * _UNIT  # relative
    minus_log, size = (part / rho for part in _minus_x_log_x(rho, rho))
    found = Parts(
        rho * entropy + counts * minus_log + moments.x_log_x,
        rho * ((1.0 + off) * error_of_entropy + off * np.abs(entropy))
        + counts * (1.1 * off + _OPERATIONS * _UNIT * size)
        + error_of_counts * size
        + moments.error_of_x_log_x,
        rho * slope - moments.outcome,
        rho * ((1.0 + off) * error_of_slope + off * np.abs(slope)) + moments.error_of_outcome,
    )
    return found._replace(
        entropy=np.where((total > error_of_total) & (off < 0.1), found[0], np.nan)
    )


_FAMILIES = {
    "logistic": _of_margins(_logistic_dual, _logistic_entropy),
    "squared_hinge": _of_margins(_squared_hinge_dual, _squared_hinge_entropy),
    "hinge": _of_margins(_hinge_dual, lambda a: (a, a)),
    "squared_error": RoundedFamily(
        lambda y, u, move, smoothing: u - y if move is None else u - y + move, _square, _centred
    ),
    "poisson": RoundedFamily(_mean, _minus_x_log_x, _scaled),
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
        """Return a lower bound on all models that buy at most `at_most` more predictors."""
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
    """The rows of positive weight, by class if there are classes, by risk sets if there are times.

    Numbers are taken from their middle and counts in units of their mean, which changes a dual
    point's bound by nothing and by that factor.
    """

    def __init__(self, problem: SubsetProblem) -> None:
        self.problem = problem
        response, used = problem.response, problem.weights > 0
        self.has_classes, self.has_times = response.kind == "labels", response.kind == "times"
        classes = (response.values < 0, response.values > 0) if self.has_classes else (True,)
        self.parts = [np.flatnonzero(used & of_class) for of_class in classes]
        mean = float(np.average(response.values[used], weights=problem.weights[used]))
        self.middle = mean if response.kind == "numbers" else 0.0
        self.scale = mean if response.kind == "counts" else 1.0
        self.is_tame = _is_tame(problem)
        #: How many points to evaluate at a time.
        self.batch = max(16, min(512, 2**19 // _ROWS, 2**22 // max(1, problem.n_columns)))
        self.at_a_time = max(1, 2**19 // len(response.values))  # if all rows are taken together

    def evaluate(self, points: Sequence[Point]) -> list[RoundedPoint | None]:
        """Return dual points; None for one without a bound that doubles can express."""
        if not self.is_tame:
            return [None] * len(points)
        with np.errstate(all="ignore"):
            return self._evaluate(points)

    def _evaluate(self, points: Sequence[Point]) -> list[RoundedPoint | None]:
        problem, ridge = self.problem, self.problem.ridge
        # 1. Dual points.
        found = self._of_risk_sets(points) if self.has_times else self._of_parts(points)
        entropy, error_of_entropy, slope, error_of_slope = (self.scale * part for part in found)
        error_of_entropy += 8 * _UNIT * np.abs(entropy)
        slope, error_of_slope = slope[:-1], error_of_slope[:-1] + 8 * _UNIT * np.abs(slope[:-1])
        # 2. Values are convex in the slope, so largest at an end of where it may be.
        lower, upper = problem.limits.lower[:, None], problem.limits.upper[:, None]
        if not self.has_classes:
            slope = -slope
        value = np.zeros_like(slope)
        for end in (slope - error_of_slope, slope + error_of_slope):
            t = np.clip(end / ridge, lower, upper)
            np.maximum(value, t * (end - 0.5 * ridge * t), out=value)
        values = np.zeros((problem.n_predictors, len(points)))
        np.add.at(values, problem.column_predictor, value)
        values *= 1.0 + (problem.n_columns + _OPERATIONS) * _UNIT
        is_known = np.isfinite(values.sum(axis=0) + entropy + error_of_entropy)
        return [
            RoundedPoint(_below(entropy[i], 1.01 * error_of_entropy[i]), values[:, i].copy())
            if is_known[i]
            else None
            for i in range(len(points))
        ]

    def _of_parts(self, points: Sequence[Point]) -> Parts:
        """Return sums over the rows of each part, made feasible."""
        family = _FAMILIES[self.problem.family.name]
        return family.feasible(
            [self._sums(family, rows, points) for rows in self.parts], self._moments
        )

    def _of_risk_sets(self, points: Sequence[Point]) -> Parts:
        """Return dual points of times, some points at a time."""
        likelihood, X = self._times
        theta, delta = self._models(points)
        error = self._error(len(X))
        found = []
        for start in range(0, len(points), self.at_a_time):
            mine = slice(start, start + self.at_a_time)
            moves = None if delta is None else X @ delta[:, mine]
            entropy, error_of_entropy, q, error_of_q = likelihood.dual(X @ theta[:, mine], moves)
            slope_error = np.abs(X).T @ (error_of_q + error * np.abs(q))
            found.append(Parts(entropy, error_of_entropy, X.T @ q, slope_error))
        return Parts(*(np.concatenate(parts, axis=-1) for parts in zip(*found, strict=True)))

    @cached_property
    def _times(self) -> tuple[Rounded, Float]:
        """The risk sets, and their rows less the middle of their stratum, which changes nothing.

        A difference is rounded relatively to itself.
        """
        sets = RiskSets(self.problem)
        X = np.column_stack([self.problem.X[sets.rows].astype(float), np.zeros(len(sets.rows))])
        for rows in sets.strata:
            X[rows] -= 0.5 * (X[rows].min(axis=0) + X[rows].max(axis=0))
        unit = _OPERATIONS * _UNIT
        return Rounded(sets, self.problem.weights[sets.rows], _logarithm, unit), X

    def _sums(self, family: RoundedFamily, rows: np.ndarray, points: Sequence[Point]) -> Parts:
        """Return the sums over the rows of a part, before they are made feasible."""
        theta, delta = self._models(points)
        smoothing = np.array([p.smoothing for p in points])
        shift = log(self.scale) + self.middle
        entropy, size_of_entropy = np.zeros((2, len(points)))
        slope, size = np.zeros((2, self.problem.n_columns + 1, len(points)))
        for X, y, w in self._blocks(rows):
            moves = None if delta is None else X @ delta
            a = family.raw(y[:, None], X @ theta - shift, moves, smoothing)
            of_rows, size_of_rows = family.entropy(y[:, None], a)
            entropy += w @ of_rows
            size_of_entropy += w @ size_of_rows
            factor = w * y if self.has_classes else w
            weighted = factor[:, None] * X
            slope += weighted.T @ a
            size += np.abs(weighted).T @ np.abs(a)
        error = self._error(len(rows))
        return Parts(entropy, error * size_of_entropy, slope, error * size)

    @cached_property
    def _moments(self) -> Moments:
        weight, size, outcome, size_of_outcome = np.zeros((4, self.problem.n_columns + 1))
        x_log_x = size_of_x_log_x = 0.0
        for X, y, w in self._blocks(self.parts[0]) if not self.has_classes else ():
            weight += w @ X
            size += w @ np.abs(X)
            outcome += (w * y) @ X
            size_of_outcome += (w * np.abs(y)) @ np.abs(X)
            terms, sizes = _minus_x_log_x(y, np.maximum(y, 0.0))
            x_log_x -= float(w @ terms)
            size_of_x_log_x += float(w @ sizes)
        error = self._error(len(self.parts[0]))
        moments = [weight, error * size, outcome, error * size_of_outcome]
        of_columns = [moment[:, np.newaxis] for moment in moments]
        return Moments._make([*of_columns, x_log_x, error * size_of_x_log_x])

    @staticmethod
    def _error(n_rows: int) -> float:
        """Return the error of a sum over the rows, relative to the sum of magnitudes."""
        return 1.01 * (n_rows + n_rows // _ROWS + _OPERATIONS) * _UNIT

    def _models(self, points: Sequence[Point]) -> tuple[Float, Float | None]:
        """Return the coefficients of points, and of their corrections if there is one."""
        theta = self._spread(points, [(p.intercept, *p.values) for p in points])
        if not any(p.correction for p in points):
            return theta, None
        steps = [p.correction or (0.0,) * (len(p.columns) + 1) for p in points]
        return theta, self._spread(points, steps)

    def _spread(self, points: Sequence[Point], values: Sequence[tuple[float, ...]]) -> Float:
        """Return a value for each column and point, and the first value, the intercept's, last."""
        n = self.problem.n_columns
        spread = np.zeros((n + 1, len(points)))
        for i, (point, of_point) in enumerate(zip(points, values, strict=True)):
            spread[list(point.columns), i] = of_point[1:]
            spread[n, i] = of_point[0]
        return spread

    def _blocks(self, rows: np.ndarray) -> Iterator[tuple[Float, Float, Float]]:
        """Yield (x, 1), y from its middle and in its unit, and w of blocks of rows."""
        problem = self.problem
        for start in range(0, len(rows), _ROWS):
            mine = rows[start : start + _ROWS]
            X = np.column_stack([np.asarray(problem.X[mine], dtype=float), np.ones(len(mine))])
            y = (problem.response.values[mine] - self.middle) / self.scale
            yield X, y, problem.weights[mine]


def _is_tame(problem: SubsetProblem) -> bool:
    """Whether all numbers of the problem are far from the ends of the range of doubles."""
    return all(
        ((sizes == 0.0) | ((sizes >= _SMALLEST) & (sizes <= _LARGEST))).all()
        for sizes in map(
            np.abs, (problem.X, problem.weights, problem.response.values, np.array(problem.ridge))
        )
    )


def _below(value: float, error: float) -> float:
    """Return a number below value - error."""
    return nextafter(float(value) - 2.0 * float(error), -inf)
