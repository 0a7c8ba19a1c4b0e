"""The rankings that heuristics buy by, and what the rules that use them buy."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import shortlist as sl
from shortlist.backends.heuristics import correlation_support, lasso_support, univariable_support
from shortlist.backends.ranking import correlations, univariable_magnitudes
from shortlist.datasets import make_prognostic

DATA = make_prognostic(n_samples=200, label_noise=0.05, random_state=2)


def unregularised() -> LogisticRegression:
    return LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-12, max_iter=100)


def reference_magnitudes(X: np.ndarray, y: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Univariable coefficients by scikit-learn, without a penalty."""
    model = unregularised()
    return np.array(
        [abs(model.fit(X[:, [j]], y, sample_weight=weights).coef_[0, 0]) for j in range(X.shape[1])]
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_magnitudes_are_those_of_scikit_learn(weighted: bool) -> None:
    weights = np.arange(200) % 4 if weighted else None
    problem = sl.SubsetProblem(DATA.X, DATA.y, ridge=1.0, sample_weight=weights)
    expected = reference_magnitudes(DATA.X.to_numpy(), DATA.y, weights)
    np.testing.assert_allclose(univariable_magnitudes(problem), expected, rtol=1e-6)


@pytest.mark.parametrize("rule", [univariable_support, correlation_support])
def test_purchases_follow_the_value_per_cost(rule) -> None:
    problem = sl.SubsetProblem(DATA.X, DATA.y, ridge=0.02, budget=10, costs=DATA.costs)
    values = correlations(problem)
    if rule is univariable_support:
        values = reference_magnitudes(DATA.X.to_numpy(), DATA.y, None)
    order = np.argsort(-values / DATA.costs)
    bought, left = set(), 10
    for predictor in order:
        if DATA.costs[predictor] <= left:
            bought.add(int(predictor))
            left -= DATA.costs[predictor]
    assert rule(problem) == tuple(sorted(bought))


def test_without_a_budget_costs_do_not_count() -> None:
    costly = sl.SubsetProblem(DATA.X, DATA.y, ridge=0.02, costs=DATA.costs, max_features=3)
    unpriced = sl.SubsetProblem(DATA.X, DATA.y, ridge=0.02, max_features=3)
    assert univariable_support(costly) == univariable_support(unpriced)
    largest = np.argsort(-univariable_magnitudes(unpriced))[:3]
    assert univariable_support(unpriced) == tuple(sorted(largest.tolist()))


def test_unit_costs_with_a_budget_are_a_limit_on_the_number() -> None:
    budget = sl.SubsetProblem(DATA.X, DATA.y, ridge=0.02, budget=4)
    number = sl.SubsetProblem(DATA.X, DATA.y, ridge=0.02, max_features=4)
    assert univariable_support(budget) == univariable_support(number)


def test_free_predictors_are_bought_first() -> None:
    costs = DATA.costs.astype(float)
    costs[[9, 12]] = 0.0
    problem = sl.SubsetProblem(DATA.X, DATA.y, ridge=0.02, budget=10, costs=costs)
    assert {9, 12} <= set(univariable_support(problem))


def test_include_exclude_and_fees_are_respected() -> None:
    problem = sl.SubsetProblem(
        DATA.X,
        DATA.y,
        ridge=0.02,
        budget=14,
        costs=DATA.costs,
        max_features=4,
        include=["uninformative_1"],
        exclude=["informative_1"],
        fees=[(3.0, ["informative_2", "informative_3", "informative_4"])],
    )
    support = univariable_support(problem)
    assert 6 in support
    assert 0 not in support
    assert problem.limits.is_affordable(support)


def test_a_separating_predictor_comes_first_and_stays_finite() -> None:
    X = DATA.X.to_numpy().copy()
    X[:, 7] = np.where(DATA.y == 1, 0.9, 0.1)
    magnitudes = univariable_magnitudes(sl.SubsetProblem(X, DATA.y, ridge=0.02))
    assert np.all(np.isfinite(magnitudes))
    assert magnitudes.argmax() == 7


def test_a_constant_column_has_no_value() -> None:
    X = DATA.X.to_numpy().copy()
    X[:, 3] = 0.5
    assert univariable_magnitudes(sl.SubsetProblem(X, DATA.y, ridge=0.02))[3] == pytest.approx(0.0)


def test_a_predictor_of_several_columns_has_the_norm_of_its_joint_fit() -> None:
    X = DATA.X.to_numpy()[:, :3]
    problem = sl.SubsetProblem(X, DATA.y, ridge=0.02, groups=[0, 0, 1])
    joint = unregularised().fit(X[:, :2], DATA.y).coef_
    assert univariable_magnitudes(problem)[0] == pytest.approx(np.linalg.norm(joint), rel=1e-6)


def test_dummy_columns_that_sum_to_the_constant_are_handled() -> None:
    dummies = np.eye(3)[np.arange(200) % 3]
    problem = sl.SubsetProblem(dummies, DATA.y, ridge=0.02, groups=["site"] * 3)
    assert np.isfinite(univariable_magnitudes(problem)).all()


def test_separation_by_a_dear_predictor_is_weighed_against_its_cost() -> None:
    """With two rows left out by their weights, one answer separates the classes but for ties."""
    X = DATA.X.to_numpy()[:, :4].copy()
    X[:, 2] = DATA.y
    X[:2, 2] = 1 - X[:2, 2]
    weights = np.ones(200)
    weights[:2] = 0.0
    problem = sl.SubsetProblem(
        X, DATA.y, ridge=0.02, budget=10, costs=[1, 1, 10, 1], sample_weight=weights
    )
    magnitudes = univariable_magnitudes(problem)
    assert np.all(np.isfinite(magnitudes))
    assert magnitudes[2] > 2 * np.delete(magnitudes, 2).max()
    assert problem.limits.is_affordable(univariable_support(problem))


def test_the_scale_of_a_column_is_that_of_its_coefficient() -> None:
    X = DATA.X.to_numpy()[:, :3]
    units = np.array([1e-8, 1.0, 1e8])
    plain = univariable_magnitudes(sl.SubsetProblem(X, DATA.y, ridge=0.02))
    scaled = univariable_magnitudes(sl.SubsetProblem(X * units, DATA.y, ridge=0.02))
    np.testing.assert_allclose(scaled * units, plain, rtol=1e-6)


def test_magnitudes_of_other_outcomes_are_those_of_single_regressions() -> None:
    X = DATA.X.to_numpy()
    numbers = X @ np.arange(14.0) + DATA.y
    expected = [abs(np.polyfit(column, numbers, 1)[0]) for column in X.T]
    problem = sl.SubsetProblem(X, numbers, ridge=1.0, loss="squared_error")
    np.testing.assert_allclose(univariable_magnitudes(problem), expected, rtol=1e-6)
    linear_model = pytest.importorskip("sksurv.linear_model")
    time = np.random.default_rng(0).exponential(np.exp(-3 * X[:, 0]))
    y = sl.survival(np.minimum(time, 1.0), time <= 1.0)
    model = linear_model.CoxPHSurvivalAnalysis(ties="efron", tol=1e-12)
    expected = [abs(model.fit(X[:, [j]], y).coef_[0]) for j in range(14)]
    problem = sl.SubsetProblem(X, y, ridge=1.0, loss="cox")
    np.testing.assert_allclose(univariable_magnitudes(problem), expected, atol=1e-4)


def test_correlations_of_times_are_those_of_martingale_residuals() -> None:
    X = DATA.X.to_numpy()
    time = np.random.default_rng(0).exponential(np.exp(-3 * X[:, 0]))
    event = time <= 1.0
    problem = sl.SubsetProblem(X, sl.survival(np.minimum(time, 1.0), event), ridge=1.0, loss="cox")
    ends = np.minimum(time, 1.0)
    at_risk = (ends[:, np.newaxis] <= ends).sum(axis=1)  # of each row, at its own time
    hazard = [(event / at_risk)[ends <= end].sum() for end in ends]  # Nelson and Aalen's, no ties
    expected = np.corrcoef(X.T, event - hazard)[-1, :-1]
    np.testing.assert_allclose(correlations(problem), np.abs(expected), rtol=1e-8)


def test_correlations_are_those_of_numpy() -> None:
    problem = sl.SubsetProblem(DATA.X, DATA.y, ridge=1.0)
    expected = np.corrcoef(DATA.X.to_numpy().T, DATA.y)[-1, :-1]
    np.testing.assert_allclose(correlations(problem), np.abs(expected), rtol=1e-10)


def test_a_weight_counts_rows_in_correlations() -> None:
    weights = np.arange(200) % 4
    weighted = sl.SubsetProblem(DATA.X, DATA.y, ridge=1.0, sample_weight=weights)
    rows = np.repeat(np.arange(200), weights)
    repeated = sl.SubsetProblem(DATA.X.iloc[rows], DATA.y[rows], ridge=1.0)
    np.testing.assert_allclose(correlations(weighted), correlations(repeated), rtol=1e-10)


def test_several_columns_have_their_multiple_correlation() -> None:
    X = DATA.X.to_numpy()[:, :5]
    problem = sl.SubsetProblem(X, DATA.y, ridge=1.0, groups=[0, 1, 0, 0, 1])
    for g, columns in enumerate(([0, 2, 3], [1, 4])):
        explained = LinearRegression().fit(X[:, columns], DATA.y).score(X[:, columns], DATA.y)
        assert correlations(problem)[g] == pytest.approx(np.sqrt(explained))


def test_correlations_of_constant_and_tiny_columns() -> None:
    X = DATA.X.to_numpy()[:, :3].copy()
    tiny = X[:, 1] * 1e-200
    expected = correlations(sl.SubsetProblem(X, DATA.y, ridge=1.0))[1]
    X[:, 0], X[:, 1] = 0.1, tiny
    values = correlations(sl.SubsetProblem(X, DATA.y, ridge=1.0))
    assert values[0] == 0
    assert values[1] == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(5))
