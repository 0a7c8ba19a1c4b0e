"""The search for whole points: a descent on each selection, then branches with certified bounds.

It goes over the affordable selections whose real-valued optimum is below the best points model so
far: no other can have a better one, and the list of them is proven to be complete. On each it
descends from rounded coefficients, then branches on the points. In a box lo <= p <= hi all models
lie in the cone { s lo <= theta <= s hi, s >= 0 }, which is convex, and for any a of the dual of
`problem` no objective there is below

    sum_m w_m H(a_m)  +  min over the cone of  ridge/2 ||theta||^2 - v' theta,   v = X'(w a y).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from itertools import count
from math import inf
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, xlogy

from ..arguments import Float, Int
from ..backends import solve
from ..native.search import list_models
from ..problem import SubsetProblem
from .bands import Banded

PROVEN = 1e-6  # relative gap at which points are proven optimal, as of `solve`
_SHRINKS = np.linspace(1.0, 0.3, 15)  # shares of the allowed span that rounded coefficients take
_N_DESCENTS = 3
_NEWTON_STEPS = 25


class Found(NamedTuple):
    """Points of the columns of a problem, refitted, and the certified bounds."""

    points: Int
    scale: float
    intercept: float
    objective: float
    lower_bound: float
    points_bound: float
    real_objective: float
    n_selections: int
    nodes: int
    seconds: float


class PointsFinder:
    """The search for the points of one problem."""

    def __init__(
        self,
        problem: SubsetProblem,
        banded: list[Banded],
        max_points: int,
        limit: int,
        time_limit: float,
        announce: Callable[[str], None],
    ) -> None:
        self.problem, self.banded, self.max_points = problem, banded, max_points
        self.limit, self.announce = limit, announce
        self.started = perf_counter()
        self.deadline = self.started + time_limit
        self.time_limit = time_limit
        self.objective = inf
        self.best: tuple[Int, float, float] = (np.zeros(problem.n_columns, np.int64), 0.0, 0.0)
        self.nodes = 0

    def find(self) -> Found:
        """Return the best points found, and what is proven about them."""
        problem = self.problem
        optimum = solve(problem, time_limit=self.time_limit)
        self._offer(optimum.coef, optimum.intercept, optimum.support)
        self.announce("Listing selections")
        left = max(0.1, 0.5 * (self.deadline - perf_counter()))
        listing = list_models(problem, self.objective, self.limit, left)
        selections = sorted(_maximal(listing.models), key=lambda model: model.objective)
        for model in selections:
            if model.objective < self.objective and perf_counter() < self.deadline:
                self._offer(model.coef, model.intercept, model.support)
        # Whatever is not listed has a real-valued optimum above the threshold, which was ours.
        is_complete = listing.is_complete and listing.is_safe
        bound = inf if is_complete else optimum.lower_bound
        for number, model in enumerate(selections):
            self.announce(f"Proving selection {number + 1} of {len(selections)}")
            bound = min(bound, self._branch(model.coef, model.intercept, model.support))
        bound = min(self.objective, max(bound, optimum.lower_bound))
        return Found(
            *self.best,
            self.objective,
            optimum.lower_bound,
            bound,
            optimum.objective,
            len(selections),
            self.nodes,
            perf_counter() - self.started,
        )

    def _offer(self, coef: Float, intercept: float, support: tuple[int, ...]) -> None:
        """Round the coefficients of a selection at several scales, and descend from the best."""
        box = _Selection(self.problem, self.banded, support, self.max_points)
        beta = coef[box.columns]
        starts = box.rounded(beta)
        values = box.evaluate(starts)[0]
        for start in np.argsort(values)[:_N_DESCENTS]:
            p, value = starts[:, start], values[start]
            while True:
                neighbours = box.neighbours(p)
                near = box.evaluate(neighbours)[0] if neighbours.shape[1] else np.array([inf])
                if not near.min() < value * (1 - 1e-12):
                    break
                p, value = neighbours[:, near.argmin()], near.min()
            self._accept(box, p)

    def _accept(self, box: _Selection, p: Int) -> None:
        _, scale, intercept = (part[0] for part in box.evaluate(p[:, np.newaxis]))
        whole = np.zeros(self.problem.n_columns, np.int64)
        whole[box.columns] = p
        value = self.problem.objective(scale * whole, float(intercept))
        if value < self.objective:
            self.objective, self.best = value, (whole, float(scale), float(intercept))

    def _branch(self, coef: Float, intercept: float, support: tuple[int, ...]) -> float:
        """Return a lower bound on the points models of a selection, from a search of boxes."""
        box = _Selection(self.problem, self.banded, support, self.max_points)
        order = count()
        start = (coef[box.columns], intercept)
        first = box.first_box()
        queue: list[tuple[float, int, Int, Int, Any]] = [  # lowest bound first
            (box.dual_bound(*start, *first), next(order), *first, start)
        ]
        while queue:
            bound, _, low, high, start = heapq.heappop(queue)
            if bound >= self.objective * (1 - PROVEN) or perf_counter() > self.deadline:
                return bound
            self.nodes += 1
            bound, beta, intercept, scale = box.bound(low, high, *start)
            if bound >= self.objective * (1 - PROVEN):
                continue
            ratio = beta / scale if scale > 0 else 0.5 * (low + high)
            guess = np.clip(np.rint(ratio), low, high).astype(np.int64)
            if box.is_allowed(guess[:, np.newaxis])[0]:
                self._accept(box, guess)
            away = np.where(high > low, np.abs(ratio - np.rint(ratio)), -1.0)
            j = int(away.argmax())
            if away[j] < 1e-6:
                j = int((high - low).argmax())
            if high[j] == low[j]:
                continue  # these points were accepted, or are not allowed
            cut = int(np.clip(np.floor(ratio[j]), low[j], high[j] - 1))
            for side in (0, 1):
                below, above = low.copy(), high.copy()
                if side:
                    below[j] = cut + 1
                else:
                    above[j] = cut
                if box.can_be_allowed(below, above):
                    entry = (bound, next(order), below, above, (beta, intercept))
                    heapq.heappush(queue, entry)
        return self.objective * (1 - PROVEN)


class _Selection:
    """The points models of one selection: rows that are alike are counted, not repeated."""

    def __init__(
        self, problem: SubsetProblem, banded: list[Banded], support: tuple[int, ...], most: int
    ) -> None:
        self.columns = problem.columns_of(support)
        self.ridge, self.most = problem.ridge, most
        names = [problem.name_of(g) for g in support]
        effects = {item.name: item.effects for item in banded}
        owners = problem.column_predictor[self.columns]
        # Differences between the bands of a predictor, and moves of one band or one column.
        differences, moves = [], []
        for g, name in zip(support, names, strict=True):
            own = np.flatnonzero(owners == g)
            matrix = effects[name]
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
        lower, upper = problem.limits.lower[self.columns], problem.limits.upper[self.columns]
        self.lower, self.upper = lower, upper
        rows = np.column_stack([problem.X[:, self.columns], problem.signs])
        rows, place = np.unique(rows, axis=0, return_inverse=True)
        self.X, self.signs = rows[:, :-1], rows[:, -1]
        self.weights = np.bincount(place.ravel(), weights=problem.weights)

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

    def neighbours(self, p: Int) -> Int:
        """Return allowed points one move away."""
        near = p[:, np.newaxis] + self.moves
        allowed: Int = near[:, self.is_allowed(near)]
        return allowed

    def evaluate(self, p: Int) -> tuple[Float, Float, Float]:
        """Return objective, scale and intercept of each column of points, both refitted."""
        totals = self.X @ p
        w, y = self.weights[:, np.newaxis], self.signs[:, np.newaxis]
        penalty = self.ridge * (p**2).sum(axis=0)
        with np.errstate(divide="ignore"):
            limits = np.where(p > 0, self.upper[:, np.newaxis], -self.lower[:, np.newaxis])
            cap = np.where(p == 0, inf, limits / np.maximum(np.abs(p), 1)).min(axis=0, initial=inf)
        events = float(self.weights[self.signs > 0].sum())
        scale = np.zeros(p.shape[1])
        intercept = np.full(p.shape[1], np.log(events / (self.weights.sum() - events)))
        for _ in range(_NEWTON_STEPS):
            risk = expit(scale * totals + intercept)
            slack = w * (risk - (y > 0))
            curve = w * np.maximum(risk * (1 - risk), 1e-12)
            g_s = (slack * totals).sum(axis=0) + penalty * scale
            g_b = slack.sum(axis=0)
            h_ss = (curve * totals**2).sum(axis=0) + penalty + 1e-12
            h_sb, h_bb = (curve * totals).sum(axis=0), curve.sum(axis=0)
            determinant = np.maximum(h_ss * h_bb - h_sb**2, 1e-12)
            step = (h_bb * g_s - h_sb * g_b) / determinant
            moved = np.clip(scale - np.clip(step, -1, 1), 0.0, cap)
            shift = (g_b + h_sb * (moved - scale)) / h_bb
            intercept, change = intercept - np.clip(shift, -2, 2), np.abs(moved - scale)
            scale = moved
            if max(change.max(), np.abs(shift).max()) < 1e-10:
                break
        margins = y * (scale * totals + intercept)
        objective = (w * np.logaddexp(0, -margins)).sum(axis=0) + penalty * scale**2 / 2
        return objective, scale, intercept

    def bound(
        self, low: Int, high: Int, beta: Float, intercept: float
    ) -> tuple[float, Float, float, float]:
        """Return a lower bound on a box, and the model, intercept and scale that it comes from."""
        k = len(beta)
        identity = np.eye(k)
        rows = np.vstack(
            [
                np.column_stack([identity, np.zeros(k), -low]),
                np.column_stack([-identity, np.zeros(k), high]),
                np.append(np.zeros(k + 1), 1.0),
            ]
        )

        def value(z: Float) -> tuple[float, Float]:
            margins = self.signs * (self.X @ z[:k] + z[k])
            slack = -self.weights * self.signs * expit(-margins)
            loss = self.weights @ np.logaddexp(0, -margins) + self.ridge / 2 * z[:k] @ z[:k]
            return float(loss), np.concatenate(
                [self.X.T @ slack + self.ridge * z[:k], [slack.sum(), 0.0]]
            )

        scale = max(float(np.abs(beta).max(initial=0.0)) / self.most, 1e-3)
        start = np.append(np.append(np.clip(beta, scale * low, scale * high), intercept), scale)
        result: Any = minimize(  # type: ignore[call-overload]
            value,
            start,
            jac=True,
            method="SLSQP",
            constraints={"type": "ineq", "fun": lambda z: rows @ z, "jac": lambda z: rows},
            options={"maxiter": 100, "ftol": 1e-10 * value(start)[0]},
        )
        z = result.x if np.isfinite(result.x).all() else start
        return self.dual_bound(z[:k], z[k], low, high), z[:k], float(z[k]), float(z[k + 1])

    def dual_bound(self, beta: Float, intercept: float, low: Int, high: Int) -> float:
        """Return the bound of the dual point that belongs to a model, rounding taken off."""
        a = expit(-self.signs * (self.X @ beta + intercept))
        positive = self.signs > 0
        sums = self.weights[positive] @ a[positive], self.weights[~positive] @ a[~positive]
        smaller = min(sums)
        a = np.where(positive, a * (smaller / sums[0]), a * (smaller / sums[1]))
        entropy = -self.weights @ (xlogy(a, a) + xlogy(1 - a, 1 - a))
        v = self.X.T @ (self.weights * a * self.signs)
        return float((entropy + _cone_minimum(v, self.ridge, low, high)) * (1 - 1e-9))


def _cone_minimum(v: Float, ridge: float, low: Int, high: Int) -> float:
    """Return a lower bound on min ridge/2 t't - v't over s low <= t <= s high, s >= 0.

    For each s the best t is clipped, and the result is convex in s: its slope is bisected. The
    tangents at both ends of the last interval meet at or below the minimum.
    """

    def at(s: float) -> tuple[float, float]:
        t = np.clip(v / ridge, s * low, s * high)
        end = np.where(t > v / ridge, low, np.where(t < v / ridge, high, 0))
        return float(ridge / 2 * t @ t - v @ t), float(end @ (ridge * t - v))

    left, right = 0.0, 1.0
    while at(right)[1] < 0 and right < 1e12:
        left, right = right, 2.0 * right
    for _ in range(80):
        middle = 0.5 * (left + right)
        if at(middle)[1] < 0:
            left = middle
        else:
            right = middle
    (f, df), (g, dg) = at(left), at(right)
    return min(f, g, f + min(df, 0.0) * (right - left), g - max(dg, 0.0) * (right - left))


def _maximal(models: Iterable[Any]) -> list[Any]:
    """Return the selections that no other contains: points of 0 make the smaller ones of them."""
    listed = sorted(models, key=lambda model: -len(model.support))
    kept: list[Any] = []
    for model in listed:
        if not any(set(model.support) <= set(other.support) for other in kept):
            kept.append(model)
    return kept
