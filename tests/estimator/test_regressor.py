"""The regressor: scikit-learn's models on all columns, the best on some, and its errors."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import PoissonRegressor, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shortlist as sl

X, Y = load_diabetes(return_X_y=True, as_frame=True)
X = (X - X.mean()) / X.std()
COUNTS = (Y / 25).round()
LOSSES = pytest.mark.parametrize("loss", ["squared_error", "poisson"])


def other(loss, ridge):
    """The estimator of scikit-learn with the same objective; its Poisson loss is a mean."""
    if loss == "squared_error":
        return Ridge(alpha=ridge)
    return PoissonRegressor(alpha=ridge / len(X), tol=1e-10, max_iter=10_000)


def outcome(loss):
    return Y if loss == "squared_error" else COUNTS


@LOSSES
@pytest.mark.parametrize("ridge", [0.1, 10.0])
def test_all_columns_are_the_model_of_scikit_learn(loss, ridge):
    model = sl.BestSubsetRegressor(ridge=ridge, loss=loss).fit(X, outcome(loss))
    expected = other(loss, ridge).fit(X, outcome(loss))
    assert model.coef_ == pytest.approx(expected.coef_, rel=1e-4, abs=1e-5)
    assert model.intercept_ == pytest.approx(expected.intercept_, rel=1e-6)
    assert model.predict(X) == pytest.approx(expected.predict(X), rel=1e-4)
    score = model.score(X, outcome(loss))
    assert score == pytest.approx(np.corrcoef(model.predict(X), outcome(loss))[0, 1] ** 2, abs=0.01)


@LOSSES
def test_the_best_three_are_those_of_all_subsets(loss):
    model = sl.BestSubsetRegressor(max_features=3, loss=loss).fit(X, outcome(loss))
    assert model.status_ is sl.Status.OPTIMAL
    objectives = {}
    for support in combinations(range(X.shape[1]), 3):
        fitted = other(loss, 1.0).fit(X.iloc[:, list(support)], outcome(loss))
        coef = np.zeros(X.shape[1])
        coef[list(support)] = fitted.coef_
        problem = model.problem(X, outcome(loss))
        objectives[support] = problem.objective(coef, float(fitted.intercept_))
    best = min(objectives, key=objectives.get)
    assert tuple(model.support_) == best
    assert model.objective_ == pytest.approx(objectives[best], rel=1e-6)
    assert sl.verify(model.problem(X, outcome(loss)), model.certificate_).valid


@LOSSES
def test_the_ridge_is_chosen_by_the_score_of_the_loss(loss):
    model = sl.BestSubsetRegressor(max_features=2, ridge=None, loss=loss)
    model.fit(X, outcome(loss))
    means = model.cv_results_["mean_test_score"]
    assert model.ridge_ == model.cv_results_["ridge"][means.argmax()]
    assert (means < 0).all()


def test_it_works_within_the_tools_of_scikit_learn():
    model = make_pipeline(StandardScaler(), sl.BestSubsetRegressor(ridge=10.0))
    search = GridSearchCV(model, {"bestsubsetregressor__max_features": [1, 4]}, cv=3)
    assert search.fit(X, Y).best_params_["bestsubsetregressor__max_features"] == 4
    assert search.best_score_ > 0.4
    chosen = sl.BestSubsetRegressor(max_features=2).fit(X, Y).transform(X)
    assert chosen.shape == (len(X), 2)


def test_weights_are_repeated_rows():
    counts = np.random.default_rng(0).integers(0, 3, len(X))
    options = {"max_features": 3, "ridge": 2.0}
    weighted = sl.BestSubsetRegressor(**options).fit(X, Y, sample_weight=counts)
    rows = np.repeat(np.arange(len(X)), counts)
    repeated = sl.BestSubsetRegressor(**options).fit(X.iloc[rows], Y.iloc[rows])
    assert weighted.selected_features_ == repeated.selected_features_
    assert weighted.coef_ == pytest.approx(repeated.coef_, rel=1e-9)


@pytest.mark.parametrize(
    "options, y, message",
    [
        ({"loss": "logistic"}, Y, "loss: must be one of squared_error, poisson, not 'logistic'"),
        ({"loss": "poisson"}, Y - 100, "y: counts must be at least 0, but one is -75; remove"),
        ({}, 0 * Y + 3, "y: the 442 outcomes of weight above 0 are all alike"),
        ({"loss": "poisson"}, 0 * Y, "y: the 442 outcomes of weight above 0 are all alike"),
    ],
)
def test_what_cannot_be_fitted_gets_a_sentence(options, y, message):
    with pytest.raises(sl.InvalidProblemError, match=message):
        sl.BestSubsetRegressor(**options).fit(X, y)


def test_numbers_far_from_zero_are_the_same_problem():
    near = sl.BestSubsetRegressor(max_features=3).fit(X, Y.round())
    far = sl.BestSubsetRegressor(max_features=3).fit(X, Y.round() + 2.0**30)
    assert far.status_ is sl.Status.OPTIMAL
    assert far.selected_features_ == near.selected_features_
    assert far.coef_ == pytest.approx(near.coef_, rel=1e-6)
    assert far.intercept_ == pytest.approx(near.intercept_ + 2.0**30, rel=1e-12)
    assert sl.verify(far.problem(X, Y.round() + 2.0**30), far.certificate_).valid
