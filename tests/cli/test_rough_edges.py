"""Nothing is ignored in silence, files are taken as people have them, and messages point right."""

import json

import numpy as np
import pandas as pd
import pytest

ASKED = ("--outcome", "fate", "--exclude", "visit", "--ridge", "1")


def words(text):
    return " ".join(text.split())


def table_of(clinic):
    return pd.read_csv(clinic / "patients.csv")


@pytest.fixture
def fit(run, clinic):
    def invoke(*arguments, data="patients.csv", asked=ASKED):
        return run("fit", clinic / data, *asked, *arguments)

    return invoke


# Nothing is ignored in silence.


def test_prices_without_a_budget_are_refused(fit, run, clinic):
    prices = ("--costs", clinic / "costs.csv")
    result = fit("--max-features", "2", *prices)
    assert result.exit_code == 2
    assert "--costs: has no effect without --budget" in result.stderr
    for command in (("alternatives",), ("export", clinic / "m.cbf")):
        name, *rest = command
        result = run(name, clinic / "patients.csv", *rest, *ASKED, "--max-features", "2", *prices)
        assert result.exit_code == 2
        assert "--costs: has no effect without --budget" in result.stderr
    assert run("path", clinic / "patients.csv", *ASKED, *prices).exit_code == 0


def test_resamples_without_a_report_are_refused(fit):
    result = fit("--max-features", "2", "--resamples", "9")
    assert result.exit_code == 2
    assert "--resamples: has no effect without --report" in result.stderr


@pytest.mark.parametrize("command", ["fit", "path", "alternatives", "export"])
def test_every_command_points_at_codes(run, clinic, command):
    table = table_of(clinic)
    table["stage"] = table["stage"].str.len()
    table.to_csv(clinic / "codes.csv", index=False)
    file = [clinic / "m.cbf"] if command == "export" else []
    asked = (command, clinic / "codes.csv", *file, *ASKED, "--max-features", "2")
    result = run(*asked)
    assert result.exit_code == 0, result.output
    assert "Note: 'stage': few distinct whole numbers" in words(result.stderr)
    assert "few distinct whole numbers" not in run(*asked, "--categorical", "stage").stderr
    assert "few distinct whole numbers" not in run(*asked, "--exclude", "stage").stderr


def test_explore_points_at_codes(run, clinic, monkeypatch):
    monkeypatch.setattr("shortlist.explorer.serve.serve", lambda *_, **__: None)
    table = table_of(clinic)
    table["stage"] = table["stage"].str.len()
    table.to_csv(clinic / "codes.csv", index=False)
    result = run("explore", clinic / "codes.csv", "--outcome", "fate", "--exclude", "visit")
    assert "Note: 'stage': few distinct whole numbers" in words(result.stderr)
    refused = run("explore", "--exclude", "visit")
    assert refused.exit_code == 2
    assert "DATA: is missing; give the table that the options refer to" in refused.stderr


def test_what_was_noted_is_told_also_when_an_error_follows(fit, clinic):
    with pd.ExcelWriter(clinic / "two.xlsx") as book:
        table_of(clinic).to_excel(book, sheet_name="patients", index=False)
        pd.DataFrame({"x": [1]}).to_excel(book, sheet_name="notes", index=False)
    result = fit("--max-features", "2", "--include", "height", data="two.xlsx")
    assert result.exit_code == 2
    note, error = result.stderr.splitlines()
    assert "only the first of 2 sheets, 'patients', is read" in note
    assert "there is no column 'height'" in error


# Who is the event?


@pytest.mark.parametrize("values", [("live", "die"), ("nein", "ja"), ("negative", "positive")])
def test_the_obvious_event_is_said(fit, clinic, values):
    table = table_of(clinic)
    table["fate"] = np.where(table["fate"] == "dead", values[1], values[0])
    table.to_csv(clinic / "other.csv", index=False)
    result = fit("--max-features", "2", data="other.csv")
    assert result.exit_code == 0, result.output
    assert f"with fate = {values[1]}." in result.stdout
    turned = fit("--max-features", "2", "--positive", values[0], "--json", data="other.csv")
    assert json.loads(turned.stdout)["model"]["outcome"]["event"] == values[0]


# Files that people have.


def test_decimal_commas_everywhere(fit, run, clinic):
    limits = ("--costs", clinic / "costs.csv", "--fees", clinic / "fees.csv")
    (clinic / "costs.csv").write_text("age,1.5\nsex,1\nstage,3.25\nlab,5\nsmoker,1\n")
    (clinic / "fees.csv").write_text("2.5,stage,lab\n")
    expected = json.loads(fit(*limits, "--budget", "7.25", "--json").stdout)["model"]
    (clinic / "costs.csv").write_text("age;1,5\nsex;1\nstage;3,25\nlab;5\nsmoker;1\n")
    (clinic / "fees.csv").write_text("2,5;stage;lab\n")
    table = table_of(clinic)
    table.to_csv(clinic / "comma.csv", index=False, sep=";", decimal=",")
    result = fit(*limits, "--budget", "7,25", "--json", data="comma.csv")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["model"] == expected
    for name in ("costs", "fees"):
        rows = [line.split(";") for line in (clinic / f"{name}.csv").read_text().splitlines()]
        pd.DataFrame(rows).to_excel(clinic / f"{name}.xlsx", index=False, header=False)
    sheets = ("--costs", clinic / "costs.xlsx", "--fees", clinic / "fees.xlsx")
    result = fit(*sheets, "--budget", "7,25", "--json", "--ridge", "1,0")
    assert json.loads(result.stdout)["model"] == expected


