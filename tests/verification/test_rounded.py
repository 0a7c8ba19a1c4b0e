"""Bounds in doubles are below the exact ones of the same a, and not by much."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from random_problems import random_problem

import shortlist as sl
from shortlist import verification
from shortlist.certificate import Bound, Fix, Point
from shortlist.families import FAMILIES
from shortlist.verification import rounded
from shortlist.verification.duality import DualPoint
from shortlist.verification.rounded import RoundedData

pytestmark = pytest.mark.filterwarnings("ignore:budget", "ignore:strata")

UNIT = 2.0**-53


@given(st.floats(2.0**-120, 1.0))
@settings(max_examples=500)
def test_the_error_of_an_entropy_is_known(a):
    exact = mp.mpf(a)
    with mp.workdps(60):
        expected = -exact * mp.log(exact)
        expected -= (1 - exact) * mp.log(1 - exact) if a < 1 else 0
        found, size = (float(part[0]) for part in rounded._logistic_entropy(np.array([a])))
        assert abs(found - expected) <= 32 * UNIT * size


def test_the_ends_have_no_entropy():
    assert rounded._logistic_entropy(np.array([0.0, 1.0]))[0].tolist() == [0.0, 0.0]


def total(weights, values):
    return sum((w * x for w, x in zip(weights, values, strict=True)), arb(0))


def balanced(weights, outcomes, a, entropy_of):
    """The entropy and the a, derivatives in the linear predictor, of labels."""
    rows = list(zip(weights, outcomes, a, strict=True))
    mass = {y: sum((w * x for w, z, x in rows if z == y), arb(0)) for y in (-1, 1)}
    kept = min(mass.values(), key=lambda mass: mass.lower())
    rho = [kept / mass[int(float(y))] for y in outcomes]
    entropy = total(weights, [r * entropy_of(x) for r, x in zip(rho, a, strict=True)])
    return entropy, [-y * r * x for y, r, x in zip(outcomes, rho, a, strict=True)]


def centred(weights, outcomes, a):
    mean = total(weights, a) / sum(weights, arb(0))
    a = [x - mean for x in a]
    return total(weights, [-x * (y + x / 2) for x, y in zip(a, outcomes, strict=True)]), a


def x_log_x(x):
    return x * x.log() if x > 0 else arb(0)


def scaled(weights, outcomes, means):
    rho = total(weights, outcomes) / total(weights, means)
    means = [rho * x for x in means]
    entropies = [x - x_log_x(x) - y + x_log_x(arb(y)) for x, y in zip(means, outcomes, strict=True)]
    return total(weights, entropies), [x - y for x, y in zip(means, outcomes, strict=True)]


def exact_dual(problem, data, raw, make_feasible):
    """Return the entropy and the values of the feasible a, in balls of 300 bits."""
    rows = np.concatenate(data.parts)
    weights = [arb(w) for w in problem.weights[rows].tolist()]
    outcomes = [arb(y) for y in problem.response.values[rows].tolist()]
    entropy, a = make_feasible(weights, outcomes, [arb(x) for x in raw])
    weighted = [w * x for w, x in zip(weights, a, strict=True)]
    values = [arb(0)] * problem.n_predictors
    for n, g in enumerate(problem.column_predictor.tolist()):
        slope = -total(weighted, problem.X[rows, n].tolist())
        lower, upper = problem.limits.lower[n], problem.limits.upper[n]
        best = slope / arb(problem.ridge)
        best = arb(upper) if best > upper else arb(lower) if best < lower else best
        values[g] += best * (slope - arb(problem.ridge) * best / 2)
    return entropy, values


def entropy_of_logistic(a):
    return sum((-x * x.log() for x in (a, 1 - a) if x > 0), arb(0))


FEASIBLE = {
    "logistic": partial(balanced, entropy_of=entropy_of_logistic),
    "squared_hinge": partial(balanced, entropy_of=lambda a: a - a * a / 4),
    "hinge": partial(balanced, entropy_of=lambda a: a),
    "squared_error": centred,
    "poisson": scaled,
}


def test_every_family_has_a_dual_point_of_its_own_here():
    """That of coupled rows is in test_risk_sets.py."""
    of_rows = {name for name, family in FAMILIES.items() if not family.is_coupled}
    assert set(FEASIBLE) == of_rows == set(rounded._FAMILIES)


@pytest.mark.parametrize("loss", FEASIBLE)
@pytest.mark.parametrize("seed", range(12))
def test_bounds_are_on_the_safe_side_of_the_same_a(loss, seed, monkeypatch):
    problem = random_problem(seed, loss)
    rng = np.random.default_rng(seed)
    n = problem.n_columns
    columns = tuple(range(n))
    start = 0.0
    if problem.response.kind != "labels":
        start = problem.family.null_intercept(problem.response.values, problem.weights)
    points = [
        Point(
            start + float(0.1 * rng.normal()),
            columns,
            tuple((scale * rng.normal(size=n)).tolist()),
            tuple((0.1 * rng.normal(size=n + 1)).tolist()) if i % 2 else (),
            0.2 if loss == "hinge" else 0.0,
        )
        for i, scale in enumerate((1e-4, 1.0, 10.0, 1e6))
    ]
    data, used = RoundedData(problem), []
    family = rounded._FAMILIES[loss]
    watched = family._replace(raw=lambda *given: used.append(family.raw(*given)) or used[-1])
    monkeypatch.setitem(rounded._FAMILIES, loss, watched)
    found = data.evaluate(points)
    used = np.concatenate(used)
    with ctx.workprec(300):
        for i, point in enumerate(found):
            if point is None:
                continue
            raws = used[:, i] * data.scale
            entropy, values = exact_dual(problem, data, raws.tolist(), FEASIBLE[loss])
            assert arb(point.entropy) <= entropy
            scale = abs(float(entropy)) + float(sum(values, arb(0)))
            assert point.entropy >= float(entropy) - 1e-10 * scale
            for value, bound in zip(values, point.values.tolist(), strict=True):
                assert arb(bound) >= value
                assert bound <= float(value) + 1e-10 * scale
    assert any(point is not None for point in found)


def test_numbers_at_the_ends_of_the_range_are_left_to_balls():
    X = np.array([[1.0, 1e-200], [0.0, 1.0], [2.0, 0.0], [1.5, 3.0]])
    problem = sl.SubsetProblem(X, [0, 1, 0, 1], ridge=1.0, max_features=1)
    assert RoundedData(problem).evaluate([Point(0.0, (), ())]) == [None]
    solution = sl.solve(problem)
    assert sl.verify(problem, solution.certificate).valid


def test_a_point_that_is_left_to_balls_is_evaluated_once_for_all_its_leaves(monkeypatch):
    X = np.random.default_rng(0).normal(size=(20, 6))
    X[0, 5] = 1e-200
    problem = sl.SubsetProblem(X, np.arange(20) % 2, ridge=1.0, max_features=3)
    point, fix = Point(0.0, (), ()), Fix(0, 0, (0, 1, 2, 3), ())
    certificate = replace(
        sl.solve(problem).certificate, points=(point,), steps=(fix, Bound(0, 0)), lower_bound=0.0
    )
    evaluated = []

    def count(data, point):
        evaluated.append(point)
        return DualPoint(data, point)

    monkeypatch.setattr(verification, "DualPoint", count)
    assert sl.verify(problem, certificate).valid
    assert evaluated == [point]
