"""Long searches: the same bits for any threads and slices, proofs that hold wherever they end."""

import multiprocessing
from types import SimpleNamespace

import numpy as np
import pytest
from answers import bits, check_model
from random_problems import random_problem

import shortlist as sl
from shortlist.native import proof, search
from shortlist.native.core import core

pytestmark = pytest.mark.filterwarnings("ignore:budget", "ignore:strata")


@pytest.fixture
def plan(monkeypatch):
    """Rounds of other parts, from another node on: problems here are small."""

    def plan(first_node, nodes_of_part=2, n_parts=16):
        def new_search(*arguments):
            made = core.Search(*arguments)
            core.testing.plan_rounds(made, first_node, nodes_of_part, n_parts)
            return made

        monkeypatch.setattr(search, "core", SimpleNamespace(Search=new_search))

    return plan


@pytest.fixture
def from_the_first_node(plan):
    plan(0)


@pytest.fixture(scope="module")
def hard():
    """A problem of some hundred nodes."""
    rng = np.random.default_rng(5)
    X = rng.random((80, 40))
    return sl.SubsetProblem(X, rng.random(80) > 0.5, ridge=0.01, max_features=6)


@pytest.fixture(scope="module")
def hard_optimum(hard):
    solution = sl.solve(hard)
    assert solution.status is sl.Status.OPTIMAL
    assert solution.nodes > 300
    return solution


def check_limited(problem, solution, optimum):
    """What a search that was ended says is true, and its proof covers everything."""
    check_model(problem, solution)
    assert solution.lower_bound <= optimum.objective <= solution.objective * (1 + 1e-9)
    verdict = sl.verify(problem, solution.certificate)
    assert verdict.valid, verdict


def test_the_same_bits_for_every_number_of_threads(hard, hard_optimum, from_the_first_node):
    answers = [bits(sl.solve(hard, threads=threads)) for threads in (1, 2, 3, 8, None, 1)]
    assert all(answer == answers[0] for answer in answers)
    assert answers[0] != bits(hard_optimum)  # rounds are another search
    assert answers[0][1] == hard_optimum.support


def test_the_same_bits_for_every_number_of_threads_with_times(from_the_first_node):
    rng = np.random.default_rng(5)
    X, time = rng.random((80, 30)), rng.exponential(size=80).round(1) + 0.1
    y = sl.survival(time, rng.random(80) < 0.6)
    problem = sl.SubsetProblem(X, y, ridge=0.01, max_features=5, loss="cox")
    answers = [bits(sl.solve(problem, threads=threads)) for threads in (1, 2, 3)]
    assert answers[0][-2] > 300
    assert all(answer == answers[0] for answer in answers)


def test_the_same_bits_for_every_slice(hard, from_the_first_node, monkeypatch):
    expected, calls = bits(sl.solve(hard, threads=2)), []
    monkeypatch.setattr(search, "_FIRST_SLICE", 0)
    for seconds in (1e-9, 0.002, 10.0):
        monkeypatch.setattr(search, "_SLICE_SECONDS", seconds)
        assert bits(sl.solve(hard, threads=2, callback=calls.append)) == expected
    assert len(calls) > 20


def test_a_round_has_the_nodes_that_the_plan_says(hard, plan):
    """At most 16 parts of equally many nodes; a search before its rounds is what it was."""
    plan(100, nodes_of_part=2)
    whole = sl.solve(hard, node_limit=100)
    plan(10**6)
    assert bits(sl.solve(hard, node_limit=100)) == bits(whole)
    plan(100, nodes_of_part=2)
    counts = []
    sl.solve(hard, callback=lambda progress: counts.append(progress.nodes))
    after = [count for count in counts if count >= 100]
    assert after[0] == 100
    assert 20 < max(np.diff(after)) <= 32


def test_a_problem_of_many_rows_has_rounds_of_itself():
    rng = np.random.default_rng(0)
    X = rng.random((4000, 80))
    problem = sl.SubsetProblem(X, rng.random(4000) > 0.5, ridge=0.01, max_features=5)
    answers = []
    for threads in (1, 3):
        solution = sl.solve(problem, threads=threads, node_limit=150)
        assert solution.nodes == 150
        answers.append(bits(solution))
    assert answers[0] == answers[1]


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_node_limit(hard, hard_optimum, from_the_first_node, threads):
    for node_limit in (1, 3, 17, 100, 101):
        solution = sl.solve(hard, node_limit=node_limit, threads=threads)
        assert (solution.status, solution.nodes) == (sl.Status.NODE_LIMIT, node_limit)
        assert bits(solution) == bits(sl.solve(hard, node_limit=node_limit, threads=1))
        check_limited(hard, solution, hard_optimum)


@pytest.mark.parametrize("threads", [1, 3])
def test_time_limit(hard, hard_optimum, from_the_first_node, threads, monkeypatch):
    """Parts that the clock does not let begin are collected as they were dealt."""
    monkeypatch.setattr(search, "_FIRST_SLICE", 0)
    for seconds in (1e-9, 0.002, 0.004, 0.008):
        solution = sl.solve(hard, time_limit=seconds, threads=threads)
        assert solution.status is sl.Status.TIME_LIMIT or seconds > 1e-9
        check_limited(hard, solution, hard_optimum)


