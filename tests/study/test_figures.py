"""Figures come from the saved tables alone, all of them, and always with the same bytes."""

from __future__ import annotations

import sys

import matplotlib
import numpy as np
import pandas as pd
import pytest
from fake_study import write_fake_study

from shortlist.errors import InvalidFileError, MissingDependencyError
from shortlist.plots import plot_spread
from shortlist.study.figures import draw_figures

matplotlib.use("agg")
from matplotlib import pyplot

SMALL = ((82, 14),)
NAMES = {"auc-cardinality", "auc-budget", "appendix-cardinality", "appendix-budget"}


def test_same_tables_same_bytes_whatever_the_user_s_style(tmp_path):
    write_fake_study(tmp_path, SMALL)
    summary = pd.read_csv(tmp_path / "summary.csv.gz")
    summary[summary["study"] == "budget"].to_csv(tmp_path / "summary.csv.gz", index=False)
    first = {path: path.read_bytes() for path in draw_figures(tmp_path)}
    with matplotlib.rc_context({"font.size": 20, "axes.grid": True}):
        second = {path: path.read_bytes() for path in draw_figures(tmp_path)}
    assert second == first
    assert pyplot.get_fignums() == []
    names = {"auc-budget", "appendix-budget", "numbers", "methods", "parkinson"}
    assert {path.name for path in first} == {
        f"{name}.{kind}" for name in names for kind in ("svg", "png")
    }
    svg = (tmp_path / "figures" / "auc-budget.svg").read_text(encoding="utf-8")
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
    assert {path.stem for path in draw_figures(tmp_path)} == {"auc-budget", "appendix-budget"}


def test_without_matplotlib_nothing_is_made(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match=r"install shortlist\[plots\]"):
        draw_figures(tmp_path)
    assert not (tmp_path / "figures").exists()


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
        draw_figures(tmp_path)


def test_spread_draws_the_reference_where_it_is():
    line = {"label": "x", "lower": 0.1, "lower_quartile": 0.2, "median": 0.3}
    line |= {"upper_quartile": 0.4, "upper": 0.5, "reference": 0.7}
    ax = plot_spread(pd.DataFrame([line]))
    assert [float(mark.get_xdata()[0]) for mark in ax.lines] == [0.3, 0.7]
    assert ax.lines[-1].get_label() == "reference"
    bound = line | {"reference": np.nan, "reference_low": 0.0, "reference_high": 0.01}
    ax = plot_spread(pd.DataFrame([bound]), reference="paper")
    assert ax.collections[1].get_segments()[0][:, 0].tolist() == [0.0, 0.01]
    assert ax.lines[-1].get_label() == "paper"
    pyplot.close("all")
