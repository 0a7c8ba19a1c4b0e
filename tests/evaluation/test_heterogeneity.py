"""Random effects: by the formulas, by laws, and against another estimator of tau."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from by_hand import summary
from hypothesis import given, settings
from hypothesis import strategies as st

import shortlist as sl
from shortlist.evaluation import random_effects

values = st.lists(st.tuples(st.floats(-3, 3), st.floats(0.05, 1.0)), min_size=3, max_size=8)


@settings(max_examples=50)
@given(values)
def test_by_the_formulas(pairs: list[tuple[float, float]]) -> None:
    estimates, errors = np.array(pairs).T
    found, expected = random_effects(estimates, errors), summary(estimates, errors)
    # A likelihood may have two maxima; the one found is not lower than that of a fine grid.
    assert _deviance(found.tau, estimates, errors) <= (
        _deviance(expected["tau"], estimates, errors) + 1e-6
    )
    if abs(found.tau - expected["tau"]) < 1e-3:
        for name, value in expected.items():
            if not name.startswith("prediction"):
                assert getattr(found, name) == pytest.approx(value, rel=0.02, abs=0.02), name
    width = found.prediction_upper - found.prediction_lower
    for name in ("prediction_lower", "prediction_upper"):
        assert getattr(found, name) == pytest.approx(expected[name], abs=0.01 * width)


def _deviance(tau: float, y: np.ndarray, errors: np.ndarray) -> float:
    w = 1 / (errors**2 + tau**2)
    mean = w @ y / w.sum()
    return float(-np.log(w).sum() + np.log(w.sum()) + w @ (y - mean) ** 2)


def test_equal_errors_have_a_closed_form() -> None:
    y, error = np.array([0.1, 0.5, 0.9, 1.7]), 0.2
    found = random_effects(y, np.full(4, error))
    assert found.estimate == pytest.approx(y.mean())
    assert found.tau == pytest.approx(np.sqrt(y.var(ddof=1) - error**2), rel=1e-6)


@given(values, st.floats(-2, 2), st.floats(0.1, 10))
def test_it_moves_and_stretches_with_its_values(
    pairs: list[tuple[float, float]], shift: float, factor: float
) -> None:
    y, errors = np.array(pairs).T
    own, other = random_effects(y, errors), random_effects(shift + factor * y, factor * errors)
    for name in ("estimate", "lower", "upper", "prediction_lower", "prediction_upper"):
        expected = shift + factor * getattr(own, name)
        assert getattr(other, name) == pytest.approx(expected, rel=1e-3, abs=1e-3 * factor)


def test_centres_that_agree_have_no_spread() -> None:
    found = random_effects([0.7, 0.7, 0.7], [0.1, 0.2, 0.1])
    assert (found.tau, found.estimate) == (0.0, pytest.approx(0.7))
    assert found.prediction_lower < found.lower < 0.7
    assert found.prediction_lower + found.prediction_upper == pytest.approx(1.4)


def test_few_centres() -> None:
    one, two = random_effects([0.7], [0.1]), random_effects([0.7, 0.9], [0.1, 0.1])
    assert one.estimate == 0.7
    assert isnan(one.lower)
    assert two.lower < 0.8 < two.upper
    assert isnan(two.prediction_lower)
    assert isnan(random_effects([], []).estimate)
    with pytest.raises(sl.InvalidProblemError, match="level"):
        random_effects([0.7, 0.9], [0.1, 0.1], level=2)
