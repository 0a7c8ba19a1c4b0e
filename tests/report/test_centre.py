"""Centres: left out one by one, summarised, and refused where that makes no sense."""

import json

import numpy as np
import pandas as pd
import pytest

import shortlist as sl
from shortlist.external import describe_external
from shortlist.report import describe_model, render_report, validate_centres
from shortlist.report.group import SCALES, describe_centres
from shortlist.report.manuscript import draft_methods
from shortlist.report.page import draw_figures


@pytest.fixture(scope="module")
def clinic():
    data = sl.datasets.make_prognostic(n_samples=300, label_noise=0.1, random_state=2)
    places = np.array(["north", "south", "west"])[np.arange(300) % 3]
    model = sl.PrognosticModel(max_features=2, tuning=sl.Tuning(ridges=(3.0, 0.3), n_repeats=1))
    return data.X, data.y, places, model.fit(data.X, data.y)


@pytest.fixture(scope="module")
def found(clinic):
    X, y, places, model = clinic
    return validate_centres(model, X, y, places)


def test_each_centre_is_predicted_by_a_fit_to_the_others(clinic, found):
    X, y, places, model = clinic
    for row in found.rows:
        inside = places == row["centre"]
        other = sl.PrognosticModel(max_features=2, tuning=sl.Tuning(ridges=(3.0, 0.3), n_repeats=1))
        other.fit(X[~inside], y[~inside])
        assert row["predictors"] == other.selected_features_
        assert row["ridge"] == other.ridge_
        assert row["is_same"] == (other.selected_features_ == model.selected_features_)
        expected = describe_external(other.card_, X[inside], y[inside]).measures
        by_name = {each["metric"]: each for each in expected}
        assert row["measures"] == [by_name[each["metric"]] for each in row["measures"]]
    assert found.is_internal


def test_processes_change_nothing(clinic, found):
    X, y, places, model = clinic
    assert validate_centres(model, X, y, places, n_jobs=2) == found


def test_two_centres_with_the_same_data_agree():
    rng = np.random.default_rng(1)
    log_odds = rng.normal(size=100)
    y = (log_odds + rng.logistic(size=100) > 0).astype(int)
    places = np.repeat(["a", "b", "c"], 100)
    found = describe_centres(places, np.tile(y, 3), np.tile(log_odds, 3), None)
    first = found.rows[0]["measures"]
    assert all(row["measures"] == first for row in found.rows)
    for pooled, own in zip(found.pooled, first, strict=True):
        assert pooled["estimate"] == pytest.approx(own["estimate"])
        assert (pooled["tau"], pooled["n_centres"]) == (0.0, 3)
        scale = SCALES[pooled["metric"]]
        error = own["error"] * scale.slope(own["estimate"]) / np.sqrt(3)
        width = scale.there(pooled["upper"]) - scale.there(pooled["estimate"])
        assert width == pytest.approx(4.302653 * error, rel=1e-4)  # t with 2 degrees of freedom


def test_scales_go_there_and_back():
    for name, scale in SCALES.items():
        for value in (0.3, 0.7, 0.99):
            assert scale.back(scale.there(value)) == pytest.approx(value), name
            step = (scale.there(value + 1e-6) - scale.there(value - 1e-6)) / 2e-6
            assert scale.slope(value) == pytest.approx(step, rel=1e-4), name


def test_small_centres_are_listed_with_the_reason_and_not_pooled(clinic):
    X, y, places, model = clinic
    places = places.astype(object)
    places[:12] = "tiny"
    one_class = np.flatnonzero(y == 1)[-15:]
    places[one_class] = "one class"
    found = validate_centres(model, X, y, places)
    rows = {row["centre"]: row for row in found.rows}
    assert rows["tiny"]["reason"].startswith("fewer than 10 with")
    assert rows["one class"]["reason"] == "fewer than 10 without the event"
    assert not rows["tiny"]["measures"]
    assert all(pooled["n_centres"] == 3 for pooled in found.pooled)


