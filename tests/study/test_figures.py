"""Figures come from the saved tables alone, all of them, and always with the same bytes."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib
import pandas as pd
import pytest
from fake_study import write_fake_study, write_published_study

from shortlist import InvalidFileError
from study.figures import draw_figures, draw_frequencies
from study.plan import METHODS, NUMBERS, SHAPES
from study.published import frequencies
from study.tables import read_selections

matplotlib.use("agg")
from matplotlib import pyplot

NAMES = {"fractions", "stability", "aucs", "methods"}


def test_same_tables_same_bytes_whatever_the_user_s_style(tmp_path):
    write_fake_study(tmp_path)
    out, open_before = tmp_path / "figures", pyplot.get_fignums()
    first = {path: path.read_bytes() for path in draw_figures(tmp_path, out)}
    with matplotlib.rc_context({"font.size": 20, "axes.grid": True}):
        second = {path: path.read_bytes() for path in draw_figures(tmp_path, out)}
    assert second == first
    assert pyplot.get_fignums() == open_before
    assert {path.stem for path in first} == NAMES
    svg = (out / "stability.svg").read_text(encoding="utf-8")
    assert "central 95 % of 12 draws" in svg
    assert "dc:date" not in svg


def test_a_single_draw_has_the_figures_of_the_paper(tmp_path):
    """Figure 1 in two parts, and sixteen panels, in each of which every run shows every feature."""
    paths = draw_figures(write_published_study(tmp_path), tmp_path / "figures")
    appendix = [f"appendix-{study}-{noise}" for study in NUMBERS for noise in (0, 5)]
    assert [path.stem for path in paths] == ["fig1a", "fig1b", *appendix]
    table = frequencies(read_selections(tmp_path))
    for study, runs in NUMBERS.items():
        part = table[(table["study"] == study) & (table["label_noise"] == 0)]
        figure = draw_frequencies(part)
        panels = figure.get_axes()
        assert len(panels) == 4
        for ax, (_, n_features) in zip(panels, SHAPES, strict=True):
            marks = [line for line in ax.lines if len(line.get_xdata()) == 1]
            assert len(marks) == len(METHODS) * len(runs) * n_features
        pyplot.close(figure)


def test_frequencies_are_shares_of_the_resamples(tmp_path):
    selections = read_selections(write_published_study(tmp_path))
    table = frequencies(selections)
    assert table["feature"].size == sum(m.shape[1] for m in selections.values())
    for run, matrix in list(selections.items())[::20]:
        own = table[(table[[*vars(run)]] == pd.Series(vars(run))).all(axis=1)]
        assert own["estimate"].tolist() == matrix.mean(axis=0).tolist()
        roles = [str(role) for role in run.data().roles]
        assert own["role"].tolist() == roles
        n, z = len(matrix), 1.959963984540054
        p = matrix.mean(axis=0)
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
        assert own["lower"].to_numpy() == pytest.approx(middle - half, abs=1e-12)
        assert own["upper"].to_numpy() == pytest.approx(middle + half, abs=1e-12)


def test_what_was_not_run_is_not_drawn(tmp_path):
    write_fake_study(tmp_path)
    runs = pd.read_csv(tmp_path / "runs.csv.gz")
    runs[runs["n_features"] == 14].to_csv(tmp_path / "runs.csv.gz", index=False)
    assert {path.stem for path in draw_figures(tmp_path, tmp_path)} == {"methods"}


@pytest.mark.parametrize("damage", ["missing", "column", "binary"])
def test_a_damaged_folder_is_one_sentence(tmp_path, damage):
    write_fake_study(tmp_path)
    path = tmp_path / "runs.csv.gz"
    if damage == "missing":
        path.unlink()
    elif damage == "column":
        pd.read_csv(path).drop(columns="stability").to_csv(path, index=False)
    else:
        path.write_bytes(b"\xff\xfe\x00,\n")
    with pytest.raises(InvalidFileError, match=r"runs\.csv"):
        draw_figures(tmp_path, tmp_path)


def test_the_figures_of_the_page_are_those_of_the_tables(tmp_path):
    """Words and numbers; the curves depend on the version of matplotlib."""
    root = Path(__file__).parents[2]
    results = root / "study" / "results"
    folders = {results: "figures", results / "as-published": "as-published"}
    paths = {path: place for f, place in folders.items() for path in draw_figures(f, tmp_path)}
    assert {path.stem for path in paths} > NAMES
    for path, place in paths.items():
        kept = (root / "docs" / "study" / place / path.name).read_text(encoding="utf-8")
        texts = [re.findall(r"<text[^>]*>([^<]*)", svg) for svg in (kept, path.read_text())]
        assert texts[0] == texts[1]
        assert len(texts[0]) > 5
