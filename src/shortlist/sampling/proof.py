"""A tree that was found on a sample, proven on all rows as far as its points reach."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from math import inf, sqrt
from sys import float_info

import numpy as np
from numpy.typing import NDArray

from ..certificate import Certificate
from ..problem import SubsetProblem
from ..solution import Solution
from ..solver.leaves import Leaves, bound_leaves, leaves_of
from ..solver.recording import Prover, make_certificate, point_of
from .correction import Points
from .passes import Curved, evaluate, reach_of

Float = NDArray[np.float64]

_EVERY, _LARGE, _STEPS = 8, 2**19, 2  # blocks of rows, rows, steps
_POLISHED = 1e-9  # relative distance of the model from the best on its predictors


class Model:
    """The best model so far, which is worse than any as long as there is none."""

    def __init__(self, problem: SubsetProblem) -> None:
        self.objective = inf
        self.coef, self.intercept = np.zeros(problem.n_columns), 0.0
        self.support = problem.limits.include


class Proof:
    """The leaves of a tree, and what its points prove about them on all rows.

    Attributes
    ----------
    model : Model
        The best model of all points that were looked at.
    """

    def __init__(
        self, problem: SubsetProblem, sample: SubsetProblem, tree: Prover, model: Model
    ) -> None:
        self._problem = problem
        self._steps, points = tree.proof()
        constant = np.ptp(sample.X, axis=0) == 0
        varying = problem.column_predictor[~constant]
        useless = np.setdiff1d(np.arange(problem.n_predictors), varying)
        self._leaves = leaves_of(problem, useless.tolist(), self._steps)
        self._points = Points(sample, points, self._leaves)
        n_points = len(points)
        self._coefs, self._intercepts = self._points.coefs.copy(), self._points.intercepts.copy()
        # The least bound of the leaves of each point, infinite if it has none.
        self._worst = np.full(n_points, inf)
        self._worst[self._leaves.point] = -inf
        self._is_stuck = np.zeros(n_points, dtype=np.bool_)
        self.model = model
        self._place_of_model: int | None = None
        reach = reach_of(problem)
        self._rounding = (
            4 * float_info.epsilon * reach * sqrt(problem.weights.sum() / problem.ridge)
        )

    def approach(self, pool: ThreadPoolExecutor | None) -> None:
        """Take the first steps of all points on a part of the rows, where that is much less."""
        points, active = self._points, np.flatnonzero(self._worst < inf)
        every = _EVERY if self._problem.n_rows >= _LARGE else 1
        for _ in range(_STEPS if every > 1 else 0):
            coefs, intercepts = points.coefs[:, active], points.intercepts[active]
            found = evaluate(self._problem, coefs, intercepts, pool, every=every)
            for i, p in enumerate(active.tolist()):
                points.correct(p, found, i)

    def open_points(self, gap: float) -> NDArray[np.int64]:
        """Return the points that leave some of their leaves open."""
        return np.flatnonzero(self._worst < self.model.objective * (1.0 - gap))

    def lower_bound(self) -> float:
        """Return the least bound of all leaves; a loss is never below 0."""
        return max(0.0, float(self._worst.min()))

    def improve(self, gap: float, pool: ThreadPoolExecutor | None) -> bool:
        """Look at open points in one pass over all rows; return whether there is hope for more."""
        active = self.open_points(gap)
        active = active[~self._is_stuck[active]]
        if len(active) == 0:
            return self._polish(pool)
        before = self._worst[active]
        self._evaluate(active, pool)
        missing = np.maximum(self.model.objective * (1.0 - gap) - self._worst[active], 0.0)
        # Steps that are worth taking halve what is missing at least; the first is only the start.
        self._is_stuck[active] = (before > -inf) & (missing > self._worst[active] - before)
        return True

    def _polish(self, pool: ThreadPoolExecutor | None) -> bool:
        """Take another step towards the best model on its predictors, if it is not there."""
        p, objective = self._place_of_model, self.model.objective
        if p is None or self._worst[p] >= objective * (1.0 - _POLISHED):
            return False
        before = self._worst[p]
        self._evaluate(np.array([p]), pool)
        return bool(self._worst[p] > before)

    def _evaluate(self, active: NDArray[np.int64], pool: ThreadPoolExecutor | None) -> None:
        points, leaves = self._points, self._leaves
        coefs, intercepts = points.coefs[:, active], points.intercepts[active]
        # The model's own point has to be exact: it takes its steps with the Hessian of all rows.
        curved, p = None, self._place_of_model
        if p is not None and p in active:
            curved = Curved(int(np.flatnonzero(active == p)[0]), points.columns[p])
        found = evaluate(
            self._problem, coefs, intercepts, pool, curved=curved, rounding=self._rounding
        )
        if curved is not None:
            points.set_curvature(int(active[curved.place]), found.curvature)
        position = np.full(len(self._worst), -1)
        position[active] = np.arange(len(active))
        mine = Leaves._make(array[position[leaves.point] >= 0] for array in leaves)
        mine = mine._replace(point=position[mine.point])
        worst = np.full(len(active), inf)
        bounds = bound_leaves(self._problem, found.entropy, found.values, mine)
        np.minimum.at(worst, mine.point, bounds)
        is_better = worst > self._worst[active]
        better = active[is_better]
        self._worst[better] = worst[is_better]
        self._coefs[:, better], self._intercepts[better] = (
            coefs[:, is_better],
            intercepts[is_better],
        )
        for i, p in enumerate(active.tolist()):
            if points.is_fit[p] and found.objective[i] < self.model.objective:
                self._keep(p, coefs[:, i], float(intercepts[i]), float(found.objective[i]))
            points.correct(p, found, i)

    def _keep(self, p: int, coef: Float, intercept: float, objective: float) -> None:
        """Keep a model that is better and affordable."""
        problem = self._problem
        used = set(problem.column_predictor[coef.nonzero()[0]].tolist())
        support = tuple(sorted(used.union(problem.limits.include)))
        if problem.limits.is_affordable(support):
            model = self.model
            model.objective, model.support = objective, support
            model.coef, model.intercept = coef.copy(), intercept
            self._place_of_model = p

    def __call__(self, solution: Solution) -> Certificate:
        """Return the certificate of the solution."""
        points = list(map(point_of, self._coefs.T, self._intercepts.tolist()))
        return make_certificate(self._problem, solution, self._steps, points)
