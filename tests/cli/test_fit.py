"""`shortlist costs-template` and `shortlist fit`."""

import html
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from clinic_options import OUTCOME, POSED, PRICED
from messy import MESSY, UNUSABLE, make_messy

import shortlist as sl
from shortlist.cli.terminal import check_paths
from shortlist.native.search import branch_and_bound
from shortlist.tables import read_price_list, read_table

TWO = (*POSED, "--max-features", "2")


@pytest.fixture
def table(clinic):
    return pd.read_csv(clinic / "patients.csv")


def fit_to(table, *options):
    """Write other patients; return the command that fits two predictors to them."""
    table.to_csv("other.csv", index=False)
    return ("fit", "other.csv", *POSED[1:], "--max-features", "2", *options)


def test_from_files_to_the_model_of_the_estimator(run, clinic):
    run("fit", *PRICED, "--budget", 6, "--model", "model.json")
    table = read_table(clinic / "patients.csv")
    y = table.pop("fate")
    model = sl.PrognosticModel(
        budget=6,
        costs={"age": 1, "sex": 1, "stage": 3, "lab": 5, "smoker": 1},
        fees=[(2, ["stage", "lab"])],
        exclude=["visit"],
        ridge=1.0,
    ).fit(table, y)
    card = sl.ModelCard.load("model.json")
    assert card.model_dump() == model.card_.model_dump()
    assert card.probability(table).tobytes() == model.predict_proba(table)[:, 1].tobytes()


def test_the_terminal_and_json_show_the_model_file(run, record, clinic):
    text = run("fit", *PRICED, "--budget", 6, "--model", "model.json").text
    card = sl.ModelCard.load("model.json")
    for term in card.terms:
        assert term.name in text
    assert f"{len(card.terms)} of 5 predictors bought for {card.cost:g} of 6" in text
    assert "fee 2 for stage" in text
    assert f"80 patients, {card.data.events} with fate = dead" in text
    assert "Proven: no selection of the 5 predictors within a budget of 6 has" in text
    assert f"{card.search.objective:.4f}" in text
    printed = record("fit", *TWO, "--model", "model.json")
    assert printed["model"] == json.loads((clinic / "model.json").read_text())
    assert printed["effects"][0].keys() == {"predictor", "contrast", "coefficient", "odds_ratio"}
    assert 0.5 < printed["apparent_auc"] <= 1
    assert printed["model_file"] == "model.json"


def test_a_report_is_written_beside_its_numbers(record, clinic):
    printed = record("fit", *TWO, "--report", "r.html", "--resamples", "0")
    content = json.loads((clinic / "r.json").read_text())
    assert printed["report_file"] == "r.html"
    assert content["model"] == printed["model"]
    assert "Logistic regression for fate = dead" in (clinic / "r.html").read_text()


