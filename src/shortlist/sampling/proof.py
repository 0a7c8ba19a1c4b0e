"""A tree that was found on a sample, proven on all rows as far as its points reach.

On the sample a point has slopes s, on which its bounds depend through v = s^2 / (2 ridge). On all
rows the same coefficients have slopes that differ by noise, which a weak ridge makes large in v. A
Newton step moves the coefficients to where the slopes on all rows are s again. Its Hessian is that
of the sample: it is off by a few per cent, and so is the step. As many steps as are needed follow.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import inf, sqrt
from sys import float_info
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..arguments import Float, Int
from ..certificate import Bound, Branch, Certificate, Fix, One, Point, Step
from ..native.core import FREE, IN, OUT, core, core_limits, rounding_of
from ..native.proof import Prover, make_certificate, point_of
from ..problem import SubsetProblem
from ..solution import Solution
from .passes import Curved, Evaluated, evaluate, reach_of

_EVERY, _LARGE, _STEPS = 8, 2**19, 2  # blocks of rows, rows, steps
_POLISHED = 1e-9  # relative distance of the model from the best on its predictors


class BestModel:
    """The best model so far, which is worse than any as long as there is none."""

    def __init__(self, problem: SubsetProblem) -> None:
        self.objective = inf
        self.coef, self.intercept = np.zeros(problem.n_columns), 0.0
        self.support = problem.limits.include


class SampleProof:
    """The leaves of a tree, and the bounds of its points on all rows.

    Attributes
    ----------
    model : BestModel
        The best model of all points that were looked at.
    """

    def __init__(
        self, problem: SubsetProblem, sample: SubsetProblem, tree: Prover, model: BestModel
    ) -> None:
        self._problem = problem
        self._steps, points = tree.proof()
        constant = np.ptp(sample.X, axis=0) == 0
        varying = problem.column_predictor[~constant]
        useless = np.setdiff1d(np.arange(problem.n_predictors), varying)
        self._leaves = leaves_of(problem, useless.tolist(), self._steps)
        self._points = TreePoints(sample, points, self._leaves)
        n_points = len(points)
        self._coefs, self._intercepts = self._points.coefs.copy(), self._points.intercepts.copy()
        # The least bound of the leaves of each point, infinite if it has none.
        self._worst = np.full(n_points, inf)
        self._worst[self._leaves.point] = -inf
        self._is_stuck = np.zeros(n_points, dtype=np.bool_)
        self.model = model
        self._place_of_model: int | None = None
        family, outcomes, weights = problem.family, problem.response.values, problem.weights
        null_losses = family.value(outcomes, np.array(family.null_intercept(outcomes, weights)))
        of_slopes = 4 * float_info.epsilon * reach_of(problem)
        of_slopes *= sqrt(weights.sum() / problem.ridge)
        self._rounding = rounding_of(problem, of_slopes, float(weights @ null_losses))

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
        # A step is worth taking if it halves the missing part of the bound; the first is the start.
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
        self._coefs[:, better] = coefs[:, is_better]
        self._intercepts[better] = intercepts[is_better]
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


class TreePoints:
    """Points of one tree: where they are, and which slopes they should have.

    Attributes
    ----------
    coefs : ndarray of shape (n_columns, n_points)
        Coefficients.
    intercepts : ndarray of shape (n_points,)
        Intercepts.
    columns : list of ndarray
        The columns that matter to each point.
    is_fit : ndarray of shape (n_points,)
        Whether a point tends to the best model on its columns. Others tend to given slopes.
    """

    def __init__(self, sample: SubsetProblem, points: Sequence[Point], leaves: Leaves) -> None:
        self._sample = sample
        self._centre = sample.weights / sample.weights.sum() @ sample.X
        self._X = sample.X - self._centre
        self.coefs = np.zeros((sample.n_columns, len(points)))
        self.intercepts = np.zeros(len(points))
        self._target = np.zeros_like(self.coefs)
        self._factors: list[tuple[Float, Float, float] | None] = [None] * len(points)
        self.columns, self.is_fit = _columns_of(sample, len(points), leaves)
        for p, point in enumerate(points):
            self._place(p, point)

    def _place(self, p: int, point: Point) -> None:
        """Start at the end of a point's step; aim at the slopes that it has on the sample."""
        sample, columns = self._sample, list(point.columns)
        coef, step = np.zeros(sample.n_columns), np.zeros(sample.n_columns)
        intercept, step0 = point.intercept, 0.0
        coef[columns] = point.values
        if point.correction:
            step0, step[columns] = point.correction[0], point.correction[1:]
        self.coefs[:, p], self.intercepts[p] = coef + step, intercept + step0
        if self.is_fit[p]:
            self._target[:, p] = sample.ridge * self.coefs[:, p]
            return
        y, u = sample.response.values, sample.X @ coef + intercept
        a = sample.family.slope(y, u, 0.0)
        if point.correction:
            a += sample.family.curvature(y, u, 0.0) * (sample.X @ step + step0)
            a = sample.family.allowed(y, a)
        self._target[:, p] = -(sample.weights * a) @ sample.X

    def correct(self, p: int, evaluated: Evaluated, place: int) -> None:
        """Take a Newton step, from where the point was evaluated on all rows."""
        columns = self.columns[p]
        factor = self._factor(p)
        if factor is None:
            return
        cholesky, mean, total = factor
        slope = evaluated.slope[columns, place] - self._target[columns, p]
        mismatch = evaluated.mismatch[place]
        step = cho_solve((cholesky, True), slope - mean * mismatch)
        self.coefs[columns, p] += step
        self.intercepts[p] += mismatch / total - mean @ step
        self._target[columns, p] += self._sample.ridge * step

    def set_curvature(self, p: int, curvature: Float) -> None:
        """Take the Hessian of all rows for the next steps of a point."""
        total = float(curvature[-1, -1])
        self._factors[p] = None
        if total > 0:
            mean = curvature[-1, :-1] / total
            centred = curvature[:-1, :-1] - total * np.outer(mean, mean)
            self._factors[p] = _factorised(centred, mean, total, self._sample.ridge)

    def _factor(self, p: int) -> tuple[Float, Float, float] | None:
        """Return the Cholesky factor, the columns' means and the total of the curvature."""
        if self._factors[p] is None:
            sample, columns = self._sample, self.columns[p]
            u = sample.X @ self.coefs[:, p] + self.intercepts[p]
            d = sample.weights * sample.family.curvature(sample.response.values, u, 0.0)
            total = float(d.sum())
            if not total > 0:
                return None
            X = self._X[:, columns]
            mean = d @ X / total
            hessian = (X.T * d) @ X - total * np.outer(mean, mean)
            mean += self._centre[columns]
            self._factors[p] = _factorised(hessian, mean, total, sample.ridge)
        return self._factors[p]


