"""Our ridge in the terms of others, as the pages for newcomers from them give it.

R is not needed: what its packages minimise is written here as their manuals state it, and minimised
by SciPy. The formulas are those of docs/from_r.md and docs/from_scikit_learn.md.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_expit
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

import shortlist as sl

Float = NDArray[np.float64]

_RNG = np.random.default_rng(5)
X = _RNG.normal(size=(120, 4)) * [1.0, 3.0, 0.2, 10.0] + [0.0, 5.0, -1.0, 2.0]
Y = _RNG.random(120) < 1 / (1 + np.exp(-(X - X.mean(axis=0)) @ [1.0, -0.3, 2.0, 0.0]))
WEIGHTS = _RNG.uniform(0.5, 2.0, size=120)


def log_likelihoods(coefficients: Float) -> Float:
    """The log-likelihood of each row; the intercept is the last coefficient."""
    values: Float = log_expit(np.where(Y, 1, -1) * (X @ coefficients[:-1] + coefficients[-1]))
    return values


def minimum(objective: Callable[[Float], float]) -> Float:
    """Minimise, on columns of one scale, which changes nothing but the digits."""
    scale = np.append(X.std(axis=0), 1.0)
    found: Any = minimize(
        lambda scaled: objective(scaled / scale), np.zeros(5), method="BFGS", tol=1e-9
    )
    coefficients: Float = found.x / scale
    return coefficients


def ours(features: Float, ridge: float, **arguments: Any) -> Float:
    solution = sl.solve(sl.SubsetProblem(features, Y, ridge=ridge, **arguments), gap=1e-9)
    return np.append(solution.coef, solution.intercept)


@pytest.mark.parametrize("C", [0.01, 1.0, 50.0])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_the_ridge_is_one_over_the_c_of_scikit_learn(C: float, weights: Float | None) -> None:
    theirs = LogisticRegression(C=C, tol=1e-10, max_iter=10_000, solver="newton-cholesky")
    theirs.fit(X, Y, weights)
    expected = np.append(theirs.coef_[0], theirs.intercept_)
    found = ours(X, 1 / C, sample_weight=weights)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_the_ridge_is_one_over_the_c_of_a_support_vector_machine(C: float) -> None:
    scaled = X / X.std(axis=0)
    theirs = SVC(kernel="linear", C=C, tol=1e-8).fit(scaled, Y)
    expected = np.append(theirs.coef_[0], theirs.intercept_)
    np.testing.assert_allclose(ours(scaled, 1 / C, loss="hinge"), expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("weights", [np.ones(120), WEIGHTS])
def test_the_ridge_is_the_lambda_of_glmnet_times_the_sum_of_the_weights(weights: Float) -> None:
    penalty = 0.05

    def glmnet(coefficients: Float) -> float:  # alpha = 0, standardize = FALSE
        share = weights / weights.sum()
        loss = -(share * log_likelihoods(coefficients)).sum()
        return float(loss + penalty / 2 * (coefficients[:-1] ** 2).sum())

    found = ours(X, penalty * weights.sum(), sample_weight=weights)
    np.testing.assert_allclose(found, minimum(glmnet), rtol=1e-3, atol=1e-5)


def test_glmnet_standardizes_by_the_deviation_over_n() -> None:
    penalty, scale = 0.05, X.std(axis=0)

    def glmnet(coefficients: Float) -> float:  # alpha = 0, standardize = TRUE
        loss = -log_likelihoods(coefficients).mean()
        return float(loss + penalty / 2 * ((scale * coefficients[:-1]) ** 2).sum())

    found = ours(X / scale, penalty * len(Y)) / np.append(scale, 1.0)
    np.testing.assert_allclose(found, minimum(glmnet), rtol=1e-3, atol=1e-5)


def test_the_ridge_is_the_penalty_of_lrm_on_columns_of_unit_variance() -> None:
    penalty, scale = 6.0, X.std(axis=0, ddof=1)

    def lrm(coefficients: Float) -> float:
        matrix = penalty * np.diag(scale**2)
        loss = -log_likelihoods(coefficients).sum()
        return float(loss + coefficients[:-1] @ matrix @ coefficients[:-1] / 2)

    expected = minimum(lrm)
    found = ours(X / scale, penalty) / np.append(scale, 1.0)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-5)
    # PrognosticModel divides by two standard deviations (over n): a quarter of the penalty.
    patients = pd.DataFrame(X, columns=list("abcd"))
    ridge = penalty / 4 * (len(Y) - 1) ** -1 * len(Y)
    model = sl.PrognosticModel(ridge=ridge, gap=1e-9).fit(patients, Y.astype(int))
    slopes = [term.coefficients[0] for term in model.card_.terms]
    np.testing.assert_allclose(slopes, expected[:-1], rtol=1e-3, atol=1e-5)


def test_the_best_of_each_size_has_the_best_of_all_information_criteria() -> None:
    """As bestglm finds it, by enumeration: with a ridge that is next to nothing."""
    frame = X / X.std(axis=0)

    def criterion(columns: tuple[int, ...], loss: float) -> float:
        return 2 * loss + np.log(len(Y)) * len(columns)

    enumerated = {}
    for n in range(1, 5):
        for columns in combinations(range(4), n):
            chosen = frame[:, columns]
            fit = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(chosen, Y)
            log_odds = fit.decision_function(chosen)
            loss = -log_expit(np.where(Y, 1, -1) * log_odds).sum()
            enumerated[columns] = criterion(columns, loss)
    best = min(enumerated, key=lambda columns: enumerated[columns])

    path = sl.solve_path(sl.SubsetProblem(frame, Y, ridge=1e-6))
    by_size = {step.solution.support: step.solution.objective for step in path}
    chosen = min(by_size, key=lambda support: criterion(support, by_size[support]))
    assert chosen == best
    assert criterion(chosen, by_size[chosen]) == pytest.approx(enumerated[best], rel=1e-4)
