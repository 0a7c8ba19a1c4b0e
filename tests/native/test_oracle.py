"""The selection oracle against all completions of a node, listed one by one."""

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import shortlist as sl
from shortlist.native.core import FREE, IN, OUT, core, core_limits

pytestmark = pytest.mark.filterwarnings("ignore:budget")

MANY = settings(max_examples=300)
VALUES = st.one_of(st.sampled_from([0.0, 1.0, 2.0, 3.0]), st.floats(0, 10, width=32))
WHOLE = st.integers(0, 6).map(float)
DECIMAL = st.integers(0, 60).map(lambda n: n / 20)
IRRATIONAL = st.floats(0.01, 6).map(lambda x: x * math.pi)


class Node:
    """A node of a problem with these limits: what the oracle says, and what is true."""

    def __init__(self, v, status, **limits):
        n = len(v)
        X = np.random.default_rng(0).random((6, n))
        problem = sl.SubsetProblem(X, [0, 1] * 3, ridge=1.0, **limits)
        self.constraints = problem.limits
        self.v = np.array(v)
        self.bought = tuple(g for g in range(n) if status[g] == IN)
        if not self.constraints.is_affordable(self.bought):
            reject()
        # The search forbids what is not affordable before it asks the oracle.
        self.free = [
            g for g in range(n)
            if status[g] == FREE and self.constraints.is_affordable((*self.bought, g))
        ]  # fmt: skip
        self.limits, self.decisions = core_limits(problem.limits), np.array(status, dtype=np.int8)
        self.answer = core.testing.ask_oracle(self.limits, self.v, self.decisions)
        self.value = self.answer.get("value", 0.0)
        self.value_in = {g: self.answer["value_in"][g] for g in self.free}
        self.value_out = {g: self.answer["value_out"][g] for g in self.free}
        self._list()

    def _list(self):
        self.best = 0.0
        self.best_in = dict.fromkeys(self.free, -math.inf)
        self.best_out = dict.fromkeys(self.free, 0.0)
        for size in range(1, len(self.free) + 1):
            for added in combinations(self.free, size):
                if self.constraints.is_affordable((*self.bought, *added)):
                    value = math.fsum(self.v[list(added)])
                    self.best = max(self.best, value)
                    for g in self.free:
                        best = self.best_in if g in added else self.best_out
                        best[g] = max(best[g], value)

    def check_upper_bounds(self):
        slack = 1e-12 * (1 + self.v.sum())
        assert self.value >= self.best - slack
        for g in self.free:
            assert self.value_in[g] >= self.best_in[g] - slack
            assert self.value_out[g] >= self.best_out[g] - slack
            # Deciding a predictor only takes choices away.
            assert self.value_in[g] <= self.value + slack
            assert self.value_out[g] <= self.value + slack

    def check_exact(self):
        assert self.value == pytest.approx(self.best, rel=1e-12, abs=1e-12)
        assert self.value_in == pytest.approx(self.best_in, rel=1e-12, abs=1e-12)
        assert self.value_out == pytest.approx(self.best_out, rel=1e-12, abs=1e-12)


@st.composite
def values_and_status(draw):
    n = draw(st.integers(1, 8))
    state = st.sampled_from([FREE, FREE, FREE, IN, OUT])
    return (
        draw(st.lists(VALUES, min_size=n, max_size=n)),
        draw(st.lists(state, min_size=n, max_size=n)),
    )


def draw_costs(data, n, price):
    return data.draw(st.lists(price, min_size=n, max_size=n), label="costs")


def draw_disjoint_fees(data, n, price):
    """Every predictor belongs to one of three fees or to none."""
    home = data.draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n), label="fee of each")
    amounts = data.draw(st.lists(price, min_size=3, max_size=3), label="amounts")
    return [(amounts[f], [g for g in range(n) if home[g] == f]) for f in range(3)]


def draw_overlapping_fees(data, n, price):
    members = st.lists(st.integers(0, n - 1), min_size=1, unique=True)
    return data.draw(st.lists(st.tuples(price, members), max_size=3), label="fees")


def draw_budget(data, costs, fees=()):
    most = sum(costs) + sum(amount for amount, _ in fees)
    return data.draw(st.floats(0, 1), label="share of the price of everything") * most


@MANY
@given(values_and_status(), st.integers(0, 8))
def test_number_of_predictors(node, max_features):
    node = Node(*node, max_features=max_features)
    node.check_upper_bounds()
    node.check_exact()


@MANY
@given(values_and_status(), st.data())
@pytest.mark.parametrize("price", [WHOLE, DECIMAL], ids=["whole", "decimal"])
def test_budget(price, node, data):
    costs = draw_costs(data, len(node[0]), price)
    node = Node(*node, costs=costs, budget=draw_budget(data, costs))
    node.check_upper_bounds()
    node.check_exact()