def test_the_first_to_enter_has_the_largest_correlation(seed: int) -> None:
    """The gradient at the model without coefficients is proportional to the correlation."""
    data = make_prognostic(n_samples=150, random_state=seed)
    problem = sl.SubsetProblem(data.X, data.y, ridge=0.1, max_features=1)
    assert lasso_support(problem) == (int(correlations(problem).argmax()),)


def test_with_a_budget_the_first_has_the_largest_correlation_per_cost() -> None:
    costs = DATA.costs + 6.0  # at most one fits
    problem = sl.SubsetProblem(DATA.X, DATA.y, ridge=0.1, budget=12, costs=costs)
    affordable = np.where(costs <= 12, correlations(problem) / costs, 0.0)
    assert lasso_support(problem) == (int(affordable.argmax()),)


def test_units_do_not_matter() -> None:
    X = DATA.X.to_numpy()
    other = X * 10.0 ** (np.arange(14) % 7 - 3) + 5.0
    one, two = (sl.SubsetProblem(table, DATA.y, ridge=0.1, max_features=5) for table in (X, other))
    assert lasso_support(one) == lasso_support(two)


def test_a_strong_signal_enters_before_noise() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 12))
    y = X[:, [2, 5, 9]] @ [2.0, -1.5, 1.0] + rng.logistic(size=400) > 0
    assert lasso_support(sl.SubsetProblem(X, y, ridge=0.1, max_features=3)) == (2, 5, 9)
    grouped = sl.SubsetProblem(X, y, ridge=0.1, max_features=2, groups=np.repeat(range(6), 2))
    assert lasso_support(grouped) == (1, 2)
