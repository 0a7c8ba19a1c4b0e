"""The table of ranges, and prices at which the answer is known."""

import math

import numpy as np
import pandas as pd
import pytest

import shortlist as sl
from shortlist.choice import sensitivity


@pytest.fixture(scope="module")
def ranges():
    """Of a strong and a weak predictor, the strong one is bought, and both are too dear."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=["strong", "weak"])
    y = 3 * X["strong"] + X["weak"] + rng.logistic(size=60) > 0
    return sl.price_ranges(sl.SubsetProblem(X, y, ridge=0.1, costs=[4, 3], budget=5.5))


def test_ends(ranges):
    assert ranges.solution.support == (0,)
    assert [(r.low, r.high) for r in ranges] == [(2.5, 5.5), (1.5, math.inf)]
    assert [r.rival for r in ranges] == [(0, 1), (0, 1)]


def test_table(ranges):
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
    monkeypatch.setattr(sensitivity, "solve", lambda problem, **options: sl.solve(problem, "swap"))
    with pytest.raises(sl.InvalidProblemError, match="problem: rounding leaves a gap of 1 where"):
        sl.price_ranges(problem)