def _factorised(
    hessian: Float, mean: Float, total: float, ridge: float
) -> tuple[Float, Float, float] | None:
    """Return the Cholesky factor of a Hessian with the ridge, the mean and the total."""
    hessian[np.diag_indices_from(hessian)] += ridge
    try:
        return (cho_factor(hessian, lower=True)[0] if len(mean) else hessian), mean, total
    except (LinAlgError, ValueError):
        return None


def _columns_of(
    problem: SubsetProblem, n_points: int, leaves: Leaves
) -> tuple[list[NDArray[np.int64]], NDArray[np.bool_]]:
    """Return the columns that matter to each point, and whether it is a fit on them.

    A column that no leaf of a point can buy does not matter. A point is a fit if its leaves can buy
    the same predictors, and add one at most.
    """
    some = np.zeros((n_points, problem.n_predictors), dtype=np.bool_)
    every = np.ones_like(some)
    np.logical_or.at(some, leaves.point, leaves.can_buy)
    np.logical_and.at(every, leaves.point, leaves.can_buy)
    is_fit = (some == every).all(axis=1)
    n_free = (leaves.decisions == FREE).sum(axis=1)
    np.logical_and.at(is_fit, leaves.point, np.minimum(n_free, leaves.most) <= 1)
    return [problem.columns_of(np.flatnonzero(row)) for row in some], is_fit


