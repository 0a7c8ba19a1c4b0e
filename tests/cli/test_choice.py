"""`shortlist path` and `shortlist alternatives`."""

import pytest
from clinic_options import OUTCOME, POSED, PRICED

import shortlist as sl
from shortlist.patients import problem_of
from shortlist.tables import read_table


@pytest.fixture
def card(run, clinic):
    """The model of `fit` for a budget of 6."""
    run("fit", *PRICED, "--budget", 6, "--model", "model.json")
    return sl.ModelCard.load("model.json")


def test_path_is_that_of_the_library(run, record, card):
    printed = record("path", *PRICED)
    table = read_table("patients.csv")
    problem = problem_of(card, table, table["fate"] == "dead")
    steps = sl.solve_path(problem.with_limits(budget=float("inf")))
    assert [step["predictors"] for step in printed["steps"]] == [
        [steps.names[g] for g in step.solution.support] for step in steps
    ]
    assert printed["is_proven"]
    assert min(step["difference"] for step in printed["steps"]) == 0
    assert all(step["log_loss"] > 0 and step["error"] >= 0 for step in printed["steps"])
    text = run("path", *PRICED, "--no-cross-validate").stdout
    assert "All steps are proven." in text and "log loss" not in text


@pytest.mark.parametrize("command", ["path", "alternatives"])
def test_mistakes_in_the_data_are_named_with_a_given_ridge_too(record, clinic, command):
    table = read_table("patients.csv")
    table.assign(patient_no=range(len(table))).to_csv("numbered.csv", index=False)
    options = ("numbered.csv", *POSED[1:], "--max-features", "2", "--ridge", "1")
    notes = record(command, *options)["notes"]
    assert any(note.startswith("Patient numbers: 'patient_no'") for note in notes)


def test_alternatives_start_with_the_model_of_fit(run, record, card):
    command = ("alternatives", *PRICED, "--budget", 6, "--tolerance", "0.5")
    printed = record(*command)
    bought = [term.name for term in card.terms]
    assert printed["models"][0]["predictors"] == bought
    assert [row["without"] for row in printed["substitutes"]] == bought
    assert all(row["excess"] >= 0 for row in printed["substitutes"])
    assert min(row["difference"] for row in printed["models"]) == 0
    assert printed["is_complete"] and printed["is_proven"]
    assert "these are the best 1" in run(*command, "--limit", "1").text


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_a_support_vector_machine(run, record, clinic, loss):
    solved = (*POSED, "--costs", "costs.csv", "--budget", 6, "--loss", loss)
    path, listed = record("path", *solved), record("alternatives", *solved)
    assert path["loss"] == listed["loss"] == loss
    assert path["is_proven"]
    assert listed["models"][0]["predictors"] == path["steps"][-1]["predictors"]
    run("export", *solved, "problem.cbf")
    assert f"{loss} loss" in (clinic / "problem.cbf").read_text()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("path", "--loss", "huber"), "must be one of logistic, squared_hinge, hinge"),
        (("path", "--loss", "hinge", "--ridge", "tuned"), "--ridge: is tuned by the risks"),
    ],
)
def test_wrong_input_is_one_sentence(refusal, clinic, command, message):
    name, *options = command
    posed = ("patients.csv", *OUTCOME, "--ridge", "1", "--max-features", "2")
    if name == "export":
        posed = (posed[0], options.pop(0), *posed[1:])
    assert message in refusal(name, *posed, *options)
