"""Bounds of random nodes at random points against the best model of the node.

A bound must hold at every point, however bad: the solver relies on nothing else. Half of the points
are near the best model of the node, where bounds are tight and a mistake shows.
"""

import math
from collections import Counter
from functools import cached_property
from itertools import count

import numpy as np
import pytest
from compiled import compiled
from hypothesis import given, settings
from hypothesis import strategies as st
from random_problems import random_columns, random_labels, random_prices, random_weights

import shortlist as sl
from shortlist.solver.kernels import layout, oracle, point, relaxation, search
from shortlist.solver.kernels.layout import FREE, IN, OUT
from shortlist.solver.prepare import prepare

pytestmark = pytest.mark.filterwarnings("ignore:budget")

linear_predictor = compiled(layout.linear_predictor)
evaluate_rows, evaluate_predictors = map(compiled, (point.evaluate_rows, point.evaluate_predictors))
complete, complete_forced = map(compiled, (oracle.complete, oracle.complete_forced))
move_rows, predictor_value = map(compiled, (point.move_rows, point.predictor_value))
relax = compiled(relaxation.relax)
settle = compiled(search._settle)
SEEDS = st.integers(0, 2**32 - 1)
MANY = settings(max_examples=150)
UNDECIDED = settings(max_examples=60)


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
        self.search = self.prepared.search
        self.status[self.search.root == OUT] = OUT  # constant predictors: no search has them free
        while not self._is_affordable():
            self.status[rng.choice(np.flatnonzero(self.status == IN))] = FREE
        self._given = self.status.copy()
        # The search forbids what is not affordable, and buys all that is left if all of it is.
        self.room = settle(self.search, self.status)
        self.slack = 1e-12 * math.log(2) * self.problem.weights.sum()

    def _is_affordable(self):
        bought = tuple(np.flatnonzero(self.status == IN).tolist())
        return self.problem.limits.is_affordable(bought)

    @cached_property
    def best(self):
        """The best model of the node."""
        return self.best_model()

    def best_model(self, forced_in=(), forced_out=()):
        """Return the best model with more decided, or None if nothing is affordable."""
        limits = {
            "include": [*np.flatnonzero(self._given == IN).tolist(), *forced_in],
            "exclude": [*np.flatnonzero(self._given == OUT).tolist(), *forced_out],
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
        room, values = self.room, self.search.relaxation.values
        _, entropy, _ = evaluate(self.search, self.status, theta, theta0, tolerance)
        base = entropy - values.v[self.status == IN].sum()
        if room.n_free == 0:
            return base, 0.0
        limits = self.search.limits
        complete_forced(limits, values, self.status, room.left, room.count)
        return base, complete(limits, values, self.status, room.left, room.count)


def undecided_node(seed):
    """Return a random node that leaves something to decide: about one in six does."""
    return next(node for node in map(Node, count(seed)) if node.room.n_free > 0)


def evaluate(search, status, theta, theta0, tolerance):
    """Make a dual point of a model; return the model's loss, the entropy and the mismatch."""
    data, rows, model = search.data, search.relaxation.rows, search.relaxation.model
    model.theta[:] = theta
    linear_predictor(data, model.theta, theta0, rows.u)
    _, loss, entropy, mismatch = evaluate_rows(data, rows, theta0, tolerance)
    evaluate_predictors(data, rows, status, model.gradient, search.relaxation.values.v)
    return loss, entropy, mismatch


@MANY
@given(SEEDS, st.sampled_from([1.0, 0.5, 1e-4]))
def test_no_bound_exceeds_the_best_model_of_the_node(seed, tolerance):
    node = Node(seed)
    for _ in range(5):
        base, value = node.evaluate(*node.random_point(), tolerance)
        assert base - value <= node.best.objective + node.slack


@UNDECIDED
@given(SEEDS)
def test_no_bound_with_a_predictor_decided_exceeds_the_best_such_model(seed):
    node = undecided_node(seed)
    values = node.search.relaxation.values
    for g in np.flatnonzero(node.status == FREE).tolist():
        with_it, without_it = node.best_model(forced_in=[g]), node.best_model(forced_out=[g])
        assert with_it is not None
        assert without_it is not None
        for _ in range(3):
            base, _ = node.evaluate(*node.random_point(), 1e-4)
            assert base - values.value_in[g] <= with_it.objective + node.slack
            assert base - values.value_out[g] <= without_it.objective + node.slack


def test_fixing_never_loses_the_optimum():
    """With the cutoff just above the optimum, as tight as fixing ever gets."""
    fixed = Counter()

    @UNDECIDED
    @given(SEEDS)
    def check(seed):
        node = undecided_node(seed)
        cutoff = node.best.objective * (1 + 1e-9) + node.slack
        for _ in range(5):
            base, _ = node.evaluate(*node.random_point(), 1e-4)
            check_fixed(node, base, cutoff, fixed)

    check()
    assert min(fixed["forbidden"], fixed["bought"]) > 30, fixed


def check_fixed(node, base, cutoff, fixed):
    """What the bounds decide agrees with the optimum; count it."""
    values = node.search.relaxation.values
    for g in np.flatnonzero(node.status == FREE).tolist():
        if base - values.value_in[g] >= cutoff:
            assert g not in node.best.support
            fixed["forbidden"] += 1
        if base - values.value_out[g] >= cutoff:
            assert g in node.best.support
            fixed["bought"] += 1


def test_no_bound_of_a_relaxation_exceeds_the_best_model_of_the_node():
    seen = Counter()

    @UNDECIDED
    @given(SEEDS)
    def check(seed):
        node = undecided_node(seed)
        search = node.search
        for factor in (0.5, 0.999, 1.0, 1.5, math.inf):
            # A search starts from fitted models.
            theta, theta0 = node.random_point(largest_margin=30.0)
            search.relaxation.model.theta[:] = theta
            cutoff = factor * node.best.objective
            base, value, _, mu = relax(
                search.data, search.limits, search.relaxation, node.status, node.room, theta0,
                0.0, cutoff, False,
            )  # fmt: skip
            assert base - value <= node.best.objective + node.slack
            assert mu >= 0.0
            if base - value >= cutoff:
                seen["closed"] += 1  # and nothing is fixed
            else:
                seen["open"] += 1
                check_fixed(node, base, node.best.objective * (1 + 1e-9) + node.slack, seen)

    check()
    assert min(seen[kind] for kind in ("closed", "open", "forbidden", "bought")) > 30, seen


@MANY
@given(SEEDS, st.sampled_from([1.0, 0.5, 1e-4]))
def test_the_dual_point_is_feasible_and_its_entropy_is_not_overstated(seed, tolerance):
    """a in [0, 1], sum w a y = 0 after scaling, and sum w H(a) at least what is returned."""
    node = Node(seed)
    data, rows = node.search.data, node.search.relaxation.rows
    _, entropy, _ = evaluate(node.search, node.status, *node.random_point(), tolerance)
    is_positive = np.arange(len(data.w)) < data.n_positive
    rho = np.where(is_positive, rows.rho.positive, rows.rho.negative)
    assert (rho <= 1).all()
    a = rho * rows.q / data.w
    assert (a >= 0).all()
    assert (a <= 1 + 1e-15).all()
    mass = data.w * a
    assert mass[is_positive].sum() == pytest.approx(mass[~is_positive].sum(), rel=1e-12)
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
    status = np.full(3, IN, dtype=np.int8)
    loss, entropy, mismatch = evaluate(
        prepared.search, status, best.coef[prepared.columns], best.intercept, 1e-4
    )
    assert loss + 0.05 * best.coef @ best.coef == pytest.approx(best.objective, rel=1e-13)
    value = prepared.search.relaxation.values.v.sum()
    assert entropy - value == pytest.approx(best.objective, rel=1e-12)
    assert mismatch == pytest.approx(0.0, abs=1e-9)


@MANY
@given(SEEDS)
def test_no_bound_of_a_moved_point_exceeds_the_best_model_of_the_node(seed):
    """Whatever the step is along which it is moved: random, or a Newton step gone wrong."""
    node = undecided_node(seed)
    search, room, values = node.search, node.room, node.search.relaxation.values
    data, rows, moved = search.data, search.relaxation.rows, search.relaxation.moved
    for _ in range(5):
        evaluate(search, node.status, *node.random_point(), 1e-4)
        moved.t[:] = node.rng.normal(size=len(moved.t)) * 10 ** node.rng.uniform(-3, 1)
        entropy = move_rows(data, rows, moved)
        mass = moved.q[: data.n_positive].sum(), moved.q[data.n_positive :].sum()
        assert mass[0] == pytest.approx(mass[1], rel=1e-9, abs=1e-290)
        assert ((moved.q >= 0) & (moved.q <= data.w * (1 + 1e-12))).all()
        for g in np.flatnonzero(node.status != OUT).tolist():
            values.v[g] = predictor_value(data, moved.q, g)
        base = entropy - values.v[node.status == IN].sum()
        value = complete(search.limits, values, node.status, room.left, room.count)
        assert base - value <= node.best.objective + node.slack


def test_a_moved_point_is_exact_in_the_limit():
    """Near a fit, a plain bound loses the residual over the ridge, a moved one nearly nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] + rng.logistic(size=60) > 0
    problem = sl.SubsetProblem(X, y, ridge=1e-3)
    best = sl.solve(problem, "enumeration")
    search = prepare(problem).search
    data, rows, moved = search.data, search.relaxation.rows, search.relaxation.moved
    status = np.full(3, IN, dtype=np.int8)
    lost = {}
    for error in (1e-1, 1e-2, 1e-3):
        theta, theta0 = best.coef + error * rng.normal(size=3), best.intercept + error
        _, entropy, _ = evaluate(search, status, theta, theta0, 1.0)
        plain = entropy - search.relaxation.values.v.sum()
        # The exact step to the optimum, seen by the rows.
        linear_predictor(data, best.coef, best.intercept, moved.t)
        moved.t[:] -= rows.u
        bound = move_rows(data, rows, moved)
        bound -= sum(predictor_value(data, moved.q, g) for g in range(3))
        assert plain <= bound <= best.objective * (1 + 1e-12)
        lost[error] = best.objective - bound
        assert lost[error] < 0.05 * (best.objective - plain)
    assert lost[1e-2] < lost[1e-1] / 50  # third order would be a thousandth
