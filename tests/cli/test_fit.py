"""`shortlist fit`, `predict`, `costs-template` and `simulate`, as a user calls them."""

import json

import numpy as np
import pandas as pd
import pytest

import shortlist as sl
from shortlist.solver.branch_and_bound import branch_and_bound
from shortlist.tables import read_table

FIT = ("--outcome", "fate", "--positive", "dead", "--exclude", "visit", "--ridge", "1")


def words(text):
    return " ".join(text.split())


@pytest.fixture
def fit(run, clinic):
    """Run `fit` on the clinic's patients with a given budget."""

    def invoke(*arguments, data="patients.csv", options=FIT):
        return run("fit", clinic / data, *options, *arguments)

    return invoke


def priced(clinic, budget):
    return ("--costs", clinic / "costs.csv", "--fees", clinic / "fees.csv", "--budget", budget)


def test_from_files_to_the_model_of_the_estimator(fit, clinic):
    result = fit(*priced(clinic, 6), "--model", clinic / "model.json")
    assert result.exit_code == 0, result.output
    table = read_table(clinic / "patients.csv")
    y = table.pop("fate")
    model = sl.PrognosticModel(
        budget=6,
        costs={"age": 1, "sex": 1, "stage": 3, "lab": 5, "smoker": 1},
        fees=[(2, ["stage", "lab"])],
        exclude=["visit"],
        ridge=1.0,
    ).fit(table, y)
    card = sl.ModelCard.load(clinic / "model.json")
    assert card.model_dump() == model.card_.model_dump()
    assert card.probability(table).tobytes() == model.predict_proba(table)[:, 1].tobytes()


def test_the_terminal_says_what_the_model_says(fit, clinic):
    result = fit(*priced(clinic, 6), "--model", clinic / "model.json")
    card = sl.ModelCard.load(clinic / "model.json")
    text = words(result.stdout)
    for term in card.terms:
        assert term.name in text
    assert f"{len(card.terms)} of 5 predictors bought for {card.cost:g} of 6" in text
    assert "fee 2 for stage" in text
    assert f"80 patients, {card.data.events} with fate = dead" in text
    assert "Proven: no affordable selection" in text
    assert f"{card.search.objective:.4f}" in text


def test_json_traces_to_the_model_file(fit, clinic):
    result = fit("--max-features", "2", "--json", "--model", clinic / "model.json")
    record = json.loads(result.stdout)
    assert record["model"] == json.loads((clinic / "model.json").read_text())
    assert record["effects"][0].keys() == {"predictor", "contrast", "coefficient", "odds_ratio"}
    assert 0.5 < record["apparent_auc"] <= 1
    assert record["model_file"] == str(clinic / "model.json")


def test_a_report_is_written_beside_its_numbers(fit, clinic):
    result = fit(*priced(clinic, 6), "--report", clinic / "r.html", "--resamples", "0", "--json")
    assert result.exit_code == 0, result.output
    record, content = json.loads(result.stdout), json.loads((clinic / "r.json").read_text())
    assert record["report_file"] == str(clinic / "r.html")
    assert content["model"] == record["model"]
    assert "Prognostic model for fate = dead" in (clinic / "r.html").read_text()


