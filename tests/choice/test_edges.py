"""Problems with nothing to choose, with everything free, and with everything required."""

import math

import numpy as np
import pytest

import shortlist as sl
from shortlist.choice import PriceRange

pytestmark = pytest.mark.filterwarnings("ignore:budget")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4))
Y = X[:, 0] + RNG.logistic(size=30) > 0
ALL = (0, 1, 2, 3)

NOTHING_TO_CHOOSE = {
    "no columns": (X[:, :0], {}, ()),
    "all excluded": (X, {"exclude": ALL}, ()),
    "all included": (X, {"include": ALL}, ALL),
    "all included and paid": (X, {"include": ALL, "budget": 4}, ALL),
    "max_features of 0": (X, {"max_features": 0}, ()),
    "budget of 0": (X, {"budget": 0}, ()),
}


@pytest.mark.parametrize("case", NOTHING_TO_CHOOSE.values(), ids=NOTHING_TO_CHOOSE.keys())
def test_nothing_to_choose(case):
    columns, limits, support = case
    problem = sl.SubsetProblem(columns, Y, ridge=0.1, **limits)
    found = sl.near_optimal(problem, tolerance=10.0)
    assert ([model.support for model in found], found.is_complete) == ([support], True)
    path = sl.solve_path(problem)
    assert [step.solution.support for step in path] == [support]
    assert [step.limit for step in path] == [len(support)]
    assert path.is_certified
    assert len(sl.substitutes(problem)) == 0
    for result in (found, path, sl.substitutes(problem)):
        assert len(result.to_frame()) == len(result)


def test_everything_is_free():
    for budget in (0, 3):
        problem = sl.SubsetProblem(X, Y, ridge=0.1, costs=np.zeros(4), budget=budget)
        assert [(s.limit, s.solution.support) for s in sl.solve_path(problem)] == [(0.0, ALL)]
        assert sl.near_optimal(problem)[0].support == ALL
        assert [(r.low, r.high) for r in sl.price_ranges(problem)] == [(0.0, budget)] * 4


def test_a_budget_of_nothing():
    """Each predictor would be bought if it were free, and at no other price."""
    problem = sl.SubsetProblem(X, Y, ridge=0.1, budget=0)
    ranges = sl.price_ranges(problem)
    assert [(r.low, r.high, r.includes_low) for r in ranges] == [(0.0, math.inf, False)] * 4
    assert [r.rival for r in ranges] == [(0,), (1,), (2,), (3,)]


def test_prices_of_what_cannot_be_bought_do_not_matter():
    for limits in ({"exclude": [1, 2]}, {"max_features": 1, "include": [0]}):
        problem = sl.SubsetProblem(X, Y, ridge=0.1, budget=2, **limits)
        for g in (1, 2):
            assert sl.price_ranges(problem)[g] == PriceRange(g, 1.0, 0.0, math.inf, True, ())


def test_more_budget_than_anything_costs():
    problem = sl.SubsetProblem(X, Y, ridge=0.1, budget=1e12)
    path = sl.solve_path(problem)
    assert [step.limit for step in path] == [0, 1, 2, 3, 4]
    assert path.at(1e12) == path[-1]
