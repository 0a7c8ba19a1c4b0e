"""`shortlist validate` on patients who had no part in a model."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import shortlist as sl
from shortlist.cli.app import app
from shortlist.errors import ShortlistWarning
from shortlist.patients import ModelCard
from shortlist.report import describe_external

runner = CliRunner()


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    """A folder with a model and new patients, some with gaps and an unknown level."""
    folder = tmp_path_factory.mktemp("validate")
    rng = np.random.default_rng(1)
    n = 240
    table = pd.DataFrame(
        {"age": rng.normal(60, 10, n).round(), "stage": rng.choice(["I", "II"], n)}
    )
    risk = 0.1 * (table["age"] - 60) + (table["stage"] == "II")
    table["dead"] = np.where(risk + rng.logistic(size=n) > 0.5, "yes", "no")
    old, new = table[:120], table[120:].reset_index(drop=True)
    model = sl.PrognosticModel(max_features=2, ridge=1.0).fit(
        old[["age", "stage"]], (old["dead"] == "yes").astype(int)
    )
    outcome = model.card_.outcome.model_copy(
        update={"name": "dead", "event": "yes", "no_event": "no"}
    )
    model.card_.model_copy(update={"outcome": outcome}).save(folder / "model.json")
    new.loc[3, "age"] = np.nan
    new.loc[4, "stage"] = "IV"
    new["person"] = np.arange(120) // 2
    new.to_csv(folder / "new.csv", index=False)
    return folder


def validate(folder, *arguments):
    files = [str(folder / "model.json"), str(folder / "new.csv")]
    return runner.invoke(app, ["validate", *files, *map(str, arguments)])


def test_measures_and_updates_are_printed(clinic):
    result = validate(clinic, "--outcome", "dead")
    assert result.exit_code == 0, result.output
    for word in (
        "AUC",
        "Calibration slope",
        "Observed / expected",
        "new intercept",
        "refitted",
    ):
        assert word in result.stdout
    assert "does not know 'IV'" in result.stderr


def test_a_page_its_json_and_an_updated_model(clinic, tmp_path):
    page, updated = tmp_path / "v.html", tmp_path / "updated.json"
    result = validate(
        clinic, "--outcome", "dead", "--report", page, "--update", "slope", "--updated", updated,
        "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    content = json.loads(page.with_suffix(".json").read_text())
    printed = json.loads(result.stdout)
    assert printed.pop("notes")
    assert printed == content
    assert "External validation of a model for dead = yes" in page.read_text()
    card = ModelCard.load(updated)
    assert card.update is not None and card.update.rows == 120
    new = pd.read_csv(clinic / "new.csv")
    # An updated model is calibrated where it was updated.
    with pytest.warns(ShortlistWarning, match="'IV'"):
        again = describe_external(card, new, (new["dead"] == "yes").astype(int))
    by_name = {row["metric"]: row["estimate"] for row in again.measures}
    assert by_name["calibration_slope"] == pytest.approx(1.0, abs=1e-6)
    assert by_name["observed_expected"] == pytest.approx(1.0, abs=1e-6)
    assert by_name["auc"] == pytest.approx(
        next(row["estimate"] for row in content["measures"] if row["metric"] == "auc")
    )


def test_persons_widen_nothing_by_name_but_count(clinic):
    alone = json.loads(validate(clinic, "--outcome", "dead", "--json").stdout)
    both = json.loads(validate(clinic, "--outcome", "dead", "--person", "person", "--json").stdout)
    assert both["persons"]["text"] == "120 rows of 60 persons"
    assert alone["persons"]["text"] == "120 patients"
    assert [r["estimate"] for r in both["measures"]] == [r["estimate"] for r in alone["measures"]]
    assert [r["lower"] for r in both["measures"]] != [r["lower"] for r in alone["measures"]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--outcome", "alive"], "there is no column 'alive'"),
        (["--outcome", "dead", "--update", "slope"], "--update: needs --updated"),
        (["--outcome", "dead", "--report", "x.txt"], "must end in .html"),
        (["--outcome", "stage"], "must have 2 different values"),
        (["--outcome", "dead", "--positive", "maybe"], "--positive: 'maybe' is not a value"),
    ],
)
def test_wrong_input_is_one_sentence(clinic, arguments, message):
    result = validate(clinic, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr.replace("\n", " ")
    assert "Traceback" not in result.output


def test_a_model_that_lacks_its_columns_or_a_proof_is_told(clinic, tmp_path):
    poor = tmp_path / "poor.csv"
    poor.write_text("age,dead\n50,yes\n60,no\n")
    result = runner.invoke(
        app, ["validate", str(clinic / "model.json"), str(poor), "--outcome", "dead"]
    )
    assert result.exit_code == 2
    assert "needs the column(s) 'stage'" in result.stderr
