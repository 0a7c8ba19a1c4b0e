"""Bounds in balls hold however wide the balls are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from flint import arb, ctx

import shortlist as sl
from shortlist.certificate import Bound, Point
from shortlist.verification import duality


def test_a_mean_that_may_be_0_has_no_entropy_that_is_a_number():
    assert duality._x_log_x(arb(0)) == 0
    assert not duality._x_log_x(arb(1, 2)).is_finite()
    assert duality._x_log_x(arb(1, 0.5)).contains(0)


@pytest.mark.parametrize("exponent", np.arange(187.8, 188.6, 0.1))
def test_linear_predictors_that_cancel_prove_nothing_false(exponent):
    # Two equal columns cancel to a linear predictor that 128 bits know to within 10 or so.
    first = np.arange(8) == 0.0
    X = np.column_stack([first, first, first, np.linspace(-1.0, 1.0, 8)])
    y = np.where(np.arange(8) == 1, 21.0, 20.0)
    problem = sl.SubsetProblem(X, y, ridge=1e40, max_features=2, loss="poisson")
    solution = sl.solve(problem)
    large = 1.1 * 2.0**exponent
    point = Point(-1000.3, (0, 1, 2), (large, -large, 985.0))
    forged = replace(solution.certificate, points=[point], steps=[Bound(0, 0)], lower_bound=1.0)
    assert solution.objective < 1.0
    assert not sl.verify(problem, forged).valid
    with ctx.workprec(128):
        found = duality.ExactData(problem).dual(point)
        assert found is None or not found[0] > 0
