"""Standard errors from influence values are those of textbooks, resamples and persons."""

from __future__ import annotations

from dataclasses import replace
from math import isnan

import numpy as np
import pytest
from scipy.special import expit

import shortlist as sl
from shortlist.evaluation import interval, measure, net_benefit
from shortlist.evaluation.metric import degrees_of_freedom, standard_error


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
        found = measure(y, log_odds) | {"net benefit": net_benefit(y, expit(log_odds), 0.3)}
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
    experiment = sl.Experiment(data.X, data.y, max_features=4, ridges=(0.1,))
    own = sl.evaluate(experiment, 20, cross_validate_resamples=False)
    table = own.optimism()
    assert (table["lower"] <= table["corrected"]).all()
    assert (table["corrected"] <= table["upper"]).all()
    nothing = own.corrected_difference(own)
    assert (nothing[["estimate", "lower", "upper"]] == 0).all(axis=None)
    other = sl.evaluate(replace(experiment, max_features=1), 20, cross_validate_resamples=False)
    paired = own.corrected_difference(other)
    gap = table["corrected"] - other.optimism()["corrected"]
    assert paired["estimate"].tolist() == pytest.approx(gap.tolist())
    width = paired["upper"] - paired["lower"]
    alone = np.hypot(*(e.optimism()["upper"] - e.optimism()["lower"] for e in (own, other)))
    assert width["brier"] < alone["brier"]


def test_probes_show_coefficients() -> None:
    data = sl.datasets.make_prognostic(n_samples=100, random_state=1)
    probes = np.vstack([np.zeros(data.X.shape[1]), np.eye(data.X.shape[1])])
    experiment = sl.Experiment(data.X, data.y, max_features=3, ridges=(0.1,), probes=probes)
    found = sl.evaluate(experiment, 2).probes
    assert found is not None
    problem = sl.SubsetProblem(data.X, data.y, ridge=0.1, max_features=3)
    coef = sl.solve(problem).coef
    assert (found.iloc[0, 1:] - found.iloc[0, 0]).tolist() == pytest.approx(coef, abs=1e-4)
