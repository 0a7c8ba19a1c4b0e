"""Rounds of a long search: the same bits for every number of threads, and answers that hold."""

import multiprocessing
from collections import Counter

import numpy as np
import pytest
from random_problems import random_problem

import shortlist as sl
from shortlist.solver import driver, recording, rounds

pytestmark = pytest.mark.filterwarnings("ignore:budget")


@pytest.fixture
def from_the_first_node(monkeypatch):
    """Rounds from the root on, with parts of few nodes: problems here are small."""
    monkeypatch.setattr(rounds, "_LONG_SEARCH", 0)
    monkeypatch.setattr(rounds, "_FIRST_NODE", 0)
    monkeypatch.setattr(rounds, "_MOST_NODES", 2)
    monkeypatch.setattr(rounds, "_LEAST_NODES", 2)


@pytest.fixture
def played(monkeypatch):
    """Count the rounds, and how many parts each had."""
    counts = []
    deal = rounds.Rounds._deal

    def counting(self):
        shares = deal(self)
        counts.append(len(shares))
        return shares

    monkeypatch.setattr(rounds.Rounds, "_deal", counting)
    return counts


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


def bits(solution):
    """All that a solution says, but for the time."""
    return (
        solution.status,
        solution.support,
        solution.coef.tobytes(),
        solution.intercept,
        solution.objective,
        solution.lower_bound,
        solution.nodes,
        solution.certificate,
    )


def test_the_same_bits_for_every_number_of_threads(hard, hard_optimum, from_the_first_node, played):
    answers = [bits(sl.solve(hard, threads=threads)) for threads in (1, 2, 3, 8, None, 1)]
    assert all(answer == answers[0] for answer in answers)
    assert max(played) == 16
    assert len(played) % 6 == 0
    assert len(played) > 6 * 5
    assert answers[0][1] == hard_optimum.support


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_the_same_bits_under_a_node_limit(hard, hard_optimum, from_the_first_node, threads):
    for node_limit in (1, 3, 17, 100, 101):
        solution = sl.solve(hard, node_limit=node_limit, threads=threads)
        assert (solution.status, solution.nodes) == (sl.Status.NODE_LIMIT, node_limit)
        assert bits(solution) == bits(sl.solve(hard, node_limit=node_limit, threads=1))
        assert solution.lower_bound <= hard_optimum.objective <= solution.objective * (1 + 1e-9)
        verdict = sl.verify(hard, solution.certificate)
        assert verdict.valid, verdict


def check_random_problem(seed):
    """Solve in rounds, and compare with enumeration and the checker."""
    problem = random_problem(seed)
    solution = sl.solve(problem, threads=1 + seed % 3)
    reference = sl.solve(problem, "enumeration")
    assert solution.status is sl.Status.OPTIMAL
    assert problem.limits.is_affordable(solution.support)
    assert solution.objective == pytest.approx(reference.objective, rel=1e-6)
    assert solution.lower_bound >= solution.objective * (1 - 1e-6)
    assert solution.lower_bound <= reference.objective * (1 + 1e-12)
    verdict = sl.verify(problem, solution.certificate)
    assert verdict.valid, verdict


def test_rounds_find_what_enumeration_finds_and_prove_it(from_the_first_node, played):
    for seed in range(60):
        check_random_problem(seed)
    assert len(played) > 60
    assert Counter(played).keys() > {1, 2, 3}


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_other_losses(hard, from_the_first_node, played, loss):
    problem = sl.SubsetProblem(hard.X[:, :12], hard.signs, ridge=0.1, max_features=4, loss=loss)
    answers = [bits(sl.solve(problem, threads=threads)) for threads in (1, 3)]
    assert answers[0] == answers[1]
    assert len(played) > 2
    solution, reference = sl.solve(problem), sl.solve(problem, "enumeration")
    assert solution.status is sl.Status.OPTIMAL
    assert solution.objective == pytest.approx(reference.objective, rel=1e-6)
    assert sl.verify(problem, solution.certificate).valid


@pytest.mark.slow
def test_rounds_find_what_enumeration_finds_and_prove_it_many_times(from_the_first_node):
    for seed in range(60, 560):
        check_random_problem(seed)


def test_a_part_may_process_a_single_node(hard, hard_optimum, from_the_first_node, monkeypatch):
    monkeypatch.setattr(rounds, "_LEAST_NODES", 1)
    monkeypatch.setattr(rounds, "_MOST_NODES", 1)
    monkeypatch.setattr(rounds, "_MOST_PARTS", 3)
    solution = sl.solve(hard, threads=2)
    assert solution.status is sl.Status.OPTIMAL
    assert solution.support == hard_optimum.support
    assert sl.verify(hard, solution.certificate).valid


