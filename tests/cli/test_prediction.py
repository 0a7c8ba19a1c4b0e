"""`shortlist predict` and `shortlist validate`: a saved model on new patients."""

import json

import numpy as np
import pandas as pd
import pytest
from clinic_options import POSED

import shortlist as sl
from shortlist.external import describe_external
from shortlist.tables import read_table

PREDICT = ("predict", "m.json", "patients.csv")


@pytest.fixture
def card(run, clinic):
    """A model of three predictors, age and stage among them."""
    run("fit", *POSED, "--max-features", "3", "--include", "stage,age", "--model", "m.json")
    return sl.ModelCard.load("m.json")


def test_predictions(run, record, clinic, card):
    table = read_table("patients.csv")
    run(*PREDICT, "--id", "visit", "-o", "out.csv")
    written = read_table("out.csv")
    assert written.columns.tolist() == ["row", "visit", "probability", "imputed", "outside"]
    assert written["probability"].to_numpy().tobytes() == card.probability(table).tobytes()
    assert written["imputed"].dropna().to_dict() == {3: "age"}
    assert run(*PREDICT, "--id", "visit").stdout == (clinic / "out.csv").read_text()
    assert record(*PREDICT, "--id", "visit")["predictions"][3]["id"] == "2020-01-04"
    printed = record(*PREDICT)
    assert printed["outcome"]["event"] == "dead"
    assert printed["predictions"][3]["imputed"] == ["age"]
    run(*PREDICT, "--json", "-o", "out.json")
    assert json.loads((clinic / "out.json").read_text()) == printed
    table.head(2).assign(age=[40, 140]).to_csv("old.csv", index=False)
    lines = run("predict", "m.json", "old.csv").stdout.splitlines()
    assert [line.endswith(",age") for line in lines] == [False, False, True]


def test_an_unknown_level_is_imputed_and_noted(run, clinic, card):
    (clinic / "new.csv").write_text("age,stage,sex,smoker,lab\n50,IV,m,TRUE,1\n")
    result = run("predict", "m.json", "new.csv")
    assert "Note: column 'stage': the model does not know 'IV'" in result.notes
    assert result.stdout.splitlines()[1].endswith(",stage,")


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ("stage,sex\nIV,m\n", (), "The model needs the column 'age'"),
        ("age,stage,sex,smoker,lab\nold,I,m,TRUE,1\n", (), "'old' in row 1 is not a number"),
        ("age;stage;sex;smoker;lab\n50,5;I;m;1;1\nold;I;m;1;1\n", (), "'old' in row 2"),
        ("age,stage,sex,smoker,lab\n50,I,m,1,1\n", ("--id", "no"), "no column 'no' for --id"),
    ],
)
def test_wrong_patients_are_one_sentence(refusal, clinic, card, table, options, message):
    (clinic / "new.csv").write_text(table)
    assert message in refusal("predict", "m.json", "new.csv", "-o", "out.csv", *options)
    assert not (clinic / "out.csv").exists()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda card: card.pop("intercept"), "intercept: is missing"),
        (lambda card: card.update(extra=1), "extra: is unknown"),
        (lambda card: card.update(intercept="0"), "intercept: has an invalid value"),
        (lambda card: card.update(terms=[{"kind": "magic"}]), "terms.0: has an invalid value"),
    ],
)
def test_a_damaged_model_is_described_in_our_words(refusal, clinic, card, change, told):
    content = json.loads((clinic / "m.json").read_text())
    change(content)
    (clinic / "m.json").write_text(json.dumps(content))
    assert f"is damaged ({told}); save the model again." in refusal(*PREDICT)
    assert "is not a model file" in refusal("predict", "patients.csv", "patients.csv")


