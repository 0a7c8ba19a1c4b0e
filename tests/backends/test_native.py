"""The branch and bound against enumeration, its equivalences, its limits and its honesty."""

import math
import time
from collections import Counter

import numpy as np
import pytest
from answers import check_model, same_bits
from random_problems import random_arguments, random_problem
from sklearn.linear_model import LogisticRegression

import shortlist as sl
from shortlist.native import search

pytestmark = pytest.mark.filterwarnings("ignore:budget")

N_DEFAULT, N_SLOW, CHUNK = 150, 3000, 75


def check_against_enumeration(problem):
    """Solve with two gaps, and compare the answers with that of enumeration."""
    reference = sl.solve(problem, "enumeration")
    assert reference.status is sl.Status.OPTIMAL
    # The first gap is what users get, and as exact as it says; the second is below the tolerance.
    for gap, tolerance in ((1e-6, 1e-6), (1e-8, 1e-7)):
        solution = sl.solve(problem, gap=gap)
        check_model(problem, solution)
        assert solution.status is sl.Status.OPTIMAL
        assert solution.objective == pytest.approx(reference.objective, rel=tolerance)
        assert solution.lower_bound >= solution.objective * (1 - gap)
        # Two optima that are rounded separately.
        assert solution.lower_bound <= reference.objective * (1 + 1e-12)
        assert solution.gap <= gap


@pytest.mark.parametrize("seed", range(N_DEFAULT))
def test_random_problem(seed):
    check_against_enumeration(random_problem(seed))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(N_DEFAULT, N_SLOW, CHUNK))
def test_many_random_problems(first):
    failures = {}
    for seed in range(first, min(first + CHUNK, N_SLOW)):
        try:
            check_against_enumeration(random_problem(seed))
        except Exception as error:  # the seeds of all failures are worth more than the first one
            failures[seed] = repr(error)
    assert failures == {}


def test_the_random_problems_are_of_every_kind():
    """Guards the tests above against a generator that quietly stops drawing some kind."""
    drawn = [random_arguments(seed) for seed in range(N_DEFAULT)]
    problems = [sl.SubsetProblem(**arguments) for arguments in drawn]

    def count(kind):
        return sum(map(kind, drawn))

    assert min(len(set(problem.response.classes)) for problem in problems) == 2
    for argument in ("max_features", "budget", "fees", "include", "exclude", "groups"):
        assert 10 < count(lambda a, name=argument: name in a) < N_DEFAULT - 10
    assert count(lambda a: "budget" in a and "max_features" in a) > 20
    assert count(lambda a: "budget" not in a and "max_features" not in a) > 5
    assert count(lambda a: "sample_weight" in a and (a["sample_weight"] == 0).any()) > 10
    assert count(lambda a: "costs" in a and (a["costs"] == 0).any()) > 10
    assert count(lambda a: (np.ptp(a["X"], axis=0) == 0).any()) > 10
    assert count(lambda a: len(np.unique(a["X"], axis=1).T) < a["X"].shape[1]) > 10
    assert count(lambda a: len(np.unique(a["X"], axis=0)) < len(a["X"])) > 10
    assert sum(not p.limits.prices.is_short and p.limits.budget < math.inf for p in problems) > 10
    assert (
        sum(p.limits.prices.is_short and p.limits.prices.unit.denominator > 1 for p in problems)
        > 10
    )
    shared = [
        sum(len(fee.members) for fee in p.limits.fees)
        - len({g for fee in p.limits.fees for g in fee.members})
        for p in problems
        if p.limits.fees
    ]
    assert min(shared) == 0
    assert sum(number > 0 for number in shared) > 10


@pytest.mark.parametrize("ridge", [0.1, 1.0, 10.0, 100.0])
def test_what_the_bounds_fix_may_not_be_affordable_together(ridge):
    """Two predictors, each affordable; forbidding either cannot beat the incumbent.

    With prices that are no whole numbers the oracle is an upper bound, so both may be fixed as
    bought, which only says that the node holds nothing better.
    """
    X = [[-0.1, -0.7], [1.0, -0.5], [-1.0, 1.1], [0.8, 0.9]]
    costs = [2.6457513111, 2.4494897431]
    problem = sl.SubsetProblem(X, [0, 1, 0, 1], ridge=ridge, costs=costs, budget=4.7)
    check_against_enumeration(problem)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 4000, 500))
