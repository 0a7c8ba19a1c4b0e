"""Metrics against scikit-learn and a numerical optimiser, their standard errors, and intervals."""

from __future__ import annotations

from dataclasses import replace
from math import isnan

import numpy as np
import pytest
from flat_options import experiment_of
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import binomtest
from sklearn import metrics as reference

import shortlist as sl
from shortlist.evaluation import (
    interval,
    measure,
    percentile_interval,
    share_interval,
    share_of,
    worth_interval,
)
from shortlist.evaluation.metric import (
    accuracy,
    auc,
    brier,
    calibration,
    degrees_of_freedom,
    log_loss,
    standard_error,
)

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
    for metric, other, predicted, tolerance in (
        (auc, reference.roc_auc_score, log_odds, {"abs": 1e-12}),
        (accuracy, reference.accuracy_score, log_odds > 0, {}),
        (brier, reference.brier_score_loss, probability, {}),
        (log_loss, reference.log_loss, probability, {"rel": 1e-6, "abs": 1e-9}),
    ):
        expected = other(y, predicted, sample_weight=weights)
        assert metric(y, log_odds, weights) == pytest.approx(expected, **tolerance)


@given(rows)
def test_weights_are_copies(rows: list[tuple[int, float, int]]) -> None:
    y, log_odds, weights = arrays(rows)
    copies = np.repeat(np.arange(len(y)), weights)
    ones = np.ones_like(copies)
    for metric in (auc, accuracy, brier, log_loss):
        assert metric(y, log_odds, weights) == pytest.approx(
            metric(y[copies], log_odds[copies], ones), abs=1e-12
        )


def test_extreme_predictions_and_a_single_class() -> None:
    ones = np.array([1, 1])
    assert log_loss(np.array([0, 1]), np.array([900.0, -900.0]), ones) == 900.0
    assert isnan(auc(ones, np.array([0.0, 1.0]), ones))


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


