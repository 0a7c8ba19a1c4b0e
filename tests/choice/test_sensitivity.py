"""Substitutes for a predictor, ranges of its price, and their tables."""

import math

import numpy as np
import pandas as pd
import pytest

import shortlist as sl
from shortlist.choice import record


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(80, 6)), columns=list("abcdef"))
    X["f"] = X["a"] + 0.5 * rng.normal(size=80)
    y = 2 * X["a"] - X["b"] + rng.logistic(size=80) > 0
    return sl.SubsetProblem(X, y, ridge=0.1, max_features=2)


def test_by_name_or_index(problem):
    assert sl.solve(problem).support == (0, 1)
    (named,) = sl.substitutes(problem, "a")
    (numbered,) = sl.substitutes(problem, np.int64(0))
    assert named.predictor == numbered.predictor == 0
    assert named.solution.support == numbered.solution.support == (1, 5)
    assert (named.gained, named.lost) == ((5,), (0,))
    expected = sl.solve(problem.with_limits(exclude=["a"]))
    assert named.solution.objective == expected.objective
    assert named.increase > 0
    verdict = sl.verify(problem.with_limits(exclude=["a"]), named.solution.certificate)
    assert verdict.valid


def test_what_is_not_bought_needs_no_substitute(problem):
    found = sl.substitutes(problem, "c")
    assert found[0].solution is found.best
    assert (found[0].increase, found[0].gained, found[0].lost) == (0.0, (), ())
    assert len(sl.substitutes(problem.with_limits(exclude=["c"]), "c")) == 1


def test_table_of_substitutes(problem):
    found = sl.substitutes(problem)
    frame = found.to_frame()
    assert list(frame.index) == ["a", "b"]
    assert frame.loc["a", "gained"] == "f"
    assert frame.loc["a", "lost"] == ""  # but for the one that is missing
    assert frame.loc["b", "increase"] == found[1].increase
    assert frame.loc["b", "objective"] == found.best.objective + found[1].increase
    assert frame.loc["b", "excess"] == pytest.approx(found[1].increase / found.best.objective)
    assert (frame["cost"] == 2).all()


def test_limits_are_honest(problem):
    found = sl.substitutes(problem, "a", gap=0.5)
    assert found[0].solution.gap <= 0.5


@pytest.mark.parametrize(
    ("predictor", "message"),
    [
        ("z", "predictor: there is no predictor 'z'; use one of 'a'"),
        (6, "predictor: index 6 is out of range"),
        (-1, "predictor: index -1 is out of range"),
        (True, "predictor: True is neither a predictor's name nor its index"),
        (["a"], "predictor: .'a'. is neither a predictor's name nor its index"),
        ("b", "predictor: b is in include, so every model has it; remove it from include first"),
    ],
)
def test_bad_predictor(problem, predictor, message):
    with pytest.raises(sl.InvalidProblemError, match=f"^{message}"):
        sl.substitutes(problem.with_limits(include=["b"]), predictor)


@pytest.fixture(scope="module")
def ranges():
    """Of a strong and a weak predictor, the strong one is bought, and both are too dear."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=["strong", "weak"])
    y = 3 * X["strong"] + X["weak"] + rng.logistic(size=60) > 0
    return sl.price_ranges(sl.SubsetProblem(X, y, ridge=0.1, costs=[4, 3], budget=5.5))


def test_ends_of_ranges(ranges):
    assert ranges.solution.support == (0,)
    assert [(r.low, r.high) for r in ranges] == [(2.5, 5.5), (1.5, math.inf)]
    assert [r.rival for r in ranges] == [(0, 1), (0, 1)]


def test_table_of_ranges(ranges):
    frame = ranges.to_frame()
    assert list(frame.index) == ["strong", "weak"]
    assert frame["bought"].tolist() == [True, False]
    assert frame["price"].tolist() == [4, 3]
    assert frame["low"].tolist() == [2.5, 1.5]
    assert frame["high"].tolist() == [5.5, math.inf]
    assert frame["rival"].tolist() == ["strong, weak"] * 2


def test_without_a_proof_there_is_no_range(monkeypatch):
    rng = np.random.default_rng(0)
    problem = sl.SubsetProblem(rng.normal(size=(20, 3)), [0, 1] * 10, ridge=0.1, budget=2)
    monkeypatch.setattr(record, "solve", lambda problem, **options: sl.solve(problem, "swap"))
    with pytest.raises(sl.InvalidProblemError, match="problem: rounding leaves a gap of 1 where"):
        sl.price_ranges(problem)