def test_the_answer_comes_before_the_report(fit, clinic, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("shortlist.cli.fit._make_report", interrupted)
    result = fit(*priced(clinic, 6), "--report", clinic / "r.html", "--model", clinic / "m.json")
    assert result.exit_code == 130
    assert "Proven: no affordable selection" in result.stdout
    assert (clinic / "m.json").exists() and not (clinic / "r.html").exists()


def test_suspicious_data_are_noted_with_their_culprits(fit, clinic):
    lines = (clinic / "patients.csv").read_text().splitlines()
    rows = [f"{lines[0]},years"] + [f"{line},{line.split(',')[0]}" for line in lines[1:]]
    (clinic / "patients.csv").write_text("\n".join([*rows, rows[-1]]) + "\n")
    result = fit("--max-features", "3", "--include", "age,years")
    notes = result.stderr.replace("\n", " ")
    assert "Copies: 'age' and 'years' carry the same information. Both were bought" in notes
    assert "Duplicated rows: 1 row(s) repeat another" in notes


@pytest.mark.parametrize(
    ("name", "message"), [("r.pdf", "must end in .html"), ("costs.html", "is used twice")]
)
def test_a_report_that_cannot_be_written_is_told_before_the_work(fit, clinic, name, message):
    result = fit(*priced(clinic, 6), "--report", clinic / name, "--model", clinic / "costs.json")
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (clinic / "costs.json").exists()


def test_too_few_events_for_a_report_are_told_before_the_work(fit, clinic):
    lines = (clinic / "patients.csv").read_text().splitlines()
    dead = [i for i, line in enumerate(lines) if line.endswith(",dead")]
    for i in dead[2:]:
        lines[i] = lines[i].replace(",dead", ",alive")
    (clinic / "patients.csv").write_text("\n".join(lines) + "\n")
    files = ("--report", clinic / "r.html", "--model", clinic / "m.json")
    result = fit("--max-features", "1", *files)
    assert result.exit_code == 2
    assert "needs 3 patients of each outcome" in " ".join(result.stderr.split())
    assert not (clinic / "m.json").exists()


def test_a_proof_that_is_too_long_is_a_note_and_no_loss(fit, clinic, monkeypatch):
    monkeypatch.setattr("shortlist.PrognosticModel.certificate_", None)
    files = ("--certificate", clinic / "p.json", "--model", clinic / "m.json")
    result = fit("--max-features", "1", *files, "--json")
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert record["certificate_file"] is None
    assert any("was not written" in note for note in record["notes"])
    assert (clinic / "m.json").exists() and not (clinic / "p.json").exists()


def test_ridge_is_tuned_unless_given(fit, clinic):
    tuned = fit("--max-features", "1", "--ridge", "tuned", "--json")
    assert len(json.loads(tuned.stdout)["model"]["search"]["tuning"]) == 4
    given = fit("--max-features", "1", "--ridge", "0.5", "--json")
    assert json.loads(given.stdout)["model"]["search"]["ridge"] == 0.5


def test_the_same_patients_in_other_files_give_the_same_model(fit, clinic):
    table = pd.read_csv(clinic / "patients.csv")
    table.to_parquet(clinic / "patients.parquet")
    table.to_excel(clinic / "patients.xlsx", index=False)
    table.to_csv(clinic / "patients.tsv", sep="\t", index=False)
    table.to_csv(clinic / "semicolon.csv", sep=";", decimal=",", index=False)
    expected = json.loads(fit("--max-features", "3", "--json").stdout)["model"]
    for name in ("patients.parquet", "patients.xlsx", "patients.tsv", "semicolon.csv"):
        result = fit("--max-features", "3", "--json", data=name)
        assert json.loads(result.stdout)["model"] == expected, name


def test_positive_turns_the_model_around(fit):
    records = [
        json.loads(fit("--max-features", "2", "--json", "--positive", value).stdout)["model"]
        for value in ("dead", "alive")
    ]
    assert records[0]["outcome"] == {"name": "fate", "event": "dead", "no_event": "alive"}
    assert records[1]["outcome"] == {"name": "fate", "event": "alive", "no_event": "dead"}
    assert records[0]["intercept"] == pytest.approx(-records[1]["intercept"])


def test_persons_are_no_predictor_and_stay_together(fit, clinic):
    table = pd.read_csv(clinic / "patients.csv")
    table["patient"] = [f"p{row // 4}" for row in table.index]
    table.to_csv(clinic / "visits.csv", index=False)
    arguments = ("--max-features", "2", "--json", "--ridge", "tuned")
    result = fit(*arguments, "--person", "patient", data="visits.csv")
    assert result.exit_code == 0, result.output
    model = json.loads(result.stdout)["model"]
    assert "patient" not in [candidate["name"] for candidate in model["candidates"]]
    apart = json.loads(fit(*arguments).stdout)["model"]
    assert model["search"]["tuning"] != apart["search"]["tuning"]


def test_codes_are_pointed_at(fit, clinic):
    table = pd.read_csv(clinic / "patients.csv")
    table["stage"] = table["stage"].str.len()
    table.to_csv(clinic / "codes.csv", index=False)
    result = fit("--max-features", "2", data="codes.csv")
    assert "Note: 'stage': few distinct whole numbers" in words(result.stderr)
    blank = table.astype({"stage": str})
    blank.loc[0, "stage"] = " \n"
    blank.to_csv(clinic / "blank.csv", index=False)
    result = fit("--max-features", "2", data="blank.csv")
    assert "Note: 'stage': few distinct whole numbers" in words(result.stderr)
    for option in ("--categorical", "--numeric"):
        result = fit("--max-features", "2", option, "stage", data="codes.csv")
        assert "few distinct whole numbers" not in result.stderr


def test_lists_of_columns_have_commas_between_them(fit, clinic):
    table = pd.read_csv(clinic / "patients.csv").rename(columns={"lab": "lab, fasting"})
    table.to_csv(clinic / "comma.csv", index=False)
    arguments = ("--max-features", "3", "--json", "--exclude", "smoker, stage", "--exclude")
    result = fit(*arguments, "lab, fasting", data="comma.csv")
    model = json.loads(result.stdout)["model"]
    assert [candidate["name"] for candidate in model["candidates"]] == ["age", "sex"]


def test_a_time_limit_ends_with_3_and_a_model(run, tmp_path):
    simulate = ("simulate", tmp_path / "p.csv", tmp_path / "c.csv", "--label-noise", "0.3")
    run(*simulate, "--rows", "300", "--columns", "60")
    result = run(
        *("fit", tmp_path / "p.csv", "--outcome", "outcome", "--max-features", "12"),
        *("--ridge", "0.001", "--time-limit", "0", "--model", tmp_path / "m.json"),
    )
    assert result.exit_code == 3, result.output
    assert "Not proven, the search stopped (time limit)" in words(result.stdout)
    assert sl.ModelCard.load(tmp_path / "m.json").search.status == "time_limit"


def test_threads_reach_every_search(run, clinic, monkeypatch):
    given = []

    def recording(problem, options, packed=None):
        given.append(options.threads)
        return branch_and_bound(problem, options, packed)

    monkeypatch.setattr("shortlist.backends.native.branch_and_bound", recording)
    for command in ("fit", "path", "alternatives"):
        question = (command, clinic / "patients.csv", *FIT)
        limits = ("--max-features", "2", "--time-limit", "60")
        for threads, expected in ((("--threads", "3"), 3), ((), None)):
            given.clear()
            result = run(*question, *limits, *threads)
            assert result.exit_code == 0, result.output
            assert given
            assert set(given) == {expected}
        assert run(*question, *limits, "--threads", "0").exit_code == 2


def test_an_interrupt_ends_with_130_and_no_model(fit, clinic, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("shortlist.estimators.log_odds_classifier.solve", interrupted)
    result = fit("--max-features", "1", "--model", clinic / "m.json")
    assert result.exit_code == 130
    assert result.stderr == "Interrupted.\n"
    assert not (clinic / "m.json").exists()


def test_names_are_neither_markup_nor_emoji_codes(run, tmp_path):
    rng = np.random.default_rng(0)
    names = ["[bold]x[/bold]", ":smile:", "<script>alert(1)</script>", "=1+1", 'a"b', "👩‍⚕️"]
    table = pd.DataFrame(rng.normal(size=(60, 6)), columns=names)
    table["ill"] = (table.sum(axis=1) + rng.logistic(size=60) > 0).astype(int)
    table.to_csv(tmp_path / "p.csv", index=False)
    template = run("costs-template", tmp_path / "p.csv", "--outcome", "ill").stdout
    (tmp_path / "c.csv").write_text(
        "\n".join(f"{line}1" for line in template.splitlines()[1:]), encoding="utf-8"
    )
    result = run(
        *("fit", tmp_path / "p.csv", "--outcome", "ill", "--costs", tmp_path / "c.csv"),
        *("--budget", "9", "--ridge", "1", "--model", tmp_path / "m.json"),
    )
    assert result.exit_code == 0, result.output
    for name in names[:-1]:
        assert name in result.stdout
    table.iloc[0, :] = np.nan
    table.to_csv(tmp_path / "new.csv", index=False)
    predicted = run("predict", tmp_path / "m.json", tmp_path / "new.csv", "--id", "=1+1")
    assert predicted.stdout.startswith("row,'=1+1,probability,imputed,outside\n1,,0.")
    assert "[bold]x[/bold]; :smile:" in predicted.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--outcome", "fat", "--max-features", "1"), "'fat' for --outcome; is it 'fate'?"),
        (("--outcome", "qqq", "--max-features", "1"), "there are 'age', 'sex', 'stage', 'lab'"),
        (("--outcome", "stage", "--max-features", "1"), "must have 2 different values, not 3"),
        (("--outcome", "sex", "--max-features", "1"), "name the event with --positive"),
        ((*FIT, "--positive", "ill", "--max-features", "1"), "'ill' is not a value of 'fate'"),
        (FIT, "state a limit"),
        ((*FIT, "--budget", "3"), "needs a price list"),
        ((*FIT, "--max-features", "1", "--ridge", "big"), "must be a number greater than 0"),
        ((*FIT, "--max-features", "1", "--ridge", "0"), "ridge: must be greater than 0"),
        ((*FIT, "--max-features", "1", "--ridge", "nan"), "ridge: must be finite"),
        ((*FIT, "--max-features", "1", "--include", "height"), "include: there is no column"),
        ((*FIT, "--max-features", "1", "--exclude", "height"), "exclude: there is no column"),
        ((*FIT, "--max-features", "1", "--include", "visit"), "in both"),
        ((*FIT, "--max-features", "1", "--categorical", "height"), "there is no column 'height'"),
        ((*FIT, "--max-features", "1", "--person", "fate"), "must be another column"),
        ((*FIT, "--max-features", "1", "--person", "age"), "is empty in row 4"),
    ],
)
def test_wrong_input_ends_with_2_and_one_sentence(fit, clinic, options, message):
    result = fit("--model", clinic / "m.json", options=options)
    assert result.exit_code == 2, result.output
    assert message in words(result.stderr)
    assert result.stderr.count("\n") == 1
    assert not (clinic / "m.json").exists()


