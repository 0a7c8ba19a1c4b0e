"""The quadratic model of a relaxation: its matrix against numpy, its minimum against Clarabel."""

from collections import Counter

import numpy as np
import pytest
from compiled import compiled
from random_problems import random_columns, random_labels, random_prices
from scipy import sparse

import shortlist as sl
from shortlist.solver.kernels import gram, layout, model, penalty, point, search
from shortlist.solver.kernels.layout import FREE, IN, OUT
from shortlist.solver.prepare import prepare

pytestmark = pytest.mark.filterwarnings("ignore:budget")

linear_predictor = compiled(layout.linear_predictor)
evaluate_rows, evaluate_predictors = map(compiled, (point.evaluate_rows, point.evaluate_predictors))
update_gram, settle = compiled(gram.update_gram), compiled(search._settle)
minimise_model, multiplier_of = map(compiled, (model.minimise_model, penalty.multiplier_of))


class Expansion:
    """The model around a random point of a random node that has a choice."""

    def __init__(self, seed):
        while not self._draw(seed):
            seed += 1000

    def _draw(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        n_predictors = int(rng.integers(3, 9))
        n_columns = n_predictors + int(rng.integers(0, 5)) * int(rng.random() < 0.5)
        X = random_columns(rng, int(rng.integers(12, 60)), n_columns)
        X /= np.maximum(np.abs(X).max(axis=0), 1e-3)  # for Clarabel's sake
        limits = {"max_features": int(rng.integers(1, n_predictors))}
        if rng.random() < 0.5:
            limits = random_prices(rng, n_predictors, [])
        problem = sl.SubsetProblem(
            X, random_labels(rng, X), ridge=float(10 ** rng.uniform(-2, 1)),
            groups=np.arange(n_columns) % n_predictors, **limits,
        )  # fmt: skip
        self.search = prepare(problem).search
        self.data, self.model = self.search.data, self.search.relaxation.model
        self.side = np.where(np.arange(len(self.data.w)) < self.data.n_positive, -1.0, 1.0)
        self.status = rng.choice([FREE, FREE, FREE, IN, OUT], n_predictors).astype(np.int8)
        self.status[self.search.root == OUT] = OUT
        bought = tuple(np.flatnonzero(self.status == IN).tolist())
        if not problem.limits.is_affordable(bought):
            return False
        room = settle(self.search, self.status)
        self.capacity = room.capacity
        if room.n_free == 0 or self.capacity <= 0:
            return False
        self._expand()
        return True

    def _expand(self):
        """Fill gradient and matrix, with all columns that are not forbidden in the working set."""
        data, rows, rng = self.data, self.search.relaxation.rows, self.rng
        is_used = (rng.random(len(data.X)) < 0.5) & (np.ptp(data.X * self.side, axis=1) > 0)
        self.point = 0.3 * rng.normal(size=len(data.X)) * is_used
        self.model.theta[:] = self.point
        linear_predictor(data, self.model.theta, 0.1, rows.u)
        _, _, _, self.mismatch = evaluate_rows(data, rows, 0.1, 1e-4)
        v = self.search.relaxation.values.v
        evaluate_predictors(data, rows, self.status, self.model.gradient, v)
        update_gram(
            data, self.model.gram, self.model.theta, rows.d, self.status, v, self.model.price, 0.0,
            0.0,
        )  # fmt: skip
        self.member = self.model.gram.member[: self.model.gram.now.n_columns].copy()

    def hessian(self):
        """Return d^2 loss of the members, intercept eliminated, and their weighted means."""
        d, X = self.search.relaxation.rows.d, self.data.X[self.member]
        means = X @ (d * self.side) / d.sum()
        centred = X - np.outer(means, self.side)
        return centred * d @ centred.T, means

    def linear_term(self):
        """Return b, with which the model is theta'H theta / 2 - b'theta."""
        matrix, means = self.hessian()
        slope = self.model.gradient[self.member] - self.mismatch * means
        # The gradient of what is forbidden is not known, and not needed.
        allowed = self.status[self.data.owner[self.member]] != OUT
        return np.where(allowed, matrix @ self.point[self.member] - slope, 0.0)

    def penalty(self, theta):
        """The least of ridge / 2 sum ||theta_g||^2 / z_g over the z that the capacity buys."""
        sizes = np.add.reduceat(theta**2, self.data.start[:-1])
        priced = (self.status == FREE) & (sizes > 0) & (self.model.price > 0)
        price = self.model.price[priced]

        def shares(root):  # of mu
            return np.minimum(1.0, np.sqrt(self.data.ridge * sizes[priced] / (2 * price)) / root)

        low, high = 1e-100, 1e100
        for _ in range(70):
            root = np.sqrt(low * high)
            low, high = (root, high) if price @ shares(root) > self.capacity else (low, root)
        sizes[priced] /= shares(high)
        return 0.5 * self.data.ridge * sizes[self.status != OUT].sum()

    def priced_penalty(self, theta, mu):
        """The penalty if the capacity has the price mu: reverse Huber functions."""
        sizes = np.sqrt(np.add.reduceat(theta**2, self.data.start[:-1]))
        ridge, price = self.data.ridge, np.where(self.status == FREE, self.model.price, 0.0)
        is_large = ridge * sizes**2 >= 2 * mu * price
        large = 0.5 * ridge * sizes**2 + mu * price
        return np.where(is_large, large, np.sqrt(2 * ridge * mu * price) * sizes).sum() - (
            mu * self.capacity
        )

    def value(self, theta):
        matrix, _ = self.hessian()
        inside = theta[self.member]
        return 0.5 * inside @ matrix @ inside - self.linear_term() @ inside + self.penalty(theta)

    def least_value(self):
        """The minimum of the model with its penalty, by an interior-point method."""
        clarabel = pytest.importorskip("clarabel")
        owner = self.data.owner[self.member]
        allowed = np.flatnonzero(self.status[owner] != OUT)
        owner = owner[allowed]
        groups = np.unique(owner)
        n, k = len(allowed), len(groups)
        # Variables: theta, s and z per predictor, with ||theta_g||^2 <= s_g z_g.
        quadratic = np.zeros((n + 2 * k, n + 2 * k))
        quadratic[:n, :n] = self.hessian()[0][np.ix_(allowed, allowed)]
        linear = -self.linear_term()[allowed]
        cost = np.concatenate([linear, np.full(k, 0.5 * self.data.ridge), np.zeros(k)])
        rows, right, cones = [], [], []

        def add(entries, bound):
            row = np.zeros(n + 2 * k)
            for i, factor in entries:
                row[i] = factor
            rows.append(row)
            right.append(bound)

        for i in range(k):
            add([(n + k + i, 1.0)], 1.0)
        priced = np.flatnonzero(self.status[groups] == FREE)
        add([(n + k + i, self.model.price[groups[i]]) for i in priced], self.capacity)
        cones.append(clarabel.NonnegativeConeT(k + 1))
        for i, g in enumerate(groups):
            add([(n + i, -1.0), (n + k + i, -1.0)], 0.0)
            add([(n + i, -1.0), (n + k + i, 1.0)], 0.0)
            columns = np.flatnonzero(owner == g)
            for j in columns:
                add([(j, -2.0)], 0.0)
            cones.append(clarabel.SecondOrderConeT(2 + len(columns)))
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
        solver = clarabel.DefaultSolver(
            sparse.csc_matrix(np.triu(quadratic)), cost, sparse.csc_matrix(np.array(rows)),
            np.array(right), cones, settings,
        )  # fmt: skip
        solution = solver.solve()
        assert str(solution.status) in ("Solved", "AlmostSolved"), solution.status
        return solution.obj_val, solution.z[k]


@pytest.mark.parametrize("seed", range(20))
def test_gram_matrix_is_the_hessian_without_the_intercept(seed):
    expansion = Expansion(seed)
    matrix, means = expansion.hessian()
    now = expansion.model.gram
    n = len(expansion.member)
    length = np.sqrt(expansion.data.X[expansion.member] ** 2 @ expansion.search.relaxation.rows.d)
    error = np.abs(now.matrix[:n, :n] - matrix)
    assert (error <= 1e-13 * np.outer(length, length)).all()
    assert now.mean[:n] == pytest.approx(means, rel=1e-12, abs=1e-13 * length.max())
    assert now.now.total == pytest.approx(expansion.search.relaxation.rows.d.sum())
    assert now.position[expansion.member].tolist() == list(range(n))


def test_minimum_of_the_model():
    """Almost always reached: a step that ends early costs the relaxation another one."""
    seen = Counter()
    for seed in range(60):
        expansion = Expansion(seed)
        least, price = expansion.least_value()
        for first in (1e-3, 1.0, 1e3):
            expansion.model.theta[:] = expansion.point
            mu = minimise_model(
                expansion.data, expansion.model, expansion.status, expansion.capacity,
                first * max(price, 1e-9), expansion.mismatch,
            )  # fmt: skip
            theta = expansion.model.theta
            assert (theta[expansion.status[expansion.data.owner] == OUT] == 0).all()
            value, slack = expansion.value(theta), 1e-6 * abs(least)
            assert value >= least - slack, seed
            if value > least + slack:
                seen["not reached"] += 1
                assert len(theta) > len(expansion.status), seed  # groups, whose direction turns
                continue
            seen["reached"] += 1
            # At the multiplier theta spends just what there is.
            if mu * expansion.capacity > slack:
                seen["priced"] += 1
                priced = expansion.priced_penalty(theta, mu)
                assert priced == pytest.approx(expansion.penalty(theta), abs=slack), seed
    assert seen["not reached"] <= 4, seen
    assert seen["priced"] > 120, seen