def test_tiny_problems_with_real_prices(first):
    """Where everything is close to everything: few rows, strong ridge, tight budget."""
    failures = {}
    for seed in range(first, first + 500):
        rng = np.random.default_rng(seed)
        n_rows, n_predictors = int(rng.integers(4, 9)), int(rng.integers(2, 5))
        costs = np.sqrt(rng.integers(2, 12, n_predictors))
        problem = sl.SubsetProblem(
            np.round(rng.normal(size=(n_rows, n_predictors)), 1),
            np.arange(n_rows) % 2,
            ridge=float(rng.choice([0.1, 1.0, 10.0])),
            costs=costs,
            budget=float(rng.uniform(0.3, 0.99) * costs.sum()),
            max_features=int(rng.integers(1, n_predictors + 1)),
        )
        try:
            check_against_enumeration(problem)
        except Exception as error:
            failures[seed] = repr(error)
    assert failures == {}


# Equivalences


def noise(n_rows=60, n_columns=40, seed=0):
    """Labels that depend on nothing: the hardest thing to prove something about."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, n_columns)), rng.random(n_rows) < 0.5


def signal(n_rows=70, n_columns=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    return X, X[:, :4] @ [1.0, -1.0, 0.7, 0.5] + rng.logistic(size=n_rows) > 0


LIMITS = {
    "number": {"max_features": 4},
    "budget": {"budget": 11, "costs": np.arange(12) % 5 + 1.0},
    "decimal prices": {"budget": 8.1, "costs": np.arange(12) % 7 * 0.35 + 1.05},
    "real prices": {"budget": 8.0, "costs": np.sqrt(np.arange(12) + 1.0)},
    "fees": {"budget": 9, "costs": np.arange(12) % 3 + 1.0, "fees": [(2, [0, 1, 2]), (3, [3, 4])]},
    "both": {"max_features": 3, "budget": 9, "costs": np.arange(12) % 5 + 1.0},
    "groups": {"max_features": 2, "groups": np.arange(12) // 2},
}
all_limits = pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS.keys())


@all_limits
def test_two_runs_give_the_same_bits(limits):
    X, y = signal()
    problem = sl.SubsetProblem(X, y, ridge=0.05, **limits)
    first = sl.solve(problem)
    assert same_bits(first, sl.solve(problem))
    # Nothing of an earlier problem is left, nor does it matter who owns the arrays.
    sl.solve(sl.SubsetProblem(*noise(30, 12), ridge=0.1, max_features=3))
    assert same_bits(first, sl.solve(sl.SubsetProblem(X.copy(), y.copy(), ridge=0.05, **limits)))


def test_the_tree_does_not_depend_on_when_the_limits_are_checked(monkeypatch):
    """The search runs in slices of about equal time, which differ from run to run."""
    problem = sl.SubsetProblem(*noise(), ridge=0.01, max_features=5)
    plain = sl.solve(problem)
    monkeypatch.setattr(search, "_FIRST_SLICE", 0)
    slow = sl.solve(problem, callback=lambda progress: time.sleep(0.01))
    monkeypatch.setattr(search, "_SLICE_SECONDS", 1e-9)  # one node a slice
    calls = []
    sliced = sl.solve(problem, callback=calls.append)
    assert len(calls) >= 100
    assert same_bits(plain, slow)
    assert same_bits(plain, sliced)
    assert plain.certificate == sliced.certificate


@all_limits
def test_order_of_rows(limits):
    X, y = signal()
    order = np.random.default_rng(1).permutation(len(y))
    plain = sl.solve(sl.SubsetProblem(X, y, ridge=0.05, **limits))
    shuffled = sl.solve(sl.SubsetProblem(X[order], y[order], ridge=0.05, **limits))
    assert shuffled.objective == pytest.approx(plain.objective, rel=1e-9)
    assert shuffled.support == plain.support


@all_limits
def test_order_of_predictors(limits):
    X, y = signal()
    plain = sl.solve(sl.SubsetProblem(X, y, ridge=0.05, **limits))
    n_predictors = 6 if "groups" in limits else 12
    place = np.random.default_rng(2).permutation(n_predictors)  # of each predictor
    moved = dict(limits)
    if "costs" in moved:
        moved["costs"] = moved["costs"][np.argsort(place)]
    if "fees" in moved:
        moved["fees"] = [(amount, place[list(members)]) for amount, members in moved["fees"]]
    if "groups" in moved:
        moved["groups"] = place[moved["groups"]]
    else:
        X = X[:, np.argsort(place)]
    shuffled = sl.solve(sl.SubsetProblem(X, y, ridge=0.05, **moved))
    assert shuffled.objective == pytest.approx(plain.objective, rel=1e-9)
    assert shuffled.support == tuple(sorted(place[list(plain.support)].tolist()))


def test_order_of_columns_within_groups():
    X, y = signal()
    groups = np.arange(12) // 3
    order = np.random.default_rng(3).permutation(12)
    plain = sl.solve(sl.SubsetProblem(X, y, ridge=0.05, max_features=2, groups=groups))
    problem = sl.SubsetProblem(X[:, order], y, ridge=0.05, max_features=2, groups=groups[order])
    shuffled = sl.solve(problem)
    assert shuffled.objective == pytest.approx(plain.objective, rel=1e-9)
    assert shuffled.support == plain.support


@all_limits
def test_duplicated_rows_are_weights(limits):
    X, y = signal()
    copies = np.random.default_rng(4).integers(0, 4, len(y))
    weighted = sl.solve(sl.SubsetProblem(X, y, ridge=0.05, sample_weight=copies, **limits))
    X, y = np.repeat(X, copies, axis=0), np.repeat(y, copies)
    repeated = sl.solve(sl.SubsetProblem(X, y, ridge=0.05, **limits))
    assert repeated.objective == pytest.approx(weighted.objective, rel=1e-9)
    assert repeated.support == weighted.support
    assert repeated.nodes == weighted.nodes


@pytest.mark.parametrize("factor", [2.0, 0.1, 1e6, 1 / 3])
@pytest.mark.parametrize("limits", ["budget", "decimal prices", "real prices", "fees", "both"])
def test_costs_and_budget_scaled_together(limits, factor):
    X, y = signal()
    limits = LIMITS[limits]
    scaled = limits | {
        "costs": limits["costs"] * factor,
        "budget": limits["budget"] * factor,
        "fees": [(amount * factor, members) for amount, members in limits.get("fees", ())],
    }
    plain = sl.solve(sl.SubsetProblem(X, y, ridge=0.05, **limits))
    other = sl.solve(sl.SubsetProblem(X, y, ridge=0.05, **scaled))
    assert other.objective == pytest.approx(plain.objective, rel=1e-9)
    assert other.support == plain.support
    assert other.cost == pytest.approx(plain.cost * factor)


@pytest.mark.parametrize("number", [1, 2, 4, 7])
def test_unit_costs_are_a_number_of_predictors(number):
    X, y = signal()
    counted = sl.solve(sl.SubsetProblem(X, y, ridge=0.05, max_features=number))
    for limits in (
        {"budget": number},
        {"budget": number + 0.9},
        {"budget": math.pi * number, "costs": np.full(12, math.pi)},
        {"budget": 99, "costs": np.zeros(12), "max_features": number},
    ):
        priced = sl.solve(sl.SubsetProblem(X, y, ridge=0.05, **limits))
        assert priced.objective == pytest.approx(counted.objective, rel=1e-9)
        assert priced.support == counted.support


def test_scaled_weights_and_ridge_scale_the_objective():
    X, y = signal()
    plain = sl.solve(sl.SubsetProblem(X, y, ridge=0.05, max_features=4))
    weights = np.full(len(y), 1e3)
    scaled = sl.solve(sl.SubsetProblem(X, y, ridge=50.0, max_features=4, sample_weight=weights))
    assert scaled.support == plain.support
    assert scaled.objective == pytest.approx(1e3 * plain.objective, rel=1e-9)


@pytest.mark.parametrize(
    "limits", [{}, {"budget": math.inf}, {"budget": 1e9}, {"max_features": 12}]
)
@pytest.mark.parametrize("ridge", [1e-3, 0.1, 10.0])
def test_without_a_limit_it_is_ridge_logistic_regression(limits, ridge):
    X, y = signal()
    solution = sl.solve(sl.SubsetProblem(X, y, ridge=ridge, **limits))
    model = LogisticRegression(C=1 / ridge, solver="newton-cholesky", tol=1e-10).fit(X, y)
    assert solution.support == tuple(range(12))
    assert solution.coef == pytest.approx(model.coef_[0], abs=1e-5)
    assert solution.intercept == pytest.approx(model.intercept_[0], abs=1e-5)
    assert solution.status is sl.Status.OPTIMAL


# Limits. The problem takes some hundred nodes at least, and a second at most.


@pytest.fixture
def small_slices(monkeypatch):
    """Look at the limits after the first node, however fast the nodes are."""
    monkeypatch.setattr(search, "_FIRST_SLICE", 0)


@pytest.fixture
def single_nodes(monkeypatch):
    """Look at the limits after every node."""
    monkeypatch.setattr(search, "_FIRST_SLICE", 0)
    monkeypatch.setattr(search, "_SLICE_SECONDS", 1e-9)


@pytest.fixture(scope="module")
def hard():
    return sl.SubsetProblem(*noise(), ridge=0.01, max_features=6)


@pytest.fixture(scope="module")
def hard_optimum(hard):
    solution = sl.solve(hard)
    assert solution.status is sl.Status.OPTIMAL
    return solution


@pytest.mark.parametrize("node_limit", [1, 2, 7, 50])
def test_node_limit(hard, hard_optimum, node_limit):
    solution = sl.solve(hard, node_limit=node_limit)
    check_model(hard, solution)
    assert (solution.status, solution.nodes) == (sl.Status.NODE_LIMIT, node_limit)
    assert solution.lower_bound <= hard_optimum.objective <= solution.objective * (1 + 1e-9)
    assert solution.gap > 0.01
    assert solution.gap == pytest.approx(1 - solution.lower_bound / solution.objective)


def test_more_nodes_prove_more(hard):
    solutions = [sl.solve(hard, node_limit=node_limit) for node_limit in (1, 5, 25, 125)]
    bounds = [solution.lower_bound for solution in solutions]
    objectives = [solution.objective for solution in solutions]
    assert bounds == sorted(bounds)
    assert bounds[0] < bounds[-1]
    assert objectives == sorted(objectives, reverse=True)


def test_a_limit_that_is_not_reached_changes_nothing(hard, hard_optimum):
    limited = sl.solve(hard, node_limit=hard_optimum.nodes, time_limit=1e6)
    assert same_bits(limited, hard_optimum)


def test_time_limit(hard, hard_optimum, small_slices):
    solution = sl.solve(hard, time_limit=0)
    check_model(hard, solution)
    assert solution.status is sl.Status.TIME_LIMIT
    assert solution.nodes < hard_optimum.nodes
    assert solution.lower_bound < hard_optimum.objective
    assert solution.gap > 1e-3


@pytest.mark.parametrize(
    "limit, reached",
    [({"node_limit": 1}, sl.Status.NODE_LIMIT), ({"time_limit": 0}, sl.Status.TIME_LIMIT)],
)
def test_no_limit_makes_a_wrong_claim(limit, reached, small_slices):
    """Optimal if it was solved all the same, and a bound that holds if it was not."""
    seen = Counter()
    for seed in range(40):
        problem = random_problem(seed)
        solution = sl.solve(problem, **limit)
        reference = sl.solve(problem, "enumeration")
        check_model(problem, solution)
        assert solution.lower_bound <= reference.objective * (1 + 1e-12), seed
        assert solution.objective >= reference.objective * (1 - 1e-9), seed
        assert solution.status in (sl.Status.OPTIMAL, reached)
        assert solution.gap <= 1e-6 or solution.status is reached
        seen[solution.status] += 1
    assert min(seen[sl.Status.OPTIMAL], seen[reached]) >= 5, seen


def test_progress(hard, hard_optimum, small_slices):
    seen = []
    solution = sl.solve(hard, callback=seen.append)
    assert same_bits(solution, hard_optimum)
    assert len(seen) >= 2
    bounds = [progress.lower_bound for progress in seen]
    objectives = [progress.objective for progress in seen]
    nodes = [progress.nodes for progress in seen]
    seconds = [progress.seconds for progress in seen]
    assert bounds == sorted(bounds)
    assert bounds[-1] <= solution.lower_bound
    assert objectives == sorted(objectives, reverse=True)
    assert objectives[-1] >= solution.objective * (1 - 1e-12)
    assert nodes == sorted(nodes)
    assert 0 < nodes[0] < nodes[-1] <= solution.nodes
    assert seconds == sorted(seconds)
    assert 0 < seconds[0] < seconds[-1] <= solution.seconds
    assert all(progress.open_nodes >= 1 for progress in seen)
    assert all(0 <= p.lower_bound <= hard_optimum.objective * (1 + 1e-12) for p in seen)


def test_every_step_of_the_bound_holds(hard_optimum, hard, single_nodes):
    """A callback after every node: the bound never falls, and never passes the optimum."""
    seen = []
    sl.solve(hard, callback=seen.append, node_limit=400)
    bounds = np.array([progress.lower_bound for progress in seen])
    assert len(bounds) >= 300
    assert (np.diff(bounds) >= 0).all()
    assert bounds[-1] <= hard_optimum.objective
    assert (np.diff([progress.objective for progress in seen]) <= 0).all()


def test_interrupt_returns_the_incumbent_and_an_honest_gap(hard, hard_optimum, single_nodes):
    seen = []

    def interrupt(progress):
        seen.append(progress)
        if len(seen) == 2:
            raise KeyboardInterrupt

    solution = sl.solve(hard, callback=interrupt)
    check_model(hard, solution)
    assert solution.status is sl.Status.INTERRUPTED
    assert solution.nodes == seen[-1].nodes
    assert solution.lower_bound == seen[-1].lower_bound
    # Incumbents are accurate to 1e-10, and the one that is returned is fitted to the last digits.
    assert solution.objective == pytest.approx(seen[-1].objective, rel=1e-9)
    assert solution.objective <= seen[-1].objective
    assert solution.lower_bound < hard_optimum.objective
    assert solution.gap > 1e-3


def test_interrupt_before_the_first_node(hard, hard_optimum, interrupt_at):
    """There is no incumbent, but a model there must be."""
    interrupt_at(1)
    solution = sl.solve(hard)
    check_model(hard, solution)
    assert solution.status is sl.Status.INTERRUPTED
    assert math.isfinite(solution.objective)
    assert solution.lower_bound <= hard_optimum.objective


def test_errors_of_the_callback_are_not_swallowed(hard, small_slices):
    def fail(progress):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        sl.solve(hard, callback=fail)


@all_limits
def test_warm_start_changes_the_start_and_not_the_answer(limits):
    X, y = signal()
    problem = sl.SubsetProblem(X, y, ridge=0.05, **limits)
    best = sl.solve(problem)
    for start in (best.support, (), (1,), (5,)):
        warm = sl.solve(problem, warm_start=start)
        check_model(problem, warm)
        assert warm.status is sl.Status.OPTIMAL
        assert warm.support == best.support
        assert warm.objective == pytest.approx(best.objective, rel=1e-9)


def test_warm_start_is_an_incumbent_from_the_first_node_on(hard, hard_optimum):
    stopped = sl.solve(hard, warm_start=hard_optimum.support, node_limit=1)
    assert stopped.support == hard_optimum.support
    assert stopped.objective == pytest.approx(hard_optimum.objective, rel=1e-9)
    assert stopped.status is sl.Status.NODE_LIMIT
    assert stopped.lower_bound < hard_optimum.objective


def test_warm_start_that_is_not_affordable_is_ignored(hard, hard_optimum):
    assert same_bits(sl.solve(hard, warm_start=range(7)), hard_optimum)


def test_a_wider_gap_needs_fewer_nodes_and_is_honest(hard, hard_optimum):
    loose = sl.solve(hard, gap=0.01)
    check_model(hard, loose)
    assert loose.status is sl.Status.OPTIMAL
    assert loose.nodes < hard_optimum.nodes
    assert 1e-6 < loose.gap <= 0.01
    assert loose.lower_bound <= hard_optimum.objective <= loose.objective * (1 + 1e-9)


@pytest.mark.parametrize("gap", [0.0, 1e-12, 1e-9])
def test_a_gap_near_the_precision_of_doubles_is_met_or_not_claimed(gap):
    problem = sl.SubsetProblem(*signal(), ridge=0.05, max_features=4)
    solution = sl.solve(problem, gap=gap)
    check_model(problem, solution)
    assert solution.gap <= 1e-9
    assert solution.status in (sl.Status.OPTIMAL, sl.Status.STALLED)
    if solution.status is sl.Status.OPTIMAL:
        assert solution.gap <= max(gap, problem.family.resolution)


@pytest.mark.parametrize("seed", range(20))
def test_the_model_is_converged_and_not_only_its_objective(seed):
    """The objective is flat at the optimum: with 16 digits of it right, predictions may have 8.

    Scikit-learn expects 7 digits of every prediction, those close to 0 included, to be the same
    for equivalent data, for example with weights instead of repeated rows.
    """
    X, y = signal(seed=seed)
    problem = sl.SubsetProblem(X, y, ridge=0.05, max_features=4)
    solution = sl.solve(problem)
    rest = sorted(set(range(12)) - set(solution.support))
    reference = sl.solve(
        sl.SubsetProblem(X, y, ridge=0.05, include=solution.support, exclude=rest), "enumeration"
    )
    margins = problem.decision_function(solution.coef, solution.intercept)
    exact = problem.decision_function(reference.coef, reference.intercept)
    assert margins == pytest.approx(exact, abs=1e-9)


def test_what_adds_nothing_is_not_paid_for():
    """Columns that no label depends on: their coefficients are exactly 0."""
    X = np.array([[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)], dtype=float) * 2 - 1
    problem = sl.SubsetProblem(X, X[:, 0] > 0, ridge=0.5, budget=9, costs=[2, 3, 4])
    solution = sl.solve(problem)
    assert solution.support == (0,)
    assert solution.cost == 2
    assert sl.verify(problem, solution.certificate).valid
    required = sl.solve(problem.with_limits(include=[1]))
    assert required.support == (0, 1)
