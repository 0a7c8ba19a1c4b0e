from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import shortlist as sl
from shortlist.baselines import correlation_support, correlations
from shortlist.datasets import make_prognostic

DATA = make_prognostic(n_samples=200, label_noise=0.05, random_state=2)


def test_correlations_are_those_of_numpy() -> None:
    problem = sl.SubsetProblem(DATA.X, DATA.y, ridge=1.0)
    expected = np.corrcoef(DATA.X.to_numpy().T, DATA.y)[-1, :-1]
    np.testing.assert_allclose(correlations(problem), np.abs(expected), rtol=1e-10)


def test_a_weight_counts_rows() -> None:
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


def test_constant_and_tiny_columns() -> None:
    X = DATA.X.to_numpy()[:, :3].copy()
    tiny = X[:, 1] * 1e-200
    expected = correlations(sl.SubsetProblem(X, DATA.y, ridge=1.0))[1]
    X[:, 0], X[:, 1] = 0.1, tiny
    values = correlations(sl.SubsetProblem(X, DATA.y, ridge=1.0))
    assert values[0] == 0
    assert values[1] == pytest.approx(expected)


def test_purchases_follow_correlation_per_cost() -> None:
    problem = sl.SubsetProblem(DATA.X, DATA.y, ridge=0.02, budget=10, costs=DATA.costs)
    order = np.argsort(-correlations(problem) / DATA.costs)
    bought, left = set(), 10
    for predictor in order:
        if DATA.costs[predictor] <= left:
            bought.add(int(predictor))
            left -= DATA.costs[predictor]
    assert correlation_support(problem) == tuple(sorted(bought))