VALIDATE = ("validate", "model.json", "new.csv", "--outcome", "dead")


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """The current folder, with a model and new patients: gaps, an unknown level, persons."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    n = 240
    table = pd.DataFrame(
        {"age": rng.normal(60, 10, n).round(), "stage": rng.choice(["I", "II"], n)}
    )
    risk = 0.1 * (table["age"] - 60) + (table["stage"] == "II")
    table["dead"] = np.where(risk + rng.logistic(size=n) > 0.5, "yes", "no")
    old, new = table[:120], table[120:].reset_index(drop=True)
    model = sl.PrognosticModel(max_features=2, ridge=1.0).fit(old[["age", "stage"]], old["dead"])
    model.card_.save("model.json")
    new.loc[3, "age"] = np.nan
    new.loc[4, "stage"] = "IV"
    new["person"] = np.arange(120) // 2
    new.to_csv("new.csv", index=False)
    return new


def test_measures_and_updates_are_printed(run, elsewhere):
    result = run(*VALIDATE)
    for word in ("AUC", "Calibration slope", "Observed / expected", "new intercept", "refitted"):
        assert word in result.stdout
    assert "does not know 'IV'" in result.stderr


@pytest.mark.parametrize("kept", [1.0, 0.8], ids=["all", "most"])
def test_development_patients_are_no_validation(record, run, tmp_path, monkeypatch, kept):
    monkeypatch.chdir(tmp_path)
    data = sl.datasets.make_prognostic(n_samples=350, random_state=2)
    table = data.X.assign(ill=data.y)
    others = sl.datasets.make_prognostic(n_samples=350, random_state=3)
    table.to_csv("old.csv", index=False)
    run("fit", "old.csv", "--outcome", "ill", "--max-features", "4", "--model", "model.json")
    n = int(kept * 350)
    mixed = pd.concat(
        [table[:n], others.X.set_axis(data.X.columns, axis=1).assign(ill=others.y)[n:]]
    )
    mixed.sample(frac=1, random_state=0).to_csv("new.csv", index=False)
    validate = ("validate", "model.json", "new.csv", "--outcome", "ill")
    who = "These are" if kept == 1 else "Most of these are"
    assert (
        f"Caution: Not new patients: {who} the patients that the model was" in run(*validate).text
    )
    assert record(*validate, "--report", "v.html")["development"] == (
        "all" if kept == 1 else "most"
    )
    page = (tmp_path / "v.html").read_text()
    assert "it was fitted to" in page and "validated here" not in page
    table[table.columns[::-1]].to_csv("new.csv", index=False)
    assert record(*validate)["development"] == "all"


@pytest.mark.parametrize("n_bought", [1, 4])
def test_development_patients_with_other_digits_are_no_validation(n_bought):
    data = sl.datasets.make_prognostic(n_samples=350, random_state=2)
    others = sl.datasets.make_prognostic(n_samples=350, random_state=3)
    card = sl.PrognosticModel(max_features=n_bought, ridge=1.0).fit(data.X, data.y).card_
    X = data.X
    for name in X.columns:
        shifted = X.assign(**{name: X[name] + 0.0001})
        assert describe_external(card, shifted, data.y).development == "all"
    assert describe_external(card, X.round(4), data.y).development == "all"
    strangers = others.X.set_axis(X.columns, axis=1)
    assert describe_external(card, strangers, others.y).development == "none"


def test_new_patients_are_new(record, run, elsewhere):
    content = record(*VALIDATE)
    assert content["development"] == "none"
    assert content["findings"] == []


def test_ages_in_months_are_named_and_measured(run, record, elsewhere):
    elsewhere.assign(age=12 * elsewhere["age"]).to_csv("new.csv", index=False)
    result = run(*VALIDATE)
    assert "Caution: Outside the development range: 99% of the values of 'age'" in result.text
    assert "times the development's; check the unit" in result.text
    rows = {row["metric"]: row for row in record(*VALIDATE)["measures"]}
    large = rows["calibration_in_the_large"]
    assert large["estimate"] < -20 and large["lower"] < large["estimate"] < large["upper"]


def test_an_update_without_a_solution_has_its_reason(run, elsewhere):
    separated = elsewhere.assign(age=np.where(elsewhere["dead"] == "yes", 90, 30), stage="I")
    separated.to_csv("new.csv", index=False)
    assert (
        "Not recalibrated: new intercept and slope: update: 'slope' has no" in run(*VALIDATE).text
    )


def test_a_page_its_json_and_an_updated_model(record, elsewhere, tmp_path):
    printed = record(*VALIDATE, "--report", "v.html", "--update", "slope", "--updated", "u.json")
    content = json.loads((tmp_path / "v.json").read_text())
    assert printed.pop("notes")
    assert printed == content
    assert (
        "Validation on other patients: Logistic regression for dead = yes"
        in (tmp_path / "v.html").read_text()
    )
    card = sl.ModelCard.load("u.json")
    assert card.update is not None and card.update.rows == 120
    # An updated model is calibrated on the patients of the update.
    with pytest.warns(sl.ShortlistWarning, match="'IV'"):
        again = describe_external(card, elsewhere, (elsewhere["dead"] == "yes").astype(int))
    new, old = (
        {r["metric"]: r["estimate"] for r in m} for m in (again.measures, content["measures"])
    )
    assert new["calibration_slope"] == pytest.approx(1.0, abs=1e-6)
    assert new["observed_expected"] == pytest.approx(1.0, abs=1e-6)
    assert new["auc"] == pytest.approx(old["auc"])


def test_persons_change_intervals_and_no_estimate(record, elsewhere):
    alone, both = record(*VALIDATE), record(*VALIDATE, "--person", "person")
    assert both["persons"]["text"] == "120 rows of 60 persons"
    assert alone["persons"]["text"] == "120 patients"
    assert [r["estimate"] for r in both["measures"]] == [r["estimate"] for r in alone["measures"]]
    assert [r["lower"] for r in both["measures"]] != [r["lower"] for r in alone["measures"]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--outcome", "alive"], "there is no column 'alive'"),
        (["--update", "slope"], "--update: needs --updated"),
        (["--report", "x.txt"], "must end in .html"),
        (["--outcome", "person"], "must have 2 different values"),
        (["--positive", "maybe"], "--positive: 'maybe' is not a value"),
        (["--outcome", "stage", "--positive", "I"], "must have 2 different values"),
    ],
)
def test_a_wrong_validation_is_one_sentence(refusal, elsewhere, arguments, message):
    assert message in refusal(*VALIDATE, *arguments)


def test_new_patients_need_the_columns_of_the_model(refusal, elsewhere, tmp_path):
    (tmp_path / "new.csv").write_text("age,dead\n50,yes\n60,no\n")
    assert "needs the column 'stage'" in refusal(*VALIDATE)


def test_thresholds_need_a_place_to_be_shown(refusal, elsewhere):
    told = refusal(*VALIDATE, "--thresholds", "30%")
    assert "--thresholds: has no effect without --report or --json." in told


def test_validation_by_centre_and_subgroup(run, record, clinic, card):
    table = pd.read_csv("patients.csv")
    table.assign(hospital=np.arange(len(table)) % 2).to_csv("new.csv", index=False)
    command = ("validate", "m.json", "new.csv", "--outcome", "fate", "--centre", "hospital")
    command = (*command, "--subgroups", "sex", "--thresholds", "30%")
    found = record(*command)
    assert [row["centre"] for row in found["centres"]["rows"]] == ["0", "1"]
    assert not found["centres"]["is_internal"]
    half = pd.read_csv("new.csv").query("hospital == 1")
    events = (half["fate"] == "dead").astype(int)
    alone = describe_external(card, half, events).measures
    shown = found["centres"]["rows"][1]["measures"]
    assert shown == [row for row in alone if row["metric"] in {each["metric"] for each in shown}]
    assert [row["threshold"] for row in found["curves"]["thresholds"]] == [0.3]
    text = run(*command, "--report", "v.html").text
    assert "By centre: AUC, calibration slope" in text
    assert f"sex: f {found['subgroups'][0]['n']}" in text
    assert "Performance by subgroup" in (clinic / "v.html").read_text()
