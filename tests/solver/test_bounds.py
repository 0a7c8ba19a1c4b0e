"""Bounds of random nodes at random points against the best model of the node.

A bound must hold at every point, however bad: the solver relies on nothing else. Half of the points
are near the best model of the node, where bounds are tight and a mistake shows.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_problems import random_columns, random_labels, random_prices, random_weights

import shortlist as sl
from shortlist.solver.kernels.layout import FREE, IN, OUT, linear_predictor
from shortlist.solver.kernels.oracle import complete
from shortlist.solver.kernels.point import evaluate_predictors, evaluate_rows
from shortlist.solver.kernels.relaxation import relax
from shortlist.solver.kernels.search import _settle_all
from shortlist.solver.prepare import prepare

pytestmark = pytest.mark.filterwarnings("ignore:budget")

SEEDS = st.integers(0, 2**32 - 1)
MANY = settings(max_examples=150)


class Node:
    """A random problem of at most 5 predictors, and a random node of its tree."""

    def __init__(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        n_predictors = int(rng.integers(2, 6))
        n_columns = n_predictors + int(rng.integers(0, 3)) * int(rng.random() < 0.4)
        X = random_columns(rng, int(rng.integers(4, 41)), n_columns)
        y = random_labels(rng, X)
        self.arguments = {
            "X": X,
            "y": y,
            "ridge": float(10 ** rng.uniform(-3, 1)),
            "sample_weight": random_weights(rng, y),
            "groups": np.arange(n_columns) % n_predictors,
        }
        if rng.random() < 0.7:
            self.arguments |= random_prices(rng, n_predictors, [])
        if "budget" not in self.arguments or rng.random() < 0.4:
            self.arguments["max_features"] = int(rng.integers(1, n_predictors + 1))
        self.problem = sl.SubsetProblem(**self.arguments)
        self.prepared = prepare(self.problem)
        self.status = rng.choice([FREE, FREE, IN, OUT], n_predictors).astype(np.int8)
        self.status[self.prepared.root == OUT] = OUT  # constant predictors: no search has them free
        while not self._is_affordable():
            self.status[rng.choice(np.flatnonzero(self.status == IN))] = FREE
        self.best = self.best_model()
        # The search forbids what is not affordable, and buys all that is left if all of it is.
        self.left, self.count, self.capacity, self.n_free = _settle_all(
            self.prepared.limits, self.prepared.work, self.status
        )
        self.slack = 1e-12 * math.log(2) * self.problem.weights.sum()

    def _is_affordable(self):
        bought = tuple(np.flatnonzero(self.status == IN).tolist())
        return self.problem.constraints.is_affordable(bought)

    def best_model(self, forced_in=(), forced_out=()):
        """Return the best model of the node, or None if nothing is affordable."""
        limits = {
            "include": [*np.flatnonzero(self.status == IN).tolist(), *forced_in],
            "exclude": [*np.flatnonzero(self.status == OUT).tolist(), *forced_out],
        }
        try:
            problem = sl.SubsetProblem(**self.arguments, **limits)
        except sl.InfeasibleError:
            return None
        return sl.solve(problem, "enumeration")

    def random_point(self, largest_margin=math.inf):
        """Return coefficients in the kernels' order, and an intercept."""
        rng = self.rng
        noise = rng.normal(size=self.problem.n_columns)
        if rng.random() < 0.5:
            near = 10 ** rng.uniform(-8, 0)
            coef = self.best.coef * (1 + near * noise)
            intercept = self.best.intercept * (1 + near * rng.normal())
        else:
            coef = noise * 10 ** rng.uniform(-3, 3) * (rng.random(len(noise)) < 0.7)
            intercept = rng.normal() * 10 ** rng.uniform(-2, 2)
            margin = np.abs(self.problem.decision_function(coef, intercept)).max()
            shrink = min(1.0, largest_margin / margin) if margin > 0 else 1.0
            coef, intercept = coef * shrink, intercept * shrink
        return coef[self.prepared.columns], float(intercept)

    def evaluate(self, theta, theta0, tolerance):
        """Return base and value as the search computes them; the bound is their difference."""
        data, limits, work = self.prepared.data, self.prepared.limits, self.prepared.work
        work.theta[:] = theta
        linear_predictor(data.X, data.n_positive, work.theta, theta0, work.u)
        _, _, entropy, _ = evaluate_rows(data, work, theta0, tolerance)
        evaluate_predictors(
            data.X, work.q, data.n_positive, work.rho, data.ridge, data.start, self.status,
            work.gradient, work.v,
        )  # fmt: skip
        base = entropy - work.v[self.status == IN].sum()
        if self.n_free == 0:
            return base, 0.0
        return base, complete(limits, work, self.status, self.left, self.count, True)


@MANY
@given(SEEDS, st.sampled_from([1.0, 0.5, 1e-4]))
def test_no_bound_exceeds_the_best_model_of_the_node(seed, tolerance):
    node = Node(seed)
    for _ in range(5):
        base, value = node.evaluate(*node.random_point(), tolerance)
        assert base - value <= node.best.objective + node.slack


