"""The figures of a study, drawn from its saved tables alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from textwrap import fill
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

from .compare import compare
from .draws import EPVS, NUMBERS, Draws
from .methods import METHOD_NAMES, differences
from .paper import ACCURACY, LITTLE_ACCURACY, fractions_of
from .parkinson import VARIANTS, describe
from .plan import LABEL_NOISE, METHODS
from .tables import FILES, ROLES, read_summary, read_table, write_whole

_LABEL_WIDTH = 56  # characters of a line
_SPREAD = 0.6  # how much of a row's height its methods share
_NOISE_LABELS = ("no label noise", "5 % label noise")
_RUN_LABELS = {"cardinality": "{} informative", "budget": "costs {}"}
_DPI = 130  # of the images in the figures
_METADATA = {"Date": None, "Creator": None}  # the time is left out: the same bytes every time


def draw_figures(folder: str | os.PathLike[str], out: str | os.PathLike[str]) -> list[Path]:
    """Draw all figures of a study, as SVG.

    `fig1a` and `fig1b` are the paper's Fig. 1 with the spread over draws; `numbers` shows where the
    paper's numbers lie; `auc-*` are AUCs with intervals by run and method, `appendix-*` say how
    often each feature is selected, both for one draw; `methods` and `parkinson` are what their
    names say. Without its results a figure is not drawn. The same results give the same bytes.

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
            figure.savefig(buffer, format="svg", dpi=_DPI, metadata=_METADATA)
            paths.append(place / f"{name}.svg")
            write_whole(paths[-1], buffer.getvalue())
            pyplot.close(figure)
    return paths


def _figures(folder: Path) -> Iterator[tuple[str, Figure]]:
    summary = read_summary(folder)
    features = read_table(folder, FILES["features"])
    for study, name in (("cardinality", "fig1a"), ("budget", "fig1b")):
        draws = Draws(summary, study)
        if len(draws.seeds) > 1:
            yield name, draw_fractions(draws, study)
        main = summary[(summary["arm"] == "paper") & (summary["study"] == study)]
        if len(main):
            yield f"auc-{study}", draw_aucs(main, study)
            yield f"appendix-{study}", draw_features(features, study)
    numbers = compare(folder).query("kind == 'number' and n_draws > 1")
    if len(numbers):
        yield "numbers", draw_numbers(numbers)
    table = differences(summary)
    if len(table):
        yield "methods", draw_methods(table)
    if (folder / "parkinson_summary.csv").is_file():
        yield "parkinson", draw_parkinson(read_table(folder, "parkinson_summary.csv"))


def draw_fractions(draws: Draws, study: str) -> Figure:
    """Draw Fig. 1: a panel per role and label noise, bands over draws, marks of the paper."""
    figure = new_figure(7.2, 4.6)
    panels = figure.subplots(2, 3, sharex=True, sharey="col")
    for noise, row in enumerate(panels):
        for ax, role in zip(row, ROLES, strict=True):
            axes_for(ax, 0, 0)
            for i, method in enumerate(METHODS):
                values = draws.fraction(method, role, noise)
                lower, middle, upper = np.quantile(values, [0.025, 0.5, 0.975], axis=0)
                ax.fill_between(EPVS, lower, upper, color=HUES[i], alpha=0.2)
                ax.errorbar(
                    EPVS,
                    middle,
                    color=HUES[i],
                    linestyle=LINES[i],
                    marker=MARKERS[i],
                    markerfacecolor=HUES[i] if i == 0 else "white",
                    label=METHOD_NAMES[method],
                )
            for method, epv, value in fractions_of(study, role, noise):
                hue = HUES[METHODS.index(method)]
                ax.plot(epv, value, "*", c=hue, mec="black", ms=11, zorder=5)
            ax.set_title(f"{role}, {_NOISE_LABELS[noise]}", loc="left", fontsize=8)
            ax.set_xscale("log")
            ax.set_xticks(EPVS, [f"{epv:.2f}" for epv in EPVS])
            ax.minorticks_off()
            ax.set(ylabel="fraction selected" if role == ROLES[0] else "")
            ax.set_ylim(-0.02, 0.32 if role == "uninformative" else 1.04)
            if noise == 1:
                ax.set_xlabel("events per variable")
    handles, names = panels[0, 0].get_legend_handles_labels()
    if study == "cardinality":
        handles += panels[0, 0].plot([], [], "*", color="white", markeredgecolor="black", ms=9)
        names.append("stated in the paper, in the method's colour")
    names[:2] = [
        f"{name}, median and central 95 % of {len(draws.seeds)} draws" for name in names[:2]
    ]
    figure.legend(handles, names, loc="outside upper center", ncols=2, frameon=False)
    return figure