def test_missing_costs_and_costs_too_many(fit, clinic):
    (clinic / "costs.csv").write_text("age,1\nsex,\n")
    result = fit("--costs", clinic / "costs.csv", "--budget", "3")
    assert result.exit_code == 2
    assert "no cost for 'sex', 'stage', 'lab', 'smoker'" in words(result.stderr)
    (clinic / "costs.csv").write_text("age,1\nheight,1\n")
    result = fit("--costs", clinic / "costs.csv", "--budget", "3")
    assert "there is no predictor 'height'" in words(result.stderr)


def test_outputs_do_not_replace_inputs(fit, run, clinic):
    before = (clinic / "patients.csv").read_bytes()
    result = fit("--max-features", "1", "--model", clinic / "patients.csv")
    assert result.exit_code == 2
    assert "is used twice" in result.stderr
    assert (clinic / "patients.csv").read_bytes() == before
    result = fit("--max-features", "1", "--model", clinic / "no folder" / "m.json")
    assert "there is no folder" in result.stderr
    result = run("simulate", clinic / "a.csv", clinic / "a.csv")
    assert result.exit_code == 2


def test_predictions(fit, run, clinic):
    fit("--max-features", "3", "--model", clinic / "m.json")
    card = sl.ModelCard.load(clinic / "m.json")
    table = read_table(clinic / "patients.csv")
    predict = ("predict", clinic / "m.json", clinic / "patients.csv")
    result = run(*predict, "--id", "visit", "-o", clinic / "out.csv")
    assert result.exit_code == 0, result.output
    written = read_table(clinic / "out.csv")
    assert written.columns.tolist() == ["row", "visit", "probability", "imputed", "outside"]
    assert written["probability"].to_numpy().tobytes() == card.probability(table).tobytes()
    assert written["imputed"].dropna().to_dict() == {3: "age"}
    printed = run(*predict, "--id", "visit")
    assert printed.stdout == (clinic / "out.csv").read_text()
    named = json.loads(run(*predict, "--id", "visit", "--json").stdout)
    assert named["predictions"][3]["id"] == "2020-01-04"
    record = json.loads(run(*predict, "--json").stdout)
    assert record["outcome"]["event"] == "dead"
    assert record["predictions"][3]["imputed"] == ["age"]
    run(*predict, "--json", "-o", clinic / "out.json")
    assert json.loads((clinic / "out.json").read_text()) == record
    old = read_table(clinic / "patients.csv").head(2).assign(age=[40, 140])
    old.to_csv(clinic / "old.csv", index=False)
    printed = run("predict", clinic / "m.json", clinic / "old.csv").stdout
    assert [line.endswith(",age") for line in printed.splitlines()] == [False, False, True]


