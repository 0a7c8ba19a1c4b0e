"""The bounds of the search are those of the paper's relaxation, as Clarabel solves it."""

from types import SimpleNamespace

import numpy as np
import pytest
from catalogue import CATALOGUE, LIMITED
from conic_relaxation import solve_relaxation
from random_problems import limited_problem, random_problem

import shortlist as sl
from shortlist.families import FAMILIES
from shortlist.native.core import core, core_limits, prepare

pytestmark = pytest.mark.filterwarnings("ignore:(budget|strata)")


def relax_root(problem):
    """Bounds of the optimum of the search's relaxation, whose oracle may buy fractions here."""
    # No double has the totals of numbers so large, so there are no knapsack tables.
    amounts = [[2**60 * amount for amount in part] for part in problem.limits.prices.relevant]
    prices = SimpleNamespace(relevant=amounts)
    limits = SimpleNamespace(**vars(problem.limits) | {"prices": prices})
    lower, upper, _ = core.relax_root(prepare(problem).problem, core_limits(limits))
    return lower, upper


def is_one_limit(problem):
    """Whether the search relaxes just what the conic model relaxes."""
    limits = problem.limits
    has_budget = limits.budget < np.inf
    both = has_budget and limits.max_features < limits.n_predictors
    # In groups the search relaxes limits on coefficients less tightly.
    limited_groups = problem.has_groups and problem.limits.has_intervals
    return not both and not (has_budget and limits.fees) and not limited_groups


@pytest.mark.parametrize("name", CATALOGUE | LIMITED)
def test_native_root_relaxation_is_that_of_the_conic_model(name):
    known = (CATALOGUE | LIMITED)[name]
    problem = known.problem()
    value = solve_relaxation(problem)
    lower, upper = relax_root(problem)
    assert lower <= value * (1 + 1e-6)
    assert value <= known.objective * (1 + 1e-6)
    if is_one_limit(problem):
        assert lower == pytest.approx(value, rel=1e-5)
        assert upper == pytest.approx(value, rel=1e-5)
    else:
        assert any(word in name for word in ("fees", "both", "limited groups"))


@pytest.mark.parametrize("make", [random_problem, limited_problem])
def test_the_native_root_relaxation_encloses_that_of_the_conic_model(make):
    n_equal = 0
    for seed in range(100):
        problem = make(seed)
        value, (lower, upper) = solve_relaxation(problem), relax_root(problem)
        assert lower <= value * (1 + 1e-5), seed
        if is_one_limit(problem):
            assert upper >= value * (1 - 1e-5), seed
            n_equal += upper - lower <= 1e-5 * value
    assert n_equal >= (50 if make is random_problem else 30)


@pytest.mark.parametrize("loss", [name for name in FAMILIES if name != "logistic"])
def test_the_bounds_of_other_losses_are_those_of_the_conic_model(loss):
    n_equal = 0
    for seed in range(40):
        problem = random_problem(seed, loss)
        value, (lower, _) = solve_relaxation(problem), relax_root(problem)
        assert lower <= value * (1 + 1e-5) + 1e-8, seed
        assert value <= sl.solve(problem).objective * (1 + 1e-5) + 1e-8, seed
        n_equal += lower >= value * (1 - 1e-5)
    # The relaxation of the hinge is smoothed, and not solved to the end.
    if loss != "hinge":
        assert n_equal >= 20