def draw_aucs(main: pd.DataFrame, study: str) -> Figure:
    """Draw AUC and interval of each run by both methods: a panel per data set."""
    rows = main[main["method"].isin(METHODS)].sort_values(["run", "method"])
    figure = new_figure(7.2, 4.2)
    panels = figure.subplots(2, 4, sharex=True, sharey=True)
    for row, noise, text in zip(panels, LABEL_NOISE, _NOISE_LABELS, strict=True):
        for ax, epv in zip(row, EPVS, strict=True):
            part = rows[(rows["label_noise"] == noise) & (rows["epv"] == epv)]
            if part.empty:
                continue
            frame = part.assign(
                label=[_RUN_LABELS[study].format(run) for run in part["run"]],
                method=part["method"].map(METHOD_NAMES),
                estimate=part["auc"],
                lower=part["auc_lower"],
                upper=part["auc_upper"],
            )
            draw_intervals(ax, frame, "AUC" if row is panels[1] else "")
            ax.set_title(f"EPV {epv}, {text}", loc="left", fontsize=7.5)
            handles, names = ax.get_legend_handles_labels()
    n_resamples = int(rows["n_resamples"].max())
    names = [f"{name}: the data, and 95 % of {n_resamples} resamples" for name in names]
    figure.legend(handles, names, loc="outside upper center", ncols=2, frameon=False)
    return figure


def draw_features(features: pd.DataFrame, study: str) -> Figure:
    """Draw how often each feature is selected: an image per data set, a line per run and method."""
    rows = features[(features["study"] == study) & features["method"].isin(METHODS)]
    numbers = NUMBERS[study]
    figure = new_figure(7.2, 7.0)
    panels = figure.subplots(4, 2)
    for line, epv in zip(panels, EPVS, strict=True):
        for ax, noise, text in zip(line, LABEL_NOISE, _NOISE_LABELS, strict=True):
            part = rows[(rows["label_noise"] == noise) & (rows["epv"] == epv)]
            if part.empty:
                continue
            table = part.pivot_table(index=["run", "method"], columns="feature", values="frequency")
            image = ax.imshow(table, aspect="auto", cmap="Blues", vmin=0, vmax=1)
            for i, number in enumerate(numbers):
                first = number if study == "cardinality" else 5
                # The redundant feature stands between two lines, the informative ones before it.
                ax.vlines([first - 0.5, first + 0.5], 2 * i - 0.5, 2 * i + 1.5, color=HUES[5], lw=1)
            ax.hlines(np.arange(1.5, 2 * len(numbers) - 1, 2), *ax.get_xlim(), color=GREY, lw=0.6)
            text_of = _RUN_LABELS[study].format
            labels = [f"{text_of(run)}, {METHOD_NAMES[m]}" for run, m in table.index]
            ax.set_yticks(range(len(table)), labels if noise == 0 else [], fontsize=6)
            ax.set_xticks([])
            ax.set_title(f"EPV {epv}, {text}", loc="left", fontsize=8)
    figure.supxlabel(
        "features: informative ones left of the red lines, the redundant one between them, "
        "uninformative ones right of them",
        fontsize=8,
    )
    figure.colorbar(image, ax=panels, label="how often selected", shrink=0.4, pad=0.01)
    return figure