def test_the_answer_comes_before_the_report(run, clinic, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("shortlist.cli.fit._make_report", interrupted)
    result = run("fit", *TWO, "--report", "r.html", "--model", "m.json", code=130)
    assert "Proven: no selection of at most 2 of the 5 predictors has" in " ".join(
        result.stdout.split()
    )
    assert (clinic / "m.json").exists() and not (clinic / "r.html").exists()


def test_an_interrupt_ends_with_130_and_no_model(run, clinic, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("shortlist.estimator.selection.solve", interrupted)
    assert run("fit", *TWO, "--model", "m.json", code=130).stderr == "Interrupted.\n"
    assert not (clinic / "m.json").exists()


def test_suspicious_data_are_noted_with_their_columns(run, table):
    table = pd.concat([table, table[-1:]]).assign(years=lambda t: t["age"])
    notes = run(*fit_to(table, "--max-features", "3", "--include", "age,years")).notes
    assert "Copies: 'age' and 'years' carry the same information. Both were bought" in notes
    assert "Duplicated rows: 1 row repeats another" in notes


def test_too_few_events_for_a_report_are_told_before_the_work(refusal, clinic, table):
    dead = table.index[table["fate"] == "dead"]
    table.loc[dead[2:], "fate"] = "alive"
    told = refusal(*fit_to(table, "--report", "r.html", "--model", "m.json"))
    assert "needs 3 patients of each outcome" in told
    assert not (clinic / "m.json").exists()


def test_a_proof_that_is_too_long_is_a_note_and_no_loss(record, clinic, monkeypatch):
    monkeypatch.setattr("shortlist.PrognosticModel.certificate_", None)
    printed = record("fit", *TWO, "--certificate", "p.json", "--model", "m.json")
    assert printed["certificate_file"] is None
    assert any("was not written" in note for note in printed["notes"])
    assert (clinic / "m.json").exists() and not (clinic / "p.json").exists()


def test_ridge_is_tuned_unless_given(record, clinic):
    assert len(record("fit", *TWO, "--ridge", "tuned")["model"]["search"]["tuning"]) == 7
    assert record("fit", *TWO, "--ridge", "0.5")["model"]["search"]["ridge"] == 0.5


def test_the_same_patients_in_other_files_give_the_same_model(record, table):
    table.to_parquet("patients.parquet")
    table.to_excel("patients.xlsx", index=False)
    table.to_csv("patients.tsv", sep="\t", index=False)
    table.to_csv("semicolon.csv", sep=";", decimal=",", index=False)
    expected = record("fit", *TWO)["model"]
    for name in ("patients.parquet", "patients.xlsx", "patients.tsv", "semicolon.csv"):
        assert record("fit", name, *TWO[1:])["model"] == expected, name


@pytest.mark.parametrize("values", [("live", "die"), ("nein", "ja"), ("negative", "positive")])
def test_the_event_is_the_obvious_or_the_given_one(run, record, table, values):
    table["fate"] = np.where(table["fate"] == "dead", values[1], values[0])
    obvious = fit_to(table)
    assert f"with fate = {values[1]}." in run(*obvious).stdout
    models = [record(*obvious, "--positive", value)["model"] for value in values]
    assert models[0]["outcome"] == {"name": "fate", "event": values[0], "no_event": values[1]}
    assert models[0]["intercept"] == pytest.approx(-models[1]["intercept"])


def test_persons_are_no_predictor_and_stay_together(record, table):
    command = fit_to(table.assign(patient=[f"p{row // 4}" for row in table.index]))
    command = (*command, "--ridge", "tuned")
    model = record(*command, "--person", "patient")["model"]
    assert "patient" not in [candidate["name"] for candidate in model["candidates"]]
    apart = record(*command, "--exclude", "patient")["model"]
    assert model["search"]["tuning"] != apart["search"]["tuning"]


def test_the_person_column_may_be_excluded_and_priced_but_not_included(run, refusal, clinic, table):
    table.assign(pid=[f"p{i // 2}" for i in range(80)]).to_csv("persons.csv", index=False)
    (clinic / "costs.csv").write_text((clinic / "costs.csv").read_text() + "pid,3\nfate,1\n")
    command = ("fit", "persons.csv", *POSED[1:], "--costs", "costs.csv", "--budget", "3")
    command = (*command, "--person", "pid")
    run(*command, "--exclude", "pid,fate")
    for option in ("--include", "--categorical", "--numeric"):
        assert f"{option}: 'pid' is the --person column" in refusal(*command, option, "pid")


@pytest.mark.parametrize("command", ["fit", "path", "alternatives", "export", "explore"])
def test_every_command_points_at_codes(run, table, command, monkeypatch):
    monkeypatch.setattr("shortlist.explorer.serve.serve", lambda *_, **__: None)
    table["stage"] = table["stage"].str.len().astype(str)
    table.loc[0, "stage"] = " \n"
    table.to_csv("codes.csv", index=False)
    file = ["m.cbf"] if command == "export" else []
    limit = [] if command == "explore" else ["--max-features", "2", "--ridge", "1"]
    asked = (command, "codes.csv", *file, *OUTCOME, *limit)
    assert "Note: 'stage': few distinct whole numbers" in run(*asked).notes
    for option in ("--categorical", "--numeric", "--exclude"):
        assert "few distinct whole numbers" not in run(*asked, option, "stage").stderr


def test_lists_of_columns_have_commas_between_them(record, table):
    command = fit_to(table.rename(columns={"lab": "lab, fasting"}))
    model = record(*command, "--exclude", "smoker, stage", "--exclude", "lab, fasting")["model"]
    assert [candidate["name"] for candidate in model["candidates"]] == ["age", "sex"]


def test_a_time_limit_ends_with_3_and_a_model(run, clinic):
    noise = ("--label-noise", "0.3", "--rows", "300", "--columns", "60")
    run("simulate", "p.csv", "c.csv", *noise)
    limits = ("--max-features", "12", "--ridge", "0.001", "--time-limit", "0")
    result = run("fit", "p.csv", "--outcome", "outcome", *limits, "--model", "m.json", code=3)
    assert "Not proven, the search stopped (time limit)" in result.text
    assert sl.ModelCard.load("m.json").search.status == "time_limit"


def test_threads_reach_every_search(run, clinic, monkeypatch):
    given = []

    def recording(problem, options):
        given.append(options.threads)
        return branch_and_bound(problem, options)

    monkeypatch.setattr("shortlist.backends.native.branch_and_bound", recording)
    for command in ("fit", "path", "alternatives"):
        question = (command, *TWO, "--time-limit", "60")
        for threads, expected in ((("--threads", "3"), 3), ((), None)):
            given.clear()
            run(*question, *threads)
            assert given and set(given) == {expected}
        run(*question, "--threads", "0", code=2)


def test_names_are_neither_markup_nor_emoji_codes(run, clinic):
    rng = np.random.default_rng(0)
    names = ["[bold]x[/bold]", ":smile:", "<script>alert(1)</script>", "=1+1", 'a"b', "👩‍⚕️"]
    table = pd.DataFrame(rng.normal(size=(60, 6)), columns=names)
    table["ill"] = (table.sum(axis=1) + rng.logistic(size=60) > 0).astype(int)
    table.to_csv("p.csv", index=False)
    template = run("costs-template", "p.csv", "--outcome", "ill").stdout
    costs = template.replace(",,", ",1,")
    (clinic / "c.csv").write_text(costs, encoding="utf-8")
    limits = ("--costs", "c.csv", "--budget", "9", "--ridge", "1")
    result = run("fit", "p.csv", "--outcome", "ill", *limits, "--model", "m.json")
    for name in names[:-1]:
        assert name in result.stdout
    table.iloc[0, :] = np.nan
    table.to_csv("new.csv", index=False)
    predicted = run("predict", "m.json", "new.csv", "--id", "=1+1")
    assert predicted.stdout.startswith("row,'=1+1,probability,imputed,outside\n1,,0.")
    assert "[bold]x[/bold]; :smile:" in predicted.stdout


def test_decimal_commas_everywhere(record, clinic, table):
    limits = ("--costs", "costs.csv", "--fees", "fees.csv")
    (clinic / "costs.csv").write_text("age,1.5\nsex,1\nstage,3.25\nlab,5\nsmoker,1\n")
    (clinic / "fees.csv").write_text("2.5,stage,lab\n")
    expected = record("fit", *POSED, *limits, "--budget", "7.25")["model"]
    (clinic / "costs.csv").write_text("age;1,5\nsex;1\nstage;3,25\nlab;5\nsmoker;1\n")
    (clinic / "fees.csv").write_text("2,5;stage;lab\n")
    table.to_csv("comma.csv", index=False, sep=";", decimal=",")
    assert record("fit", "comma.csv", *POSED[1:], *limits, "--budget", "7,25")["model"] == expected
    for name in ("costs", "fees"):
        rows = [line.split(";") for line in (clinic / f"{name}.csv").read_text().splitlines()]
        pd.DataFrame(rows).to_excel(f"{name}.xlsx", index=False, header=False)
    sheets = ("--costs", "costs.xlsx", "--fees", "fees.xlsx", "--budget", "7,25", "--ridge", "1,0")
    assert record("fit", *POSED, *sheets)["model"] == expected


ONE = ("--max-features", "1")
BUDGET = ("--costs", "costs.csv", "--budget", "3")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--outcome", "fat", *ONE), "'fat' for --outcome; is it 'fate'?"),
        (("--outcome", "qqq", *ONE), "there are 'age', 'sex', 'stage', 'lab'"),
        (("--outcome", "stage", *ONE), "must have 2 different values, not 3"),
        (("--outcome", "sex", *ONE), "name the event with --positive"),
        (("--positive", "ill", *ONE), "'ill' is not a value of 'fate'"),
        ((), "state a limit"),
        (("--budget", "3"), "needs a price list"),
        ((*ONE, "--ridge", "big"), "must be a number greater than 0"),
        ((*ONE, "--ridge", "0"), "ridge: must be greater than 0"),
        ((*ONE, "--ridge", "nan"), "ridge: must be finite"),
        ((*ONE, "--include", "height"), "include: there is no column"),
        ((*ONE, "--exclude", "height"), "exclude: there is no column"),
        ((*ONE, "--include", "visit"), "in both"),
        ((*ONE, "--categorical", "height"), "there is no column 'height'"),
        ((*ONE, "--person", "fate"), "must be another column"),
        ((*ONE, "--person", "age"), "is empty in row 4"),
        ((*ONE, "--resamples", "9"), "--resamples: has no effect without --report"),
        ((*ONE, "--loss", "hinge"), "BestSubsetClassifier"),
        ((*ONE, "--loss", "huber"), "must be one of logistic, squared_hinge, hinge"),
        ((*ONE, "--report", "r.pdf"), "must end in .html"),
        ((*ONE, "--budget", "3", "--budget", "4"), "--budget: is given twice; give it once"),
        ((*ONE, "--weights", "age", "--report", "r.html"), "--weights: a report counts rows alike"),
        ((*ONE, "--certificate", "patients.csv"), "is used twice"),
        ((*ONE, "--certificate", "no folder/c.json"), "there is no folder"),
        (("--costs", "few.csv", "--budget", "3"), "no cost for 'sex', 'stage', 'lab', 'smoker'"),
        (("--costs", "more.csv", "--budget", "3"), "there is no predictor 'height'"),
        ((*BUDGET, "--fees", "wrong.csv"), "the fee in row 2 for 'lab', 'sex' must be a number"),
    ],
)
def test_wrong_input_ends_with_2_and_one_sentence(run, clinic, options, message):
    before = (clinic / "patients.csv").read_bytes()
    (clinic / "few.csv").write_text("age,1\nsex,\n")
    (clinic / "more.csv").write_text("age,1\nheight,1\n")
    (clinic / "wrong.csv").write_text("2,stage\ncheap,lab,sex\n")
    result = run("fit", *POSED, *options, "--model", "m.json", code=2)
    assert message in result.notes
    assert result.stderr.count("\n") == 1
    assert not (clinic / "m.json").exists()
    assert (clinic / "patients.csv").read_bytes() == before


