"""A search that is broken off, inside of a node: by the clock or by the user."""

import os
import signal
import threading

import numpy as np
import pytest

import shortlist as sl
from shortlist.native import search
from shortlist.native.core import core, prepare

N = 2000  # a square of it takes many seconds for the first model


def square(loss="logistic", **limits):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, N))
    y = X[:, :20].sum(axis=1) + 3 * rng.normal(size=N) > 0
    return sl.SubsetProblem(X, y, ridge=1.0, loss=loss, **limits)


@pytest.fixture(scope="module")
def problem():
    return square(max_features=N // 2)


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "hinge"])
def test_the_first_model_is_broken_off(problem, loss):
    """In its first node, which alone would take many times as long."""
    limited = square(loss, max_features=N // 2)
    solution = sl.solve(limited, time_limit=0.5)
    assert solution.status is sl.Status.TIME_LIMIT
    assert 0 < len(solution.support) < N // 2
    assert solution.objective < prepare(limited).problem.null_objective
    assert 0 <= solution.lower_bound <= solution.objective


def test_ctrl_c_reaches_inside(problem):
    # A process in the background of a shell may have been started to ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        solution = sl.solve(problem)
    finally:
        signal.signal(signal.SIGINT, before)
    assert solution.status is sl.Status.INTERRUPTED
    assert 0 < len(solution.support) < N // 2


def test_what_a_handler_raises_ends_the_search(problem):
    class EnoughError(Exception):
        pass

    def give_up(*_):
        raise EnoughError

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(EnoughError):
            sl.solve(problem)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_search_that_was_broken_off_does_not_go_on(problem):
    prepared = prepare(problem)
    broken = core.Search(prepared.problem, prepared.limits, 1e-6)
    assert not broken.run(1, 2**62, 1, 0.0)
    objective = broken.objective
    assert not broken.run(1, 2**62, 1, 1e9)
    assert broken.objective == objective


def test_what_is_proven_by_then_is_kept():
    """The relaxation of the root is broken off after some steps; its last point is a proof."""
    problem = square(max_features=3)
    for seconds in (1.0, 2.0, 4.0, 8.0):
        solution = sl.solve(problem, time_limit=seconds)
        if solution.lower_bound > 0:
            break
    assert sl.verify(problem, solution.certificate).lower_bound >= 0.999 * solution.lower_bound > 0


@pytest.mark.parametrize("threads", [1, 3])
def test_a_proof_of_a_search_that_is_broken_off_anywhere_holds(threads, monkeypatch):
    """Nodes go back to the tree, with nothing of them left in the trace."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 24))
    y = X[:, :4].sum(axis=1) + rng.logistic(size=60) > 0
    problem = sl.SubsetProblem(X, y, ridge=1e-3, max_features=8)
    optimum = sl.solve(problem, time_limit=60).objective
    for seconds in (0.11, 0.13, 0.17, 0.2):
        monkeypatch.setattr(search, "_SLICE_SECONDS", 10.0)
        solution = sl.solve(problem, time_limit=seconds, threads=threads)
        verdict = sl.verify(problem, solution.certificate)
        assert verdict.valid, verdict.reason
        assert verdict.lower_bound <= optimum * (1 + 1e-9)
        assert solution.objective >= optimum * (1 - 1e-6)