@pytest.mark.parametrize("budget", ["-1", "1,200", "cheap", "nan", "1,2,3"])
def test_budgets_that_are_none(fit, clinic, budget):
    result = fit("--costs", clinic / "costs.csv", "--budget", budget)
    assert result.exit_code == 2
    assert "--budget" in result.output


def test_all_bad_columns_are_named_at_once(fit, clinic):
    table = table_of(clinic)
    table["pid"] = [f"p{i:04d}" for i in range(len(table))]
    table["born"] = "3.4.1950"
    table.to_csv(clinic / "export.csv", index=False)
    result = fit("--max-features", "2", data="export.csv", asked=("--outcome", "fate"))
    assert result.exit_code == 2
    assert "3 columns cannot be used as they are" in result.stderr
    assert "column 'visit': holds dates such as '2020-01-01'" in words(result.stderr)
    assert result.stderr.strip().endswith("exclude visit,pid,born.")
    again = fit("--max-features", "2", "--exclude", "visit,pid,born", data="export.csv")
    assert again.exit_code == 0, again.output


def test_a_wrong_fee_is_called_a_fee(fit, clinic):
    (clinic / "fees.csv").write_text("2,stage\ncheap,lab,sex\n")
    files = ("--costs", clinic / "costs.csv", "--fees", clinic / "fees.csv")
    result = fit(*files, "--budget", "5")
    assert "the fee in row 2 for 'lab', 'sex' must be a number" in words(result.stderr)


# Messages that point at the right thing.


def test_predict_blames_the_cell_that_is_wrong(fit, run, clinic):
    fit("--max-features", "1", "--include", "lab", "--model", clinic / "m.json")
    (clinic / "new.csv").write_text("lab;sex\n0,5;f\n0,25;m\nhigh;f\n")
    result = run("predict", clinic / "m.json", clinic / "new.csv")
    assert result.exit_code == 2
    assert "'high' in row 3" in result.stderr


def test_the_person_column_may_be_excluded_and_priced_but_not_included(fit, clinic):
    table = table_of(clinic).assign(pid=[f"p{i // 2}" for i in range(80)])
    table.to_csv(clinic / "persons.csv", index=False)
    (clinic / "costs.csv").write_text((clinic / "costs.csv").read_text() + "pid,3\nfate,1\n")
    priced = ("--costs", clinic / "costs.csv", "--budget", "3", "--person", "pid")
    result = fit(*priced, "--exclude", "pid,fate", data="persons.csv")
    assert result.exit_code == 0, result.output
    for option in ("--include", "--categorical", "--numeric"):
        result = fit(*priced, option, "pid", data="persons.csv")
        assert result.exit_code == 2
        assert f"{option}: 'pid' is the --person column" in words(result.stderr)


def test_verify_tells_a_wrong_proof_from_a_model_that_is_not_the_proven_one(fit, run, clinic):
    files = ("--certificate", clinic / "proof.json", "--model", clinic / "m.json")
    fit("--max-features", "2", *files)
    fit("--max-features", "1", "--model", clinic / "smaller.json")
    fit("--max-features", "2", "--exclude", "lab", "--model", clinic / "fewer.json")
    verify = ("verify", clinic / "proof.json", clinic / "patients.csv", "--model")
    assert run(*verify, clinic / "m.json").exit_code == 0
    for name, difference in (("smaller", "It buys"), ("fewer", "It was fitted to other data")):
        result = run(*verify, clinic / f"{name}.json")
        assert result.exit_code == 1
        assert result.stdout.startswith("The proof holds, but ")
        assert f"{name}.json is not the model that it proves: {difference}" in result.stdout
        record = json.loads(run(*verify, clinic / f"{name}.json", "--json").stdout)
        assert not record["valid"] and "is not the model that it proves" in record["reason"]


def test_a_proof_is_no_model_and_a_model_no_proof(fit, run, clinic):
    files = ("--certificate", clinic / "proof.json", "--model", clinic / "m.json")
    fit("--max-features", "2", *files)
    result = run("predict", clinic / "proof.json", clinic / "patients.csv")
    assert result.exit_code == 2
    assert "proof.json: is a proof; pass the model" in words(result.stderr)
    result = run("verify", clinic / "m.json", clinic / "patients.csv")
    assert result.exit_code == 2
    assert "m.json: does not say that it is a 'shortlist certificate'; pass a proof" in words(
        result.stderr
    )


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("intercept", None, "intercept: is missing"),
        ("extra", 1, "extra: is unknown"),
        ("intercept", "0", "intercept: has an invalid value"),
        ("terms", [{"kind": "magic"}], "terms.0: has an invalid value"),
    ],
)
def test_a_damaged_model_is_described_in_our_words(fit, run, clinic, field, value, told):
    fit("--max-features", "2", "--model", clinic / "m.json")
    content = json.loads((clinic / "m.json").read_text())
    if value is None:
        del content[field]
    else:
        content[field] = value
    (clinic / "m.json").write_text(json.dumps(content))
    result = run("predict", clinic / "m.json", clinic / "patients.csv")
    assert result.exit_code == 2
    assert f"is damaged ({told}); save the model again." in words(result.stderr)