@pytest.mark.parametrize("budget", ["-1", "1,200", "cheap", "nan", "1,2,3"])
def test_budgets_that_are_none(run, clinic, budget):
    result = run("fit", *POSED, "--costs", "costs.csv", "--budget", budget, code=2)
    assert "--budget" in result.output


def test_all_bad_columns_are_named_at_once(run, refusal, table):
    table["pid"] = [f"p{i:04d}" for i in range(len(table))]
    command = list(fit_to(table.assign(born="3.4.1950")))
    without = [part for part in command if part not in ("--exclude", "visit")]
    told = refusal(*without)
    assert "3 columns cannot be used as they are" in told
    assert "column 'visit': holds dates such as '2020-01-01'" in told
    assert told.endswith("exclude visit,pid,born.")
    run(*without, "--exclude", "visit,pid,born")


def test_notes_are_printed_also_when_an_error_follows(run, table):
    with pd.ExcelWriter("two.xlsx") as book:
        table.to_excel(book, sheet_name="patients", index=False)
        pd.DataFrame({"x": [1]}).to_excel(book, sheet_name="notes", index=False)
    result = run("fit", "two.xlsx", *TWO[1:], "--include", "height", code=2)
    note, *_, error = result.stderr.splitlines()  # between them progress, if it takes long
    assert "only the first of 2 sheets, 'patients', is read" in note
    assert "there is no column 'height'" in error


