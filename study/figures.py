"""The figures of a study, drawn from its saved tables alone."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from shortlist.plots.style import (
    GREY,
    HUES,
    LINES,
    MARKERS,
    add_grid,
    axes_for,
    label_rows,
    new_figure,
)

from .claims import STABLE
from .draws import EPVS, Draws, Resamples, averages, mean_of, read_draws
from .methods import METHOD_NAMES, differences
from .paper import fractions_of
from .plan import FULL, LABEL_NOISE, METHODS, NUMBERS, SHAPES
from .published import frequencies, is_published
from .tables import ROLES, read_runs, read_selections, write_whole

_NOISE_LABELS = ("no noise", "5 % noise")
_STUDY_LABELS = {"cardinality": "limit", "budget": "budget"}
_DATA_LABELS = [f"{epv:.2f}\n{n}x{p}" for epv, (n, p) in zip(EPVS, SHAPES, strict=True)]
_METADATA = {"Date": None, "Creator": None}  # the time is left out: the same bytes every time


def draw_figures(folder: str | os.PathLike[str], out: str | os.PathLike[str]) -> list[Path]:
    """Draw all figures of a study, as SVG.

    `fractions` is the paper's Fig. 1 with the spread over draws, `stability` the same for the
    stability of selections, `aucs` the paired differences of the methods' AUCs, and `methods`
    compares others with the optimum. Without its results a figure is not drawn. Of a single draw
    they are the paper's: `fig1a` and `fig1b`, and four of its appendix with four panels each. The
    same results give the same bytes.

    Parameters
    ----------
    folder : path-like
        The folder of the study.
    out : path-like
        The folder that the files go to.

    Returns
    -------
    list of Path
        The files.
    """
    place = Path(out)
    place.mkdir(parents=True, exist_ok=True)
    paths = []
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(
            {"font.size": 8, "svg.fonttype": "none", "svg.hashsalt": "shortlist"}
        )
        for name, figure in _figures(Path(folder)):
            buffer = BytesIO()
            figure.savefig(buffer, format="svg", metadata=_METADATA)
            paths.append(place / f"{name}.svg")
            write_whole(paths[-1], buffer.getvalue())
            pyplot.close(figure)
    return paths


def _figures(folder: Path) -> Iterator[tuple[str, Figure]]:
    if is_published(folder):
        selections = read_selections(folder)
        for letter, study in zip("ab", NUMBERS, strict=True):
            yield f"fig1{letter}", draw_fractions({study: Resamples(selections, study)})
        table = frequencies(selections)
        for study, noise in product(NUMBERS, LABEL_NOISE):
            part = table[(table["study"] == study) & (table["label_noise"] == noise)]
            yield f"appendix-{study}-{100 * noise:.0f}", draw_frequencies(part)
        return
    draws = read_draws(folder)
    if all(len(own.seeds) > 1 for own in draws.values()):
        yield "fractions", draw_fractions(draws)
        yield "stability", draw_stability(draws)
        yield "aucs", draw_aucs(averages(draws))
    table = differences(read_runs(folder))
    if len(table):
        yield "methods", draw_methods(table)


def draw_fractions(draws: Mapping[str, Draws | Resamples]) -> Figure:
    """Draw the fraction selected of each role, by study, label noise, EPV and method."""
    rows = [(study, noise) for study in draws for noise in (0, 1)]
    figure = new_figure(7.2, 0.6 + 1.75 * len(rows))
    panels = figure.subplots(len(rows), 3, sharex=True, sharey="col")
    for row, (study, noise) in zip(panels, rows, strict=True):
        for ax, role in zip(row, ROLES, strict=True):
            _draw_by_epv(ax, draws[study], role, noise)
            for method, epv, value in fractions_of(study, role, noise):
                hue = HUES[METHODS.index(method)]
                ax.plot(EPVS.index(epv), value, "*", c=hue, mec="black", ms=10, zorder=5)
            title = f"{role}, {_STUDY_LABELS[study]}, {_NOISE_LABELS[noise]}"
            ax.set_title(title, loc="left", fontsize=7.5)
            ax.set(ylabel="fraction selected" if role == ROLES[0] else "")
            ax.set_ylim(-0.02, 0.3 if role == "uninformative" else 1.04)
    star = panels[0, 0].plot([], [], "*", color="white", markeredgecolor="black", ms=9)
    _add_legend(figure, panels[0, 0], draws, star)
    return figure


def draw_stability(draws: dict[str, Draws]) -> Figure:
    """Draw the stability of selections by study, label noise, EPV and method."""
    figure = new_figure(7.2, 2.7)
    panels = figure.subplots(1, 4, sharex=True, sharey=True)
    rows = [(study, noise) for study in draws for noise in (0, 1)]
    for ax, (study, noise) in zip(panels, rows, strict=True):
        _draw_by_epv(ax, draws[study], "stability", noise)
        ax.axhline(STABLE, color=GREY, linewidth=0.8, linestyle=":")
        title = f"{_STUDY_LABELS[study]}, {_NOISE_LABELS[noise]}"
        ax.set_title(title, loc="left", fontsize=7.5)
        ax.set_ylim(0, 1.02)
    panels[0].set(ylabel="stability (Nogueira)")
    _add_legend(figure, panels[0], draws, [])
    return figure


def draw_frequencies(table: pd.DataFrame) -> Figure:
    """Draw how often each feature is selected, by data set, run and method."""
    figure = new_figure(7.2, 5.6)
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    names = [*range(1, 6), "redundant", "uninformative"]
    for ax, (n, p), epv in zip(panels.flat, SHAPES, EPVS, strict=True):
        axes_for(ax, 0, 0)
        part = table[(table["n_samples"] == n) & (table["n_features"] == p)]
        runs = sorted(part["run"].unique())
        for i, method in enumerate(METHODS):
            for x, run in enumerate(runs):
                own = part[(part["run"] == run) & (part["method"] == method)]
                places = np.minimum(np.arange(len(own)), (own["role"] == "informative").sum() + 1)
                _draw_features(ax, own, x - 0.42 + 0.45 * i + 0.06 * places, is_filled=i == 0)
        ax.set_xticks(range(len(runs)), [str(run) for run in runs])
        ax.set_title(f"EPV {epv:.2f}, {n}x{p}", loc="left", fontsize=7.5)
        ax.set(ylim=(-0.03, 1.03), ylabel="" if ax in panels[:, 1] else "share of resamples")
    study = table["study"].iloc[0]
    kinds = {"cardinality": "informative features, and at most as many selected"}
    figure.supxlabel(kinds.get(study, "draw of the costs, budget of 10"), fontsize=8)
    marks = [ax.plot([], [], MARKERS[0], color=HUES[k], markersize=4)[0] for k in range(5)]
    marks += [ax.plot([], [], "D", color="black", markersize=4)[0]]
    marks += [ax.plot([], [], ".", color=GREY, markersize=4)[0]]
    labels = [f"informative {name}" if name in range(6) else str(name) for name in names]
    figure.legend(
        marks, labels, loc="outside upper center", ncols=4, frameon=False, fontsize=7.5,
        title="filled: optimal, left; hollow: greedy, right", title_fontsize=7.5,
    )  # fmt: skip
    return figure


def _draw_features(ax: Axes, table: pd.DataFrame, places: Any, *, is_filled: bool) -> None:
    """Draw frequencies of the features of a run, and intervals of all but uninformative ones."""
    for (_, line), x in zip(table.iterrows(), places, strict=True):
        if line["role"] == "uninformative":
            ax.plot(x, line["estimate"], ".", color=GREY, markersize=2.5, zorder=1)
            continue
        is_informative = line["role"] == "informative"
        hue = HUES[int(line["feature"])] if is_informative else "black"
        ax.vlines(x, line["lower"], line["upper"], color=hue, linewidth=1.2)
        ax.plot(
            x, line["estimate"], MARKERS[0] if is_informative else "D", color=hue, markersize=3.5,
            markerfacecolor=hue if is_filled else "white",
        )  # fmt: skip


def _draw_by_epv(ax: Axes, draws: Draws | Resamples, measure: str, noise: int) -> None:
    """Draw means with their intervals, and the central 95 % of draws as bands."""
    axes_for(ax, 0, 0)
    places = np.arange(len(EPVS))
    for i, method in enumerate(METHODS):
        values = draws.cells(method, measure, noise)
        means = [mean_of(column) for column in values.T]
        lower, upper = np.quantile(values, [0.025, 0.975], axis=0)
        ax.fill_between(places, lower, upper, color=HUES[i], alpha=0.15, linewidth=0)
        ax.errorbar(
            places,
            [mean.estimate for mean in means],
            yerr=[mean.upper - mean.estimate for mean in means],
            color=HUES[i],
            linestyle=LINES[i],
            marker=MARKERS[i],
            markersize=4,
            markerfacecolor=HUES[i] if i == 0 else "white",
            label=METHOD_NAMES[method],
        )
    ax.set_xticks(places, _DATA_LABELS, fontsize=6)
    ax.set_xlim(-0.3, len(EPVS) - 0.7)


def _add_legend(
    figure: Figure, ax: Axes, draws: Mapping[str, Draws | Resamples], star: list[Any]
) -> None:
    handles, names = ax.get_legend_handles_labels()
    every = next(iter(draws.values())).every
    names = [f"{name}: mean, its 95 % interval, central 95 % of {every}" for name in names]
    names += ["stated in the paper"] * len(star)
    figure.legend(
        [*handles, *star], names, loc="outside upper center", ncols=2, frameon=False, fontsize=7.5
    )
    figure.supxlabel("events per variable, and rows x candidates", fontsize=8)


def draw_aucs(table: pd.DataFrame) -> Figure:
    """Draw by how much the AUC of the optimum exceeds that of greedy selection, by cell."""
    rows = table[(table["measure"] == "auc") & (table["method"] == "difference")]
    figure = new_figure(7.2, 2.7)
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    labels = [
        f"EPV {epv} ({n}x{p}), {text}"
        for text in _NOISE_LABELS
        for epv, (n, p) in zip(EPVS, SHAPES, strict=True)
    ]
    for ax, (study, name) in zip(panels, _STUDY_LABELS.items(), strict=True):
        part = rows[rows["study"] == study]
        _draw_intervals(ax, part.assign(label=[*labels, "all"]))
        ax.axhline(len(labels) - 0.5, color=GREY, linewidth=0.6)
        ax.set_title(f"with a {name}", loc="left", fontsize=8)
    figure.supxlabel(
        "AUC of optimal less that of greedy selection on the same data: mean and 95 % interval "
        f"over {int(rows['n_draws'].max())} draws",
        fontsize=8,
    )
    return figure


def draw_methods(table: pd.DataFrame) -> Figure:
    """Draw how other methods differ from the optimum on the same data."""
    figure = new_figure(7.2, 2.4)
    texts = {
        ("cardinality", "auc"): "AUC, limit",
        ("budget", "auc"): "AUC, budget",
        ("all", "informative_data"): "informative fraction",
    }
    for ax, (key, text) in zip(figure.subplots(1, 3, sharey=True), texts.items(), strict=True):
        part = table[(table["study"] == key[0]) & (table["measure"] == key[1])]
        ends = ["estimate", "lower", "upper"]
        if key[1] != "auc":  # all candidates have all of it
            part = part.assign(**part[ends].mask(part["method"] == FULL))
        _draw_intervals(ax, part.assign(label=part["method"].map(METHOD_NAMES)))
        ax.set_title(text, loc="left", fontsize=8)
    figure.supxlabel(
        "method less the optimum on the same data: mean and 95 % interval over "
        f"{int(table['n_draws'].max())} draws",
        fontsize=8,
    )
    return figure


def _draw_intervals(ax: Axes, frame: pd.DataFrame) -> None:
    """Draw estimates as points and their intervals as lines, a row per label, the first on top."""
    axes_for(ax, 0, 0)
    heights = np.arange(len(frame))
    ax.hlines(heights, frame["lower"], frame["upper"], color=HUES[0], linewidth=1.8)
    ax.plot(frame["estimate"], heights, MARKERS[0], markersize=4, color=HUES[0])
    ax.axvline(0, color=GREY, linewidth=0.8)
    ax.locator_params(axis="x", nbins=4)
    label_rows(ax, list(frame["label"]))
    add_grid(ax)
