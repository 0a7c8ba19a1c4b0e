"""Natural cubic splines against the one of scipy."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from shortlist.prognostic.spline import KNOT_QUANTILES, NaturalSpline, spline_curves

KNOTS = (1.0, 2.5, 3.0, 7.0, 8.0)


def test_curves_are_natural_splines_through_their_values_at_the_knots():
    x = np.linspace(KNOTS[0], KNOTS[-1], 200)
    curves = spline_curves(x, KNOTS)
    assert len(curves) == len(KNOTS) - 2
    for curve, at_knots in zip(curves, spline_curves(np.array(KNOTS), KNOTS), strict=True):
        reference = CubicSpline(KNOTS, at_knots, bc_type="natural")(x)
        assert curve == pytest.approx(reference, abs=1e-12)


def test_curves_and_x_span_all_natural_splines():
    values = np.column_stack([np.ones(5), KNOTS, *spline_curves(np.array(KNOTS), KNOTS)])
    assert np.linalg.matrix_rank(values) == 5


def test_curves_are_straight_outside_however_far():
    for outside in (np.array([-5.0, -3.0, -1.0]), np.array([8.0, 9.0, 10.0]) * 1e9):
        for curve in spline_curves(outside, KNOTS):
            assert curve[2] - curve[1] == pytest.approx(curve[1] - curve[0], rel=1e-12, abs=0)
    for curve in spline_curves(np.array([8 - 1e-6, 8.0, 8 + 1e-6]), KNOTS):
        assert curve[2] - curve[1] == pytest.approx(curve[1] - curve[0], rel=1e-5)


@pytest.mark.parametrize("n_knots", KNOT_QUANTILES)
def test_transformer_adds_the_curves(n_knots):
    X = np.random.default_rng(0).normal(size=(100, 2))
    spline = NaturalSpline(n_knots).fit(X)
    assert [len(knots) for knots in spline.knots_] == [n_knots, n_knots]
    out = spline.transform(X)
    assert out.shape == (100, 2 * (n_knots - 1))
    assert np.array_equal(out[:, 0], X[:, 0])
    assert np.array_equal(out[:, n_knots - 1], X[:, 1])


def test_few_different_values_stay_linear():
    X = np.array([[0.0], [0.0], [0.0], [1.0], [2.0]] * 20)
    assert NaturalSpline(5).fit(X).knots_ == [(0.0, 1.0, 2.0)]
    assert NaturalSpline(5).fit(X[:4]).knots_ == [()]
    assert NaturalSpline(None).fit(X).transform(X).shape == X.shape