def test_costs_template(run, refusal, clinic):
    arguments = ("costs-template", "patients.csv", "--outcome", "fate", "--person", "visit")
    printed = run(*arguments).stdout
    kinds = {"age": "numeric", "sex": "categorical", "stage": "categorical", "lab": "numeric"}
    assert printed.startswith("predictor,cost,label,unit,reference,kind,note\nage,,,,,numeric,\n")
    (clinic / "printed.csv").write_text(printed)
    found = read_price_list("printed.csv", [*kinds, "smoker"])
    assert found.costs == found.labels == {} and found.kinds == kinds | {"smoker": "boolean"}
    frequent = pd.read_csv("patients.csv")[["sex", "stage"]].mode().iloc[0]
    assert found.references == frequent.to_dict()
    assert run(*arguments, "-o", "template.csv").stdout == ""
    assert (clinic / "template.csv").read_text() == printed
    (clinic / "template.csv").write_text("filled in")
    assert "exists already" in refusal(*arguments, "-o", "template.csv")
    assert (clinic / "template.csv").read_text() == "filled in"
    refusal("costs-template", "patients.csv", "--outcome", "no")


@pytest.fixture
def ward(tmp_path, monkeypatch):
    """The current folder, with a table that has one defect per column."""
    table, y = make_messy()
    table.assign(fate=y).to_csv(tmp_path / "ward.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_costs_template_marks_what_nobody_should_price(run, record, ward, ending):
    template = f"prices.{ending}"
    notes = run("costs-template", "ward.csv", "--outcome", "fate", "-o", template).notes
    prices = read_table(template).set_index("predictor")
    marked = {*MESSY, *UNUSABLE, "pulse"}
    assert set(prices.index[prices["note"].notna()]) == marked
    assert all(f"Note: {name!r}: " in notes for name in marked)
    wanted = {"age": 1.5, "glucose": 3, "smoking": 1}
    prices = prices.assign(cost=prices.index.map(wanted)).reset_index()
    save = prices.to_csv if ending == "csv" else prices.to_excel
    save(f"filled.{ending}", index=False)
    left_out = ",".join({*prices["predictor"]} - {*wanted})
    options = ("--costs", f"filled.{ending}", "--budget", "5", "--exclude", left_out)
    printed = record("fit", "ward.csv", "--outcome", "fate", "--ridge", "1", *options)
    assert printed["model"]["limits"]["budget"] == 5


def test_every_defect_is_noted_by_fit_and_mended_by_options(run, record, ward):
    fit = ("fit", "ward.csv", "--outcome", "fate", "--ridge", "1", "--max-features", "2")
    notes = run(*fit, "--exclude", ",".join(UNUSABLE)).notes
    for name, topic in MESSY.items():
        assert f"Note: {topic}: " in notes and repr(name) in notes
    mended = ("--missing-codes", "glucose=0,score=9,*=999", "--merge-levels")
    kept = {*MESSY, "pulse", "age"} - {"age in months", "record", "died", "autopsy", "ward"}
    out = sorted({*read_table("ward.csv").columns} - {*kept, "fate"})
    (ward / "words.csv").write_text("column,level,meant\nsmoking,quit,former\n")
    printed = record(*fit, "--exclude", ",".join(out), *mended, "--synonyms", "words.csv")
    assert {note.partition(":")[0] for note in printed["notes"]} <= {
        *("Sample size", "Missing values"),
        "'score'",  # few distinct whole numbers
    }
    preprocessing = printed["model"]["preprocessing"]
    assert preprocessing["missing_codes"]["glucose"] == ["0", "999"]
    assert preprocessing["synonyms"]["smoking"] == {
        **{"quit": "former", "Never": "never", "curent": "current"}
    }


@pytest.mark.parametrize("codes", ["glucose", "nothing=0", "glucose="])
def test_wrong_codes_are_one_sentence(refusal, ward, codes):
    fit = ("fit", "ward.csv", "--outcome", "fate", "--max-features", "2")
    assert "--missing-codes: " in refusal(*fit, "--missing-codes", codes)


def test_an_outcome_that_differs_in_case_is_told(refusal, table):
    fate = table["fate"].mask(table.index == 3, "DEAD").mask(table.index == 4, "dead")
    told = refusal(*fit_to(table.assign(fate=fate)))
    assert "'DEAD' and 'dead' differ in case or blanks only" in told


def test_within_a_share_of_the_best(run, record, refusal, clinic):
    best = record("fit", *PRICED, "--budget", "11")["model"]
    thrifty = record("fit", *PRICED, "--budget", "11", "--within", "20%")["model"]
    assert thrifty == record("fit", *PRICED, "--budget", "11", "--within", "0,2")["model"]
    within = thrifty["search"]["within"]
    assert (within["share"], within["stated"], within["is_proven"]) == (0.2, 11, True)
    assert within["best_objective"] == pytest.approx(best["search"]["objective"], rel=1e-8)
    assert thrifty["cost"] == thrifty["limits"]["budget"] < best["cost"]
    excess = thrifty["search"]["objective"] / best["search"]["objective"] - 1
    assert 0 < excess <= 0.2
    files = ("--model", "m.json", "--certificate", "c.json")
    text = run("fit", *PRICED, "--budget", "11", "--within", "20%", *files).text
    assert f"Proven cheapest within 20 % of the best: it gives up {excess:.2%} of the loss" in text
    assert "of the gain over no model, against the best for" in text
    lowered = f"within a budget of {thrifty['limits']['budget']:g} (lowered from 11)"
    assert f"Proven: no selection of the 5 predictors {lowered} has a penalised loss" in text
    assert "holds" in run("verify", "c.json", "patients.csv").text
    enough = record("fit", *PRICED, "--budget", "11", "--within", "1se")["model"]
    assert enough["search"]["within"]["share"] is None
    assert enough["limits"]["budget"] <= 11
    count = record("fit", *POSED, "--max-features", "4", "--within", "20%")["model"]
    assert count["limits"]["max_features"] == len(count["terms"]) < 4
    told = refusal("fit", *PRICED, "--budget", "11", "--within", "20")
    assert "is not a share below 100 %" in told


def test_stable_predictors(run, record, refusal, clinic):
    files = ("--model", "model.json", "--certificate", "proof.json")
    text = run("fit", *PRICED, "--budget", "11", "--stable", *files).text
    card = sl.ModelCard.load("model.json")
    assert f"The best among {card.among} (" in text
    assert "that at least half of 50 resamples select" in card.among
    assert f"Proven: no selection of {card.among} within a budget of 11 has" in text
    told = run("verify", "proof.json", "patients.csv").text
    assert told.startswith("The proof holds")
    assert ("not stable: " in told) == bool(card.left_out)
    assert record("verify", "proof.json", "patients.csv")["left_out"] == list(card.left_out)
    told = refusal("fit", *PRICED, "--budget", "11", "--stable", "--within", "1%")
    assert "--stable: does not go with --within" in told


def test_multiple_imputation(run, refusal, clinic):
    text = run("fit", *TWO, "--imputations", "3", "--certificate", "proof.json").text
    assert "3 imputations were drawn; how many select each: " in text
    told = run("verify", "proof.json", "patients.csv").text
    assert told.startswith("The proof holds") and "imputations: 3 draws, seed 0" in told
    told = refusal("fit", *TWO, "--imputations", "3", "--imputation", "median")
    assert "imputations: are drawn given the other columns" in told


REPORT = ("--report", "r.html", "--resamples", "2")


@pytest.fixture
def hospitals(clinic, table):
    """The same patients, each in one of three hospitals."""
    return table.assign(hospital=np.array(["A", "B", "C"])[np.arange(len(table)) % 3])


def test_centres_subgroups_and_thresholds(run, clinic, hospitals):
    groups = ("--subgroups", "sex,age>60", "--thresholds", "20%,0.5", "--centre", "hospital")
    result = run(*fit_to(hospitals, *groups, *REPORT, "--model", "m.json"))
    assert "leaving out each centre in turn" in result.notes
    content = json.loads((clinic / "r.json").read_text())
    assert "hospital" not in {item["name"] for item in content["model"]["candidates"]}
    assert [row["centre"] for row in content["centres"]["rows"]] == ["A", "B", "C"]
    assert [row["by"] for row in content["subgroups"]] == ["sex"] * 2 + ["age>60"] * 3
    thresholds = content["performance"]["curves"]["thresholds"]
    assert [row["threshold"] for row in thresholds] == [0.2, 0.5]
    run("fit", *TWO, "--model", "without.json")
    assert (clinic / "m.json").read_text() == (clinic / "without.json").read_text()


def test_a_price_list_has_no_centre(run, clinic, hospitals):
    hospitals.to_csv("other.csv", index=False)
    text = run("costs-template", "other.csv", *OUTCOME[:2], "--centre", "hospital").stdout
    assert "hospital" not in text
    assert "stage" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--subgroups", "sex"), "--subgroups: has no effect without --report"),
        (("--thresholds", "10%"), "--thresholds: has no effect without --report"),
        (("--subgroups", "weight", *REPORT), "subgroups: 'weight' is neither a column nor a"),
        (("--subgroups", "age>old", *REPORT), "subgroups: 'age>old' compares what is not a"),
        (("--thresholds", "10%,x", *REPORT), "--thresholds: 'x' is not a risk between 0 and 100 %"),
        (("--thresholds", "0", *REPORT), "--thresholds: '0' is not a risk"),
        (("--thresholds", "120%", *REPORT), "--thresholds: '120%' is not a risk"),
        (("--centre", "clinic"), "there is no column 'clinic' for --centre"),
        (("--centre", "fate"), "--centre: must be another column than --outcome"),
        (("--centre", "sex", "--person", "sex"), "--centre: must be another column than --person"),
        (("--centre", "hospital", "--include", "hospital"), "'hospital' is the --centre column"),
        (("--centre", "visit", *REPORT), "centres: none has 10 patients with and 10 without"),
    ],
)
def test_wrong_groups_are_one_sentence(refusal, clinic, hospitals, options, message):
    assert message in refusal(*fit_to(hospitals, *options))


