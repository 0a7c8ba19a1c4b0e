"""Figures come from the saved tables alone, all of them, and always with the same bytes."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib
import pandas as pd
import pytest
from fake_study import write_fake_study

from shortlist import InvalidFileError
from study.figures import draw_figures

matplotlib.use("agg")
from matplotlib import pyplot

SMALL = ((82, 14),)
NAMES = {"auc-cardinality", "auc-budget", "appendix-cardinality", "appendix-budget"}


def test_same_tables_same_bytes_whatever_the_user_s_style(tmp_path):
    write_fake_study(tmp_path, SMALL)
    summary = pd.read_csv(tmp_path / "summary.csv.gz")
    summary[summary["study"] == "budget"].to_csv(tmp_path / "summary.csv.gz", index=False)
    out, open_before = tmp_path / "figures", pyplot.get_fignums()
    first = {path: path.read_bytes() for path in draw_figures(tmp_path, out)}
    with matplotlib.rc_context({"font.size": 20, "axes.grid": True}):
        second = {path: path.read_bytes() for path in draw_figures(tmp_path, out)}
    assert second == first
    assert pyplot.get_fignums() == open_before
    names = {"auc-budget", "appendix-budget", "numbers", "methods", "parkinson"}
    assert {path.name for path in first} == {f"{name}.svg" for name in names}
    svg = (out / "auc-budget.svg").read_text(encoding="utf-8")
    assert "greedy: the data, and 95 % of 39 resamples" in svg
    assert "date" not in svg


@pytest.mark.slow
def test_all_figures_are_there(tmp_path):
    write_fake_study(tmp_path)
    paths = draw_figures(tmp_path, tmp_path / "elsewhere")
    assert {path.stem for path in paths} == NAMES | {
        "fig1a", "fig1b", "numbers", "methods", "parkinson",
    }  # fmt: skip
    assert {path.parent.name for path in paths} == {"elsewhere"}


def test_what_was_not_run_is_not_drawn(tmp_path):
    write_fake_study(tmp_path, SMALL)
    summary = pd.read_csv(tmp_path / "summary.csv.gz")
    part = (summary["arm"] == "paper") & (summary["study"] == "budget")
    summary[part].to_csv(tmp_path / "summary.csv.gz", index=False)
    for path in tmp_path.glob("parkinson*"):
        path.unlink()
    drawn = {path.stem for path in draw_figures(tmp_path, tmp_path)}
    assert drawn == {"auc-budget", "appendix-budget"}


@pytest.mark.parametrize("damage", ["missing", "column", "binary"])
def test_a_damaged_folder_is_one_sentence(tmp_path, damage):
    write_fake_study(tmp_path, SMALL)
    path = tmp_path / "summary.csv.gz"
    if damage == "missing":
        path.unlink()
    elif damage == "column":
        pd.read_csv(path).drop(columns="auc_lower").to_csv(path, index=False)
    else:
        path.write_bytes(b"\xff\xfe\x00,\n")
    with pytest.raises(InvalidFileError, match=r"summary\.csv"):
        draw_figures(tmp_path, tmp_path)


def test_the_figures_of_the_page_are_those_of_the_tables(tmp_path):
    """Words and numbers; the curves depend on the version of matplotlib."""
    root = Path(__file__).parents[2]
    for path in draw_figures(root / "study" / "results", tmp_path):
        kept = (root / "docs" / "study" / "figures" / path.name).read_text(encoding="utf-8")
        texts = [re.findall(r"<text[^>]*>([^<]*)", svg) for svg in (kept, path.read_text())]
        assert texts[0] == texts[1]
        assert len(texts[0]) > 5