def predictions(n: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(-0.5, 1.2, n)
    return (rng.random(n) < expit(0.8 * log_odds + 0.2)).astype(int), log_odds


def test_influence_values_are_what_leaving_a_row_out_does() -> None:
    y, log_odds = predictions()
    n = len(y)
    found = measure(y, log_odds)
    for row in (0, 5, 17, 101):
        kept = np.arange(n) != row
        without = measure(y[kept], log_odds[kept])
        for name, own in found.items():
            change = own.value - without[name].value
            assert own.influence[row] == pytest.approx(change, rel=0.1, abs=2e-5), name
    for own in found.values():
        assert own.influence.sum() == pytest.approx(0, abs=1e-9)


def test_standard_errors_are_those_of_many_samples() -> None:
    values: dict[str, list[float]] = {}
    errors: dict[str, list[float]] = {}
    for seed in range(300):
        y, log_odds = predictions(200, seed)
        found = measure(y, log_odds)
        for name, own in found.items():
            values.setdefault(name, []).append(own.value)
            errors.setdefault(name, []).append(standard_error(own.influence))
    for name in values:
        assert np.mean(errors[name]) == pytest.approx(np.std(values[name]), rel=0.15), name


def test_copies_of_rows_are_no_more_patients() -> None:
    y, log_odds = predictions()
    copies = np.repeat(np.arange(len(y)), 3)
    one, three = measure(y, log_odds), measure(y[copies], log_odds[copies])
    for name in one:
        assert three[name].value == pytest.approx(one[name].value)
        error = standard_error(one[name].influence)
        assert standard_error(three[name].influence, copies) == pytest.approx(error)
        assert standard_error(three[name].influence) == pytest.approx(error / np.sqrt(3))
    assert degrees_of_freedom(y[copies], copies) == degrees_of_freedom(y)


def test_intervals_stay_on_their_scale() -> None:
    y, log_odds = predictions(60)
    found = measure(y, log_odds)
    lower, upper = interval("auc", 0.99, found["auc"], y)
    assert 0 < lower < 0.99 < upper < 1
    lower, upper = interval("calibration_slope", 0.2, found["calibration_slope"], y)
    assert 0 < lower < 0.2 < upper
    assert isnan(interval("auc", 1.0, found["auc"], y)[0])
    apart = measure(np.array([0, 0, 1, 1]), np.array([-2.0, -1.0, 1.0, 2.0]))
    assert isnan(apart["calibration_slope"].value)
    assert isnan(interval("calibration_slope", 1.0, apart["calibration_slope"], y[:4])[0])


def test_an_evaluation_with_itself_differs_by_nothing_and_with_another_paired() -> None:
    data = sl.datasets.make_prognostic(n_samples=120, label_noise=0.05, random_state=1)
    experiment = experiment_of(data.X, data.y, max_features=4, ridges=(0.1,))
    own = sl.evaluate(experiment, 20, cross_validate_resamples=False)
    table = own.optimism()
    assert (table["lower"] <= table["corrected"]).all()
    assert (table["corrected"] <= table["upper"]).all()
    nothing = own.corrected_difference(own)
    assert (nothing[["estimate", "lower", "upper"]] == 0).all(axis=None)
    other = sl.evaluate(
        replace(experiment, problem=experiment.problem.with_limits(max_features=1)),
        20,
        cross_validate_resamples=False,
    )
    paired = own.corrected_difference(other)
    gap = table["corrected"] - other.optimism()["corrected"]
    assert paired["estimate"].tolist() == pytest.approx(gap.tolist())
    width = paired["upper"] - paired["lower"]
    alone = np.hypot(*(e.optimism()["upper"] - e.optimism()["lower"] for e in (own, other)))
    assert width["brier"] < alone["brier"]


@pytest.mark.parametrize(("level", "fewest"), [(0.95, 39), (0.9, 19), (0.8, 9), (0.5, 3)])
def test_too_few_values_have_no_interval(level: float, fewest: int) -> None:
    values = np.arange(float(fewest))
    assert percentile_interval(values, level) == pytest.approx((0.0, fewest - 1.0))
    assert all(map(isnan, percentile_interval(values[:-1], level)))
    assert all(map(isnan, percentile_interval([], level)))


def test_evaluations_with_few_resamples_have_estimates_without_intervals() -> None:
    data = sl.datasets.make_prognostic(n_samples=82, random_state=1)
    evaluation = sl.evaluate(experiment_of(data.X, data.y, max_features=1, ridges=(1.0,)), 2)
    for table in (evaluation.summary(), evaluation.optimism()):
        assert table[["lower", "upper"]].isna().all(axis=None)
        assert (table["n_resamples"] > 0).all()


def test_shares_have_wilsons_interval() -> None:
    for count, total in ((0, 14), (14, 14), (3, 20), (200, 399)):
        exact = binomtest(count, total).proportion_ci(0.95, method="wilson")
        assert share_interval(count, total) == pytest.approx((exact.low, exact.high))
    has = np.repeat([True, False, True, True], 5)
    assert share_of(has)[1:] == share_interval(15, 20)
    copies = np.repeat(np.arange(20), 3)
    assert share_of(has[copies], copies) == pytest.approx(share_of(has))  # no more patients
    assert share_of(np.ones(12, dtype=bool), np.arange(12) // 3)[1:] == share_interval(4, 4)
    assert np.isnan(share_of(has[:0])).all()


@pytest.mark.parametrize("threshold", [0.02, 0.05, 0.1, 0.2])
def test_what_a_model_adds_to_treating_all_is_covered_with_few_events_below(
    threshold: float,
) -> None:
    """With an event or two below the threshold an interval of normal errors covers 23 to 74 %."""
    rng, n, harm = np.random.default_rng(8), 200, threshold / (1 - threshold)
    risk = expit(rng.normal(-2, 1.5, 20_000))
    below = risk < threshold
    truth = np.where(below, harm * (1 - risk) - risk, 0.0).mean()
    covered = 0
    for _ in range(500):
        rows = rng.integers(len(risk), size=n)
        event = rng.random(n) < risk[rows]
        spared, missed = below[rows] & ~event, below[rows] & event
        lower, upper = worth_interval((spared, harm), (missed, 1.0))
        assert lower <= harm * spared.mean() - missed.mean() <= upper
        covered += lower <= truth <= upper
    assert 0.92 <= covered / 500 <= 0.99


def test_rows_of_persons_make_an_interval_of_worth_no_narrower() -> None:
    event, acted = np.arange(60) % 3 == 0, np.arange(60) % 2 == 0
    parts = (acted & event, 1.0), (acted & ~event, 0.25)
    copies = np.repeat(np.arange(60), 4)
    copied = [(rows[copies], amount) for rows, amount in parts]
    assert worth_interval(*copied, copies) == pytest.approx(worth_interval(*parts))
