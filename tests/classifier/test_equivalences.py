"""Different ways to say the same must give the same model."""

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


def test_weights_and_ridge_scale_together(data):
    X, y = data
    plain = fit(X, y, max_features=3)
    scaled = fit(X, y, sample_weight=np.full(len(y), 5.0), ridge=0.5, max_features=3)
    assert scaled.coef_ == pytest.approx(plain.coef_, abs=1e-6)
    assert scaled.objective_ == pytest.approx(5 * plain.objective_, rel=1e-8)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_permuted_columns(data, seed):
    X, y = data
    order = np.random.default_rng(seed).permutation(7)
    plain = fit(X, y, budget=5, costs=COSTS, fees=[(1, ["b", "d"])])
    permuted = fit(X.iloc[:, order], y, budget=5, costs=COSTS[order], fees=[(1, ["b", "d"])])
    assert sorted(permuted.selected_features_) == sorted(plain.selected_features_)
    assert permuted.coef_[0] == pytest.approx(plain.coef_[0, order], abs=1e-6)
    assert permuted.cost_ == plain.cost_


@pytest.mark.parametrize("factor", [0.01, 0.5, 3.0, 1000.0, np.pi])
def test_costs_and_budget_scale_together(data, factor):
    X, y = data
    plain = fit(X, y, budget=5, costs=COSTS, fees=[(1, ["b", "d"])])
    fees = [(factor, ["b", "d"])]
    scaled = fit(X, y, budget=5 * factor, costs=COSTS * factor, fees=fees)
    assert scaled.support_.tolist() == plain.support_.tolist()
    assert scaled.coef_ == pytest.approx(plain.coef_, abs=1e-6)
    assert scaled.cost_ == pytest.approx(plain.cost_ * factor)


@pytest.mark.parametrize("limit", [0, 1, 3])
def test_unit_costs_are_a_cardinality(data, limit):
    X, y = data
    counted = fit(X, y, max_features=limit)
    if limit:
        priced = fit(X, y, budget=limit)
        explicit = fit(X, y, budget=2.5 * limit, costs=np.full(7, 2.5))
        assert priced.support_.tolist() == counted.support_.tolist()
        assert explicit.support_.tolist() == counted.support_.tolist()
        assert priced.coef_ == pytest.approx(counted.coef_, abs=1e-6)
    assert len(counted.support_) == limit


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


def test_names_are_indices(data):
    X, y = data
    by_name = dict(zip(X.columns, COSTS, strict=True))
    named = fit(X, y, budget=5, costs=by_name, include=["g"], fees=[(1, ["b", "d"])])
    indexed = fit(X.to_numpy(), y, budget=5, costs=COSTS, include=[6], fees=[(1, [1, 3])])
    series = fit(X, y, budget=5, costs=pd.Series(by_name)[::-1], include=["g"], fees=[(1, [1, 3])])
    assert np.array_equal(named.coef_, indexed.coef_)
    assert np.array_equal(named.coef_, series.coef_)


def test_a_fee_of_nothing_is_no_fee(data):
    X, y = data
    plain = fit(X, y, budget=5, costs=COSTS)
    free = fit(X, y, budget=5, costs=COSTS, fees=[(0, ["a", "b"]), (0, ["b", "c"])])
    assert free.support_.tolist() == plain.support_.tolist()


def test_a_fee_of_one_member_is_a_higher_cost(data):
    X, y = data
    dearer = COSTS.copy()
    dearer[1] += 2
    with_fee = fit(X, y, budget=6, costs=COSTS, fees=[(2, ["b"])])
    with_cost = fit(X, y, budget=6, costs=dearer)
    assert with_fee.support_.tolist() == with_cost.support_.tolist()
    assert with_fee.cost_ == with_cost.cost_


def test_two_fits_are_equal_to_the_bit(data):
    X, y = data
    first, second = (fit(X, y, budget=5, costs=COSTS) for _ in range(2))
    assert np.array_equal(first.coef_, second.coef_)
    assert first.lower_bound_ == second.lower_bound_
