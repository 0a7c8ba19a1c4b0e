"""What is affordable is decided in exact arithmetic, whatever the units of the prices."""

from fractions import Fraction
from itertools import combinations
from math import inf

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import shortlist as sl
from shortlist.errors import InfeasibleError
from shortlist.limits import Fee, Limits
from shortlist.verification.affordability import Affordability


def build(costs, budget=inf, max_features=None, fees=(), include=(), exclude=()):
    limit, free = len(costs) if max_features is None else max_features, np.full(len(costs), inf)
    return Limits(
        np.array(costs, dtype=float), budget, limit, fees, include, exclude, lower=-free, upper=free
    )


def supports(n_predictors):
    for size in range(n_predictors + 1):
        yield from combinations(range(n_predictors), size)


def test_a_tenth_and_two_tenths_are_within_three_tenths():
    limits = build([0.1, 0.2, 0.3], budget=0.3)
    assert limits.integral
    assert limits.is_affordable((0, 1))
    assert limits.is_affordable((2,))
    assert not limits.is_affordable((0, 2))
    assert limits.cost_of((0, 1)) == 0.3


@pytest.mark.parametrize("third", [1 / 3, 0.3333333333])
def test_three_thirds_are_within_one(third):
    assert build([third] * 3, budget=1).is_affordable((0, 1, 2))


def test_prices_without_a_short_form_stay_real_numbers():
    costs = [np.pi, np.e, np.sqrt(2)]
    limits = build(costs, budget=sum(costs))
    assert not limits.integral
    assert limits.is_affordable((0, 1, 2))
    assert not build(costs, budget=sum(costs) * (1 - 1e-8)).is_affordable((0, 1, 2))


@pytest.mark.parametrize("unit", [1e-12, 1e-9, 1e-3, 1.0, 1e9, 1e12])
def test_costs_and_budget_scale_together(unit):
    """A price of 1e-12 once counted as no price at all."""
    costs = np.array([1.0, 2.0, 3.0, 5.0])
    limits = build(costs * unit, budget=6 * unit)
    reference = build(costs, budget=6)
    for support in supports(4):
        assert limits.is_affordable(support) == reference.is_affordable(support)
        assert limits.cost_of(support) == pytest.approx(reference.cost_of(support) * unit)


prices = st.lists(st.integers(0, 400), min_size=1, max_size=5)


@given(prices, st.integers(0, 1000), st.sampled_from([1, 4, 10, 100, 1000]), st.data())
def test_affordable_means_so_in_exact_arithmetic(costs, budget, denominator, data):
    members = st.lists(st.integers(0, len(costs) - 1), min_size=1, unique=True)
    fees = data.draw(st.lists(st.tuples(st.integers(0, 300), members), max_size=3))
    limits = build(
        [cost / denominator for cost in costs],
        budget=budget / denominator,
        fees=tuple(Fee(amount / denominator, tuple(sorted(of))) for amount, of in fees),
    )
    assert limits.integral
    assert limits.n_predictors == len(costs)
    for support in supports(len(costs)):
        total = sum(costs[g] for g in support)
        total += sum(amount for amount, of in fees if set(of) & set(support))
        assert limits.is_affordable(support) == (total <= budget)
        assert limits.cost_of(support) == float(Fraction(total, denominator))


def test_overlapping_fees_are_paid_once_each():
    fees = (Fee(10.0, (0, 1)), Fee(100.0, (1, 2)))
    limits = build([1, 2, 3, 4], budget=105, fees=fees)
    assert limits.cost_of((0,)) == 11
    assert limits.cost_of((1,)) == 112
    assert limits.cost_of((0, 1, 2)) == 116
    assert limits.cost_of((3,)) == 4
    assert limits.is_affordable((2,))
    assert not limits.is_affordable((1,))


def test_fees_count_without_a_budget():
    limits = build([1, 2], fees=(Fee(0.5, (1,)),))
    assert limits.cost_of((0, 1)) == 3.5
    assert limits.is_affordable((0, 1))


def test_include_exclude_and_max_features():
    limits = build([1, 1, 1, 1], max_features=2, include=(1,), exclude=(3,))
    affordable = {support for support in supports(4) if limits.is_affordable(support)}
    assert affordable == {(1,), (0, 1), (1, 2)}


@given(prices, st.integers(0, 400), st.data())
def test_addable_is_what_leaves_the_support_affordable(costs, budget, data):
    some = st.sets(st.integers(0, len(costs) - 1)).map(sorted).map(tuple)
    fees = tuple(Fee(amount, data.draw(some)) for amount in data.draw(st.lists(st.integers(0, 9))))
    include, exclude = data.draw(some), data.draw(some)
    assume(not set(include) & set(exclude))
    limit = data.draw(st.integers(len(include), len(costs)))
    try:
        limits = build(
            costs, data.draw(st.sampled_from([budget, inf])), limit, fees, include, exclude
        )
    except InfeasibleError:
        return
    for support in supports(min(len(costs), 5)):
        others = [g for g in range(len(costs)) if g not in support]
        expected = [g for g in others if limits.is_affordable((*support, g))]
        assert limits.addable(support) == expected


