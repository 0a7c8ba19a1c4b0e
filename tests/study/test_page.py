"""The page has every number from the tables, and leaves out what was not run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
from fake_study import write_fake_study

from study.compare import compare
from study.page import render


def test_page_is_filled_from_the_tables(tmp_path):
    folder, figures = tmp_path / "study", tmp_path / "docs" / "figures"
    folder.mkdir()
    write_fake_study(folder)
    figures.mkdir(parents=True)
    for name in ("fig1a", "appendix-budget"):
        (figures / f"{name}.svg").write_text("")
    provenance = {
        "journals": {"paper": {"tasks": 20, "core_seconds": 660.0}},
        "times": [{"arm": "paper", "tasks": 20, "seconds": 300.0}],
        "versions": dict.fromkeys(("shortlist", "python", "numpy", "scikit-learn"), "1"),
        "machine": {"cores": 2, "processor": "abacus"},
    }
    (folder / "provenance.json").write_text(json.dumps(provenance))
    page = render(folder, figures, figures.parent)
    assert "{{" not in page
    assert "nan" not in page
    assert re.findall(r"!\[[^]]*\]\(([^)]*)", page) == ["figures/fig1a.svg"]
    assert "in 1 of 2 readings that were\ntried: 4 of the 68 spline columns of 17 measures" in page
    assert "0.87 [0.84, 0.90] over 399 resamples, whose mean is\n0.88" in page
    assert "0 of 16,000 solves" in page
    assert "It took 11 minutes of a core (paper 11), and 5 minutes on the clock" in page
    for meaning in compare(folder)["meaning"]:
        assert meaning in page
    assert render(folder, figures, figures.parent) == page


def test_the_page_in_the_documents_is_that_of_the_results(monkeypatch):
    monkeypatch.chdir(Path(__file__).parents[2])
    page = render("study/results", "docs/study/figures", "docs")
    assert page == Path("docs/study.md").read_text(encoding="utf-8")
    kept = Path("study/results/comparison.csv").read_text(encoding="utf-8")
    assert compare("study/results").to_csv(index=False, float_format="%.6g") == kept


def test_page_leaves_out_what_was_not_run(tmp_path):
    write_fake_study(tmp_path, ((82, 14),))
    summary = pd.read_csv(tmp_path / "summary.csv.gz")
    summary[summary["arm"] == "paper"].to_csv(tmp_path / "summary.csv.gz", index=False)
    for path in tmp_path.glob("parkinson*"):
        path.unlink()
    page = render(tmp_path, tmp_path, tmp_path)
    assert "## Other methods" not in page
    assert "## Parkinson" not in page
    assert "nan" not in page
    assert "| not run |" in page
