"""Different ways to say the same give the same model; tests/backends has more of them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import shortlist as sl

COSTS = np.array([1.0, 2.0, 1.0, 2.0, 3.0, 1.0, 1.0])


def fit(X, y, sample_weight=None, ridge=0.1, **parameters):
    model = sl.BestSubsetClassifier(ridge=ridge, gap=1e-9, **parameters)
    return model.fit(X, y, sample_weight=sample_weight)


@pytest.mark.parametrize("ridge", [0.001, 0.1, 10.0])
@pytest.mark.parametrize("limits", [{}, {"budget": np.inf}, {"budget": 100.0}, {"max_features": 7}])
def test_without_limits_it_is_ridge_logistic_regression(data, ridge, limits):
    X, y = data
    model = fit(X, y, ridge=ridge, **limits)
    reference = LogisticRegression(C=1 / ridge, solver="newton-cholesky", tol=1e-12).fit(X, y)
    assert model.support_.tolist() == list(range(7))
    assert model.coef_ == pytest.approx(reference.coef_, rel=1e-6, abs=1e-6)
    assert model.intercept_ == pytest.approx(reference.intercept_, rel=1e-6, abs=1e-6)
    assert model.predict_proba(X) == pytest.approx(reference.predict_proba(X), abs=1e-6)


def test_the_model_of_the_selection_is_ridge_logistic_regression_too(data):
    X, y = data
    model = fit(X, y, max_features=3)
    columns = model.get_support(indices=True)
    reference = LogisticRegression(C=10, solver="newton-cholesky", tol=1e-12)
    reference.fit(X.iloc[:, columns], y)
    assert model.coef_[0, columns] == pytest.approx(reference.coef_[0], rel=1e-6, abs=1e-6)


def test_duplicated_rows_are_weights(data):
    X, y = data
    counts = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = fit(X, y, sample_weight=counts, max_features=3)
    repeated = fit(
        X.iloc[np.repeat(np.arange(len(y)), counts)], np.repeat(y, counts), max_features=3
    )
    assert weighted.selected_features_ == repeated.selected_features_
    assert weighted.coef_ == pytest.approx(repeated.coef_, abs=1e-6)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-8)


FEES = [(1, ["b", "d"])]
BOUGHT = {"budget": 5, "costs": COSTS, "fees": FEES}
BY_NAME = dict(zip("abcdefg", COSTS, strict=True))
SAME = {
    "unit costs are a number": ({"max_features": 3}, {"budget": 3}),
    "equal costs are a number": ({"max_features": 3}, {"budget": 7.5, "costs": [2.5] * 7}),
    "one predictor": ({"max_features": 1}, {"budget": 1}),
    "names are indices": (BOUGHT, {"budget": 5, "costs": BY_NAME, "fees": [(1, [1, 3])]}),
    "a Series has names": (BOUGHT, BOUGHT | {"costs": pd.Series(BY_NAME)[::-1]}),
    "a free fee is none": (BOUGHT, BOUGHT | {"fees": [*FEES, (0, ["a", "b"]), (0, ["b", "c"])]}),
    "a fee of one is a cost": (
        BOUGHT | {"budget": 6, "fees": [(2, ["b"])]},
        {"budget": 6, "costs": COSTS + 2 * (np.arange(7) == 1)},
    ),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_two_ways_to_state_limits(data, one, other):
    first, second = (fit(*data, **limits) for limits in (one, other))
    assert second.support_.tolist() == first.support_.tolist()
    assert second.coef_ == pytest.approx(first.coef_, abs=1e-6)


def test_arrays_have_indices_for_names(data):
    X, y = data
    named = fit(X, y, include=["g"], **BOUGHT)
    indexed = fit(X.to_numpy(), y, budget=5, costs=COSTS, include=[6], fees=[(1, [1, 3])])
    assert np.array_equal(named.coef_, indexed.coef_)


def test_nothing_may_be_bought(data):
    assert len(fit(*data, max_features=0).support_) == 0


def test_flipped_labels_flip_the_coefficients(data):
    X, y = data
    plain = fit(X, y == "ill", max_features=3)
    flipped = fit(X, y == "healthy", max_features=3)
    assert flipped.coef_ == pytest.approx(-plain.coef_, abs=1e-6)
    assert flipped.intercept_ == pytest.approx(-plain.intercept_, abs=1e-6)


def test_shifted_columns_only_move_the_intercept(data):
    X, y = data
    plain = fit(X, y, max_features=3)
    shifted = fit(X + 100.0, y, max_features=3)
    assert shifted.coef_ == pytest.approx(plain.coef_, abs=1e-5)


def test_excluding_is_removing(data):
    X, y = data
    excluded = fit(X, y, max_features=3, exclude=["b", "g"])
    removed = fit(X.drop(columns=["b", "g"]), y, max_features=3)
    assert excluded.selected_features_ == removed.selected_features_
    assert excluded.objective_ == pytest.approx(removed.objective_, rel=1e-8)


def test_a_group_is_bought_whole(data):
    X, y = data
    grouped = fit(X, y, max_features=1, groups=["other", "b", "other", "d", "e", "other", "other"])
    alone = fit(X[["a", "c", "f", "g"]], y)
    assert grouped.selected_features_ == ["b"]
    rest = fit(
        X, y, groups=["other", "b", "other", "d", "e", "other", "other"], exclude=["b", "d", "e"]
    )
    assert rest.selected_features_ == ["other"]
    assert rest.objective_ == pytest.approx(alone.objective_, rel=1e-8)
