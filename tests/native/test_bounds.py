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
from hypothesis import given, settings
from hypothesis import strategies as st
from random_problems import random_columns, random_labels, random_prices, random_weights

import shortlist as sl
from shortlist.native.core import FREE, IN, OUT, core, prepare

pytestmark = pytest.mark.filterwarnings("ignore:budget")

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
        self.decisions = rng.choice([FREE, FREE, IN, OUT], n_predictors).astype(np.int8)
        # No search has constant predictors free.
        self.decisions[packed_rows(self.prepared)["is_constant"]] = OUT
        while not self.problem.limits.is_affordable(self.bought):
            self.decisions[rng.choice(self.bought)] = FREE
        self._given = self.decisions.copy()
        # The search forbids what is not affordable, and buys all that is left if all of it is.
        v = np.zeros(n_predictors)
        answer = core.testing.ask_oracle(self.prepared.limits, v, self.decisions)
        self.decisions = answer["decisions"].astype(np.int8)
        if answer["is_all_affordable"]:
            self.decisions[self.decisions == FREE] = IN
        self.slack = 1e-12 * math.log(2) * self.problem.weights.sum()

    @property
    def bought(self):
        return tuple(np.flatnonzero(self.decisions == IN).tolist())

    @property
    def free(self):
        return tuple(np.flatnonzero(self.decisions == FREE).tolist())

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
        """Return coefficients and an intercept."""
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
        return coef, float(intercept)

    def bound(self, entropy, v):
        """Return what bounds the node, and with each free predictor bought or forbidden."""
        answer = core.testing.ask_oracle(self.prepared.limits, v, self.decisions)
        base = entropy - v[list(self.bought)].sum()
        if not self.free:
            return base, {}, {}
        bought = {g: base - answer["value_in"][g] for g in self.free}
        forbidden = {g: base - answer["value_out"][g] for g in self.free}
        return base - answer["value"], bought, forbidden

    def random_bound(self, tolerance=1e-4):
        """The same for a random point."""
        point = dual_point(self.prepared, *self.random_point(), tolerance=tolerance)
        return self.bound(point["entropy"], point["v"])


def undecided_node(seed):
    """Return a random node that leaves something to decide: about one in six does."""
    return next(node for node in map(Node, count(seed)) if node.free)


def dual_point(prepared, coef, intercept, step=None, intercept_step=0.0, tolerance=1e-4):
    """Make a dual point of a model, and move it along a step."""
    step = np.zeros(len(coef)) if step is None else step
    return core.testing.dual_point(
        prepared.problem, coef, intercept, step, intercept_step, tolerance, 0.0
    )


def packed_rows(prepared):
    return core.testing.packed_rows(prepared.data)


@MANY
@given(SEEDS, st.sampled_from([1.0, 0.5, 1e-4]))
def test_no_bound_exceeds_the_best_model_of_the_node(seed, tolerance):
    node = Node(seed)
    for _ in range(5):
        bound, _, _ = node.random_bound(tolerance)
        assert bound <= node.best.objective + node.slack


@UNDECIDED
@given(SEEDS)
def test_no_bound_with_a_predictor_decided_exceeds_the_best_such_model(seed):
    node = undecided_node(seed)
    bounds = [node.random_bound() for _ in range(3)]
    for g in node.free:
        with_it, without_it = node.best_model(forced_in=[g]), node.best_model(forced_out=[g])
        assert with_it is not None
        assert without_it is not None
        for _, bought, forbidden in bounds:
            assert bought[g] <= with_it.objective + node.slack
            assert forbidden[g] <= without_it.objective + node.slack


def check_fixed(node, bought, forbidden, fixed):
    """What the bounds decide agrees with the optimum; count it.

    The cutoff is just above the optimum, as tight as fixing ever gets.
    """
    cutoff = node.best.objective * (1 + 1e-9) + node.slack
    for g in node.free:
        if bought[g] >= cutoff:
            assert g not in node.best.support
            fixed["forbidden"] += 1
        if forbidden[g] >= cutoff:
            assert g in node.best.support
            fixed["bought"] += 1


def test_fixing_never_loses_the_optimum():
    fixed = Counter()

    @UNDECIDED
    @given(SEEDS)
    def check(seed):
        node = undecided_node(seed)
        for _ in range(5):
            _, bought, forbidden = node.random_bound()
            check_fixed(node, bought, forbidden, fixed)

    check()
    assert min(fixed["forbidden"], fixed["bought"]) > 30, fixed


