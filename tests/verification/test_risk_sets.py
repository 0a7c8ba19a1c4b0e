"""Partial likelihoods in the checker, against risk sets that are written out."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb, ctx
from random_problems import random_problem
from risk_sets import dual_point, negative_log_likelihood

from shortlist.certificate import Point
from shortlist.verification.duality import ExactData
from shortlist.verification.risk_sets import Rounded
from shortlist.verification.rounded import RoundedData

pytestmark = pytest.mark.filterwarnings("ignore:budget", "ignore:strata")
SEEDS = pytest.mark.parametrize("seed", range(15))


def log(x):
    return x.log()


def points_of(problem, seed):
    """Points near and far, without a step and with a short and a long one."""
    rng, p = np.random.default_rng(seed), problem.n_columns
    columns = tuple(range(p))
    unit = 1.0 / np.maximum(np.ptp(problem.X, axis=0), 1e-3)
    return [
        Point(0.0, columns, tuple((size * unit * rng.normal(size=p)).tolist()), correction)
        for size in (0.0, 0.3, 3.0, 100.0)
        for step in (0.0, 0.01, 2.0)
        for correction in [(0.0, *(step * unit * rng.normal(size=p)).tolist()) if step else ()]
    ]


def values_of(problem, q):
    values = [arb(0)] * problem.n_predictors
    for n, g in enumerate(problem.column_predictor.tolist()):
        slope = sum((a * x for a, x in zip(q, problem.X[:, n].tolist(), strict=True)), arb(0))
        lower, upper = problem.limits.lower[n], problem.limits.upper[n]
        best = -slope / arb(problem.ridge)
        best = arb(upper) if best > upper else arb(lower) if best < lower else best
        values[g] += best * (-slope - arb(problem.ridge) * best / 2)
    return values


@SEEDS
def test_bounds_in_doubles_are_on_the_safe_side_of_the_same_distributions(seed, monkeypatch):
    problem, used = random_problem(seed, "cox"), []
    given = Rounded.dual

    def watched(self, u, moves):
        used.append((self.sets.rows, u, moves))
        return given(self, u, moves)

    monkeypatch.setattr(Rounded, "dual", watched)
    points = points_of(problem, seed)
    found = [RoundedData(problem).evaluate([point])[0] for point in points]
    assert all(point is not None for point in found)
    with ctx.workprec(300):
        for point, bound, (rows, u, moves) in zip(points, found, used, strict=True):
            weights = problem.weights[rows, np.newaxis]
            doubles = weights * np.exp(np.maximum(u - u.max(), -60.0))
            e, t = [arb(0)] * problem.n_rows, [arb(0)] * problem.n_rows
            for m, x, w in zip(rows.tolist(), doubles[:, 0].tolist(), weights[:, 0], strict=True):
                e[m] = arb(x) / arb(float(w))
            if moves is not None:
                for m, x in zip(rows.tolist(), moves[:, 0].tolist(), strict=True):
                    t[m] = arb(x)
            entropy, q = dual_point(problem, e, log, t if point.correction else None, arb)
            # Of a longer step a billionth less is made, so that rounding makes no row negative.
            share = 1e-8 * problem.scale.unit if point.correction else 0.0
            assert arb(bound.entropy) <= entropy + share
            if not point.correction:
                unit = (
                    1e-10 * problem.scale.unit * (1 + float(abs(np.log(doubles / weights)).max()))
                )
                assert bound.entropy >= float(entropy) - unit
            for value, most in zip(values_of(problem, q), bound.values.tolist(), strict=True):
                assert not arb(most) * (1 + share) + share < value
                scale = float(value) + problem.scale.unit
                assert most <= float(value) + 1e-7 * scale


@SEEDS
def test_bounds_in_balls_are_those_of_the_risk_sets(seed):
    problem = random_problem(seed, "cox")
    with ctx.workprec(256):
        data = ExactData(problem)
        for point in points_of(problem, seed):
            theta = [arb(x) for x in point.values]
            table = problem.X.tolist()
            u = [sum((a * x for a, x in zip(theta, row, strict=True)), arb(0)) for row in table]
            e = [x.exp() for x in u]
            objective = negative_log_likelihood(problem, u, lambda x: x.exp(), log, arb)
            objective += arb(problem.ridge) / 2 * sum((x * x for x in theta), arb(0))
            above = data.objective_above(point._replace(correction=()))
            if not problem.limits.has_intervals:
                assert arb(above) >= objective
                assert above <= float(objective) + 1e-12 * (1 + abs(float(objective)))
            found = data.dual(point)
            assert found is not None
            t = None
            if point.correction:
                step = [arb(x) for x in point.correction[1:]]
                t = [sum((a * x for a, x in zip(step, row, strict=True)), arb(0)) for row in table]
            entropy, q = dual_point(problem, e, log, t, arb)
            tiny = arb(2) ** -150 * problem.scale.unit
            assert found[0] <= entropy + tiny
            for n, slope in enumerate(found[1][:-1]):
                column = problem.X[:, n].tolist()
                exact = sum((a * x for a, x in zip(q, column, strict=True)), arb(0))
                difference = abs(slope - exact)
                assert difference < 1e-12 * (1 + abs(exact)) or difference.contains(0)


def test_an_entropy_after_a_short_step_is_exact_to_the_fourth_order():
    problem = random_problem(3, "cox")
    p = problem.n_columns
    unit = 1.0 / np.maximum(np.ptp(problem.X, axis=0), 1e-3)
    for size in (1e-1, 1e-2):
        step = tuple((size * unit).tolist())
        point = Point(0.0, tuple(range(p)), (0.0,) * p, (0.0, *step))
        with ctx.workprec(256):
            found = ExactData(problem).dual(point)
            t = [arb(float(x)) for x in problem.X @ np.array(step)]
            entropy, _ = dual_point(problem, [arb(1)] * problem.n_rows, log, t, arb)
            lost = float(entropy - found[0]) / problem.scale.unit
        assert 0 <= lost <= (p * size) ** 4
