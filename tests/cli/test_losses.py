"""`--loss` of the commands that solve a problem."""

import json

import pytest

POSED = ("--outcome", "fate", "--positive", "dead", "--exclude", "visit")


@pytest.fixture
def posed(clinic):
    return (clinic / "patients.csv", *POSED, "--costs", clinic / "costs.csv")


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_path_alternatives_and_export_with_a_support_vector_machine(run, posed, loss, tmp_path):
    solved = (*posed, "--loss", loss, "--ridge", 1, "--budget", 6)
    record = json.loads(run("path", *solved, "--json").stdout)
    assert record["loss"] == loss
    assert record["is_proven"]
    listed = json.loads(run("alternatives", *solved, "--json").stdout)
    assert listed["loss"] == loss
    assert listed["models"][0]["predictors"] == record["steps"][-1]["predictors"]
    assert run("export", *solved, tmp_path / "problem.cbf").exit_code == 0
    assert f"{loss} loss" in (tmp_path / "problem.cbf").read_text()


def test_a_machine_needs_a_ridge(run, posed):
    result = run("path", *posed, "--loss", "hinge", "--budget", 6)
    assert result.exit_code == 2
    assert "--ridge: is tuned by the risks" in " ".join(result.stderr.split())


def test_fit_has_no_risks_of_a_machine(run, posed):
    result = run("fit", *posed, "--loss", "hinge", "--ridge", 1, "--budget", 6)
    assert result.exit_code == 2
    assert "BestSubsetClassifier" in result.stderr


@pytest.mark.parametrize("command", ["fit", "path"])
def test_what_is_no_loss_is_refused(run, posed, command):
    result = run(command, *posed, "--loss", "huber", "--ridge", 1, "--budget", 6)
    assert result.exit_code == 2
    assert "must be one of logistic, squared_hinge, hinge" in " ".join(result.stderr.split())