def test_wrong_predictions(fit, run, clinic):
    fit("--max-features", "3", "--include", "stage", "--model", clinic / "m.json")
    (clinic / "new.csv").write_text("stage,sex\nIV,m\n")
    result = run("predict", clinic / "m.json", clinic / "new.csv", "-o", clinic / "out.csv")
    assert result.exit_code == 2
    assert "The model needs the column(s) 'age'" in words(result.stderr)
    assert not (clinic / "out.csv").exists()
    (clinic / "new.csv").write_text("age,stage,sex,smoker,lab\nold,I,m,TRUE,1\n")
    result = run("predict", clinic / "m.json", clinic / "new.csv")
    assert "'old' in row 1 is not a number" in words(result.stderr)
    (clinic / "new.csv").write_text("age,stage,sex,smoker,lab\n50,IV,m,TRUE,1\n")
    result = run("predict", clinic / "m.json", clinic / "new.csv")
    assert result.exit_code == 0
    assert "Note: column 'stage': the model does not know 'IV'" in words(result.stderr)
    assert result.stdout.splitlines()[1].endswith(",stage,")
    result = run("predict", clinic / "patients.csv", clinic / "new.csv")
    assert result.exit_code == 2
    assert "is not a model file" in result.stderr
    result = run("predict", clinic / "m.json", clinic / "new.csv", "--id", "no")
    assert "there is no column 'no' for --id" in result.stderr