def test_an_empty_centre_is_told(refusal, clinic, hospitals):
    hospitals.loc[4, "hospital"] = None
    message = refusal(*fit_to(hospitals, "--centre", "hospital"))
    assert "column 'hospital' is empty in row 5; name the centre of that row" in message


def test_the_log_of_the_search_is_apart_from_the_answer(run, clinic):
    question = ("fit", *TWO, "--ridge", "1", "--json")
    result = run(*question, "--verbose")
    assert "status: optimal; bought for 2: " in result.stderr
    assert json.loads(result.stdout)["model"]["cost"] == 2
    assert "status: " not in run(*question).stderr


def test_a_price_list_says_what_the_columns_mean(run, record, refusal, clinic):
    (clinic / "codebook.csv").write_text(
        "predictor,cost,label,unit,reference,kind,note,owner\n"
        "lab,5,C-reactive protein,mg/l,,numeric,dear,me\nstage,3,Tumour stage,,I,,,\n"
        "age,1,,years,,,,\nsex,1,,,,,,\nsmoker,1,,,,,,\nfate,,Death,,,,,\n"
    )
    given = ("--costs", "codebook.csv", "--title", "Risk of death", "--include", "lab,stage,age")
    result = run("fit", *POSED, *given, "--max-features", "3", "--model", "model.json")
    assert "'owner' is not read; the columns of a price list are predictor, cost" in result.notes
    assert "C-reactive protein, mg/l" in result.text and "with Death = dead" in result.text
    assert "II vs I " in result.text and "mg/l" in result.text
    card = sl.ModelCard.load("model.json")
    assert card.codebook.title == "Risk of death" and card.codebook.label("fate") == "Death"
    assert card.cost == 9  # prices without a budget are counted, as in Python
    # It changes no prediction.
    run("fit", *POSED, "--max-features", "3", "--include", "lab,stage,age", "--model", "plain.json")
    table = read_table("patients.csv")
    plain = sl.ModelCard.load("plain.json")
    assert (card.probability(table) == plain.probability(table)).all()
    (clinic / "wrong.csv").write_text("predictor,cost,reference\nstage,3,IX\n")
    wrong = refusal("fit", *POSED, "--costs", "wrong.csv", "--max-features", "3")
    assert "'IX' is no level of 'stage'; use one of 'I', 'II', 'III'" in wrong


