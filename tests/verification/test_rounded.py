"""Bounds in doubles are below the exact ones of the same a, and not by much."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from random_problems import random_arguments

import shortlist as sl
from shortlist import verification
from shortlist.certificate import Bound, Fix, Point
from shortlist.verification import rounded
from shortlist.verification.duality import DualPoint
from shortlist.verification.rounded import RoundedData

pytestmark = pytest.mark.filterwarnings("ignore:budget")

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


def exact_dual(problem, a_of_class, entropy_of):
    """Return the entropy and the values of the balanced a, in balls of 300 bits."""
    entropies, slopes, masses = [], [], []
    for sign, a in zip((-1, 1), a_of_class, strict=True):
        rows = np.flatnonzero((problem.weights > 0) & (problem.signs == sign))
        q = [arb(w) * arb(x) for w, x in zip(problem.weights[rows].tolist(), a, strict=True)]
        weighted = zip(problem.weights[rows].tolist(), a, strict=True)
        entropies.append(sum((arb(w) * entropy_of(arb(x)) for w, x in weighted), arb(0)))
        masses.append(sum(q, arb(0)))
        columns = problem.X[rows].T.tolist()
        slopes.append(
            [
                sign * sum((x * y for x, y in zip(column, q, strict=True)), arb(0))
                for column in columns
            ]
        )
    kept = min(masses, key=lambda mass: mass.lower())
    rho = [kept / mass for mass in masses]
    values = [arb(0)] * problem.n_predictors
    for n, g in enumerate(problem.column_predictor.tolist()):
        slope = rho[0] * slopes[0][n] + rho[1] * slopes[1][n]
        lower, upper = problem.limits.lower[n], problem.limits.upper[n]
        best = slope / arb(problem.ridge)
        best = arb(upper) if best > upper else arb(lower) if best < lower else best
        values[g] += best * (slope - arb(problem.ridge) * best / 2)
    return rho[0] * entropies[0] + rho[1] * entropies[1], values


def entropy_of_logistic(a):
    return sum((-x * x.log() for x in (a, 1 - a) if x > 0), arb(0))


ENTROPIES = {
    "logistic": entropy_of_logistic,
    "squared_hinge": lambda a: a - a * a / 4,
    "hinge": lambda a: a,
}


@pytest.mark.parametrize("loss", ENTROPIES)
@pytest.mark.parametrize("seed", range(12))
def test_bounds_are_on_the_safe_side_of_the_same_a(loss, seed, monkeypatch):
    arguments = random_arguments(seed)
    if loss == "hinge":
        arguments |= {"max_coefficient": None, "signs": None}
    problem = sl.SubsetProblem(**(arguments | {"loss": loss}))
    rng = np.random.default_rng(seed)
    n = problem.n_columns
    columns = tuple(range(n))
    points = [
        Point(
            float(0.1 * rng.normal()),
            columns,
            tuple((scale * rng.normal(size=n)).tolist()),
            tuple((0.1 * rng.normal(size=n + 1)).tolist()) if i % 2 else (),
            0.2 if loss == "hinge" else 0.0,
        )
        for i, scale in enumerate((1e-4, 1.0, 10.0, 1e6))
    ]
    data, used = RoundedData(problem), []
    allowed = data._allowed
    monkeypatch.setattr(data, "_allowed", lambda a: used.append(allowed(a)) or used[-1])
    found = data.evaluate(points)
    with ctx.workprec(300):
        for i, point in enumerate(found):
            if point is None:
                continue
            entropy, values = exact_dual(problem, [a[:, i].tolist() for a in used], ENTROPIES[loss])
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