@given(prices, st.integers(0, 400))
def test_an_include_is_infeasible_exactly_when_unaffordable(costs, budget):
    include = tuple(range(len(costs)))
    assume(sum(costs) != budget)
    if sum(costs) > budget:
        with pytest.raises(InfeasibleError, match="exceeds budget"):
            build(costs, budget=budget, include=include)
    else:
        assert build(costs, budget=budget, include=include).is_affordable(include)


def test_nothing_to_buy():
    limits = build([], budget=1)
    assert limits.is_affordable(())
    assert limits.cost_of(()) == 0


def test_a_budget_of_many_units_is_not_generous_by_one():
    limits = build([1000.000001, 1421.996292], budget=2421.996292)
    assert limits.integral
    assert limits.unit_budget > 1e9
    assert not limits.is_affordable((0, 1))
    assert limits.is_affordable((1,))


@pytest.mark.parametrize(
    ("costs", "budget"),
    [
        ([5, 1e12, np.pi, 2, 3], 1e12),
        ([5.00001, 1e12, 1, 2, 3], 1e12),
        ([5.00001, 1e12, 1, 2, 3], 1e12 + 1.5),
        ([5, 1e12, 1e16, 2, 3], 1e12 + 4),
        ([1e12 + 0.3, 0.4, 0.2, 1, 2], 1e12 + 0.5),
    ],
)
def test_a_small_price_beside_a_large_one_is_still_paid(costs, budget):
    limits = build(costs, budget=budget)
    for support in supports(len(costs)):
        total = sum(Fraction(repr(float(costs[g]))) for g in support)
        assert limits.is_affordable(support) == (total <= Fraction(repr(budget))), support


any_price = st.one_of(
    st.just(0.0),
    st.integers(1, 10).map(float),
    st.floats(1e-9, 1e-3),
    st.floats(1.0, 9.0).map(lambda price: round(price, 2)),
    st.floats(1e9, 1e13),
)


@given(st.lists(any_price, min_size=1, max_size=6), st.data())
def test_all_agree_on_what_is_affordable(costs, data):
    """Budgets at, just above and just below a total, over many orders of prices."""
    chosen = data.draw(st.sets(st.integers(0, len(costs) - 1)))
    total = sum(Fraction(costs[g]) for g in chosen)
    budget = float(total) * data.draw(st.sampled_from([1, 1 - 1e-15, 1 + 1e-15, 1 - 1e-11, 0.5]))
    X = np.eye(8)[:, : len(costs)]
    problem = sl.SubsetProblem(X, [0, 1] * 4, ridge=1, costs=costs).with_limits(budget=budget)
    limits, checker = problem.limits, Affordability(problem)
    affordable = {s for s in supports(len(costs)) if limits.is_affordable(s)}
    assert affordable == {s for s in supports(len(costs)) if not checker.exceeded(frozenset(s))}
    assert () in affordable
    for support in affordable:
        exact = sum(Fraction(costs[g]) for g in support)
        assert exact <= Fraction(budget) * (1 + Fraction(2, 10**14))
        assert limits.cost_of(support) == pytest.approx(float(exact), rel=1e-9)
        # No price is so small that it comes as a gift.
        dearest = max((costs[g] for g in support), default=0.0)
        if dearest == budget > 1:
            assert not any(costs[g] > 1e-14 * budget for g in support if costs[g] < dearest)
    for support in set(supports(len(costs))) - affordable:
        assert sum(Fraction(costs[g]) for g in support) > Fraction(budget) * (
            1 - Fraction(1, 10**9)
        )


@pytest.mark.parametrize("backend", ["native", "enumeration"])
def test_solvers_and_the_staircase_agree_over_many_orders(backend):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = X @ [1.0, 2.0, 1.0, 0.5] + rng.logistic(size=60) > 0
    costs = [5.00001, 1e12, np.pi, 2]
    problem = sl.SubsetProblem(X, y, ridge=0.1, costs=costs, budget=1e12)
    assert sl.solve(problem, backend).support == (1,)
    more = problem.with_limits(budget=1e12 + 2)
    assert sl.solve(more, backend).support == (1, 3)
    path = sl.solve_path(problem.with_limits(budget=1e12 + 20))
    assert path.at(1e12).solution.support == (1,)
    assert path.at(1e12 + 2).solution.support == (1, 3)
    for step in path:
        direct = sl.solve(problem.with_limits(budget=step.limit), backend)
        assert step.solution.support == direct.support
