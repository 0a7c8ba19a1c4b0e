"""Whatever the units of columns, weights, ridge and prices: no wrong answer, and an end."""

import numpy as np
import pytest
from random_problems import random_coef_limits
from scaled_problems import answer_of, check_solution, n_selections, scaled_arguments

import shortlist as sl

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:budget")]

N_PROBLEMS, CHUNK = 400, 100  # `python tests/support/scaled_problems.py 0 10000` runs more


@pytest.mark.parametrize("first", range(0, N_PROBLEMS, CHUNK))
def test_problems_of_every_scale(first):
    answers = {seed: answer_of(seed) for seed in range(first, first + CHUNK)}
    assert {seed: a.complaints for seed, a in answers.items() if a.complaints} == {}
    # Most of them are solved all the same.
    assert sum(a.status == "optimal" for a in answers.values()) >= 0.9 * CHUNK


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "hinge"])
@pytest.mark.parametrize("limited", [False, True], ids=["free", "limited"])
def test_problems_of_every_loss_and_scale(loss, limited):
    """And with limits on coefficients, which the hinge does not go with."""
    if limited and loss == "hinge":
        return
    for seed in range(40):
        arguments = scaled_arguments(seed) | {"loss": loss}
        if limited:
            n_columns = arguments["X"].shape[1]
            n_predictors = 1 + max(arguments.get("groups", [n_columns - 1]))
            arguments |= random_coef_limits(seed, n_predictors)
        assert check_solution(sl.SubsetProblem(**arguments))[1] == [], seed


def test_a_search_visits_no_more_nodes_than_a_tree_has():
    X = [
        [6e-06, 80000.0, 0.0, 400.0],
        [0.0, 40000.0, 6e8, 200.0],
        [9e-06, 80000.0, 8e8, 0.0],
        [1e-06, 70000.0, 0.0, 700.0],
    ]
    problem = sl.SubsetProblem(X, [1, 0, 1, 0], ridge=0.01, max_features=2)
    assert n_selections(problem) == 11
    solution = sl.solve(problem, node_limit=1000)
    assert solution.nodes <= 2 * 11
    assert check_solution(problem)[1] == []


def test_problems_of_every_scale_are_drawn():
    """Guards the test above against a generator that quietly stops drawing some kind."""
    drawn = [scaled_arguments(seed) for seed in range(200)]
    sizes = np.concatenate([np.abs(a["X"]).max(axis=0) for a in drawn])
    assert sizes[sizes > 0].min() < 1e-7 and sizes.max() > 1e8
    ridges = [a["ridge"] for a in drawn]
    assert min(ridges) < 1e-6 and max(ridges) > 1e6
    weights = [a["sample_weight"] for a in drawn if "sample_weight" in a]
    assert sum(w.max() > 1e12 * w[w > 0].min() for w in weights) > 5
    prices = [a["costs"] for a in drawn if "costs" in a]
    assert sum(p.max() > 1e8 * p[p > 0].min(initial=1.0) for p in prices) > 5
    for argument in ("max_features", "budget", "fees", "include", "exclude", "groups"):
        assert sum(argument in a for a in drawn) > 10
