"""Natural cubic splines against the one of scipy."""

import numpy as np
import pandas as pd
import pytest
from scipy.interpolate import CubicSpline

from shortlist.patients.design import Design
from shortlist.patients.term import KNOT_QUANTILES, place_knots, spline_curves

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
def test_design_adds_the_curves(n_knots):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(100, 2)), columns=["a", "b"])
    assert [len(place_knots(X[name].to_numpy(), n_knots)) for name in X] == [n_knots, n_knots]
    design = Design(dict.fromkeys(X, "numeric"), n_knots).fit(X)
    assert design.matrix.shape == (100, 2 * (n_knots - 1))
    raw = design.matrix * design.scales + design.means
    assert raw[:, 0] == pytest.approx(X["a"].to_numpy(), rel=1e-12, abs=1e-12)
    assert raw[:, n_knots - 1] == pytest.approx(X["b"].to_numpy(), rel=1e-12, abs=1e-12)


def test_few_different_values_stay_linear():
    x = np.array([0.0, 0.0, 0.0, 1.0, 2.0] * 20)
    assert place_knots(x, 5) == (0.0, 1.0, 2.0)
    assert place_knots(x[:4], 5) == ()
    assert place_knots(x, None) == ()
    linear = Design({"x": "numeric"}).fit(pd.DataFrame({"x": x}))
    assert linear.matrix.shape == (100, 1)


def test_knots_and_scales_are_those_of_observed_values():
    x = np.random.default_rng(0).normal(5.8, 0.7, 300)
    gaps = np.where(np.arange(300) % 3 == 0, np.nan, x)
    known = gaps[~np.isnan(gaps)]
    design = Design({"a": "numeric"}, 4).fit(pd.DataFrame({"a": gaps}))
    expected = np.quantile(known, KNOT_QUANTILES[4], method="nearest")
    assert design.encodings["a"].knots == tuple(expected)
    assert design.means[0] == pytest.approx(known.mean(), rel=1e-12)
    assert design.scales[0] == pytest.approx(2 * known.std(), rel=1e-12)
    empty = Design({"a": "numeric"}, 4).fit(pd.DataFrame({"a": np.full(5, np.nan)}))
    assert np.isfinite(empty.matrix).all()
