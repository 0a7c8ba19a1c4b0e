"""`shortlist verify` and `shortlist export`."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from clinic_options import POSED, PRICED
from sklearn.exceptions import ConvergenceWarning

import shortlist as sl
from shortlist.cli.proof import _restate
from shortlist.patients import problem_of, save_proof
from shortlist.report.manuscript import filled, methods_templates
from shortlist.tables import read_table

VERIFY = ("verify", "proof.json", "patients.csv")


@pytest.fixture
def proof(run, clinic):
    files = ("--certificate", "proof.json", "--model", "model.json")
    run("fit", *PRICED, "--budget", 6, *files)
    return clinic / "proof.json"


def edit(path, change):
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def test_a_proof_holds_for_the_data_it_was_made_from(run, record, proof):
    text = run(*VERIFY).text
    scope = "of the 5 predictors within a budget of 6"
    assert text.startswith(f"The proof holds: no selection {scope} has a penalised loss below")
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
        assert line in text
    printed, card = record(*VERIFY), sl.ModelCard.load("model.json")
    assert printed["valid"]
    assert printed["gap"] < 1e-6
    assert printed["lower_bound"] <= card.search.objective <= printed["upper_bound"] * (1 + 1e-9)


def test_the_problem_is_that_of_the_fit_whatever_else_the_table_holds(proof):
    table = read_table("patients.csv")
    y = (table["fate"] == "dead").astype(int)
    shuffled = table[list(table.columns)[::-1]].assign(more=1.0)
    problem = problem_of(sl.ModelCard.load("model.json"), shuffled, y)
    assert problem.digest == sl.Certificate.load(proof).problem


@pytest.mark.parametrize(
    "options",
    [("--spline-knots", "3"), ("--missing-indicator",), ("--include", "lab"), ("--ridge", "tuned")],
)
def test_preprocessing_and_limits_are_rebuilt(run, clinic, options):
    run("fit", *POSED, *options, "--max-features", "2", "--certificate", "proof.json")
    run(*VERIFY)


def surer(content):
    search = content["card"]["search"]
    search["lower_bound"] = search["objective"] = 0.99 * search["objective"]
    search["gap"] = 0.0


def term_with(key, place=None, plus=0.0, times=1.0):
    """Change a number of the first term."""

    def change(content):
        where, name = content["card"]["terms"][0], key
        if place is not None:
            where, name = where[key], place
        where[name] = where[name] * times + plus

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda c: c["card"]["limits"].update(budget=7.0), "another problem"),
        (term_with("coefficients", 0, times=1.01), "predicts otherwise"),
        (surer, "claims another objective"),
        (term_with("fill", plus=30.0), "describes its terms otherwise"),  # no row needs it
        (term_with("quartiles", 0, plus=-1.0), "describes its terms otherwise"),
        (term_with("range", 1, plus=50.0), "describes its terms otherwise"),
        (lambda c: c["card"]["data"].update(rows=8000), "other numbers of rows"),
        (lambda c: c["card"]["data"].update(events=1), "other numbers of rows or events"),
        (lambda c: c["card"]["limits"]["exclude"].append("troponin"), "leave out columns"),
        (lambda c: c.update(lower_bound=c["objective"]), "prove a lower bound"),
        (lambda c: c.update(steps=[]), "proof does not hold"),
    ],
)
def test_a_changed_proof_is_refused(run, proof, change, reason):
    edit(proof, change)
    assert reason in run(*VERIFY, code=1).stdout


def test_changed_data_are_refused(run, clinic, proof):
    text = (clinic / "patients.csv").read_text()
    (clinic / "patients.csv").write_text(text.replace(",dead\n", ",alive\n", 1))
    assert "patients are not those" in run(*VERIFY, code=1).stdout


def test_a_model_file_that_is_not_the_proven_one_is_refused(run, record, clinic, proof):
    run(*VERIFY, "--model", "model.json")
    run("fit", *POSED, "--max-features", "1", "--model", "smaller.json")
    fewer = ("--max-features", "2", "--exclude", "lab")
    run("fit", *POSED, *fewer, "--model", "fewer.json")
    edit(clinic / "model.json", lambda content: content.update(intercept=0.01))
    for name, difference in (
        ("model", "The model predicts otherwise"),
        ("smaller", "It buys"),
        ("fewer", "It was fitted to other data"),
    ):
        result = run(*VERIFY, "--model", f"{name}.json", code=1)
        told = f"{name}.json is not the model that it proves: {difference}"
        assert result.stdout.startswith(f"The proof holds, but {told}")
        printed = json.loads(run(*VERIFY, "--model", f"{name}.json", "--json", code=1).stdout)
        assert not printed["valid"] and told in printed["reason"]


def hide_high_values(card):
    card["preprocessing"]["missing_codes"] = {"age": ["9"]}


def rename_a_level(card):
    card["preprocessing"]["synonyms"] = {"stage": {"V": "I"}}


def claim_a_lowered_limit(card):
    search = card["search"]
    search["within"] = {
        **{"share": 0.01, "limit": "budget", "stated": 100.0, "best_cost": 90.0},
        **{"best_objective": search["objective"], "is_proven": True},
    }


def claim_an_update(card):
    card["update"] = {"how": "refitted", "rows": 500, "events": 100}


def know_other_patients(card):
    card["data"]["marks"] = card["data"]["marks"].replace("0", "1")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (hide_high_values, "It states other preprocessing than the proof."),
        (rename_a_level, "It states other preprocessing than the proof."),
        (claim_a_lowered_limit, "It states another search (within) than the proof."),
        (claim_an_update, "The model was updated to other patients"),
        (know_other_patients, "The model takes other patients for those"),
    ],
)
def test_a_model_file_that_states_otherwise_is_refused(run, clinic, proof, change, told):
    edit(clinic / "model.json", change)
    assert told in run(*VERIFY, "--model", "model.json", code=1).stdout


def test_what_the_data_do_not_determine_is_restated(run, record, proof):
    assert "not checked: number of nodes, solver, version of shortlist" in run(*VERIFY).text
    for change in (hide_high_values, rename_a_level, claim_a_lowered_limit):
        edit(proof, lambda content, change=change: change(content["card"]))
    text = run(*VERIFY).text
    assert "taken for missing: age: 9" in text
    assert "read as: stage: I for V" in text
    assert "budget: 6 (lowered from 100)" in text
    assert "version of shortlist, why the limit was lowered" in text
    printed = record(*VERIFY)
    assert "why the limit was lowered" in printed["not_checked"]
    assert printed["within"]["stated"] == 100.0


def test_bounds_without_optimality_end_with_3(run, clinic):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 15)).round(3)).add_prefix("x")
    ill = pd.Series((rng.random(60) < 0.5).astype(int), name="ill")
    table.assign(ill=ill).to_csv("patients.csv", index=False)
    with pytest.warns(ConvergenceWarning):
        model = sl.PrognosticModel(max_features=6, ridge=0.01, node_limit=1).fit(table, ill)
    save_proof("proof.json", model.card_, model.certificate_)
    told = run(*VERIFY, code=3).stdout
    assert told.startswith("The bounds hold, but optimality is not proven")
    printed = json.loads(run(*VERIFY, "--json", code=3).stdout)
    assert printed["valid"] and not printed["optimal"]
    edit(clinic / "proof.json", lambda c: c["card"]["search"].update(status="optimal"))
    assert "claims to be optimal" in run(*VERIFY, code=1).stdout


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("fate", "end", "has no column 'fate', which the proof is about"),
        ("stage", "grade", "has no column 'stage', which the proof is about"),
        ("dead", "gone", "has no value 'dead', which the proof is about"),
        ("alive", "well", "has no value 'alive', which the proof is about"),
    ],
)
def test_data_of_another_form_are_told_in_their_own_words(refusal, clinic, proof, old, new, told):
    text = (clinic / "patients.csv").read_text()
    (clinic / "patients.csv").write_text(text.replace(old, new))
    message = refusal(*VERIFY)
    assert told in message
    assert "--" not in message


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "Error: "),
        ("{}", "Error: "),
        ('{"format": "shortlist certificate"}', "Error: "),
        ("[1", "Error: "),
        (lambda text: text.replace("{", '{"objective": 0.0,', 1), "Error: "),  # a field twice
    ],
)
def test_files_that_are_no_proofs_end_with_2(refusal, proof, content, told):
    proof.write_text(content(proof.read_text()) if callable(content) else content)
    assert refusal(*VERIFY).startswith(told)


def test_proofs_models_and_bare_certificates_are_told_apart(refusal, proof):
    message = refusal("predict", "proof.json", "patients.csv")
    assert "proof.json: is a proof; pass the model" in message
    message = refusal("verify", "model.json", "patients.csv")
    assert "model.json: does not say that it is a 'shortlist certificate'; pass a proof" in message
    sl.Certificate.load(proof).save(proof)
    assert "carries no model" in refusal(*VERIFY)


def test_export_writes_the_model_of_the_problem(run, refusal, clinic):
    run("export", *PRICED, "--budget", 6, "problem.cbf")
    assert "EXP 3" in (clinic / "problem.cbf").read_text()
    assert "known format" in refusal("export", *PRICED, "--budget", 6, "problem.mps")


def test_limits_on_coefficients_are_part_of_the_problem(run, refusal, clinic):
    common = ("export", *POSED, "--max-features", 2, "--ridge", 0.1)
    sizes = {}
    for name, limits in {
        "free": (),
        "signs": ("--increasing", "age,smoker", "--decreasing", "lab"),
        "size": ("--max-coefficient", 2),
    }.items():
        run(*common, *limits, f"{name}.cbf")
        lines = (clinic / f"{name}.cbf").read_text().splitlines()
        sizes[name] = int(lines[lines.index("CON") + 2].split()[1])  # rows: L- n
    assert sizes["signs"] == sizes["free"] + 3
    assert sizes["size"] > sizes["free"] + 5
    both = refusal(*common, "--increasing", "age", "--decreasing", "age,lab", "x")
    assert "--increasing and --decreasing: 'age' is in both" in both
    assert "'stage' is a factor" in refusal(*common, "--increasing", "stage", "x.cbf")


def written_methods(card):
    """What a report writes about the building of a model."""
    (building,) = (t for title, t in methods_templates() if title.startswith("12c"))
    known = {
        "proof": SimpleNamespace(is_optimal=True, problem_digest=""),
        "performance": SimpleNamespace(n_resamples=0, n_folds=3),
        "persons": SimpleNamespace(has_several_rows=False),
    }
    return filled(building, known | {"card": card, "versions": {}})


def test_limits_on_coefficients_are_said_in_words():
    X = pd.DataFrame({"age": [40, 50, 60, 70, 45], "lab": [3, 1, 2, 5, 4]})
    y, patients = [0, 0, 1, 1, 0], SimpleNamespace(predictors=X)
    free = sl.PrognosticModel(max_features=1, ridge=0.1)
    assert "level:" not in written_methods(free.fit(X, y).card_)
    assert "Allowed" not in written_methods(free.card_)
    assert "coefficients" not in dict(_restate(free.card_, patients))
    limited = free.set_params(max_coefficient=1.5, signs={"age": "positive", "lab": "negative"})
    card = limited.fit(X, y).card_
    said = dict(_restate(card, patients))
    assert said["only raises risk"] == "age"
    assert said["only lowers risk"] == "lab"
    assert said["coefficients"] == "at most 1.5 (age), 1.5 (lab)"
    written = written_methods(card)
    assert "Allowed only to raise the risk: age. Allowed only to lower the risk: lab." in written
    assert "per level: 1.5 (age), 1.5 (lab). " in written
