"""What is affordable is decided in rational numbers: by the solver, the checker and all others."""

import pytest
from exact_prices import complaints

import shortlist as sl

N_PROBLEMS = 300  # `python tests/support/exact_prices.py 0 50000` runs more


@pytest.mark.filterwarnings("ignore:budget")
@pytest.mark.parametrize("first", range(0, N_PROBLEMS, 100))
def test_the_best_that_is_affordable_is_bought(first):
    for seed in range(first, first + 100):
        assert complaints(seed) == [], seed


@pytest.mark.parametrize("backend", ["native", "enumeration"])
@pytest.mark.parametrize("digits", range(8, 13))
def test_a_budget_that_is_the_sum_of_long_prices_buys_all_of_them(backend, digits):
    X = [[0.0, 1.0, 0.5], [1.0, 0.0, 0.1], [2.0, 1.0, 0.2], [3.0, 0.0, 0.9]]
    costs = [round(100 / 3, digits)] * 3
    problem = sl.SubsetProblem(X, [0, 1, 0, 1], ridge=0.1, costs=costs, budget=sum(costs))
    assert sl.solve(problem, backend).support == (0, 1, 2)