@MANY
@given(values_and_status(), st.data())
@pytest.mark.parametrize("price", [WHOLE, DECIMAL], ids=["whole", "decimal"])
def test_budget_with_disjoint_fees(price, node, data):
    costs = draw_costs(data, len(node[0]), price)
    fees = draw_disjoint_fees(data, len(node[0]), price)
    node = Node(*node, costs=costs, fees=fees, budget=draw_budget(data, costs, fees))
    node.check_upper_bounds()
    node.check_exact()


@MANY
@given(values_and_status(), st.data())
def test_budget_with_overlapping_fees(node, data):
    costs = draw_costs(data, len(node[0]), WHOLE)
    fees = draw_overlapping_fees(data, len(node[0]), WHOLE)
    Node(*node, costs=costs, fees=fees, budget=draw_budget(data, costs, fees)).check_upper_bounds()


@MANY
@given(values_and_status(), st.data())
@pytest.mark.parametrize("draw_fees", [draw_disjoint_fees, draw_overlapping_fees])
def test_real_prices(draw_fees, node, data):
    costs = draw_costs(data, len(node[0]), IRRATIONAL)
    fees = draw_fees(data, len(node[0]), IRRATIONAL)
    Node(*node, costs=costs, fees=fees, budget=draw_budget(data, costs, fees)).check_upper_bounds()


@MANY
@given(values_and_status(), st.data())
def test_prices_too_large_for_a_table(node, data):
    """Whole numbers, but a table of a million cells per predictor would cost more than it saves."""
    costs = draw_costs(data, len(node[0]), st.integers(100_000, 900_000).map(float))
    fees = draw_disjoint_fees(data, len(node[0]), st.integers(0, 900_000).map(float))
    Node(*node, costs=costs, fees=fees, budget=draw_budget(data, costs, fees)).check_upper_bounds()


@MANY
@given(values_and_status(), st.integers(0, 8), st.data())
@pytest.mark.parametrize("price", [WHOLE, DECIMAL, IRRATIONAL], ids=["whole", "decimal", "real"])
def test_both_limits(price, node, max_features, data):
    costs = draw_costs(data, len(node[0]), price)
    fees = draw_overlapping_fees(data, len(node[0]), price)
    Node(
        *node,
        max_features=max_features,
        costs=costs,
        fees=fees,
        budget=draw_budget(data, costs, fees),
    ).check_upper_bounds()


@MANY
@given(values_and_status(), st.data())
def test_real_prices_give_the_fractional_knapsack(node, data):
    """Without fees the bound is that of buying by value per price, the last one in part."""
    costs = draw_costs(data, len(node[0]), IRRATIONAL)
    node = Node(*node, costs=costs, budget=draw_budget(data, costs))
    if node.constraints.prices.is_short:  # equal costs are whole numbers of themselves
        reject()
    prices = node.constraints.prices
    left = prices.amount_of(prices.budget - node.constraints.units_of(node.bought))
    total = 0.0
    for g in sorted(node.free, key=lambda g: node.v[g] / costs[g], reverse=True):
        share = min(1.0, left / costs[g])
        total += share * node.v[g]
        left -= share * costs[g]
    assert node.value == pytest.approx(total, rel=1e-9, abs=1e-12)


@MANY
@given(values_and_status(), st.data())
def test_what_is_left_and_what_a_predictor_costs_now(node, data):
    costs = draw_costs(data, len(node[0]), DECIMAL)
    fees = draw_overlapping_fees(data, len(node[0]), DECIMAL)
    node = Node(
        *node, costs=costs, fees=fees, max_features=6, budget=draw_budget(data, costs, fees)
    )
    limits, answer = node.constraints, node.answer
    spent = limits.units_of(node.bought)
    assert answer["budget"] == limits.prices.budget - spent
    assert answer["count"] == limits.max_features - len(node.bought)
    assert np.flatnonzero(answer["decisions"] == FREE).tolist() == node.free
    if answer["capacity"] == answer["budget"] != answer["count"]:  # the budget is relaxed
        for g in node.free:
            assert answer["price"][g] == limits.units_of((*node.bought, g)) - spent
    else:
        assert answer["capacity"] in (answer["budget"], answer["count"])


@MANY
@given(values_and_status(), st.data())
def test_best_value_for_every_amount(node, data):
    """The table of the staircase: what each whole amount buys, without one of the predictors."""
    costs = draw_costs(data, len(node[0]), WHOLE)
    fees = draw_disjoint_fees(data, len(node[0]), WHOLE)
    node = Node(*node, costs=costs, fees=fees, budget=draw_budget(data, costs, fees))
    limits = node.constraints
    skipped = data.draw(st.sampled_from([-1, *node.free]), label="skipped")
    spent = limits.units_of(node.bought)
    amount = int(limits.prices.budget - spent)
    table = core.testing.value_table(node.limits, node.v, node.decisions, amount, skipped)
    best = np.zeros(amount + 1)
    others = [g for g in node.free if g != skipped]
    for size in range(1, len(others) + 1):
        for added in combinations(others, size):
            price = int(limits.units_of((*node.bought, *added)) - spent)
            best[price:] = np.maximum(best[price:], math.fsum(node.v[list(added)]))
    assert table == pytest.approx(best, rel=1e-12, abs=1e-12)


