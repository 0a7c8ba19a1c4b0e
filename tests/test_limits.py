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
    assert limits.prices.is_short
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
    assert not limits.prices.is_short
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
    assert limits.prices.is_short
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


def test_a_total_may_exceed_the_budget_by_a_billionth_of_it():
    costs = [1000.000001, 1421.996292]
    assert build(costs, budget=2421.996292).is_affordable((0, 1))
    most = 2421.996293 / (1 + 1e-9)
    assert build(costs, budget=most * (1 + 1e-15)).is_affordable((0, 1))
    assert not build(costs, budget=most * (1 - 1e-15)).is_affordable((0, 1))


@pytest.mark.parametrize(
    ("costs", "budget"),
    [
        ([5, 1e12, np.pi, 2, 3], 1e12),
        ([5.00001, 1e12, 1, 2, 3], 1e12 - 999.000001),
        ([5.00001, 1e12, 1, 2, 3], 1e12 - 998.5),
        ([5, 1e12, 1e16, 2, 3], 1e12 - 995),
        ([1e12 + 0.3, 0.4, 0.2, 1, 2], 1e12 - 999.2),
    ],
)
def test_a_small_price_beside_a_large_one_is_still_paid(costs, budget):
    limits = build(costs, budget=budget)
    for support in supports(len(costs)):
        total = sum(Fraction(repr(float(costs[g]))) for g in support)
        most = Fraction(repr(budget)) * (1 + Fraction(1, 10**9))
        assert limits.is_affordable(support) == (total <= most), support


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
    exact = [Fraction(repr(cost)) for cost in costs]
    total = sum(exact[g] for g in chosen)
    factors = [1, 1 - 1e-15, 1 + 1e-15, 1 - 1e-11, 1 - 1e-9, 0.5]
    budget = float(total) * data.draw(st.sampled_from(factors))
    X = np.eye(8)[:, : len(costs)]
    problem = sl.SubsetProblem(X, [0, 1] * 4, ridge=1, costs=costs).with_limits(budget=budget)
    limits, checker = problem.limits, Affordability(problem)
    most = Fraction(repr(budget)) * (1 + Fraction(1, 10**9))
    for support in supports(len(costs)):
        is_affordable = sum(exact[g] for g in support) <= most
        assert limits.is_affordable(support) == is_affordable
        assert checker.exceeded(frozenset(support)) != is_affordable
        assert limits.cost_of(support) == float(sum(exact[g] for g in support))


@given(
    st.lists(st.tuples(st.integers(1, 99), st.integers(0, 300)), min_size=1, max_size=6), st.data()
)
def test_prices_that_lie_far_apart_are_compressed_without_loss(parts, data):
    """What 256 bits do not hold is brought to smaller numbers with the same affordable totals."""
    costs = [float(f"{digits}e{exponent - 150}") for digits, exponent in parts]
    chosen = data.draw(st.sets(st.integers(0, len(costs) - 1)))
    limits = build(costs, budget=float(sum(costs[g] for g in chosen)))
    small, _, [budget] = limits.prices.relevant
    assert sum(small) < 2**250
    for support in supports(len(costs)):
        assert limits.is_affordable(support) == (sum(small[g] for g in support) <= budget)


@pytest.mark.parametrize("backend", ["native", "enumeration"])
def test_solvers_and_the_staircase_agree_over_many_orders(backend):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = X @ [1.0, 2.0, 1.0, 0.5] + rng.logistic(size=60) > 0
    costs = [5.00001, 1e12, np.pi, 2]
    below = 1e12 - 1000  # which a billionth brings to 1e12
    problem = sl.SubsetProblem(X, y, ridge=0.1, costs=costs, budget=below)
    assert sl.solve(problem, backend).support == (0, 2, 3)
    assert sl.solve(problem.with_limits(budget=below + 0.01), backend).support == (1,)
    assert sl.solve(problem.with_limits(budget=below + 2.01), backend).support == (1, 3)
    path = sl.solve_path(problem.with_limits(budget=1e12 + 20))
    assert path.at(below).solution.support == (0, 2, 3)
    assert path.at(below + 0.01).solution.support == (1,)
    assert path.at(below + 2.01).solution.support == (1, 3)
    for step in path:
        direct = sl.solve(step.problem, backend)
        assert step.solution.support == direct.support