def test_a_separated_centre_has_no_part_in_a_summary_that_it_has_no_value_for():
    rng = np.random.default_rng(1)
    log_odds = rng.normal(size=300)
    y = (log_odds + rng.logistic(size=300) > 0).astype(int)
    places = np.repeat(["a", "b", "c"], 100)
    y[:100] = log_odds[:100] > 0
    found = describe_centres(places, y, log_odds, None)
    counts = {pooled["metric"]: pooled["n_centres"] for pooled in found.pooled}
    assert counts == {"auc": 2, "calibration_slope": 2, "observed_expected": 3}


def test_persons_of_the_centre_are_left_out_with_it(clinic):
    X, y, places, model = clinic
    persons = np.arange(300)
    persons[places == "south"] = persons[places == "north"]
    found = {
        row["centre"]: row for row in validate_centres(model, X, y, places, persons=persons).rows
    }
    inside = places == "west"
    # Without the south, which has the persons of the north.
    alone = sl.PrognosticModel(max_features=2, tuning=sl.Tuning(ridges=(3.0, 0.3), n_repeats=1))
    alone.fit(X[inside], y[inside], persons[inside])
    assert found["north"]["predictors"] == alone.selected_features_
    north = places == "north"
    (auc,) = [
        row
        for row in describe_external(alone.card_, X[north], y[north]).measures
        if row["metric"] == "auc"
    ]
    assert found["north"]["measures"][0]["estimate"] == auc["estimate"]


@pytest.mark.parametrize(
    ("places", "message"),
    [
        (np.zeros(300), "centres: all rows are of one"),
        (np.arange(300), "centres: none has 10 patients with and 10 without the event"),
        (np.zeros(10), r"centres: expected 300 values, one per row, but got shape \(10,\)"),
    ],
)
def test_bad_centres_are_one_sentence(clinic, places, message):
    X, y, _, model = clinic
    with pytest.raises(sl.InvalidProblemError, match=message):
        validate_centres(model, X, y, places)


def test_the_methods_say_whether_centres_were_assessed(patients, model, evaluation, found):
    for centres, word in ((None, "(clusters): not assessed."), (found, "assessed by internal-ext")):
        content = describe_model(model, *patients, evaluation, centres=centres)
        methods = draft_methods(content)
        assert word in methods[methods.index("12d, 23b") : methods.index("12e")]
    assert "Subgroups: not assessed." in methods
    assert "forest" in draw_figures(content)


def test_two_centres_have_no_prediction_interval_on_the_page(patients, model, evaluation):
    table, y = patients
    places = np.arange(len(y)) % 2
    centres = validate_centres(model, table, y, places)
    assert all(row["prediction_lower"] is None for row in centres.pooled)
    content = describe_model(model, table, y, evaluation, centres=centres)
    page = render_report(json.loads(content.model_dump_json()))
    assert "Performance by centre" in page


def test_levels_and_columns_that_other_centres_lack(clinic):
    """A factor that differs in one centre alone is a constant elsewhere, or an unknown level."""
    X, y, places, _ = clinic
    table = pd.DataFrame(X).iloc[:, :3].set_axis(["a", "b", "c"], axis=1)
    table["level"] = np.where(places == "west", "odd", "usual")
    table["rare"] = np.where((places == "west") & (np.arange(300) % 2), "x", "z")
    model = sl.PrognosticModel(max_features=4, ridge=1.0).fit(table, y)
    found = validate_centres(model, table, y, places)
    assert [row["reason"] for row in found.rows] == [None] * 3


def test_a_centre_whose_others_have_one_outcome_only_is_not_measured(clinic):
    X, y, _, model = clinic
    places = np.where(np.arange(300) < 280, "large", "small")
    outcomes = np.where(places == "small", 0, y)
    row, _ = validate_centres(model, X, outcomes, places).rows
    assert row["reason"] == "the other centres have one outcome only"
    assert row["measures"] == []
