"""Subgroups: what expressions mean, equivalences with the whole, and small groups."""

import numpy as np
import pandas as pd
import pytest

import shortlist as sl
from shortlist.external import describe_external
from shortlist.report import describe_model
from shortlist.report.group import describe_measures, describe_subgroups, split_subgroups

TABLE = pd.DataFrame(
    {
        "age": [50, 65, 66, np.nan, 80],
        "sex": ["f", "m", None, "f", "m"],
        "a>b": [1, 1, 2, 2, 2],
        "x, y": ["p", "q", "p", "q", "p"],
        "grade": [10, 9, 10, 9, 2],
    }
)


def rows_of(*subgroups):
    return {
        group.name: np.flatnonzero(group.rows).tolist()
        for group in split_subgroups(subgroups, TABLE)
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("age>65", {"age > 65": [2, 4], "age <= 65": [0, 1], "age>65: missing": [3]}),
        ("age <= 65", {"age <= 65": [0, 1], "age > 65": [2, 4], "age <= 65: missing": [3]}),
        ("sex", {"sex: f": [0, 3], "sex: m": [1, 4], "sex: missing": [2]}),
        ("sex=f", {"sex = f": [0, 3], "sex != f": [1, 4], "sex=f: missing": [2]}),
        ("grade!=9", {"grade != 9": [0, 2, 4], "grade = 9": [1, 3]}),
        ("a>b", {"a>b: 1": [0, 1], "a>b: 2": [2, 3, 4]}),  # a column of that name
        ("a>b>1", {"a>b > 1": [2, 3, 4], "a>b <= 1": [0, 1]}),
        ("x, y", {"x, y: p": [0, 2, 4], "x, y: q": [1, 3]}),
        ("grade", {"grade: 2": [4], "grade: 9": [1, 3], "grade: 10": [0, 2]}),
    ],
)
def test_expressions(text, expected):
    assert rows_of(text) == expected


def test_several_expressions():
    assert rows_of("sex, age>65") == rows_of("sex") | rows_of("age>65")
    assert rows_of("sex", "age>65") == rows_of("sex,age>65")
    assert rows_of() == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("weight", "'weight' is neither a column nor a comparison"),
        ("weight>3", "'weight>3' is neither a column nor a comparison"),
        ("age>", "neither a column nor a comparison"),
        ("age>old", "compares what is not a number"),
        ("age>nan", "compares what is not a number"),
        ("sex>3", "compares what is not a number"),
        ("sex=x", "column 'sex' has no value 'x'"),
        ("", "'' is neither a column"),
    ],
)
def test_bad_expressions_are_one_sentence(text, message):
    with pytest.raises(sl.InvalidProblemError, match=message) as caught:
        split_subgroups([text], TABLE)
    assert str(caught.value).startswith("subgroups: ")
    assert str(caught.value).endswith(".")


def test_too_many_levels_are_told():
    table = pd.DataFrame({"age": np.arange(50)})
    with pytest.raises(sl.InvalidProblemError, match="'age' has 50 different values; compare it"):
        split_subgroups(["age"], table)


@pytest.fixture
def predictions():
    rng = np.random.default_rng(0)
    log_odds = rng.normal(size=200)
    y = (log_odds + rng.logistic(size=200) > 0).astype(int)
    return y, log_odds


def test_one_subgroup_of_everybody_is_the_whole(predictions):
    y, log_odds = predictions
    table = pd.DataFrame({"all": ["x"] * len(y)})
    persons = np.arange(len(y)) // 2
    (row,) = describe_subgroups(split_subgroups(["all"], table), y, log_odds, persons)
    names = ("auc", "calibration_slope", "observed_expected")
    assert row["measures"] == describe_measures(y, log_odds, persons, names)
    assert (row["n"], row["events"], row["reason"]) == (len(y), y.sum(), None)


def test_small_groups_and_rows_without_prediction(predictions):
    y, log_odds = predictions
    few = np.zeros(len(y), dtype=bool)
    few[np.flatnonzero(y == 1)[:9]] = few[np.flatnonzero(y == 0)[:30]] = True
    table = pd.DataFrame({"few": few})
    small, large = describe_subgroups(split_subgroups(["few=True"], table), y, log_odds, None)
    assert (small["reason"], small["measures"]) == ("fewer than 10 with the event", [])
    assert large["reason"] is None
    log_odds = np.where(few, np.nan, log_odds)
    gone, same = describe_subgroups(split_subgroups(["few=True"], table), y, log_odds, None)
    assert gone["n"] == 0
    assert same == large
    # Persons are counted, not their rows.
    one = np.zeros(len(y), dtype=int)
    whole = describe_subgroups(split_subgroups(["few"], table), y, log_odds, one)[0]
    assert whole["reason"] == "fewer than 10 with the event"


def test_codes_for_missing_values_are_missing(patients):
    table, y = patients
    table = table.assign(lab=table["lab"].where(table.index % 3 > 0, -9))
    model = sl.PrognosticModel(
        max_features=1, ridge=1.0, preparation=sl.Preparation(missing_codes={"lab": -9})
    ).fit(table, y)
    found = describe_external(model.card_, table, y, subgroups=["lab>0.5"]).subgroups
    assert found[2]["group"] == "lab>0.5: missing"
    assert sum(row["n"] for row in found) == len(y)
    assert found[2]["n"] == 30


def test_thresholds_of_the_user(patients, model, evaluation):
    content = describe_model(model, *patients, evaluation, thresholds=[0.999999, 1e-9])
    low, high = content.performance.curves.thresholds
    assert (low["threshold"], high["threshold"]) == (1e-9, 0.999999)
    assert high["predictive_value"]["value"] is low["negative_predictive_value"]["value"] is None
    assert low["gain"] == 0
    assert high["model"] == 0
    for wrong in (0, 1, -0.1, 20, float("nan")):
        with pytest.raises(sl.InvalidProblemError, match="thresholds: must be risks between"):
            describe_model(model, *patients, evaluation, thresholds=[wrong])