@pytest.mark.parametrize("n", [2, 3, 5, 15])
@pytest.mark.parametrize("is_round", [True, False])
def test_interrupt(hard, hard_optimum, plan, interrupt_at, monkeypatch, n, is_round):
    monkeypatch.setattr(search, "_FIRST_SLICE", 0)
    monkeypatch.setattr(search, "_SLICE_SECONDS", 1e-9)
    if is_round:
        plan(0)
    interrupt_at(n)
    solution = sl.solve(hard, threads=2)
    assert solution.status is sl.Status.INTERRUPTED
    assert solution.nodes > 0
    check_limited(hard, solution, hard_optimum)


def check_random_problem(seed, loss="logistic"):
    """Solve in rounds, and compare with enumeration and the checker."""
    problem = random_problem(seed, loss)
    solution = sl.solve(problem, threads=1 + seed % 3)
    reference = sl.solve(problem, "enumeration")
    check_model(problem, solution)
    assert solution.status is sl.Status.OPTIMAL
    unit = problem.scale.of(reference.objective)
    assert solution.objective == pytest.approx(reference.objective, abs=1e-6 * unit)
    assert solution.gap <= 1e-6
    assert solution.lower_bound <= reference.objective + 1e-12 * unit
    verdict = sl.verify(problem, solution.certificate)
    assert verdict.valid, verdict
    return solution.nodes


@pytest.mark.parametrize(
    ("loss", "seeds"), [("logistic", 60), ("squared_hinge", 20), ("hinge", 20), ("cox", 40)]
)
def test_rounds_find_what_enumeration_finds_and_prove_it(from_the_first_node, loss, seeds):
    n_nodes = [check_random_problem(seed, loss) for seed in range(seeds)]
    assert sum(n > 2 for n in n_nodes) >= seeds // 5


@pytest.mark.slow
def test_rounds_find_what_enumeration_finds_and_prove_it_many_times(from_the_first_node):
    for seed in range(60, 560):
        check_random_problem(seed)


def test_a_part_may_process_a_single_node(hard, hard_optimum, plan):
    plan(0, nodes_of_part=1, n_parts=3)
    solution = sl.solve(hard, threads=2)
    assert solution.status is sl.Status.OPTIMAL
    assert solution.support == hard_optimum.support
    assert sl.verify(hard, solution.certificate).valid


def test_progress(hard, hard_optimum, from_the_first_node):
    seen = []
    solution = sl.solve(hard, callback=seen.append, threads=2)
    bounds = [progress.lower_bound for progress in seen]
    objectives = [progress.objective for progress in seen]
    assert len(seen) > 5
    assert bounds == sorted(bounds)
    assert bounds[-1] <= solution.lower_bound
    assert objectives == sorted(objectives, reverse=True)
    assert [p.nodes for p in seen] == sorted(p.nodes for p in seen)
    assert all(p.lower_bound <= hard_optimum.objective for p in seen)


# --- the length of a proof ---


def test_a_proof_that_is_too_long_is_given_up_in_rounds_too(
    hard, hard_optimum, from_the_first_node, monkeypatch
):
    monkeypatch.setattr(search, "_PART_OF_TRACE", 2**18)
    monkeypatch.setattr(proof, "_SHARE_OF_DISK", 0.0)
    with pytest.warns(sl.ShortlistWarning, match="without recording"):
        solution = sl.solve(hard, threads=2)
    assert solution.certificate is None
    assert solution.support == hard_optimum.support


def test_a_proof_that_is_too_long_in_the_last_slice_is_told(monkeypatch):
    """That a search takes a single slice makes no difference to its warning."""
    problem = random_problem(0)
    assert sl.solve(problem).certificate is not None
    monkeypatch.setattr(search, "_PART_OF_TRACE", 1)
    monkeypatch.setattr(proof, "_SHARE_OF_DISK", 0.0)
    with pytest.warns(sl.ShortlistWarning, match="without recording"):
        solution = sl.solve(problem)
    assert solution.certificate is None


@pytest.mark.filterwarnings("error::shortlist.ShortlistWarning")
def test_nobody_is_warned_of_a_proof_that_is_not_wanted(hard, hard_optimum, monkeypatch):
    monkeypatch.setattr(search, "_FIRST_SLICE", 0)
    threshold = hard_optimum.objective * 1.001
    without = search.list_models(hard, threshold, 10)
    assert without.prover is None
    listed = search.list_models(hard, threshold, 10, with_proof=True)
    assert listed.prover is not None
    assert [m.support for m in listed.models] == [m.support for m in without.models]


def test_a_worker_process_has_one_core(monkeypatch):
    assert search.usable_cores() >= 1
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: object())
    assert search.usable_cores() == 1
