"""`shortlist verify`, `path`, `alternatives` and `export`, as a user calls them."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

import shortlist as sl
from shortlist.cli.proof import _restate
from shortlist.patients import problem_of, save_proof
from shortlist.report.text import _coef_limits
from shortlist.tables import read_table

POSED = ("--outcome", "fate", "--positive", "dead", "--exclude", "visit", "--ridge", "1")


@pytest.fixture
def priced(clinic):
    return (
        clinic / "patients.csv",
        *POSED,
        *("--costs", clinic / "costs.csv", "--fees", clinic / "fees.csv"),
    )


@pytest.fixture
def proof(run, clinic, priced):
    files = ("--certificate", clinic / "proof.json", "--model", clinic / "model.json")
    result = run("fit", *priced, "--budget", 6, *files)
    assert result.exit_code == 0, result.output
    return clinic / "proof.json"


def test_a_proof_holds_for_the_data_it_was_made_from(run, clinic, proof):
    result = run("verify", proof, clinic / "patients.csv")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("The proof holds: no selection has a penalised loss below")
    for line in (
        "outcome: fate = dead, otherwise alive",
        "rows: 80, ",
        "candidates: 5: age 1, sex 1 (categorical), stage 3 (categorical), lab 5, smoker 1 (bool",
        "fee: 2 for any of stage, lab",
        "budget: 6",
        "excluded: visit",
        "ridge: 1",
        "bought: age, stage, for 6",
    ):
        assert line in " ".join(result.stdout.split())
    record = json.loads(run("verify", proof, clinic / "patients.csv", "--json").stdout)
    card = sl.ModelCard.load(clinic / "model.json")
    assert record["valid"]
    assert record["gap"] < 1e-6
    assert record["lower_bound"] <= card.search.objective <= record["upper_bound"] * (1 + 1e-9)


def test_the_problem_is_that_of_the_fit_whatever_else_the_table_holds(run, clinic, proof):
    table = read_table(clinic / "patients.csv")
    card = sl.ModelCard.load(clinic / "model.json")
    y = (table["fate"] == "dead").astype(int)
    shuffled = table[list(table.columns)[::-1]].assign(more=1.0)
    assert problem_of(card, shuffled, y).digest == sl.Certificate.load(proof).problem


@pytest.mark.parametrize(
    "options",
    [("--spline-knots", "3"), ("--missing-indicator",), ("--include", "lab"), ("--ridge", "tuned")],
)
def test_preprocessing_and_limits_are_rebuilt(run, clinic, options):
    proof, data = clinic / "other.json", clinic / "patients.csv"
    arguments = ("--max-features", "2", "--certificate", proof)
    assert run("fit", data, *POSED, *options, *arguments).exit_code == 0
    result = run("verify", proof, data)
    assert result.exit_code == 0, result.output


def change_data(clinic):
    text = (clinic / "patients.csv").read_text()
    (clinic / "patients.csv").write_text(text.replace(",dead\n", ",alive\n", 1))


def edit_proof(change):
    def edit(clinic):
        content = json.loads((clinic / "proof.json").read_text())
        change(content)
        (clinic / "proof.json").write_text(json.dumps(content))

    return edit


def cheaper(content):
    content["card"]["limits"]["budget"] = 7.0


def sharper(content):
    content["card"]["terms"][0]["coefficients"][0] *= 1.01


def surer(content):
    search = content["card"]["search"]
    search["lower_bound"] = search["objective"] = 0.99 * search["objective"]
    search["gap"] = 0.0


def refilled(content):
    content["card"]["terms"][0]["fill"] += 30.0


def spread(content):
    content["card"]["terms"][0]["quartiles"][0] -= 1.0


def ranged(content):
    content["card"]["terms"][0]["range"][1] += 50.0


def more_rows(content):
    content["card"]["data"]["rows"] = 8000


def more_events(content):
    content["card"]["data"]["events"] += 1


def excluding(content):
    content["card"]["limits"]["exclude"].append("troponin")


def bolder(content):
    content["lower_bound"] = content["objective"]


def without_leaves(content):
    content["steps"] = []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (change_data, "patients are not those"),
        (edit_proof(cheaper), "another problem"),
        (edit_proof(sharper), "predicts otherwise"),
        (edit_proof(surer), "claims another objective"),
        (edit_proof(refilled), "predicts otherwise"),  # one age is missing
        (edit_proof(spread), "describes its terms otherwise"),
        (edit_proof(ranged), "describes its terms otherwise"),
        (edit_proof(more_rows), "other numbers of rows"),
        (edit_proof(more_events), "other numbers of rows or events"),
        (edit_proof(excluding), "leave out columns"),
        (edit_proof(bolder), "prove a lower bound"),
        (edit_proof(without_leaves), "proof does not hold"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_was_changed_is_refused(run, clinic, proof, change, reason):
    change(clinic)
    result = run("verify", proof, clinic / "patients.csv")
    assert result.exit_code == 1, result.output
    assert reason in result.stdout


def test_a_model_file_that_is_not_the_proven_one_is_refused(run, clinic, proof):
    data, model = clinic / "patients.csv", clinic / "model.json"
    assert run("verify", proof, data, "--model", model).exit_code == 0
    content = json.loads(model.read_text())
    content["intercept"] += 0.01
    model.write_text(json.dumps(content))
    result = run("verify", proof, data, "--model", model)
    assert result.exit_code == 1
    assert "predicts otherwise" in result.stdout


def test_bounds_without_optimality_end_with_3(run, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 15)).round(3)).add_prefix("x")
    ill = pd.Series((rng.random(60) < 0.5).astype(int), name="ill")
    table.assign(ill=ill).to_csv(tmp_path / "patients.csv", index=False)
    with pytest.warns(ConvergenceWarning):
        model = sl.PrognosticModel(max_features=6, ridge=0.01, node_limit=1).fit(table, ill)
    verify = ("verify", tmp_path / "proof.json", tmp_path / "patients.csv")
    save_proof(tmp_path / "proof.json", model.card_, model.certificate_)
    result = run(*verify)
    assert result.exit_code == 3, result.output
    assert result.stdout.startswith("The bounds hold, but optimality is not proven")
    record = json.loads(run(*verify, "--json").stdout)
    assert record["valid"] and not record["optimal"]

    def call_optimal(content):
        content["card"]["search"]["status"] = "optimal"

    edit_proof(call_optimal)(tmp_path)
    result = run(*verify)
    assert result.exit_code == 1
    assert "claims to be optimal" in result.stdout


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("fate", "end", "has no column 'fate', which the proof is about"),
        ("stage", "grade", "has no column 'stage', which the proof is about"),
        ("dead", "gone", "has no value 'dead', which the proof is about"),
        ("alive", "well", "has no value 'alive', which the proof is about"),
    ],
)
def test_data_of_another_form_are_told_in_their_own_words(run, clinic, proof, old, new, told):
    text = (clinic / "patients.csv").read_text()
    (clinic / "patients.csv").write_text(text.replace(old, new))
    result = run("verify", proof, clinic / "patients.csv")
    assert result.exit_code == 2
    assert told in " ".join(result.stderr.split())
    assert "--" not in result.stderr


def test_a_field_given_twice_is_refused(run, clinic, proof):
    text = proof.read_text()
    proof.write_text(text.replace("{", '{"objective": 0.0,', 1))
    assert run("verify", proof, clinic / "patients.csv").exit_code == 2


@pytest.mark.parametrize("content", ["", "{}", '{"format": "shortlist certificate"}', "[1"])
def test_what_is_no_proof_ends_with_2(run, clinic, content):
    (clinic / "proof.json").write_text(content)
    result = run("verify", clinic / "proof.json", clinic / "patients.csv")
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: ")


def test_a_bare_certificate_says_that_it_lacks_the_model(run, clinic, proof):
    sl.Certificate.load(proof).save(proof)
    result = run("verify", proof, clinic / "patients.csv")
    assert result.exit_code == 2
    assert "carries no model" in result.stderr


def test_path_is_that_of_the_library(run, clinic, priced, proof):
    record = json.loads(run("path", *priced, "--json").stdout)
    card = sl.ModelCard.load(clinic / "model.json")
    table = read_table(clinic / "patients.csv")
    problem = problem_of(card, table, table["fate"] == "dead")
    steps = sl.solve_path(problem.with_limits(budget=float("inf")))
    assert [step["predictors"] for step in record["steps"]] == [
        [steps.names[g] for g in step.solution.support] for step in steps
    ]
    assert record["is_proven"]
    result = run("path", *priced)
    assert result.exit_code == 0
    assert "All steps are proven." in result.stdout


def test_alternatives_start_with_the_model_of_fit(run, clinic, priced, proof):
    arguments = ("--budget", 6, "--tolerance", "0.5")
    record = json.loads(run("alternatives", *priced, *arguments, "--json").stdout)
    card = sl.ModelCard.load(clinic / "model.json")
    bought = [term.name for term in card.terms]
    assert record["models"][0]["predictors"] == bought
    assert [row["without"] for row in record["substitutes"]] == bought
    assert all(row["excess"] >= 0 for row in record["substitutes"])
    assert record["is_complete"] and record["is_proven"]
    few = run("alternatives", *priced, *arguments, "--limit", "1")
    assert few.exit_code == 0
    assert "these are the best 1" in " ".join(few.stdout.split())


def test_export_writes_the_model_of_the_problem(run, clinic, priced, tmp_path):
    result = run("export", *priced, "--budget", 6, tmp_path / "problem.cbf")
    assert result.exit_code == 0, result.output
    assert "EXP 3" in (tmp_path / "problem.cbf").read_text()
    wrong = run("export", *priced, "--budget", 6, tmp_path / "problem.mps")
    assert wrong.exit_code == 2
    assert "known format" in wrong.stderr


def test_limits_on_coefficients_are_part_of_the_problem(run, clinic, tmp_path):
    common = (clinic / "patients.csv", "--outcome", "fate", "--max-features", 2, "--ridge", 0.1)
    # Text outcomes need to be told; dates are no predictors.
    common = (*common, "--positive", "dead", "--exclude", "visit")
    sizes = {}
    for name, limits in {
        "free": (),
        "signs": ("--increasing", "age,smoker", "--decreasing", "lab"),
        "size": ("--max-coefficient", 2),
    }.items():
        result = run("export", *common, *limits, tmp_path / f"{name}.cbf")
        assert result.exit_code == 0, result.output
        lines = (tmp_path / f"{name}.cbf").read_text().splitlines()
        sizes[name] = int(lines[lines.index("CON") + 2].split()[1])  # rows: L- n
    assert sizes["signs"] == sizes["free"] + 3
    assert sizes["size"] > sizes["free"] + 5
    both = run("export", *common, "--increasing", "age", "--decreasing", "age,lab", tmp_path / "x")
    assert both.exit_code == 2
    assert "--increasing and --decreasing: 'age' is in both" in " ".join(both.output.split())
    factor = run("export", *common, "--increasing", "stage", tmp_path / "x.cbf")
    assert factor.exit_code == 2
    assert "'stage' is a factor" in " ".join(factor.output.split())


def test_limits_on_coefficients_are_said_in_words():
    X = pd.DataFrame({"age": [40, 50, 60, 70, 45], "lab": [3, 1, 2, 5, 4]})
    signs, y = {"age": "positive", "lab": "negative"}, [0, 0, 1, 1, 0]
    model = sl.PrognosticModel(max_features=1, ridge=0.1, max_coefficient=1.5, signs=signs).fit(
        X, y
    )
    said = dict(_restate(model.card_, SimpleNamespace(predictors=X)))
    assert said["only raises risk"] == "age"
    assert said["only lowers risk"] == "lab"
    assert said["coefficients"] == "at most 1.5 (age), 1.5 (lab)"
    written = _coef_limits(model.card_)
    assert "Allowed only to raise the risk: age. Allowed only to lower the risk: lab." in written
    assert written.endswith("per level: 1.5 (age), 1.5 (lab). ")
    free = sl.PrognosticModel(max_features=1, ridge=0.1).fit(X, y)
    assert _coef_limits(free.card_) == ""
    assert "coefficients" not in dict(_restate(free.card_, SimpleNamespace(predictors=X)))


@pytest.mark.parametrize("command", ["path", "alternatives", "export", "verify"])
def test_every_command_has_help(run, command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert "DATA" in result.stdout