def test_a_changed_label_keeps_the_proof(run, clinic):
    run("fit", *TWO, "--model", "model.json", "--certificate", "proof.json")
    content = json.loads((clinic / "model.json").read_text())
    content["codebook"] = {"title": "Another", "labels": {"age": "Age at admission"}}
    (clinic / "model.json").write_text(json.dumps(content))
    shown = run("verify", "proof.json", "patients.csv", "--model", "model.json").text
    assert "The proof holds" in shown
    assert "title, labels, units" in shown.partition("not checked:")[2]


def test_rows_without_an_outcome_are_left_out_when_told(run, record, refusal, clinic, table):
    gone = table.assign(fate=table["fate"].where(table.index >= 5))
    command = fit_to(gone, "--model", "m.json", "--certificate", "proof.json")
    assert "leave them out with --drop-missing-outcome" in refusal(*command)
    result = run(*command, "--drop-missing-outcome")
    assert "5 rows have no outcome and 75 are left" in result.notes
    kept = record(*fit_to(table[5:]))["model"]
    assert kept["search"]["objective"] == sl.ModelCard.load("m.json").search.objective
    gone.to_csv("other.csv", index=False)
    assert "The proof holds" in run("verify", "proof.json", "other.csv").text


def test_weights_are_a_column(run, record, clinic, table):
    counts = np.arange(len(table)) % 3
    weighted = fit_to(table.assign(n=counts), "--weights", "n", "--certificate", "proof.json")
    found = record(*weighted)["model"]
    assert "The proof holds" in run("verify", "proof.json", "other.csv", "--weights", "n").text
    repeated = record(*fit_to(table.loc[table.index.repeat(counts)]))["model"]
    assert "n" not in [item["name"] for item in found["candidates"]]
    assert found["search"]["objective"] == pytest.approx(repeated["search"]["objective"], rel=0.05)
    model = sl.PrognosticModel(max_features=2, ridge=1.0, exclude=["visit"])
    model.fit(table.drop(columns="fate"), table["fate"], sample_weight=counts)
    assert found["search"]["objective"] == model.objective_