def test_no_bound_of_a_relaxation_exceeds_the_best_model_of_the_node():
    seen = Counter()

    @UNDECIDED
    @given(SEEDS)
    def check(seed):
        node = undecided_node(seed)
        for factor in (0.5, 0.999, 1.0, 1.5, math.inf):
            # A search starts from fitted models.
            coef, intercept = node.random_point(largest_margin=30.0)
            cutoff = factor * node.best.objective
            found = core.testing.relax(
                node.prepared.problem, node.prepared.limits, node.decisions, coef, intercept, 0.0,
                cutoff,
            )  # fmt: skip
            bound = found["base"] - found["value"]
            assert bound <= node.best.objective + node.slack
            assert found["mu"] >= 0.0
            if bound >= cutoff:
                seen["closed"] += 1  # and nothing is fixed
            else:
                seen["open"] += 1
                bought, forbidden = (
                    found["base"] - found["value_in"],
                    found["base"] - found["value_out"],
                )
                check_fixed(node, bought, forbidden, seen)

    check()
    assert min(seen[kind] for kind in ("closed", "open", "forbidden", "bought")) > 30, seen


def check_feasible(rows, q, entropy):
    """a in [0, 1], sum w a y = 0, and sum w H(a) at least what is claimed."""
    w, is_positive = rows["w"], rows["factor"] < 0
    assert q[is_positive].sum() == pytest.approx(q[~is_positive].sum(), rel=1e-9, abs=1e-290)
    a = q[w > 0] / w[w > 0]
    assert (q[w == 0] == 0).all()  # padding
    assert (a >= 0).all()
    assert (a <= 1 + 1e-12).all()
    a = np.clip(a, 1e-300, 1 - 1e-16)
    truth = w[w > 0] @ (-a * np.log(a) - (1 - a) * np.log1p(-a))
    assert entropy <= truth + 1e-13 * w.sum()


@MANY
@given(SEEDS, st.sampled_from([1.0, 0.5, 1e-4]))
def test_dual_points_are_feasible_and_no_bound_of_a_moved_one_exceeds_the_best_model(
    seed, tolerance
):
    """Whatever the step is along which it is moved: random, or a Newton step gone wrong."""
    node = undecided_node(seed)
    rows = packed_rows(node.prepared)
    for _ in range(5):
        step = node.rng.normal(size=node.problem.n_columns + 1) * 10 ** node.rng.uniform(-3, 1)
        point = dual_point(
            node.prepared, *node.random_point(), step[1:], float(step[0]), tolerance
        )  # fmt: skip
        check_feasible(rows, point["q"], point["entropy"])
        check_feasible(rows, point["moved_q"], point["moved_entropy"])
        bound, _, _ = node.bound(point["moved_entropy"], point["moved_v"])
        assert bound <= node.best.objective + node.slack


def all_bought(n_rows, ridge):
    """A problem without limits, and its optimum."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 3))
    y = X[:, 0] + rng.logistic(size=n_rows) > 0
    problem = sl.SubsetProblem(X, y, ridge=ridge)
    return rng, prepare(problem), sl.solve(problem, "enumeration")


def test_bound_is_tight_at_the_optimum_of_a_fit():
    """With nothing left to decide, the bound at the best model is its objective."""
    _, prepared, best = all_bought(30, ridge=0.1)
    point = dual_point(prepared, best.coef, best.intercept)
    objective = point["loss"] + 0.05 * best.coef @ best.coef
    assert objective == pytest.approx(best.objective, rel=1e-13)
    assert point["entropy"] - point["v"].sum() == pytest.approx(best.objective, rel=1e-12)
    assert point["mismatch"] == pytest.approx(0.0, abs=1e-9)
    assert point["gradient"] == pytest.approx(-0.1 * best.coef, rel=1e-6)


def test_a_moved_point_is_exact_in_the_limit():
    """Near a fit, a plain bound loses the residual over the ridge, a moved one nearly nothing."""
    rng, prepared, best = all_bought(60, ridge=1e-3)
    lost = {}
    for error in (1e-1, 1e-2, 1e-3):
        off, off0 = error * rng.normal(size=3), error
        point = dual_point(prepared, best.coef + off, best.intercept + off0, -off, -off0, 1.0)
        plain = point["entropy"] - point["v"].sum()
        bound = point["moved_entropy"] - point["moved_v"].sum()
        assert plain <= bound <= best.objective * (1 + 1e-12)
        lost[error] = best.objective - bound
        assert lost[error] < 0.05 * (best.objective - plain)
    assert lost[1e-2] < lost[1e-1] / 50  # third order would be a thousandth
