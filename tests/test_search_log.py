"""The log of a search: what it says, how often, and that it changes nothing."""

from __future__ import annotations

import re

import pytest
from answers import same_bits
from random_problems import random_problem

import shortlist as sl
from shortlist import search_log
from shortlist.native import search

ROW = re.compile(r"\s*\d+\s+\d*(\s+-?\d+\.\d{6}){2}\s+\d+\.\d{4}%\s+\d+\.\d")
HEADER = ["nodes", "open", "incumbent", "bound", "gap", "seconds"]


@pytest.fixture(scope="module")
def problem():
    data = sl.datasets.make_prognostic(n_samples=120, n_features=16, random_state=3)
    return sl.SubsetProblem(
        data.X, data.y, ridge=0.01, budget=25, costs=data.costs, max_features=6, exclude=[0]
    )


@pytest.fixture
def nodes_one_by_one(monkeypatch):
    monkeypatch.setattr(search, "_FIRST_SLICE", 0.0)
    monkeypatch.setattr(search, "_SLICE_SECONDS", 0.0)


def test_nothing_is_printed_by_default(problem, capsys):
    sl.solve(problem)
    assert capsys.readouterr() == ("", "")


def test_the_log_says_what_is_searched_and_how_it_ended(
    problem, capsys, monkeypatch, nodes_one_by_one
):
    monkeypatch.setattr(search_log, "SECONDS_BETWEEN", 0.0)
    solution = sl.solve(problem, verbose=True, time_limit=100)
    size, limits, stops, header, *rows, end = capsys.readouterr().out.splitlines()
    assert size == "120 rows, 16 columns, 16 predictors; loss logistic, ridge 0.01"
    assert limits.startswith("limits: budget 25 (everything costs ")
    assert limits.endswith("), at most 6 predictors, 1 excluded")
    assert stops == "stops at: gap 1e-06, 100 seconds"
    assert header.split() == HEADER
    assert len(rows) > 2
    assert all(ROW.fullmatch(row) for row in rows), rows
    nodes, incumbent, bound, *_ = rows[-1].split()
    assert int(nodes) == solution.nodes
    assert (incumbent, bound) == (f"{solution.objective:.6f}", f"{solution.lower_bound:.6f}")
    assert end == f"status: optimal; bought for {solution.cost:g}: {', '.join(solution.names)}"


def test_a_line_a_second_at_most(problem, capsys, monkeypatch, nodes_one_by_one):
    now = iter(range(1000))
    monkeypatch.setattr(search_log, "perf_counter", lambda: next(now) / 4)
    seen = []
    sl.solve(problem, verbose=True, callback=seen.append)
    assert len(seen) >= 4
    assert len(capsys.readouterr().out.splitlines()) == 4 + len(seen) // 4 + 2


@pytest.mark.parametrize("seed", range(5))
def test_the_answer_has_the_same_bits(seed, nodes_one_by_one):
    problem = random_problem(seed)
    assert same_bits(sl.solve(problem, verbose=True), sl.solve(problem))


@pytest.mark.parametrize("backend", ["forward", "enumeration"])
def test_every_backend_has_a_log(problem, capsys, backend):
    small = problem.with_limits(budget=5, max_features=2)
    solution = sl.solve(small, backend, verbose=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith(f"status: {solution.status.value}; bought for ")


def test_a_limit_is_the_status(problem, capsys):
    sl.solve(problem, verbose=True, node_limit=1)
    *_, stops, _, _, end = capsys.readouterr().out.splitlines()
    assert stops == "stops at: gap 1e-06, 1 nodes"
    assert end.startswith("status: node_limit; ")
