"""Points of peers are scored by our objective, and the tables say what the rows say."""

import numpy as np
import pandas as pd
import pytest

import shortlist as sl
from benchmarks import points
from benchmarks.peers.answer import PeerError


@pytest.fixture
def task():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=90), "b": rng.normal(size=90)})
    table["c"] = rng.choice([1.0, 2.0, 3.0], 90)
    y = (table["a"] + rng.logistic(size=90) > 0).astype(int).to_numpy()
    return points._task("small", table, y)


def test_truth_values_are_cuts_and_levels(task):
    values, source = points.truth_values(task.table, task.table, ["c"])
    assert set(source.values()) == {"a", "b", "c"}
    assert sorted(source.values()).count("c") == 2  # the most frequent level has none
    assert set(np.unique(values)) == {0, 1}


def test_points_are_refitted_and_scored_by_our_objective(task):
    values, _ = points.truth_values(task.table, task.table, [])
    problem = sl.SubsetProblem(values, task.y, ridge=points.RIDGE, max_features=2)
    chosen = np.zeros(problem.n_columns)
    chosen[[0, 3]] = 3, -1
    row = points.judge("x", problem, chosen, 1.0, values, task.y)
    scales = np.linspace(-1, 1, 81)
    tried = [
        problem.objective(scale * chosen, intercept) for scale in scales for intercept in scales
    ]
    assert row["objective"] <= min(tried) + 1e-9
    assert row["predictors"] == 2
    assert "objective" not in points.judge("x", problem, None, 1.0, values, task.y)


def test_a_peer_answers_for_the_largest_number_that_is_affordable(task, monkeypatch):
    values, _ = points.truth_values(task.table, task.table, [])
    costs = [5.0] * (values.shape[1] - 1) + [1.0]
    problem = sl.SubsetProblem(values, task.y, ridge=1.0, max_features=3, budget=6.0, costs=costs)

    def reply(name, problem, seconds, *, method, max_features, max_points):
        found = [1] * max_features + [0] * (problem.n_columns - max_features)
        return {"seconds": 1.0, "points": found}

    monkeypatch.setattr(points, "reply", reply)
    found, seconds = points.ask_peer("FasterRisk", problem)
    assert (np.count_nonzero(found), seconds) == (1, 3.0)

    def fail(*arguments, **options):
        raise PeerError("no answer")

    monkeypatch.setattr(points, "reply", fail)
    assert points.ask_peer("FasterRisk", problem) == (None, 0.0)


def test_the_page_has_the_table_of_the_committed_results():
    rows = pd.read_csv(points.SIMULATED / "points.csv")
    assert points.to_markdown(rows) in points.PAGE.read_text()
    ours = rows[rows["method"] == points.OURS]
    assert (ours["objective"] >= ours["real_bound"] * (1 - 1e-9)).all()
    peers = rows[rows["method"] != points.OURS].dropna(subset=["objective"])
    assert (peers["objective"] >= peers["points_bound"] * (1 - 1e-6)).all()  # no proof is wrong
