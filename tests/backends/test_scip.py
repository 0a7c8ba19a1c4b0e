"""SCIP's limits, bounds and tolerances; its answers are in test_catalogue."""

import sys
from functools import partial

import numpy as np
import pytest
from catalogue import CATALOGUE
from random_problems import limited_problem, random_problem

import shortlist as sl
from shortlist.errors import MissingDependencyError
from shortlist.families import FAMILIES

pyscipopt = pytest.importorskip("pyscipopt", reason="needs shortlist[scip]")

KNOWN = CATALOGUE["cardinality, weak ridge"]


def solve(problem=None, **options):
    return sl.solve(KNOWN.problem() if problem is None else problem, "scip", **options)


@pytest.mark.parametrize(
    ("limit", "status"),
    [
        ({"node_limit": 1}, sl.Status.NODE_LIMIT),
        ({"time_limit": 0}, sl.Status.TIME_LIMIT),
        ({"time_limit": 1e-3}, sl.Status.TIME_LIMIT),
    ],
)
def test_a_limit_gives_a_model_and_a_bound_and_never_optimal(limit, status):
    solution = solve(**limit)
    assert solution.status is status
    assert solution.lower_bound <= KNOWN.objective <= solution.objective * (1 + 1e-9)
    assert solution.gap > 1e-6


# On these, formulations that look the same made SCIP claim a bound of up to twice the optimum:
# without bounds on the intercept, or on the arguments of exp, or with columns far from 0.
@pytest.mark.parametrize("seed", [4, 56, 72])
def test_numerically_difficult_problem(seed):
    problem = random_problem(seed)
    reference = sl.solve(problem, "enumeration")
    solution = solve(problem)
    assert solution.status in (sl.Status.OPTIMAL, sl.Status.STALLED)
    assert solution.objective == pytest.approx(reference.objective, rel=1e-9)
    assert solution.lower_bound <= reference.objective
    assert solution.gap < 1e-5


@pytest.mark.parametrize("loss", [name for name in FAMILIES if name != "logistic"])
@pytest.mark.filterwarnings("ignore:budget")
def test_other_losses_agree_with_the_native_search(loss):
    n_optimal = 0
    for seed in (1, 3, 6, 8):
        problem = random_problem(seed, loss)
        reference, solution = sl.solve(problem, "enumeration"), solve(problem, time_limit=20)
        assert solution.lower_bound <= reference.objective * (1 + 1e-9), seed
        assert solution.objective >= reference.objective * (1 - 1e-9), seed
        if solution.status is sl.Status.OPTIMAL:
            n_optimal += 1
            assert solution.objective == pytest.approx(reference.objective, rel=1e-6), seed
            assert solution.objective == pytest.approx(sl.solve(problem).objective, rel=2e-6)
    assert n_optimal >= 2


def test_limits_that_no_model_reaches_are_no_numbers_for_scip():
    arguments = KNOWN.arguments()
    problem = sl.SubsetProblem(**arguments, max_coefficient=[1e200, 1e3, *[1e25] * 6])
    solution = solve(problem)
    assert solution.status is sl.Status.OPTIMAL
    assert solution.objective == pytest.approx(KNOWN.objective, rel=1e-9)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:budget")
@pytest.mark.parametrize(
    "make",
    [
        random_problem,
        limited_problem,
        partial(random_problem, loss="squared_hinge"),
        partial(random_problem, loss="hinge"),
    ],
)
@pytest.mark.parametrize("first", range(0, 120, 20))
def test_random_problems(first, make):
    for seed in range(first, first + 20):
        problem = make(seed)
        reference = sl.solve(problem, "enumeration")
        solution = solve(problem, time_limit=60)
        assert solution.lower_bound <= reference.objective * (1 + 1e-9), seed
        if solution.status is sl.Status.OPTIMAL:
            assert solution.objective == pytest.approx(reference.objective, rel=1e-6), seed


def test_a_gap_that_tolerances_keep_open_is_not_called_optimal():
    solution = solve(gap=1e-12)
    assert solution.status is sl.Status.STALLED
    assert 1e-12 < solution.gap < 1e-6


def test_a_selection_that_only_a_tolerance_affords_is_not_bought():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = X[:, 0] + X[:, 1] + 0.3 * rng.logistic(size=40) > 0
    costs = [0.5, 0.5 + 5e-9, 0.4]
    problem = sl.SubsetProblem(X, y, ridge=0.1, costs=costs, budget=1.0)
    assert not problem.limits.is_affordable((0, 1))
    solution = solve(problem)
    assert solution.support == sl.solve(problem, "enumeration").support == (0, 2)
    assert solution.nodes >= 2  # one at least of the run that buys the pair, and of the next
    # What SCIP proved allows for the pair, or does not: the bound holds either way.
    assert solution.lower_bound <= solution.objective


def test_the_warm_start_is_used():
    assert solve(time_limit=0, warm_start=KNOWN.supports[0]).support == KNOWN.supports[0]


def test_the_callback_sees_bounds_that_enclose_the_optimum():
    seen = []
    solution = solve(callback=seen.append)
    assert seen
    for progress in seen:
        assert 0 <= progress.lower_bound <= KNOWN.objective
        assert progress.objective >= KNOWN.objective * (1 - 1e-6)
        assert 0 < progress.nodes <= solution.nodes


def test_an_exception_of_the_callback_is_raised():
    def fail(progress):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        solve(callback=fail)


def test_an_interruption_keeps_the_best_model():
    def interrupt(progress):
        raise KeyboardInterrupt

    solution = solve(callback=interrupt)
    assert solution.status is sl.Status.INTERRUPTED
    assert solution.lower_bound <= KNOWN.objective <= solution.objective * (1 + 1e-9)


def test_two_runs_give_the_same_tree():
    first, second = solve(), solve()
    assert (first.nodes, first.lower_bound) == (second.nodes, second.lower_bound)
    assert (first.coef == second.coef).all()


def test_without_the_package_a_sentence_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyscipopt", None)
    with pytest.raises(MissingDependencyError, match=r"install 'shortlist\[scip\]'.*'native'"):
        solve()
