"""Tables and figures of a report as files."""

import csv
import json
import shutil
import subprocess
import sys

import docx
import numpy as np
import pandas as pd
import pytest

import shortlist as sl
from shortlist.report import describe_model, validate_model, write_manuscript
from shortlist.report.content import labelled

FIGURES = {"staircase", "splines", "calibration", "roc", "decision", "forest", "inclusion"}
TABLES = (
    "characteristics", "coefficients", "performance", "thresholds", "centres", "heterogeneity",
    "subgroups",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(report, tmp_path_factory):
    folder = tmp_path_factory.mktemp("manuscript")
    write_manuscript(folder, report.with_suffix(".json"))
    return folder


def test_files(folder):
    tables = {f"{name}.{end}" for name in TABLES for end in ("csv", "tex")}
    figures = {f"{name}.{end}" for name in FIGURES for end in ("svg", "png")}
    others = {"equation.tex", "methods.txt", "tables.docx"}
    assert {path.name for path in folder.iterdir()} == tables | figures | others


def test_the_word_document_has_the_tables_and_the_equation(folder, model):
    document = docx.Document(folder / "tables.docx")
    for name, table in zip(TABLES, document.tables, strict=True):
        with (folder / f"{name}.csv").open() as file:
            rows = list(csv.reader(file))
        cells = [[cell.text for cell in row.cells] for row in table.rows]
        assert [row[0] for row in cells] == [row[0] for row in rows]
        for shown, exact in zip(cells[1:], rows[1:], strict=True):
            for one, other in zip(shown, exact, strict=True):
                if name != "characteristics" and other.replace(".", "").isdigit():
                    assert float(one) == pytest.approx(float(other), rel=1e-3, abs=1e-9)
                else:
                    assert bool(one) == bool(other)
    equation = document.paragraphs[-1].text
    assert equation.startswith(f"log-odds = {model.card_.intercept:.4g}")
    assert all(term.name in equation for term in model.card_.terms)


def test_without_its_package_there_is_no_word_document_but_a_warning(report, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "docx", None)
    with pytest.warns(sl.ShortlistWarning, match=r"tables.docx was not written.*shortlist\[word\]"):
        write_manuscript(tmp_path, report.with_suffix(".json"))
    assert (tmp_path / "coefficients.csv").exists()
    assert not (tmp_path / "tables.docx").exists()


def test_tables_are_those_of_the_report(folder, content, model):
    with (folder / "coefficients.csv").open() as file:
        rows = list(csv.DictReader(file))
    effects = model.card_.effects()
    assert [row["predictor"] for row in rows[1:]] == [effect.predictor for effect in effects]
    assert float(rows[0]["coefficient"]) == pytest.approx(model.card_.intercept, rel=1e-3)
    for row, effect in zip(rows[1:], effects, strict=True):
        assert float(row["coefficient"]) == pytest.approx(effect.coefficient, rel=1e-3)
    with (folder / "performance.csv").open() as file:
        measures = {row["measure"]: row for row in csv.DictReader(file)}
    auc = next(row for row in content["performance"]["corrected"] if row["metric"] == "auc")
    assert float(measures["AUC"]["corrected"]) == pytest.approx(auc["corrected"], rel=1e-3)


def test_tables_of_groups(folder, content):
    def read(name):
        with (folder / f"{name}.csv").open() as file:
            return list(csv.DictReader(file))

    for line, row in zip(read("centres"), content["centres"]["rows"], strict=True):
        assert (line["centre"], int(line["n"])) == (row["centre"], row["n"])
        assert line["not measured"] == (row["reason"] or "")
        if not row["reason"]:
            assert float(line["AUC, upper"]) == pytest.approx(row["measures"][0]["upper"])
    assert [row["group"] for row in read("subgroups")] == [
        row["group"] for row in content["subgroups"]
    ]
    stage = next(row for row in read("characteristics") if row["level"] == "II")
    own = next(row for row in content["baseline"] if row["level"] == "II")
    assert stage["all"] == f"{own['all']['count']} ({own['all']['share']:.1%})"
    assert int(stage["missing, all"]) == 3
    assert len(read("thresholds")) == len(content["performance"]["curves"]["thresholds"])
    assert read("heterogeneity")[0]["metric"] == "AUC"


def test_the_same_report_gives_the_same_files(folder, report, tmp_path):
    write_manuscript(tmp_path, report.with_suffix(".json"))
    for path in folder.iterdir():
        assert path.read_bytes() == (tmp_path / path.name).read_bytes(), path.name


def test_hostile_names_are_escaped(hostile_report, tmp_path):
    write_manuscript(tmp_path, hostile_report.with_suffix(".json"))
    for name in ("coefficients", "equation"):
        text = (tmp_path / f"{name}.tex").read_text()
        assert r"\$x\$ \{\{" in text
        assert "<b>" not in text


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex: LaTeX is not typeset")
def test_latex_is_typeset(folder, tmp_path):
    parts = "\n".join(f"\\input{{{folder}/{n}}}\n" for n in (*TABLES, "equation"))
    head = "\\documentclass{article}\\usepackage{booktabs,amsmath}\\begin{document}"
    (tmp_path / "paper.tex").write_text(f"{head}\n{parts}\\end{{document}}\n")
    subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip


@pytest.mark.parametrize("text", ["{}", "no JSON", json.dumps({"format": "shortlist report"})])
def test_another_file_is_refused(tmp_path, text):
    (tmp_path / "report.json").write_text(text)
    with pytest.raises(sl.InvalidFileError, match="is not the JSON file of a report"):
        write_manuscript(tmp_path / "files", tmp_path / "report.json")


def test_labels_take_the_place_of_names_but_not_of_fields():
    rng = np.random.default_rng(9)
    table = pd.DataFrame(rng.normal(size=(90, 3)), columns=["status", "risk", "amp"])
    y = pd.Series((table["amp"] + rng.logistic(size=90) > 0).astype(int), name="level")
    book = sl.Codebook(labels={"amp": "Ampullectomy", "status": "Ward"}, units={"risk": "points"})
    model = sl.PrognosticModel(max_features=2, ridge=1.0, codebook=book).fit(table, y)
    content = describe_model(model, table, y, validate_model(model, table, y, n_resamples=2))
    page = labelled(content)
    assert [row["predictor"] for row in page.effects][-1] == "Ampullectomy"
    assert {item.name for item in page.model.candidates} == {"Ward", "risk, points", "Ampullectomy"}
    assert page.model.search.status == content.model.search.status
    assert page.model.codebook.units == {"risk, points": "points"}


def test_methods_go_by_items(folder, model):
    text = (folder / "methods.txt").read_text(encoding="utf-8")
    assert "Only the authors can report items 1 to 6" in text
    assert f"SHA-256 of the candidates and the outcome: {model.card_.data.sha256}" in text
    assert [line.split()[0] for line in text.splitlines() if line[:1].isdigit()][:3] == [
        "7", "9a", "10",
    ]  # fmt: skip