def test_room_that_is_left():
    """What can still be bought, and whether it is one predictor at most."""
    seen = Counter()

    @settings(MANY, derandomize=True)  # what is counted below does not hang on a draw
    @given(values_and_status(), st.integers(1, 8), st.data())
    def check(node, max_features, data):
        costs = draw_costs(data, len(node[0]), DECIMAL)
        has_fees = data.draw(st.booleans(), label="has fees")
        fees = draw_overlapping_fees(data, len(node[0]), DECIMAL) if has_fees else []
        budget = draw_budget(data, costs, fees)
        node = Node(*node, max_features=max_features, costs=costs, fees=fees, budget=budget)
        limits, bought, free, answer = node.constraints, node.bought, node.free, node.answer
        assert answer["n_free"] == len(free)
        prices = [limits.units_of((*bought, g)) - limits.units_of(bought) for g in free]
        fits = len(free) <= answer["count"] and math.fsum(prices) <= answer["budget"]
        assert answer["is_all_affordable"] == fits
        if not free:
            return
        most = answer["most_purchases"]
        seen[most] += 1
        if most < 3:
            for more in combinations(free, most + 1):
                assert not limits.is_affordable((*bought, *more))
        if not fees:
            size = min(most, len(free))
            assert any(limits.is_affordable((*bought, *some)) for some in combinations(free, size))

    check()
    assert min(seen[most] for most in (1, 2, 3)) > 10, seen


def test_a_fee_paid_by_a_bought_predictor_is_not_charged_again():
    v, fees = [0.0, 5.0, 4.0, 1.0], [(3.0, [0, 1]), (3.0, [2])]
    unpaid = Node(v, [OUT, FREE, FREE, FREE], costs=[1.0] * 4, fees=fees, budget=5)
    paid = Node(v, [IN, FREE, FREE, FREE], costs=[1.0] * 4, fees=fees, budget=9)
    assert unpaid.value == 6.0  # predictors 1 and 3 for 5
    assert unpaid.value_out[1] == 5.0  # predictors 2 and 3 for 5
    assert paid.value == 9.0  # predictors 1 and 2 for 1 + 4, after 1 + 3
    assert paid.value_in[3] == 6.0


@pytest.mark.parametrize("limits", [{"max_features": 2}, {"budget": 2.2, "costs": [1.1] * 4}])
def test_a_value_of_many_orders_more_hides_no_other(limits):
    """Taken off a total of 1e31, it leaves nothing of the others but rounding."""
    node = Node([1e31, 5.0, 3.0, 1.0], [FREE] * 4, **limits)
    for g in node.free:
        assert node.value_in[g] >= node.best_in[g]
        assert node.value_out[g] >= node.best_out[g]


@MANY
@given(st.lists(values_and_status(), min_size=1, max_size=4), st.integers(0, 8), st.data())
def test_leaves_of_a_proof_cost_what_their_selections_do(leaves, max_features, data):
    """Each with its own decisions, values and number of purchases: against listing them."""
    n = min(len(v) for v, _ in leaves)
    values = np.array([v[:n] for v, _ in leaves])
    decisions = np.array([status[:n] for _, status in leaves], dtype=np.int8)
    most = np.array(
        data.draw(st.lists(st.integers(0, 3), min_size=len(leaves), max_size=len(leaves)))
    )
    costs = draw_costs(data, n, WHOLE)
    limits = {"max_features": max_features, "costs": costs, "budget": draw_budget(data, costs)}
    problem = sl.SubsetProblem(np.eye(2, n) + 1, [0, 1], ridge=1.0, **limits)
    is_affordable = problem.limits.is_affordable
    point = np.array(data.draw(st.permutations(range(len(leaves)))))
    settled = decisions.copy()
    taken = core.price_leaves(core_limits(problem.limits), values, point, settled, most)
    for i, total in enumerate(taken):
        v, bought = values[point[i]], tuple(np.flatnonzero(decisions[i] == IN).tolist())
        free = np.flatnonzero(decisions[i] == FREE).tolist()
        selections = [
            (*bought, *added)
            for size in range(most[i] + 1)
            for added in combinations(free, size)
            if is_affordable((*bought, *added))
        ]
        best = max((math.fsum(v[list(s)]) for s in selections), default=-math.inf)
        assert total >= best - 1e-9
        assert total < math.inf
        if not is_affordable(bought):
            assert total == -math.inf
        for g in free:  # what is not affordable has become forbidden
            assert (settled[i, g] == FREE) == is_affordable((*bought, g)) or total == -math.inf