def test_costs_template(run, clinic):
    arguments = ("costs-template", clinic / "patients.csv", "--outcome", "fate")
    printed = run(*arguments, "--person", "visit").stdout
    assert printed == "predictor,cost\nage,\nsex,\nstage,\nlab,\nsmoker,\n"
    result = run(*arguments, "--person", "visit", "-o", clinic / "template.csv")
    assert (clinic / "template.csv").read_text() == printed
    assert result.stdout == ""
    (clinic / "template.csv").write_text("filled in")
    result = run(*arguments, "-o", clinic / "template.csv")
    assert result.exit_code == 2
    assert "exists already" in result.stderr
    assert (clinic / "template.csv").read_text() == "filled in"
    assert run("costs-template", clinic / "patients.csv", "--outcome", "no").exit_code == 2


def test_simulate_writes_what_make_prognostic_draws(run, tmp_path):
    arguments = ("simulate", tmp_path / "p.csv", tmp_path / "c.csv")
    result = run(*arguments, "--rows", "100", "--seed", "3")
    assert result.exit_code == 0, result.output
    data = sl.datasets.make_prognostic(100, random_state=3)
    table = read_table(tmp_path / "p.csv")
    assert table.pop("outcome").tolist() == data.y.tolist()
    pd.testing.assert_frame_equal(table, data.X, check_exact=True, check_column_type=False)
    assert pd.read_csv(tmp_path / "c.csv")["cost"].tolist() == data.costs.tolist()
    result = run(*arguments, "--columns", "3")
    assert result.exit_code == 2
    assert "n_features" in result.stderr


def test_every_command_has_help(run):
    for command in ("fit", "predict", "costs-template", "simulate", "demo"):
        result = run(command, "--help")
        assert result.exit_code == 0
        assert "Usage" in result.stdout
    assert "Exit codes" in run("--help").stdout
