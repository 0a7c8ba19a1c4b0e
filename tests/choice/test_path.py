"""The steps of a path, its table, its figure, and how far it is known.

That every step is right is tested against brute force.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import shortlist as sl
from shortlist.choice import record

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.colors import to_rgba  # noqa: E402


@pytest.fixture(scope="module")
def problem():
    """Four predictors that matter more or less, with prices, a fee and a budget."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.normal(size=(90, 5)), columns=["a", "b", "c", "price_$", "e"])
    y = X.to_numpy() @ [1.0, -1.5, 0.5, 2.0, 0.0] + rng.logistic(size=90) > 0
    return sl.SubsetProblem(
        X, y, ridge=0.1, costs=[1, 2, 2, 5, 1], budget=9, fees=[(2, ["a", "b"])]
    )


@pytest.fixture(scope="module")
def path(problem):
    return sl.solve_path(problem)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


def test_by_budget(problem, path):
    assert len(path) > 4
    assert (path.limit_name, path.highest_limit) == ("budget", 9)
    assert all(step.solution.cost == step.limit for step in path)
    limited = sl.solve_path(problem.with_limits(max_features=2))
    assert max(len(step.solution.support) for step in limited) == 2


@pytest.mark.parametrize("max_features", [3, None])
def test_by_number(problem, max_features):
    path = sl.solve_path(
        sl.SubsetProblem(problem.X, problem.response.values, ridge=0.1, max_features=max_features)
    )
    assert (path.limit_name, path.highest_limit) == ("max_features", max_features or np.inf)
    assert [step.limit for step in path] == list(range((max_features or 5) + 1))
    assert [len(step.solution.support) for step in path] == [step.limit for step in path]


def test_costs_without_a_budget(problem):
    path = sl.solve_path(problem.with_limits(budget=np.inf))
    assert path.highest_limit == np.inf
    assert path[-1].solution.support == (0, 1, 2, 3, 4)
    assert path[-1].limit == 13
    assert path.at(1000) == path[-1]


def test_at(path):
    second = path[1]
    assert path.at(second.limit) == second
    assert path.at(second.limit * (1 - 1e-15)) == second
    assert path.at(second.limit - 0.01) == path[0]
    assert path.at(9) == path[-1]


@pytest.mark.parametrize("limit", [-1, 9.001, float("nan"), np.inf])
def test_at_a_limit_that_the_path_does_not_know(path, limit):
    with pytest.raises(sl.InvalidProblemError, match="limit: the path is known from 0 to 9, so"):
        path.at(limit)


def test_table(path):
    frame = path.to_frame()
    assert len(frame) == len(path)
    bought = set()
    for step, (_, row) in zip(path, frame.iterrows(), strict=True):
        assert row["budget"] == row["cost"] == step.limit
        assert row["objective"] == step.solution.objective
        assert row["lower_bound"] == step.solution.lower_bound
        bought = (bought | names(row["gained"])) - names(row["lost"])
        assert names(row["predictors"]) == bought
        assert row["n_predictors"] == len(bought)
    assert "price_$" in frame["predictors"].iloc[-1]


def names(text):
    return set(text.split(", ")) if text else set()


def test_time_limit_is_honest(problem):
    path = sl.solve_path(problem, time_limit=0)
    for step in path:
        assert step.solution.status in (sl.Status.OPTIMAL, sl.Status.TIME_LIMIT)
        assert step.solution.lower_bound <= step.solution.objective


def check_figure(path):
    """The figure shows the numbers of the table, and all its texts."""
    figure = path.plot()
    top, bottom = figure.axes
    frame = path.to_frame()
    (dots,) = top.lines
    assert dots.get_xdata().tolist() == frame[path.limit_name].tolist()
    assert dots.get_ydata().tolist() == frame["objective"].tolist()
    (stairs,) = top.patches
    values, edges, _ = stairs.get_data()
    assert values.tolist() == frame["objective"].tolist()
    assert edges[:-1].tolist() == frame[path.limit_name].tolist()
    assert edges[-1] > edges[-2]
    rows = [label.get_text().replace(r"\$", "$") for label in bottom.get_yticklabels()]
    drawn = {
        (rows[round(bar.get_y() + bar.get_height() / 2)], round(bar.get_x(), 9))
        for bar in bottom.patches
    }
    assert all(bar.get_facecolor() == to_rgba("#0072B2") for bar in bottom.patches)
    expected = {
        (name, round(limit, 9))
        for limit, text in zip(frame[path.limit_name], frame["predictors"], strict=True)
        for name in names(text)
    }
    assert drawn == expected
    figure.draw_without_rendering()
    width, height = figure.get_size_inches() * figure.dpi
    for label in [*bottom.get_yticklabels(), top.yaxis.label, bottom.xaxis.label]:
        box = label.get_window_extent()
        assert 0 <= box.x0 < box.x1 <= width
        assert 0 <= box.y0 < box.y1 <= height
    boxes = [label.get_window_extent() for label in bottom.get_yticklabels()]
    for above, below in pairwise(boxes):
        assert above.y0 >= below.y1 - 1  # a pixel


def test_figure(path):
    check_figure(path)


def test_figure_of_a_single_step(problem):
    check_figure(sl.solve_path(problem.with_limits(exclude=range(5))))


def test_figure_of_many_predictors_with_long_names():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 40)))
    X.columns = [f"a measurement whose name is long: number {g}" for g in range(40)]
    everything = sl.SubsetProblem(X, rng.random(80) < 0.5, ridge=1.0, include=range(38))
    check_figure(sl.solve_path(everything))


def test_a_limit_on_the_way_is_not_forgotten(problem, monkeypatch):
    """A step may be replaced by a cheaper one that is as good; what was unproven stays so."""
    real, calls = record.solve, []

    def limited(current, **options):
        calls.append(current)
        solution = real(current, **options)
        status = sl.Status.TIME_LIMIT if len(calls) == 1 else solution.status
        return replace(solution, status=status)

    monkeypatch.setattr(record, "solve", limited)
    path = sl.solve_path(problem.with_limits(max_features=3))
    assert len(calls) > 1
    assert not path.is_certified


def test_a_staircase_of_many_units_ends():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    y = X[:, 0] + rng.normal(size=40) > 0
    costs = np.round(rng.uniform(500, 1500, 4), 6)
    problem = sl.SubsetProblem(X, y, ridge=0.1, costs=costs, budget=float(costs.sum()))
    assert problem.limits.prices.is_short
    path = sl.solve_path(problem)
    assert path[0].limit == 0
    assert path[-1].solution.support == (0, 1, 2, 3)