@MANY
@given(SEEDS)
def test_no_bound_with_a_predictor_decided_exceeds_the_best_such_model(seed):
    node = Node(seed)
    work = node.prepared.work
    for g in np.flatnonzero(node.status == FREE).tolist():
        with_it, without_it = node.best_model(forced_in=[g]), node.best_model(forced_out=[g])
        assert with_it is not None
        assert without_it is not None
        for _ in range(3):
            base, _ = node.evaluate(*node.random_point(), 1e-4)
            assert base - work.value_in[g] <= with_it.objective + node.slack
            assert base - work.value_out[g] <= without_it.objective + node.slack


@MANY
@given(SEEDS)
def test_fixing_never_loses_the_optimum(seed):
    """With the cutoff just above the optimum, as tight as fixing ever gets."""
    node = Node(seed)
    work = node.prepared.work
    cutoff = node.best.objective * (1 + 1e-9) + node.slack
    for _ in range(5):
        base, _ = node.evaluate(*node.random_point(), 1e-4)
        for g in np.flatnonzero(node.status == FREE).tolist():
            if base - work.value_in[g] >= cutoff:
                assert g not in node.best.support
            if base - work.value_out[g] >= cutoff:
                assert g in node.best.support


@MANY
@given(SEEDS)
def test_no_bound_of_a_relaxation_exceeds_the_best_model_of_the_node(seed):
    node = Node(seed)
    if node.n_free == 0:
        return
    data, limits, work = node.prepared.data, node.prepared.limits, node.prepared.work
    for factor in (0.5, 0.999, 1.0, 1.5, math.inf):
        theta, theta0 = node.random_point(largest_margin=30.0)  # a search starts from fitted models
        work.theta[:] = theta
        cutoff = factor * node.best.objective
        base, value, _, mu = relax(
            data, limits, work, node.status, node.left, node.count, node.capacity, theta0, 0.0,
            cutoff, False,
        )  # fmt: skip
        assert base - value <= node.best.objective + node.slack
        assert mu >= 0.0
        if base - value >= cutoff:
            continue  # the node is closed, and nothing is fixed
        cutoff = node.best.objective * (1 + 1e-9) + node.slack
        for g in np.flatnonzero(node.status == FREE).tolist():
            assert base - work.value_in[g] < cutoff or g not in node.best.support
            assert base - work.value_out[g] < cutoff or g in node.best.support


@MANY
@given(SEEDS, st.sampled_from([1.0, 0.5, 1e-4]))
def test_the_dual_point_is_feasible_and_its_entropy_is_not_overstated(seed, tolerance):
    """a in [0, 1], sum w a y = 0 after scaling, and sum w H(a) at least what is returned."""
    node = Node(seed)
    data, work = node.prepared.data, node.prepared.work
    theta, theta0 = node.random_point()
    work.theta[:] = theta
    linear_predictor(data.X, data.n_positive, work.theta, theta0, work.u)
    _, _, entropy, _ = evaluate_rows(data, work, theta0, tolerance)
    rho = np.where(np.arange(len(data.w)) < data.n_positive, work.rho[0], work.rho[1])
    assert (work.rho <= 1).all()
    a = rho * work.q / data.w
    assert (a >= 0).all()
    assert (a <= 1 + 1e-15).all()
    mass = data.w * a
    positive, negative = mass[: data.n_positive].sum(), mass[data.n_positive :].sum()
    assert positive == pytest.approx(negative, rel=1e-12)
    a = np.clip(a, 1e-300, 1 - 1e-16)
    truth = data.w @ (-a * np.log(a) - (1 - a) * np.log1p(-a))
    assert entropy <= truth + 1e-13 * data.w.sum()


def test_bound_is_tight_at_the_optimum_of_a_fit():
    """With nothing left to decide, the bound at the best model is its objective."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = X[:, 0] + rng.logistic(size=30) > 0
    problem = sl.SubsetProblem(X, y, ridge=0.1)
    best = sl.solve(problem, "enumeration")
    prepared = prepare(problem)
    data, work = prepared.data, prepared.work
    work.theta[:] = best.coef[prepared.columns]
    linear_predictor(data.X, data.n_positive, work.theta, best.intercept, work.u)
    _, loss, entropy, mismatch = evaluate_rows(data, work, best.intercept, 1e-4)
    status = np.full(3, IN, dtype=np.int8)
    evaluate_predictors(
        data.X, work.q, data.n_positive, work.rho, data.ridge, data.start, status,
        work.gradient, work.v,
    )  # fmt: skip
    assert loss + 0.05 * best.coef @ best.coef == pytest.approx(best.objective, rel=1e-13)
    assert entropy - work.v.sum() == pytest.approx(best.objective, rel=1e-12)
    assert mismatch == pytest.approx(0.0, abs=1e-9)