def test_numbered_words_are_an_outcome_in_the_terminal_as_in_python(record, clinic, table):
    numbered = table.assign(fate=table["fate"].map({"dead": "1_yes", "alive": "0_no"}))
    found = record(*fit_to(numbered))["model"]
    assert found["outcome"]["event"] == "1_yes"


def test_flags_take_no_value_and_say_so(run):
    for command in ("fit", "predict", "verify"):
        shown = run(command, "--help").stdout
        assert "<bool>" not in shown and "BOOLEAN" not in shown


def test_a_report_beside_a_model_of_its_name_has_other_numbers(clinic):
    model, page = Path("m.json"), Path("m.html")
    assert check_paths([], [model], page) == Path("m-report.json")
    assert check_paths([], [Path("other.json")], page) == model


def test_the_terminal_and_the_report_agree_on_all_findings(run, clinic, table):
    """What the terminal notes about the fit stands in the report, word for word."""
    table = table.assign(coin=np.arange(len(table)) % 2, copy=table["age"])
    prices = "age,1\nsex,0\nstage,3\nlab,5\nsmoker,1\ncoin,0\ncopy,1\n"
    (clinic / "prices.csv").write_text(f"predictor,cost\n{prices}")
    table.to_csv("free.csv", index=False)
    options = ("--costs", "prices.csv", "--budget", "6", "--ridge", "100,30,10", *REPORT)
    notes = run("fit", "free.csv", *OUTCOME, *options).notes
    content = json.loads((clinic / "r.json").read_text())
    assert {row["topic"] for row in content["findings"]} >= {"Sample size", "Copies"}
    page = " ".join((clinic / "r.html").read_text().split())
    for row in content["findings"]:
        assert " ".join(f"Note: {row['topic']}: {row['text']}".split()) in notes
        assert html.escape(row["text"]).replace("&#x27;", "&#39;") in page
    told = {row["topic"] for row in content["findings"]}
    for topic in ("Sample size", "Ridge", "Free predictors", "Missing values"):
        assert (f"Note: {topic}:" in notes) == (topic in told)
    tried = [entry["ridge"] for entry in content["model"]["search"]["tuning"]]
    assert tried == [100.0, 30.0, 10.0]
