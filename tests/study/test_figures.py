"""Figures come from the saved tables alone, all of them, and always with the same bytes."""

from __future__ import annotations

import matplotlib
import numpy as np
import pandas as pd
import pytest
from fake_study import SHAPES, write_fake_study

from shortlist.errors import InvalidFileError, InvalidProblemError, MissingDependencyError
from shortlist.plots import plot_profile, plot_spread, style
from shortlist.study.figures import draw_figures

matplotlib.use("agg")
from matplotlib import pyplot


def test_same_tables_same_bytes_whatever_the_user_s_style(tmp_path):
    write_fake_study(tmp_path, epvs_of_features=(1.35,))
    for name in ("summary.csv", "features.csv.gz"):  # one study without noise is enough
        table = pd.read_csv(tmp_path / name)
        part = (table["study"] == "budget") & (table["label_noise"] == 0)
        table[part].to_csv(tmp_path / name, index=False)
    first = {path: path.read_bytes() for path in draw_figures(tmp_path)}
    for path in first:
        path.unlink()
    with matplotlib.rc_context({"font.size": 20, "axes.grid": True}):
        second = {path: path.read_bytes() for path in draw_figures(tmp_path)}
    assert second == first
    assert pyplot.get_fignums() == []
    names = {"fig1b", "fig1b-beyond", "appendix-budget-82x14-noise0", "protocols", "parkinson"}
    assert {path.name for path in first} == {
        f"{n}.{kind}" for n in names for kind in ("svg", "png")
    }
    svg = (tmp_path / "figures" / "fig1b.svg").read_text(encoding="utf-8")
    assert "informative, greedy" in svg
    assert "date" not in svg


@pytest.mark.slow
def test_all_figures_are_there(tmp_path):
    write_fake_study(tmp_path, epvs_of_features=tuple(SHAPES))
    paths = draw_figures(tmp_path, tmp_path / "elsewhere")
    panels = {path.stem for path in paths if path.name.startswith("appendix-")}
    others = {"fig1a", "fig1b", "fig1a-beyond", "fig1b-beyond", "protocols", "seeds", "parkinson"}
    assert len(panels) == 16
    assert {path.stem for path in paths} == panels | others
    assert {path.parent.name for path in paths} == {"elsewhere"}


def test_what_was_not_run_is_not_drawn(tmp_path):
    write_fake_study(tmp_path)
    summary = pd.read_csv(tmp_path / "summary.csv")
    own = (summary["seed"] == 0) & (summary["protocol"] == "paper")
    own &= summary["method"].isin(["optimal", "univariable"])
    summary[own & (summary["study"] == "budget")].to_csv(tmp_path / "summary.csv", index=False)
    (tmp_path / "parkinson_summary.csv").unlink()
    out_of_date, own = tmp_path / "figures" / "seeds.svg", tmp_path / "figures" / "notes.svg"
    out_of_date.parent.mkdir()
    for path in (out_of_date, own):
        path.write_text("")
    assert {path.stem for path in draw_figures(tmp_path)} == {"fig1b"}
    assert not out_of_date.exists()
    assert own.exists()


def test_without_matplotlib_nothing_is_made(tmp_path, monkeypatch):
    write_fake_study(tmp_path)
    monkeypatch.setattr(style, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'shortlist\[plots\]'"):
        draw_figures(tmp_path)
    assert not (tmp_path / "figures").exists()


@pytest.mark.parametrize("damage", ["missing", "column", "binary"])
def test_a_damaged_folder_is_one_sentence(tmp_path, damage):
    write_fake_study(tmp_path)
    path = tmp_path / "summary.csv"
    if damage == "missing":
        path.unlink()
    elif damage == "column":
        pd.read_csv(path).drop(columns="auc_lower").to_csv(path, index=False)
    else:
        path.write_bytes(b"\xff\xfe\x00,\n")
    with pytest.raises(InvalidFileError, match=r"summary\.csv"):
        draw_figures(tmp_path)


def test_profile_mirrors_the_second_method():
    frame = pd.DataFrame(
        {
            "predictor": ["a", "b"] * 2,
            "method": ["up", "up", "down", "down"],
            "frequency": [0.9, 0.2, 0.6, 0.4],
            "lower": [0.8, 0.1, 0.5, 0.3],
            "upper": [1.0, 0.4, 0.9, 0.5],
            "role": ["informative", "redundant"] * 2,
        }
    )
    ax = plot_profile(frame)
    assert [bar.get_height() for bar in ax.patches] == [0.9, 0.2, -0.6, -0.4]
    assert [bool(bar.get_hatch()) for bar in ax.patches] == [False, True, False, True]
    downwards = ax.collections[1].get_segments()[0]
    assert sorted(downwards[:, 1]) == pytest.approx([-0.9, -0.5])
    with pytest.raises(InvalidProblemError, match="two methods"):
        plot_profile(frame.assign(method=["a", "b", "c", "d"]))
    pyplot.close("all")


def test_spread_draws_the_reference_where_it_is():
    line = {"label": "x", "minimum": 0.1, "lower_quartile": 0.2, "median": 0.3}
    line |= {"upper_quartile": 0.4, "maximum": 0.5, "reference": 0.7}
    ax = plot_spread(pd.DataFrame([line]))
    assert [float(mark.get_xdata()[0]) for mark in ax.lines] == [0.3, 0.7]
    assert ax.lines[-1].get_label() == "reference"
    bound = line | {"reference": np.nan, "reference_low": 0.0, "reference_high": 0.01}
    ax = plot_spread(pd.DataFrame([bound]), reference="paper")
    assert ax.collections[1].get_segments()[0][:, 0].tolist() == [0.0, 0.01]
    assert ax.lines[-1].get_label() == "paper"
    pyplot.close("all")
