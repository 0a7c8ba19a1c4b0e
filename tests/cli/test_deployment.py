"""The commands that carry a model out of Python."""

import json

import pytest

import shortlist as sl
from shortlist.deployment import PointsChart

PROBLEM = ["patients.csv", "--outcome", "fate", "--exclude", "visit", "--ridge", "1"]
LIMITS = [*PROBLEM, "--budget", "6", "--costs", "costs.csv", "--fees", "fees.csv"]


@pytest.fixture
def model(clinic, run):
    run("fit", *LIMITS, "--model", "model.json")
    return sl.ModelCard.load("model.json")


@pytest.mark.parametrize("file", ["model.R", "model.sql", "model.js", "model.xlsx"])
def test_export_model(clinic, run, model, file):
    assert f"{file} written" in run("export-model", "model.json", "-o", file).notes
    assert (clinic / file).stat().st_size > 500


def test_calculator(clinic, run, model):
    file = ["-o", "calculator.html", "--patients", "patients.csv", "--unit", "age=years"]
    run("calculator", "model.json", *file)
    text = (clinic / "calculator.html").read_text()
    assert "(years)" in text
    assert '"percentiles": [0' in text


def test_nomogram(clinic, run, model):
    run("nomogram", "model.json", "-o", "nomogram.svg")
    assert "<svg" in (clinic / "nomogram.svg").read_text()


def test_points(clinic, run):
    found = run("points", *LIMITS, "-o", "points.json", "--chart", "chart.html")
    chart = PointsChart.load("points.json")
    assert chart.cost <= 6
    assert f"Cost {chart.cost:g}. Apparent AUC {chart.auc:.3f}" in found.text
    assert chart.outcome.name == "fate"
    page = (clinic / "chart.html").read_text()
    assert "Points for the risk of fate = dead" in page
    assert json.loads(run("points", *LIMITS, "--json").stdout)["auc"] == chart.auc


def test_points_without_a_proof_exit_with_3(clinic, run):
    found = run("points", *PROBLEM, "--max-features", 4, "--time-limit", "0.001", code=3)
    assert "not proven" in found.text


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (["export-model", "model.json", "-o", "model.pmml"], "must end in .R, .sql, .js or .xlsx"),
        (["nomogram", "model.json", "-o", "figure.docx"], "must end in .svg, .png, .pdf"),
        (["calculator", "model.json", "-o", "model.json"], "is used twice"),
        (["calculator", "model.json", "-o", "c.html", "--unit", "years"], "--unit: 'years' must"),
        (["calculator", "model.json", "-o", "c.html", "--unit", "x=y"], "knows no predictor 'x'"),
        (["points", *PROBLEM], "--budget: state a limit"),
    ],
)
def test_refusals(clinic, model, refusal, command, sentence):
    assert sentence in refusal(*command)
