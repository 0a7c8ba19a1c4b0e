"""What is suspicious is found, and nothing else is accused."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import OptimizeResult

import shortlist as sl
from shortlist.patients import check_fit
from shortlist.patients.finding import separating_predictors, similar_predictors

N = 200


@pytest.fixture(scope="module")
def clean():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": rng.normal(60, 10, N).round(),
            "lab": rng.gamma(2.0, 2.0, N).round(2),
            "sex": rng.choice(["f", "m"], N),
            "stage": rng.choice(["I", "II", "III"], N),
        }
    )
    y = (0.08 * (table["age"] - 60) + rng.logistic(size=N) > 0).astype(int)
    return table, y


def findings(table, y, persons=None, **options):
    options = {"max_features": 3, "ridge": 1.0} | options
    model = sl.PrognosticModel(**options).fit(table, y)
    return {f.topic: f for f in check_fit(model, table, y, persons)}


def test_nothing_is_said_about_clean_data(clean):
    assert findings(*clean) == {}


@pytest.mark.parametrize("scale", [1.0, -12.0, 1e-9])
def test_copies_are_named_and_are_worse_if_both_are_bought(clean, scale):
    table, y = clean
    table = table.assign(months=scale * table["age"] + 3)
    found = findings(table, y, include=["age", "months"])["Copies"]
    assert found.level == "warning"
    assert "'age' and 'months' carry the same information" in found.text
    assert findings(table, y, max_features=1)["Copies"].level == "note"


def test_renamed_levels_are_copies_and_other_factors_are_not(clean):
    table, y = clean
    table = table.assign(code=table["stage"].map({"I": "c", "II": "a", "III": "b"}))
    pairs = similar_predictors(sl.PrognosticModel(ridge=1.0).problem(table, y))
    assert [(first, second) for first, second, _ in pairs] == [("stage", "code")]


def test_near_collinearity_and_sums(clean):
    table, y = clean
    rng = np.random.default_rng(1)
    near = table.assign(again=table["age"] + rng.normal(0, 1, N))
    assert (
        "'age' and 'again' have a correlation of 0.99" in findings(near, y)["Nearly collinear"].text
    )
    part = rng.normal(size=N)
    total = table.assign(part=part, total=table["lab"] + part)
    assert "'lab', 'part', 'total' determine each other" in findings(total, y)["Sums"].text


def test_codes_for_missing_values(clean):
    table, y = clean
    for code in (-9, -999, 999):
        lab = table["lab"].where(np.arange(N) % 20 > 0, code)
        text = findings(table.assign(lab=lab), y)["Codes for missing values"].text
        assert f"'lab' is {code} in 10 row(s)" in text
    # 99 in a column that goes to 120 is a value like others.
    wide = table.assign(lab=np.linspace(0, 120, N).round().clip(0, 120))
    assert "Codes for missing values" not in findings(wide, y)


def test_duplicated_rows_count_unless_everything_is_coarse(clean):
    table, y = clean
    twice = pd.concat([table, table[:7]], ignore_index=True)
    labels = pd.concat([y, y[:7]], ignore_index=True)
    assert "7 row(s) repeat" in findings(twice, labels)["Duplicated rows"].text
    assert "Duplicated rows" not in findings(table[["sex", "stage"]], y, max_features=1)
    assert "Duplicated rows" not in findings(twice, labels, persons=np.arange(N + 7))


def test_many_levels(clean):
    table, y = clean
    site = [f"site {number % 25}" for number in range(N)]
    assert (
        "'site' has 25 levels, 25 of them"
        in findings(table.assign(site=site), y)["Many levels"].text
    )


def test_separation_names_who_separates_alone_and_nobody_else(clean):
    table, y = clean
    rng = np.random.default_rng(2)
    sign = ((y == 1) & (rng.random(N) < 0.4)).astype(int)
    found = findings(table.assign(sign=sign), y, include=["sign", "age", "lab"])
    assert "separated perfectly by 'sign'." in found["Separation"].text


def test_separation_by_several_together_names_the_smallest_set():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    y = (X[:, 1] > X[:, 3]).astype(int)
    problem = sl.SubsetProblem(X, y, ridge=1.0, max_features=4)
    assert separating_predictors(problem, (0, 1, 2, 3)) == ["x1", "x3"]
    assert separating_predictors(problem, (0, 1, 2)) == []


def test_a_failed_linear_program_decides_nothing(monkeypatch):
    problem = sl.SubsetProblem(np.eye(6), [0, 1] * 3, ridge=1.0, max_features=2)
    failed = OptimizeResult(status=4, x=None, fun=None)
    monkeypatch.setattr("shortlist.patients.finding.linprog", lambda *_, **__: failed)
    assert separating_predictors(problem, (0, 1)) is None


def test_a_leak_is_named(clean):
    table, y = clean
    rng = np.random.default_rng(3)
    leak = table.assign(days_in_ward=10 * y + rng.normal(0, 1, N))
    found = findings(leak, y)
    assert "'days_in_ward' alone would almost suffice" in found["Nearly perfect"].text
    assert "'days_in_ward'" in found["Large odds ratios"].text
    assert "'age'" not in found["Large odds ratios"].text


def test_a_ridge_at_the_edge(clean):
    found = findings(*clean, ridge=None, ridges=(1.0, 1e-6))
    assert "1 is the strongest of those tried" in found["Ridge"].text
    assert "a stronger one" in found["Ridge"].text
    assert "Ridge" not in findings(*clean, ridge=1.0)


def test_who_lost_by_missing_values(clean):
    table, y = clean
    gaps = table.assign(lab=table["lab"].where(np.arange(N) % 2 == 0))
    found = findings(gaps, y, max_features=1)
    assert "'lab' (50% missing)" in found["Handicapped by missing values"].text
    assert "Handicapped by missing values" not in findings(gaps, y, include=["lab"])
