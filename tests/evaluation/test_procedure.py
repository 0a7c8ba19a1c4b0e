"""The evaluation of a resample against a plain one, and what it must not depend on."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from flat_options import experiment_of
from naive_evaluation import NaiveEvaluation
from sample_data import make_data
from sklearn.base import BaseEstimator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder

from shortlist.evaluation import evaluate_resample

LIMITS: list[dict[str, Any]] = [
    {"max_features": 2},
    {"budget": 5, "costs": [3.0, 2.0, 1.0, 4.0, 2.0], "fees": [(1.0, [0, 2])]},
    {"max_features": 2, "groups": [0, 0, 1, 1, 2], "include": [1]},
]


@pytest.mark.parametrize("resample", [0, 1, 2])
@pytest.mark.parametrize("protocol", ["clean", "paper"])
@pytest.mark.parametrize(
    ("limits", "scoring"),
    [*((limits, "neg_log_loss") for limits in LIMITS), (LIMITS[0], "roc_auc")],
)
def test_equals_the_plain_evaluation(
    resample: int, protocol: Any, limits: dict[str, Any], scoring: Any
) -> None:
    X, y = make_data()
    experiment = experiment_of(X, y, protocol=protocol, seed=5, scoring=scoring, **limits)
    result = evaluate_resample(experiment, resample)
    expected = NaiveEvaluation(X, y, protocol, 5, resample, scoring=scoring, **limits).run()
    assert result["support"] == expected.pop("support")
    assert {name: result[name] for name in expected} == pytest.approx(expected, rel=1e-4, abs=1e-6)
    assert result["solves"] == 40
    assert result["unproven"] == 0
    assert result["test_folds"] == 3


def test_without_the_outer_loop_a_quarter_of_the_solves_selects() -> None:
    X, y = make_data()
    experiment = experiment_of(X, y, max_features=2, ridges=[0.1])
    whole, part = (evaluate_resample(experiment, 1, nested) for nested in (True, False))
    assert (whole["solves"], part["solves"]) == (4, 1)
    assert part["support"] == whole["support"]  # with one ridge no fold decides
    assert part["test_auc"] is None
    assert part["data_auc"] == whole["data_auc"]


def test_backends_agree() -> None:
    X, y = make_data()
    native = experiment_of(X, y, max_features=2)
    results = [evaluate_resample(replace(native, backend=b), 1) for b in ("native", "enumeration")]
    for result in results:
        del result["nodes"], result["lower_bound"]
    assert results[0].pop("support") == results[1].pop("support")
    assert results[0] == pytest.approx(results[1], rel=1e-4, abs=1e-6)


def test_labels_and_names_do_not_matter() -> None:
    X, y = make_data()
    plain = experiment_of(X, y, budget=5, costs=[3, 2, 1, 4, 2], fees=[(1, [0, 2])], include=[1])
    frame = pd.DataFrame(X, columns=list("abcde"))
    named = experiment_of(
        frame,
        np.where(y == 1, "ill", "healthy"),
        budget=5,
        costs={"e": 2, "d": 4, "c": 1, "b": 2, "a": 3},
        fees=[(1, ["a", "c"])],
        include=["b"],
    )
    assert named.names == ("a", "b", "c", "d", "e")
    assert json.dumps(evaluate_resample(plain, 1)) == json.dumps(evaluate_resample(named, 1))


def test_result_is_json_and_repeats_to_the_bit() -> None:
    X, y = make_data()
    experiment = experiment_of(X, y, max_features=2)
    first = json.dumps(evaluate_resample(experiment, 0), allow_nan=False)
    assert first == json.dumps(evaluate_resample(experiment, 0), allow_nan=False)


def test_unproven_solves_are_counted() -> None:
    X, y = make_data(n_columns=12)
    X = X + 0.9 * X[:, :1]  # correlated columns need more than a node
    experiment = experiment_of(X, y, max_features=4, node_limit=1, ridges=(0.004,))
    assert 0 < evaluate_resample(experiment, 1)["unproven"] <= 16


def test_folds_without_both_classes_are_not_scored() -> None:
    # Three persons have all events: some inner training part has none of them.
    X, _ = make_data()
    persons = np.repeat(np.arange(12), 5)
    y = (persons < 3).astype(int)
    experiment = experiment_of(X, y, max_features=1, persons=persons)
    result = evaluate_resample(experiment, 0)
    assert result["test_folds"] == 3
    assert result["solves"] < 40
    assert 0 <= result["test_auc"] <= 1


def test_separated_classes_have_no_calibration() -> None:
    X, y = make_data()
    X[:, 0] += 20 * y
    result = evaluate_resample(experiment_of(X, y, max_features=1), 0)
    assert result["data_auc"] == 1.0
    assert result["data_calibration_slope"] is None


def test_preprocessor_is_fitted_to_the_training_rows_only() -> None:
    seen = []

    class Spy(MinMaxScaler):  # type: ignore[misc]
        def fit(self, X: Any, y: Any = None) -> Any:
            seen.append(set(X[:, 0].tolist()))
            return super().fit(X, y)

    X, y = make_data()
    experiment = experiment_of(X, y, max_features=2, preprocessor=Spy(), protocol="paper")
    seen.clear()
    result = evaluate_resample(experiment, 1)
    expected = set(np.unique(X[NaiveEvaluation(X, y, "paper", 0, 1).copies, 0]).tolist())
    assert len(seen) == 16  # 4 tunings with 3 inner folds and a refit
    assert all(values <= expected for values in seen)
    assert [values == expected for values in seen] == [False] * 15 + [True]
    assert result["solves"] == 40


def test_preprocessor_of_a_frame_with_missing_values() -> None:
    X, y = make_data()
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame.iloc[::7, 1] = np.nan
    imputed = make_pipeline(SimpleImputer(strategy="median"), MinMaxScaler())
    experiment = experiment_of(
        frame, y, max_features=2, preprocessor=imputed, groups=frame.columns.tolist()
    )
    assert evaluate_resample(experiment, 1)["solves"] == 40
    assert experiment.names == ("a", "b", "c", "d", "e")


class Dummies(BaseEstimator):  # type: ignore[misc]
    """Dummy columns of the levels seen in the training rows: not always the same number."""

    def fit(self, X: pd.DataFrame, y: Any = None) -> Dummies:
        self.encoder_ = OneHotEncoder(handle_unknown="ignore").fit(X)
        levels = zip(X.columns, self.encoder_.categories_, strict=True)
        self.predictors_ = [name for name, values in levels for _ in values]
        return self

    def transform(self, X: pd.DataFrame) -> Any:
        return self.encoder_.transform(X)  # sparse


def test_preprocessor_with_other_columns_in_every_fold() -> None:
    X, y = make_data()
    # Rounded values have levels that occur once, so that a training part may lack them.
    frame = pd.DataFrame(np.rint(X), columns=list("abcde")).astype(str)
    experiment = experiment_of(frame, y, max_features=2, preprocessor=Dummies(), exclude=["e"])
    assert experiment.names == ("a", "b", "c", "d", "e")
    widths = {experiment.columns(np.arange(start, start + 30)).X.shape[1] for start in range(30)}
    assert len(widths) > 1
    for resample in range(3):
        result = evaluate_resample(experiment, resample)
        assert len(result["support"]) <= 2
        assert 4 not in result["support"]
    again = replace(experiment, seed=0)
    assert json.dumps(evaluate_resample(again, 2)) == json.dumps(result)


@pytest.mark.parametrize("protocol", ["clean", "paper"])
def test_a_handful_of_rows(protocol: str) -> None:
    X, y = make_data()
    rows = np.concatenate([np.flatnonzero(y == 0)[:3], np.flatnonzero(y == 1)[:3]])
    experiment = experiment_of(X[rows], y[rows], max_features=1, protocol=protocol)  # type: ignore[arg-type]
    result = evaluate_resample(experiment, 0)
    # Two rows of each class cannot be split in three: the strongest ridge is taken untested.
    assert result["solves"] == 3 + 9 + 1
    assert result["test_folds"] == 3
