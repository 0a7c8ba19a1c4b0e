"""The best whole points: a descent on each selection, then branches with certified bounds.

A points model has coefficients that are whole points times a scale s >= 0; points of a predictor
with the effects E lead to E p points of its bands, of which no two differ by more than allowed.

The search goes over the affordable selections whose real-valued optimum is below the best points
model so far: no other can have a better one, and the list of them is proven to be complete. On each
it descends from rounded coefficients, then branches on the points. In a box low <= p <= high all
models lie in the cone { s low <= theta <= s high, s >= 0 }, which is convex, and for any a of the
dual of `problem` no objective there is below

    sum_m w_m H(a_m)  +  min over the cone of  ridge/2 ||theta||^2 - v' theta,   v = -X'(w a).

Points by themselves are a problem of one column, their total, whose coefficient is the scale.
Nothing is left out but by such a bound, whatever a fit did.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from math import inf
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from ..arguments import Float, Int
from ..backends import solve
from ..backends.support_fit import SupportFits
from ..native.search import list_models
from ..problem import SubsetProblem

_PROVEN = 1e-6  # relative gap at which points are proven optimal, as of `solve`
_ROUNDING = 1e-9  # of a bound, relatively: far more than the sums of doubles lose
_SHRINKS = np.linspace(1.0, 0.3, 15)  # shares of the allowed span that rounded coefficients take
_N_DESCENTS = 3
_N_FITTED = 4  # neighbours of a step of a descent


class FoundPoints(NamedTuple):
    """Points of the columns of a problem, refitted, and the record of their search."""

    points: Int
    scale: float
    intercept: float
    search: dict[str, Any]  # with the certified bounds


class PointsFinder:
    """The search for the points of one problem, given the effects of each predictor.

    `effects` has an array of shape (n_bands, n_own_columns) for each predictor.
    """

    def __init__(
        self,
        problem: SubsetProblem,
        effects: Sequence[Int],
        max_points: int,
        limit: int,
        time_limit: float,
        announce: Callable[[str], None],
    ) -> None:
        self.problem, self.effects, self.max_points = problem, effects, max_points
        self.limit, self.announce = limit, announce
        self.started = perf_counter()
        self.deadline = self.started + time_limit
        self.time_limit = time_limit
        self.objective = inf
        self.best: tuple[Int, float, float] = (np.zeros(problem.n_columns, np.int64), 0.0, 0.0)
        self.nodes = 0

    def find(self) -> FoundPoints:
        """Return the best points found, and what is proven about them."""
        problem = self.problem
        optimum = solve(problem, time_limit=self.time_limit)
        self._descend(optimum.coef, optimum.support)
        self.announce("Listing selections")
        left = max(0.1, 0.5 * (self.deadline - perf_counter()))
        listing = list_models(problem, self.objective, self.limit, left)
        selections = sorted(_maximal(listing.models), key=lambda model: model.objective)
        for model in selections:
            if model.objective < self.objective and perf_counter() < self.deadline:
                self._descend(model.coef, model.support)
        # Whatever is not listed has a real-valued optimum above the threshold, which was ours.
        is_complete = listing.is_complete and listing.is_safe
        bound = inf if is_complete else optimum.lower_bound
        for number, model in enumerate(selections):
            self.announce(f"Proving selection {number + 1} of {len(selections)}")
            bound = min(bound, self._branch(model.coef, model.intercept, model.support))
        bound = min(self.objective, max(bound, optimum.lower_bound))
        search = {
            "objective": self.objective,
            "lower_bound": optimum.lower_bound,
            "points_bound": bound,
            "real_objective": optimum.objective,
            "is_proven": bound >= self.objective * (1 - _PROVEN),
            "max_points": self.max_points,
            "ridge": problem.ridge,
            "n_selections": len(selections),
            "nodes": self.nodes,
            "seconds": perf_counter() - self.started,
        }
        return FoundPoints(*self.best, search)

    def _descend(self, coef: Float, support: tuple[int, ...]) -> None:
        """Round the coefficients of a selection at several scales, and descend from the best."""
        models = _PointsModels(self.problem, self.effects, support, self.max_points)
        starts = [models.fit(p) for p in models.rounded(coef[models.columns]).T]
        for best in sorted(starts, key=lambda fit: fit.objective)[:_N_DESCENTS]:
            while True:
                near = [models.fit(p) for p in models.likely_neighbours(best).T]
                nearest = min(near, key=lambda fit: fit.objective, default=best)
                if not nearest.objective < best.objective * (1 - 1e-12):
                    break
                best = nearest
            self._accept(models, best)

    def _accept(self, models: _PointsModels, fit: _Fitted) -> None:
        whole = np.zeros(self.problem.n_columns, np.int64)
        whole[models.columns] = fit.points
        value = self.problem.objective(fit.scale * whole.astype(np.float64), fit.intercept)
        if value < self.objective:
            self.objective, self.best = value, (whole, fit.scale, fit.intercept)

    def _branch(self, coef: Float, intercept: float, support: tuple[int, ...]) -> float:
        """Return a lower bound on the points models of a selection, from a search of boxes."""
        models = _PointsModels(self.problem, self.effects, support, self.max_points)
        order = count()
        beta = coef[models.columns]
        first = models.first_box()
        queue: list[tuple[float, int, Int, Int, Float, float]] = [  # lowest bound first
            (models.dual_bound(beta, intercept, *first), next(order), *first, beta, intercept)
        ]
        open_bound = inf  # of single points whose own bound does not settle them
        while queue:
            bound, _, low, high, beta, intercept = heapq.heappop(queue)
            if bound >= self.objective * (1 - _PROVEN) or perf_counter() > self.deadline:
                return min(bound, open_bound)
            self.nodes += 1
            if (low == high).all():
                fit = models.fit(low)
                self._accept(models, fit)
                bound = max(bound, fit.lower_bound)
                if bound < self.objective * (1 - _PROVEN):
                    open_bound = min(open_bound, bound)
                continue
            beta, intercept, scale = models.relax(low, high, beta, intercept)
            bound = max(bound, models.dual_bound(beta, intercept, low, high))
            if bound >= self.objective * (1 - _PROVEN):
                continue
            ratio = beta / scale if scale > 0 else 0.5 * (low + high)
            guess = np.clip(np.rint(ratio), low, high).astype(np.int64)
            if models.is_allowed(guess[:, np.newaxis])[0]:
                self._accept(models, models.fit(guess))
            away = np.where(high > low, np.abs(ratio - np.rint(ratio)), -1.0)
            j = int(away.argmax())
            if away[j] < 1e-6:
                j = int((high - low).argmax())
            cut = int(np.clip(np.floor(ratio[j]), low[j], high[j] - 1))
            for end, value in ((high, cut), (low, cut + 1)):
                kept, end[j] = end[j], value
                if models.can_be_allowed(low, high):
                    box = low.copy(), high.copy()
                    heapq.heappush(queue, (bound, next(order), *box, beta, intercept))
                end[j] = kept
        return min(self.objective * (1 - _PROVEN), open_bound)


class _Fitted(NamedTuple):
    """Points with their best scale and intercept, and a lower bound on their objective."""

    points: Int
    scale: float
    intercept: float
    objective: float
    lower_bound: float


class _PointsModels:
    """The points models of one selection: rows that are alike are counted, not repeated."""

    def __init__(
        self,
        problem: SubsetProblem,
        effects: Sequence[Int],
        support: tuple[int, ...],
        max_points: int,
    ) -> None:
        self.columns = problem.columns_of(support)
        self.family, self.ridge, self.most = problem.family, problem.ridge, max_points
        owners = problem.column_predictor[self.columns]
        # Differences between the bands of a predictor, and moves of one band or one column.
        differences, moves = [], []
        for g in support:
            own, matrix = np.flatnonzero(owners == g), effects[g]
            pairs = matrix[:, np.newaxis] - matrix[np.newaxis]
            wide = np.zeros((len(matrix) ** 2, len(owners)), np.int64)
            wide[:, own] = pairs.reshape(-1, len(own))
            differences.append(wide[np.abs(wide).any(axis=1)])
            single = np.linalg.pinv(matrix.astype(float)) @ (
                np.eye(len(matrix)) - 1.0 * (np.arange(len(matrix)) == 0)[:, np.newaxis]
            )
            steps = np.hstack([np.eye(len(own)), np.rint(single[:, 1:])])
            padded = np.zeros((len(owners), steps.shape[1]))
            padded[own] = steps
            moves.append(padded)
        self.differences = np.vstack(differences or [np.zeros((0, len(owners)), np.int64)])
        steps = np.hstack(moves or [np.zeros((0, 0))]).astype(np.int64)
        self.moves = np.unique(np.hstack([steps, -steps]), axis=1)
        self.lower = problem.limits.lower[self.columns]
        self.upper = problem.limits.upper[self.columns]
        rows = np.column_stack([problem.X[:, self.columns], problem.response.values])
        rows, place = np.unique(rows, axis=0, return_inverse=True)
        self.X, self.y = rows[:, :-1], rows[:, -1]
        self.weights = np.bincount(place.ravel(), problem.weights).astype(np.float64)

    def first_box(self) -> tuple[Int, Int]:
        """Return the fewest and the most points of each column."""
        low = np.where(self.lower < 0, -self.most, 0)
        return low, np.where(self.upper > 0, self.most, 0)

    def is_allowed(self, p: Int) -> Any:
        """Return which columns of p have bands within the points allowed, and the right signs."""
        low, high = (end[:, np.newaxis] for end in self.first_box())
        spans = (self.differences @ p <= self.most).all(axis=0)
        return spans & (p >= low).all(axis=0) & (p <= high).all(axis=0)

    def can_be_allowed(self, low: Int, high: Int) -> bool:
        """Return whether a box may hold allowed points, by the least of each difference."""
        least = np.where(self.differences > 0, self.differences * low, self.differences * high)
        return bool((least.sum(axis=1) <= self.most).all())

    def rounded(self, beta: Float) -> Int:
        """Return points near multiples of coefficients, one column per multiple, all allowed."""
        span = float((self.differences @ beta).max(initial=0.0))
        if span == 0:
            return np.zeros((len(beta), 1), np.int64)
        starts = np.rint(np.outer(beta, self.most * _SHRINKS / span)).astype(np.int64)
        allowed = starts[:, self.is_allowed(starts)]
        zeros = np.zeros((len(beta), 1), np.int64)
        return np.unique(np.hstack([allowed, zeros]), axis=1)

    def likely_neighbours(self, fit: _Fitted) -> Int:
        """Return the allowed points one move away that look best after a step of their scale."""
        near = fit.points[:, np.newaxis] + self.moves
        near = near[:, self.is_allowed(near)]
        family, y = self.family, self.y[:, np.newaxis]
        u = np.asarray(self.X @ (fit.scale * fit.points) + fit.intercept, np.float64)
        centre = self.weights * family.curvature(self.y, u, family.smoothing)
        centre /= max(centre.sum(), 1e-300)
        totals = (self.X - centre @ self.X) @ near
        u = centre @ u + fit.scale * totals
        penalty = self.ridge * (near**2).sum(axis=0)
        value = self.weights @ family.value(y, u) + penalty / 2 * fit.scale**2
        slope = self.weights @ (family.slope(y, u, family.smoothing) * totals) + penalty * fit.scale
        bend = self.weights @ (family.curvature(y, u, family.smoothing) * totals**2)
        bend += np.maximum(penalty, 1e-300)
        step = np.maximum(-slope / bend, -fit.scale)
        ahead = value + step * (slope + 0.5 * step * bend)
        likely: Int = near[:, np.argsort(ahead, kind="stable")[:_N_FITTED]]
        return likely

    def fit(self, p: Int) -> _Fitted:
        """Return the best model with these points."""
        used = p != 0
        ends = (np.where(p > 0, self.upper, -self.lower) / np.maximum(np.abs(p), 1))[used]
        problem = SubsetProblem(
            (self.X @ p)[:, np.newaxis],
            self.y,
            ridge=self.ridge * max(1, int(p @ p)),
            signs="positive",
            max_coefficient=float(ends.min(initial=inf)),
            sample_weight=self.weights,
            loss=self.family.name,
        )
        model, bound = SupportFits(problem).fit((0,))
        return _Fitted(p, float(model.coef[0]), model.intercept, model.objective, bound)

    def relax(
        self, low: Int, high: Int, beta: Float, intercept: float
    ) -> tuple[Float, float, float]:
        """Return about the best model of the cone of a box: coefficients, intercept and scale."""
        k = len(beta)
        identity = np.eye(k)
        rows = np.vstack(
            [
                np.column_stack([identity, np.zeros(k), -low]),
                np.column_stack([-identity, np.zeros(k), high]),
            ]
        )

        def value(z: Float) -> tuple[float, Float]:
            u = self.X @ z[:k] + z[k]
            a = self.weights * self.family.slope(self.y, u, self.family.smoothing)
            loss = self.weights @ self.family.value(self.y, u) + self.ridge / 2 * z[:k] @ z[:k]
            slopes = self.X.T @ a + self.ridge * z[:k]
            return float(loss), np.concatenate([slopes, [a.sum(), 0.0]])

        scale = max(float(np.abs(beta).max(initial=0.0)) / self.most, 1e-3)
        start = np.append(np.append(np.clip(beta, scale * low, scale * high), intercept), scale)
        result: Any = minimize(  # type: ignore[call-overload]
            value,
            start,
            jac=True,
            method="SLSQP",
            bounds=[*zip(self.lower, self.upper, strict=True), (None, None), (0.0, None)],
            constraints={"type": "ineq", "fun": lambda z: rows @ z, "jac": lambda z: rows},
            options={"maxiter": 100, "ftol": 1e-10 * value(start)[0]},
        )
        z = result.x if np.isfinite(result.x).all() else start
        return z[:k], float(z[k]), float(z[k + 1])

    def dual_bound(self, beta: Float, intercept: float, low: Int, high: Int) -> float:
        """Return the bound of the dual point that belongs to a model, rounding taken off."""
        family = self.family
        u: Float = self.X @ beta + intercept
        a = family.feasible(self.y, family.slope(self.y, u, family.smoothing), self.weights)
        entropy = float(self.weights @ family.entropy(self.y, a))
        v = -self.X.T @ (self.weights * a)
        cone = _cone_minimum(v, self.ridge, low, high, self.lower, self.upper)
        return entropy + cone - _ROUNDING * (abs(entropy) + abs(cone))


def _cone_minimum(v: Float, ridge: float, low: Int, high: Int, lower: Float, upper: Float) -> float:
    """Return min ridge/2 t't - v't for s low <= t <= s high, lower <= t <= upper, s >= 0.

    For each s the best t is clipped. The result is convex in s, and a quadratic between the values
    of s at which a t reaches or leaves an end.
    """
    best = np.clip(v / ridge, lower, upper)
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.concatenate([best / low, best / high, [0.0]])
        largest = np.concatenate([upper[low > 0] / low[low > 0], lower[high < 0] / high[high < 0]])
    last = largest.min(initial=inf)
    starts = np.unique(ends[np.isfinite(ends) & (ends >= 0) & (ends <= last)])
    stops = np.append(starts[1:], last)
    inside = np.where(np.isfinite(stops), 0.5 * (starts + stops), 2.0 * starts + 1.0)[:, np.newaxis]
    held = np.where(inside * low > best, low, np.where(inside * high < best, high, 0))
    bend, pull = ridge * (held**2).sum(axis=1), held @ v
    # Where nothing is held the quadratic is constant.
    s = np.clip(pull / np.maximum(bend, ridge), starts, stops)[:, np.newaxis]
    t = np.clip(best, s * low, s * high)
    return float((ridge / 2 * (t**2).sum(axis=1) - t @ v).min())


def _maximal(models: Iterable[Any]) -> list[Any]:
    """Return the selections that no other contains: points of 0 make the smaller ones of them."""
    listed = sorted(models, key=lambda model: -len(model.support))
    kept: list[Any] = []
    for model in listed:
        if not any(set(model.support) <= set(other.support) for other in kept):
            kept.append(model)
    return kept
