"""Every form of the model is run, and gives the risks of `predict`."""

import json
import shutil
import sqlite3
import subprocess
import warnings

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hostile_models import hostile_model

import shortlist as sl
from shortlist.deployment import write_model
from shortlist.deployment.code import example_patient, reading_of
from shortlist.deployment.query import sql_code
from shortlist.deployment.workbook import HEADER_ROW

pytestmark = pytest.mark.filterwarnings("ignore::shortlist.ShortlistWarning")


def needs(program, what):
    return pytest.mark.skipif(
        shutil.which(program) is None, reason=f"no {program}: {what} is not run"
    )


@pytest.fixture
def expected(any_card, newcomers):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.ShortlistWarning)
        return (
            any_card.probability(newcomers),
            any_card.imputed(newcomers).sum(axis=1).to_numpy(),
            any_card.outside(newcomers).sum(axis=1).to_numpy(),
        )


def check(form, expected, risk, n_imputed, n_outside):
    largest = np.abs(np.asarray(risk, dtype=float) - expected[0]).max()
    print(f"{form}: largest difference to predict over {len(risk)} rows {largest:.1e}")
    assert largest <= 1e-9
    assert list(n_imputed) == list(expected[1])
    assert list(n_outside) == list(expected[2])


def count(texts):
    return [0 if not text else text.count("; ") + 1 for text in texts]


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs("node", "the JavaScript")
def test_javascript(any_card, newcomers, expected, tmp_path):
    write_model(tmp_path / "model.js", any_card)
    newcomers.to_json(tmp_path / "patients.json", orient="records", double_precision=15)
    script = (
        'const {model, predict} = require("./model.js");'
        'const rows = JSON.parse(require("fs").readFileSync(0));'
        "console.log(JSON.stringify(rows.map((row) => predict(model, row))));"
    )
    done = subprocess.run(
        ["node", "-e", script],
        input=(tmp_path / "patients.json").read_text(),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    found = pd.DataFrame(json.loads(done.stdout))
    check("node", expected, found["risk"], found["imputed"].map(len), found["outside"].map(len))


@needs("node", "the JavaScript")
@pytest.mark.parametrize(
    ("patient", "sentence"),
    [("{age: 'old'}", "age: old is not a number"), ("{smoker: 2}", "smoker: 2 is not 0 or 1")],
)
def test_javascript_refuses(card, tmp_path, patient, sentence):
    write_model(tmp_path / "model.js", card)
    script = f'const m = require("{tmp_path}/model.js"); m.predict(m.model, {patient})'
    done = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert sentence in done.stderr


@needs("node", "the JavaScript")
def test_a_damaged_copy_does_not_load(card, tmp_path):
    write_model(tmp_path / "model.js", card)
    text = (tmp_path / "model.js").read_text()
    (tmp_path / "model.js").write_text(text.replace(repr(card.intercept), "0.123"))
    done = subprocess.run(
        ["node", tmp_path / "model.js"], capture_output=True, text=True, check=False
    )
    assert "test row" in done.stderr


@needs("Rscript", "the R code")
def test_r(any_card, newcomers, expected, tmp_path):
    write_model(tmp_path / "model.R", any_card)
    newcomers.to_csv(tmp_path / "patients.csv", index=False)
    (tmp_path / "run.R").write_text(
        f'source("{tmp_path}/model.R")\n'
        f'patients <- read.csv("{tmp_path}/patients.csv", check.names = FALSE, encoding = "UTF-8",'
        ' na.strings = "")\n'
        "found <- risk(patients)\n"
        "found$risk <- sprintf('%.17g', found$risk)\n"
        "for (name in c('imputed', 'outside'))\n"
        "  found[[name]] <- ifelse(found[[name]] == '', 0,\n"
        "    lengths(strsplit(found[[name]], '; ', fixed = TRUE)))\n"
        f'write.csv(found, "{tmp_path}/found.csv", row.names = FALSE)\n'
    )
    run("Rscript", tmp_path / "run.R")
    found = pd.read_csv(tmp_path / "found.csv")
    check("R", expected, found["risk"], found["imputed"], found["outside"])


@needs("Rscript", "the R code")
@pytest.mark.parametrize("column", ["age = 'old'", "smoker = 2"])
def test_r_refuses(card, tmp_path, column):
    write_model(tmp_path / "model.R", card)
    row = "age = 50, lab = 1, stage = 'I', code = 1, smoker = 1"
    (tmp_path / "run.R").write_text(
        f'source("{tmp_path}/model.R")\n'
        f"row <- data.frame({row})\nrow${column.replace(' =', ' <-')}\nrisk(row)\n"
    )
    done = subprocess.run(
        ["Rscript", tmp_path / "run.R"], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert f"{column.split()[0]} has a value" in done.stderr


def test_sql(any_card, newcomers, expected):
    with sqlite3.connect(":memory:") as database:
        try:
            database.execute("SELECT EXP(1.0), POWER(2.0, 3)")
        except sqlite3.OperationalError:
            pytest.skip("this sqlite has no EXP: the SQL is not run")
        newcomers.to_sql("patients", database, index=False)
        found = pd.read_sql(sql_code(any_card), database)
    check("sqlite", expected, found["risk"], found["n_imputed"], found["n_outside"])


def test_sql_has_no_risk_for_a_wrong_truth_value(card):
    with sqlite3.connect(":memory:") as database:
        row = pd.DataFrame({"age": [50], "lab": [1], "stage": ["I"], "code": [1], "smoker": [2]})
        row.to_sql("patients", database, index=False)
        try:
            assert pd.read_sql(sql_code(card), database)["risk"].isna().all()
        except pd.errors.DatabaseError:
            pytest.skip("this sqlite has no EXP: the SQL is not run")


def computed(folder, books, rows):
    """Fill the rows into workbooks, let LibreOffice compute them, and return their sheets."""
    for number, (card, table) in enumerate(zip(books, rows, strict=True)):
        path = folder / f"{number}.xlsx"
        write_model(path, card)
        book = openpyxl.load_workbook(path)
        names = [term.name for term in card.terms]
        for row, values in enumerate(table[names].itertuples(index=False), HEADER_ROW + 1):
            for column, value in enumerate(values, start=1):
                if not pd.isna(value):
                    cell = book["Patients"].cell(row, column, value)
                    cell.data_type = "s" if isinstance(value, str) else "n"
        book.save(path)
    (folder / "done").mkdir()
    profile = f"-env:UserInstallation=file://{folder}/profile"
    files = [folder / f"{number}.xlsx" for number in range(len(books))]
    run(
        "soffice",
        profile,
        "--headless",
        "--convert-to",
        "xlsx",
        "--outdir",
        folder / "done",
        *files,
    )
    done = (openpyxl.load_workbook(folder / "done" / f.name, data_only=True) for f in files)
    for book, card, table in zip(done, books, rows, strict=True):
        cells = book["Patients"].iter_rows(
            HEADER_ROW + 1, HEADER_ROW + len(table), values_only=True
        )
        first = len(card.terms)
        yield pd.DataFrame([row[first : first + 3] for row in cells])


@needs("soffice", "the workbook")
@pytest.mark.slow
def test_workbook(any_card, newcomers, expected, tmp_path):
    (found,) = computed(tmp_path, [any_card], [newcomers])
    # A row without any value is taken for an empty one.
    names = [term.name for term in any_card.terms]
    some = newcomers[names].notna().any(axis=1).to_numpy()
    assert some.sum() > 990
    assert set(found[0][~some]) <= {"", None}
    check("LibreOffice", [part[some] for part in expected], *(found[i][some] for i in range(3)))


@needs("soffice", "the workbook")
@pytest.mark.slow
def test_a_workbook_tells_levels_apart_as_python_does(tmp_path):
    """By inner blanks too; outer ones do not count."""
    rng = np.random.default_rng(0)
    pain = rng.choice(["chest pain", "chest  pain", "none", "a", "a a", "None at all"], 200)
    y = (pain == "chest pain") * 3 - (pain == "chest  pain") * 3 + rng.logistic(size=200) > 0
    table = pd.DataFrame({"pain": pain})
    card = sl.PrognosticModel(ridge=0.5, include=["pain"]).fit(table, y).card_
    spelt = ["chest pain", "chest  pain", " chest  pain ", "chest   pain", "CHEST PAIN", "a", "a a"]
    spelt += [
        "A  A",
        "aa",
        "none",
        "none at  all",
        "\tchest pain",
        "\u00a0a",
        "chest\u00a0pain",
        "x",
    ]
    new = pd.DataFrame({"pain": spelt})
    (found,) = computed(tmp_path, [card], [new])
    assert found[0].astype(float).to_numpy() == pytest.approx(card.probability(new), abs=1e-9)


@needs("soffice", "the workbook")
@pytest.mark.slow
def test_a_workbook_of_hostile_names_and_levels(tmp_path):
    models = [hostile_model(seed) for seed in range(6)]
    books, rows = [model.card for model in models], [model.patients for model in models]
    for model, found in zip(models, computed(tmp_path, books, rows), strict=True):
        assert found[0].astype(float).to_numpy() == pytest.approx(model.risk, abs=1e-9)
    assert not list(tmp_path.glob("**/pwned"))


@pytest.mark.parametrize("level", ["a\x01", "a\nb", "a_x0041_"])
def test_a_workbook_refuses_levels_that_cells_change(level, tmp_path):
    table = pd.DataFrame({"kind": [level, "a", "b", "c"] * 20})
    y = np.arange(80) % 3 == 0
    card = sl.PrognosticModel(ridge=0.5, include=["kind"]).fit(table, y).card_
    with pytest.raises(sl.InvalidProblemError, match="control character or the code of one"):
        write_model(tmp_path / "model.xlsx", card)


def in_r(value):
    """A value as R, whatever it is made of."""
    if isinstance(value, str):
        return f"intToUtf8(c({', '.join(str(ord(c)) for c in value)}))"
    return "NA" if pd.isna(value) else repr(float(value))


@pytest.mark.parametrize("has_controls", [False, True])
@pytest.mark.parametrize("language", ["Rscript", "node"])
def test_hostile_names_and_levels(language, has_controls, tmp_path):
    if shutil.which(language) is None:
        pytest.skip(f"no {language}: its code is not run")
    models = [hostile_model(seed, has_controls) for seed in range(30)]
    lines = []
    for number, (card, patients, _) in enumerate(models):
        columns = {name: patients[name] for name in (term.name for term in card.terms)}
        if language == "node":
            write_model(tmp_path / f"{number}.js", card)
            rows = pd.DataFrame(columns).to_json(orient="records")
            lines.append(f'{{ const m = require("./{number}.js"); for (const row of {rows}) ')
            lines.append("console.log(m.predict(m.model, row).risk); }")
        else:
            write_model(tmp_path / f"{number}.R", card)
            values = (f"c({', '.join(map(in_r, column))})" for column in columns.values())
            lines.append(f'source("{number}.R"); patients <- data.frame({", ".join(values)})')
            lines.append(f"names(patients) <- c({', '.join(map(in_r, columns))})")
            lines.append('cat(sprintf("%.17g\\n", risk(patients)$risk), sep = "")')
    (tmp_path / "run").write_text("\n".join(lines))
    done = subprocess.run([language, "run"], capture_output=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr.decode()
    found = np.array(done.stdout.split(), dtype=float)
    assert np.abs(found - np.concatenate([model.risk for model in models])).max() <= 1e-9
    ending = ".js" if language == "node" else ".R"
    assert {path.name for path in tmp_path.iterdir()} == {"run"} | {
        f"{number}{ending}" for number in range(30)
    }


def test_workbook_has_the_test_row(card, tmp_path):
    write_model(tmp_path / "model.xlsx", card)
    rows = openpyxl.load_workbook(tmp_path / "model.xlsx")["Model"].iter_rows(values_only=True)
    cells = {row[0]: row[2] for row in rows if len(row) > 2}
    patient, risk = example_patient(card)
    assert cells["risk"] == risk
    for name, value in patient.items():
        assert cells[name] == (value if isinstance(value, str) else pytest.approx(value, 1e-15))


def test_another_ending_is_refused(card, tmp_path):
    with pytest.raises(sl.InvalidFileError, match=r"must end in \.R, \.sql, \.js or \.xlsx"):
        write_model(tmp_path / "model.pmml", card)


def test_synonyms_are_read_as_the_model_reads_them(card):
    """As in the table: with an exponent, as a word, or blank for a missing value."""
    synonyms = {
        "age": {"old": "8e1", "young": "18", "?": "", "never": "no number"},
        "smoker": {"ja": "True", "nein": "0"},
    }
    preprocessing = card.preprocessing.model_copy(update={"synonyms": synonyms})
    changed = card.model_copy(update={"preprocessing": preprocessing})
    readings = {term.name: reading_of(changed, term) for term in card.terms}
    assert readings["age"] == (["?"], [("old", 80.0), ("young", 18.0)])
    assert readings["smoker"] == ([], [("ja", 1.0), ("nein", 0.0)])