def test_a_short_search_is_what_it_was(hard, hard_optimum, monkeypatch):
    """No round begins before the search is long, and what came before is the same search."""

    def fail(self):
        raise AssertionError("a short search plays no rounds")

    monkeypatch.setattr(rounds.Rounds, "play", fail)
    assert bits(sl.solve(hard, threads=8)) == bits(hard_optimum)
    monkeypatch.setattr(rounds, "_LONG_SEARCH", 0)
    monkeypatch.setattr(rounds, "_FIRST_NODE", 0)
    with pytest.raises(AssertionError, match="no rounds"):
        sl.solve(hard)


def test_rounds_begin_at_a_node_that_the_clock_does_not_choose(
    hard, from_the_first_node, monkeypatch, played
):
    size = hard.X.size + rounds._NODE_ENTRIES
    monkeypatch.setattr(rounds, "_LONG_SEARCH", 100 * size)
    sl.solve(hard, node_limit=100)
    assert not played
    sl.solve(hard, node_limit=101)
    assert played == [1]
    answers = []
    for seconds in (1e-9, 0.05, 10.0):
        monkeypatch.setattr(driver, "_SLICE_SECONDS", seconds)
        answers.append(bits(sl.solve(hard, threads=2)))
    assert answers[0] == answers[1] == answers[2]


def test_without_memory_for_parts_there_are_no_rounds(
    hard, hard_optimum, from_the_first_node, monkeypatch, played
):
    monkeypatch.setattr(rounds, "_MOST_MEMORY", 1000)
    assert bits(sl.solve(hard, threads=2)) == bits(hard_optimum)
    assert not played


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupted_round_loses_no_node(
    hard, hard_optimum, from_the_first_node, monkeypatch, threads
):
    """Ctrl-C before, in and after a part: the bound holds and the proof covers everything."""
    for last in (1, 2, 5, 30):
        calls = []
        run_search = rounds.run_search

        def interrupted(*arguments, calls=calls, last=last, run_search=run_search):
            calls.append(arguments)
            if len(calls) == last:
                raise KeyboardInterrupt
            return run_search(*arguments)

        with monkeypatch.context() as context:
            context.setattr(rounds, "run_search", interrupted)
            solution = sl.solve(hard, threads=threads)
        assert solution.status is sl.Status.INTERRUPTED
        assert solution.lower_bound <= hard_optimum.objective
        assert solution.gap > 1e-3
        verdict = sl.verify(hard, solution.certificate)
        assert verdict.valid, verdict


def test_an_interrupted_collection_loses_no_node(
    hard, hard_optimum, from_the_first_node, monkeypatch
):
    collect, calls = rounds.collect, []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 40:
            raise KeyboardInterrupt
        collect(*arguments)

    monkeypatch.setattr(rounds, "collect", interrupted)
    solution = sl.solve(hard, threads=2)
    assert solution.status is sl.Status.INTERRUPTED
    assert solution.lower_bound <= hard_optimum.objective
    assert sl.verify(hard, solution.certificate).valid


@pytest.mark.parametrize("threads", [1, 3])
def test_time_limit(hard, hard_optimum, from_the_first_node, threads):
    """Parts that the clock does not let begin are collected as they were dealt."""
    solution = sl.solve(hard, time_limit=1e-9, threads=threads)
    assert solution.status is sl.Status.TIME_LIMIT
    assert solution.lower_bound <= hard_optimum.objective
    assert sl.verify(hard, solution.certificate).valid


def test_errors_in_a_thread_are_not_swallowed(hard, from_the_first_node, monkeypatch):
    def fail(*arguments):
        raise RuntimeError("mine")

    monkeypatch.setattr(rounds, "run_search", fail)
    with pytest.raises(RuntimeError, match="mine"):
        sl.solve(hard, threads=2)


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


def test_a_proof_that_is_too_long_is_given_up_in_rounds_too(
    hard, hard_optimum, from_the_first_node, monkeypatch
):
    monkeypatch.setattr(recording, "_LARGEST_TRACE", 2**20)
    with pytest.warns(sl.ShortlistWarning, match="without recording"):
        solution = sl.solve(hard, threads=2)
    assert solution.certificate is None
    assert solution.support == hard_optimum.support


def test_a_worker_process_has_one_core(monkeypatch):
    assert rounds.usable_cores() >= 1
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: object())
    assert rounds.usable_cores() == 1
