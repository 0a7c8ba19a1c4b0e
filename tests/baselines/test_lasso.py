from __future__ import annotations

import numpy as np
import pytest

import shortlist as sl
from shortlist.baselines import correlations, lasso_support
from shortlist.datasets import make_prognostic

DATA = make_prognostic(n_samples=200, label_noise=0.05, random_state=2)


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
