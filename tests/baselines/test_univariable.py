from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from shortlist import SubsetProblem
from shortlist.baselines import univariable_magnitudes, univariable_support
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
    problem = SubsetProblem(DATA.X, DATA.y, ridge=1.0, sample_weight=weights)
    expected = reference_magnitudes(DATA.X.to_numpy(), DATA.y, weights)
    np.testing.assert_allclose(univariable_magnitudes(problem), expected, rtol=1e-6)


def test_purchases_follow_the_definition() -> None:
    problem = SubsetProblem(DATA.X, DATA.y, ridge=0.02, budget=10, costs=DATA.costs)
    scores = reference_magnitudes(DATA.X.to_numpy(), DATA.y, None) / DATA.costs
    order = np.argsort(-scores)
    bought, left = set(), 10
    for predictor in order:
        if DATA.costs[predictor] <= left:
            bought.add(int(predictor))
            left -= DATA.costs[predictor]
    assert univariable_support(problem) == tuple(sorted(bought))


def test_without_a_budget_costs_do_not_count() -> None:
    costly = SubsetProblem(DATA.X, DATA.y, ridge=0.02, costs=DATA.costs, max_features=3)
    unpriced = SubsetProblem(DATA.X, DATA.y, ridge=0.02, max_features=3)
    assert univariable_support(costly) == univariable_support(unpriced)
    largest = np.argsort(-univariable_magnitudes(unpriced))[:3]
    assert univariable_support(unpriced) == tuple(sorted(largest.tolist()))


def test_unit_costs_with_a_budget_are_a_limit_on_the_number() -> None:
    budget = SubsetProblem(DATA.X, DATA.y, ridge=0.02, budget=4)
    number = SubsetProblem(DATA.X, DATA.y, ridge=0.02, max_features=4)
    assert univariable_support(budget) == univariable_support(number)


def test_free_predictors_are_bought_first() -> None:
    costs = DATA.costs.astype(float)
    costs[[9, 12]] = 0.0
    problem = SubsetProblem(DATA.X, DATA.y, ridge=0.02, budget=10, costs=costs)
    assert {9, 12} <= set(univariable_support(problem))


def test_include_exclude_and_fees_are_respected() -> None:
    problem = SubsetProblem(
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
    magnitudes = univariable_magnitudes(SubsetProblem(X, DATA.y, ridge=0.02))
    assert np.all(np.isfinite(magnitudes))
    assert magnitudes.argmax() == 7


def test_a_constant_column_has_no_value() -> None:
    X = DATA.X.to_numpy().copy()
    X[:, 3] = 0.5
    assert univariable_magnitudes(SubsetProblem(X, DATA.y, ridge=0.02))[3] == pytest.approx(0.0)


def test_a_predictor_of_several_columns_has_the_norm_of_its_joint_fit() -> None:
    X = DATA.X.to_numpy()[:, :3]
    problem = SubsetProblem(X, DATA.y, ridge=0.02, groups=[0, 0, 1])
    joint = unregularised().fit(X[:, :2], DATA.y).coef_
    assert univariable_magnitudes(problem)[0] == pytest.approx(np.linalg.norm(joint), rel=1e-6)


def test_dummy_columns_that_sum_to_the_constant_are_handled() -> None:
    dummies = np.eye(3)[np.arange(200) % 3]
    problem = SubsetProblem(dummies, DATA.y, ridge=0.02, groups=["site"] * 3)
    assert np.isfinite(univariable_magnitudes(problem)).all()


def test_separation_by_a_dear_predictor_is_weighed_against_its_cost() -> None:
    """With two rows left out by their weights, one answer separates the classes but for ties."""
    X = DATA.X.to_numpy()[:, :4].copy()
    X[:, 2] = DATA.y
    X[:2, 2] = 1 - X[:2, 2]
    weights = np.ones(200)
    weights[:2] = 0.0
    problem = SubsetProblem(
        X, DATA.y, ridge=0.02, budget=10, costs=[1, 1, 10, 1], sample_weight=weights
    )
    magnitudes = univariable_magnitudes(problem)
    assert np.all(np.isfinite(magnitudes))
    assert magnitudes[2] > 2 * np.delete(magnitudes, 2).max()
    assert problem.limits.is_affordable(univariable_support(problem))


def test_the_scale_of_a_column_is_that_of_its_coefficient() -> None:
    X = DATA.X.to_numpy()[:, :3]
    units = np.array([1e-8, 1.0, 1e8])
    plain = univariable_magnitudes(SubsetProblem(X, DATA.y, ridge=0.02))
    scaled = univariable_magnitudes(SubsetProblem(X * units, DATA.y, ridge=0.02))
    np.testing.assert_allclose(scaled * units, plain, rtol=1e-6)