class Leaves(NamedTuple):
    """Sets of selections, each of which a point of the proof bounds.

    Attributes
    ----------
    point : ndarray of shape (n_leaves,)
        The point of each leaf.
    decisions : ndarray of shape (n_leaves, n_predictors)
        What is bought, forbidden or free; free is only what is affordable.
    most : ndarray of shape (n_leaves,)
        How many of the free predictors may be bought; limits may leave fewer.
    """

    point: Int
    decisions: NDArray[np.int8]
    most: Int

    @property
    def can_buy(self) -> NDArray[np.bool_]:
        """Whether some selection of a leaf buys a predictor; shape (n_leaves, n_predictors)."""
        return np.asarray(self.decisions != OUT)


def leaves_of(problem: SubsetProblem, useless: Iterable[int], steps: Iterable[Step]) -> Leaves:
    """Return the leaves that the steps of a proof lead to, as docs/certificate.md describes.

    Useless predictors, those that are constant, are bought only if they are included.
    """
    of_node: dict[int, list[Step]] = {}
    for step in steps:
        of_node.setdefault(step.node, []).append(step)
    n, limits = problem.n_predictors, problem.limits
    root = np.zeros(n, dtype=np.int8)
    root[[*limits.exclude, *useless]] = OUT
    root[list(limits.include)] = IN
    nodes = [(0, root)]
    leaves: list[tuple[int, NDArray[np.int8], int]] = []
    while nodes:
        node, decisions = nodes.pop()
        for step in of_node[node]:
            match step:
                case Fix(point=point, forbidden=outs, bought=ins):
                    leaves += [(point, _decided(decisions, g, IN), n) for g in outs]
                    leaves += [(point, _decided(decisions, g, OUT), n) for g in ins]
                    decisions = _decided(_decided(decisions, ins, IN), outs, OUT)
                case Bound(point=point):
                    leaves.append((point, decisions, n))
                case Branch(predictor=g, without=without, including=including):
                    nodes.append((without, _decided(decisions, g, OUT)))
                    nodes.append((including, _decided(decisions, g, IN)))
                case One(point=point, predictors=members):
                    others = np.flatnonzero(decisions == FREE)
                    others = others[~np.isin(others, members)]
                    leaves.append((point, _decided(decisions, others, OUT), 1))
    points, decided, most = zip(*leaves, strict=True)
    found = Leaves(np.array(points), np.array(decided), np.array(most))
    # To bound them forbids what is not affordable. Leaves without any selection are left out.
    n_points = int(found.point.max()) + 1
    bounds = bound_leaves(problem, np.zeros(n_points), np.zeros((n_points, n)), found)
    return Leaves._make(array[bounds < inf] for array in found)


def _decided(decisions: NDArray[np.int8], predictors: Any, decision: int) -> NDArray[np.int8]:
    copy = decisions.copy()
    copy[list(predictors) if isinstance(predictors, tuple) else predictors] = decision
    return copy


def bound_leaves(problem: SubsetProblem, entropies: Float, values: Float, leaves: Leaves) -> Float:
    """Return a lower bound on all models of each leaf.

    Parameters
    ----------
    problem : SubsetProblem
        Its limits hold.
    entropies : ndarray of shape (n_points,)
        sum_m w_m H(a_m) of each point.
    values : ndarray of shape (n_points, n_predictors)
        The v_g of each point.
    leaves : Leaves
        Their points are rows of these. What is not affordable becomes forbidden.

    Returns
    -------
    ndarray of shape (n_leaves,)
        Infinite where nothing is affordable.
    """
    taken = core.price_leaves(core_limits(problem.limits), np.ascontiguousarray(values), *leaves)
    bounds: Float = entropies[leaves.point] - taken
    return bounds
