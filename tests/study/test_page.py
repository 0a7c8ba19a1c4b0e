"""The page has every number from the tables, and leaves out what was not run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from fake_study import write_fake_study, write_published_study

from study.compare import compare
from study.page import _auc_of_true_labels, render


def test_page_is_filled_from_the_tables(tmp_path):
    folder, figures = tmp_path / "study", tmp_path / "docs" / "figures"
    folder.mkdir()
    write_fake_study(folder)
    figures.mkdir(parents=True)
    (figures / "stability.svg").write_text("")
    part = {"runs": 3, "of_runs": 4, "resamples": 5, "solves": 6000, "unproven": 0}
    provenance = {
        "journals": {"aucs": {"tasks": 20, "core_seconds": 660.0}},
        "parts": {"aucs": part},
        "versions": dict.fromkeys(("shortlist", "python", "numpy", "scikit-learn"), "1"),
        "machine": {"cores": 2, "processor": "abacus"},
    }
    (folder / "provenance.json").write_text(json.dumps(provenance))
    page = render(folder, figures, figures.parent)
    assert "{{" not in page
    assert "nan" not in page
    assert re.findall(r"!\[[^]]*\]\(([^)]*)", page) == ["figures/stability.svg"]
    assert "in 1 of 2 readings: 4 of the 68 spline columns of 17 measures" in page
    assert "0.87 [0.84, 0.90], with 399 resamples" in page
    assert "It took 11 minutes of one core (aucs 11)" in page
    assert "Runs: aucs 3 with 5 resamples each.\nOf 6,000 exact solves 0 ended without" in page
    assert "**This edition is not finished** (aucs)" in page
    tables = compare(folder)
    for meaning in (*tables.claims["meaning"], *tables.numbers["meaning"]):
        assert meaning in page
    assert render(folder, figures, figures.parent) == page


def test_a_single_draw_has_a_page_of_its_own(tmp_path):
    page = render(write_published_study(tmp_path), tmp_path, tmp_path)
    assert page.startswith("# The paper's protocol, on one draw")
    assert "nan" not in page
    tables = compare(tmp_path)
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| 5.")]
    assert len(rows) == sum(
        (table["place"] != "5.1").sum() for table in (tables.numbers, tables.claims)
    )
    n_holding = sum(row[-1] == "holds |" for row in rows)
    assert f"{n_holding} hold on ours too" in page
    aucs = pd.read_csv(tmp_path / "intervals.csv.gz")
    cells = re.findall(r"(\d\.\d\d) \[(\d\.\d\d), (\d\.\d\d)\]", page)
    assert len(cells) == len(aucs)
    given = sorted(f"{float(text.split()[0]):.2f}" for text in aucs["aucs"])
    assert sorted(cell[0] for cell in cells) == given


def test_the_page_in_the_documents_is_that_of_the_results(monkeypatch):
    monkeypatch.chdir(Path(__file__).parents[2])
    page = render("study/results", "docs/study/figures", "docs")
    assert page == Path("docs/study.md").read_text(encoding="utf-8")
    own = render("study/results/as-published", "docs/study/as-published", "docs/study")
    assert own == Path("docs/study/as-published.md").read_text(encoding="utf-8")
    assert "not finished" not in page
    for name, table in compare("study/results")._asdict().items():
        kept = Path(f"study/results/{name}.csv").read_text(encoding="utf-8")
        assert table.to_csv(index=False, float_format="%.6g") == kept


def test_a_page_without_intervals_says_that_draws_are_few(tmp_path):
    write_fake_study(tmp_path)
    intervals = pd.read_csv(tmp_path / "intervals.csv.gz")
    intervals.head(0).to_csv(tmp_path / "intervals.csv.gz", index=False)
    page = render(tmp_path, tmp_path, tmp_path)
    assert "nan" not in page
    assert "overlap to a large extent | **few draws** |  |  |" in page


def test_page_leaves_out_what_was_not_run(tmp_path):
    write_fake_study(tmp_path)
    runs = pd.read_csv(tmp_path / "runs.csv.gz")
    is_left = (runs["n_features"] == 14) & runs["method"].isin(["optimal", "univariable"])
    runs[is_left].to_csv(tmp_path / "runs.csv.gz", index=False)
    for path in tmp_path.glob("parkinson*"):
        path.unlink()
    page = render(tmp_path, tmp_path, tmp_path)
    assert "## Methods on equal terms" not in page
    assert "The Parkinson data (" not in page
    assert "| the paper recommends |" not in page
    assert "nan" not in page
    assert "**not run**" in page


def test_the_auc_of_true_labels_is_that_of_scikit_learn():
    import numpy as np
    from sklearn.metrics import roc_auc_score

    true = np.repeat([1, 0], [2300, 7700])
    noisy = true.copy()
    noisy[:115] = 0
    noisy[2300 : 2300 + 385] = 1
    assert _auc_of_true_labels() == pytest.approx(roc_auc_score(noisy, true))
