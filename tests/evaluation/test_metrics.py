"""The metrics against scikit-learn's, and against a numerical optimiser."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit
from sklearn import metrics as reference

from shortlist.evaluation.metric import accuracy, auc, brier, calibration, log_loss

rows = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.one_of(st.integers(-2, 2), st.floats(-15, 15)),  # integers make ties
        st.integers(1, 5),
    ),
    min_size=2,
    max_size=30,
).filter(lambda rows: len({label for label, _, _ in rows}) == 2)


def arrays(rows: list[tuple[int, float, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    y, log_odds, weights = (np.array(column) for column in zip(*rows, strict=True))
    return y, log_odds.astype(float), weights


@given(rows)
def test_metrics_are_those_of_scikit_learn(rows: list[tuple[int, float, int]]) -> None:
    y, log_odds, weights = arrays(rows)
    probability = expit(log_odds)
    weighted = {"sample_weight": weights}
    assert auc(y, log_odds, weights) == pytest.approx(
        reference.roc_auc_score(y, log_odds, **weighted), abs=1e-12
    )
    assert accuracy(y, log_odds, weights) == pytest.approx(
        reference.accuracy_score(y, log_odds > 0, **weighted)
    )
    assert brier(y, log_odds, weights) == pytest.approx(
        reference.brier_score_loss(y, probability, **weighted)
    )
    assert log_loss(y, log_odds, weights) == pytest.approx(
        reference.log_loss(y, probability, **weighted), rel=1e-6, abs=1e-9
    )


@given(rows)
def test_weights_are_copies(rows: list[tuple[int, float, int]]) -> None:
    y, log_odds, weights = arrays(rows)
    copies = np.repeat(np.arange(len(y)), weights)
    ones = np.ones_like(copies)
    for metric in (auc, accuracy, brier, log_loss):
        assert metric(y, log_odds, weights) == pytest.approx(
            metric(y[copies], log_odds[copies], ones), abs=1e-12
        )


def test_log_loss_of_certain_and_wrong_predictions_is_finite() -> None:
    ones = np.array([1, 1])
    assert log_loss(np.array([0, 1]), np.array([900.0, -900.0]), ones) == 900.0


def test_auc_of_one_class_is_undefined() -> None:
    assert isnan(auc(np.array([1, 1]), np.array([0.0, 1.0]), np.array([1, 1])))


@pytest.mark.parametrize("scale", [0.1, 1.0, 40.0])
def test_calibration_minimises_the_unpenalised_loss(scale: float) -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=200)
    y = (rng.random(200) < expit(truth - 0.5)).astype(int)
    weights = rng.integers(1, 4, size=200)
    log_odds = scale * truth

    def loss(parameters: np.ndarray) -> float:
        return log_loss(y, parameters[0] + parameters[1] / scale * log_odds, weights)

    best = minimize(loss, [0.0, 1.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-14})
    intercept, slope = calibration(y, log_odds, weights)
    assert intercept == pytest.approx(best.x[0], abs=1e-5)
    assert slope == pytest.approx(best.x[1] / scale, rel=1e-5)


@pytest.mark.parametrize(
    "log_odds",
    [
        [0.3, 0.3, 0.3, 0.3],  # constant
        [1.0, 2.0, 3.0, 4.0],  # separates
        [4.0, 3.0, 2.0, 1.0],  # separates the wrong way
        [1.0, 2.0, 2.0, 3.0],  # separates but for a tie
    ],
)
def test_calibration_that_does_not_exist_is_undefined(log_odds: list[float]) -> None:
    y = np.array([0, 0, 1, 1])
    assert all(map(isnan, calibration(y, np.array(log_odds), np.ones(4, dtype=int))))