def draw_numbers(numbers: pd.DataFrame) -> Figure:
    """Draw where the paper's numbers lie in the spread over draws: a line with a box for each."""
    figure = new_figure(7.2, 0.8 + 0.19 * len(numbers))
    ax = axes_for(figure.subplots(), 0, 0)
    heights = np.arange(len(numbers))
    ax.hlines(heights, numbers["lower"], numbers["upper"], color=GREY, label="central 95 %")
    ax.barh(
        heights,
        numbers["upper_quartile"] - numbers["lower_quartile"],
        left=numbers["lower_quartile"],
        height=0.5,
        color="#C8DCEB",
        edgecolor=HUES[0],
        linewidth=0.8,
        label="middle half",
    )
    ax.plot(numbers["median"], heights, "|", color=HUES[0], markersize=9, label="median")
    low, high = numbers["paper_low"], numbers["paper_high"]
    ax.hlines(heights, low, high, color=HUES[5], linewidth=3)
    middle = (low + high) / 2
    ax.plot(middle, heights, "D", color=HUES[5], markersize=4.5, label="paper", clip_on=False)
    label_rows(ax, list(numbers["place"].astype(str) + "  " + numbers["meaning"]))
    ax.set_xlabel("accuracy, AUC or fraction")
    add_grid(ax)
    ax.legend(frameon=False, fontsize="small", loc="lower left", bbox_to_anchor=(0, 1), ncols=4)
    return figure


def draw_methods(table: pd.DataFrame) -> Figure:
    """Draw how other methods differ from the optimum on the same data."""
    figure = new_figure(7.2, 2.6)
    texts = {"auc": "AUC"} | {role: f"{role} share" for role in ROLES[::2]}
    for ax, measure in zip(figure.subplots(1, len(texts), sharey=True), texts, strict=True):
        part = table[table["measure"] == measure]
        part = part.assign(label=part["method"].map(METHOD_NAMES), method="all")
        draw_intervals(ax, part, texts[measure])
        ax.axvline(0, color=GREY, linewidth=0.8)
    figure.suptitle(
        f"method less the optimum on the same data: mean and 95 % interval over "
        f"{int(table['n_seeds'].max())} seeds",
        fontsize=8,
    )
    return figure


def draw_parkinson(variants: pd.DataFrame) -> Figure:
    """Draw the accuracy of each variant, that of the paper and that of Little et al."""
    order = variants.set_index("variant")
    lines: list[dict[str, Any]] = [
        {"label": "the paper, 399 resamples"} | _interval(ACCURACY),
        {"label": "Little et al. 2008, a support vector machine"} | _interval(LITTLE_ACCURACY),
    ]
    for name in [name for name in VARIANTS if name in order.index]:
        line = order.loc[name]
        label = fill(f"{describe(name)}, {line['n_resamples']:.0f} resamples", _LABEL_WIDTH)
        interval = [line[f"accuracy{end}"] for end in ("", "_lower", "_upper")]
        lines.append({"label": label} | _interval(interval))
    figure = new_figure(7.2, 0.6 + 0.36 * len(lines))
    ax = figure.subplots()
    draw_intervals(
        ax, pd.DataFrame(lines).assign(method="all"), "mean test accuracy and 95 % interval"
    )
    ax.axhline(1.5, color=GREY, linewidth=0.6)  # above it published results, below it ours
    return figure


def _interval(values: Any) -> dict[str, float]:
    return dict(zip(("estimate", "lower", "upper"), values, strict=True))


def draw_intervals(ax: Axes, frame: pd.DataFrame, xlabel: str) -> None:
    """Draw estimates as points and their intervals as lines, a row per label, the first on top."""
    labels, methods = list(dict.fromkeys(frame["label"])), list(dict.fromkeys(frame["method"]))
    axes_for(ax, 0, 0)
    for i, method in enumerate(methods):
        part = frame[frame["method"] == method]
        offset = _SPREAD * ((i + 0.5) / len(methods) - 0.5)
        heights = np.array([labels.index(label) for label in part["label"]]) + offset
        ax.hlines(heights, part["lower"], part["upper"], color=HUES[i], linewidth=1.8)
        ax.plot(
            part["estimate"],
            heights,
            linestyle="none",
            marker=MARKERS[i],
            markersize=5,
            color=HUES[i],
            label=method,
        )
    label_rows(ax, labels)
    ax.set_xlabel(xlabel)
    add_grid(ax)
