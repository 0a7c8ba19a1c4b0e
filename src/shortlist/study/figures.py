"""The figures of a study, drawn from its saved tables alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..files import make_folder, write_whole
from ..plots import plot_fractions, plot_intervals, plot_spread
from ..plots.style import GREY, HUES, new_figure, require_matplotlib
from .compare import compare
from .draws import EPVS, NUMBERS, Draws
from .methods import METHOD_NAMES, differences
from .paper import ACCURACY, LITTLE_ACCURACY, fractions_of
from .parkinson import VARIANTS, describe
from .plan import LABEL_NOISE, METHODS
from .tables import FILES, ROLES, read_summary, read_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DPI = 130
_LABEL_WIDTH = 56  # characters of a line
_NOISE_LABELS = ("no label noise", "5 % label noise")
_RUN_LABELS = {"cardinality": "{} informative", "budget": "costs {}"}
# What the file says about its making, such as the time, is left out.
_FILE_METADATA: dict[str, dict[str, str | None]] = {
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}


def draw_figures(
    folder: str | os.PathLike[str], out: str | os.PathLike[str] | None = None
) -> list[Path]:
    """Draw all figures of a study, as SVG and PNG.

    `fig1a` and `fig1b` are the paper's Fig. 1 with the spread over draws; `numbers` shows where the
    paper's numbers lie; `auc-*` are AUCs with intervals by run and method, `appendix-*` say how
    often each feature is selected, both for one draw; `methods` and `parkinson` are what their
    names say. What the results do not have is not drawn. The same results give the same bytes.

    Parameters
    ----------
    folder : path-like
        The folder of the study.
    out : path-like, optional
        Where the files go; by default `figures` in that folder.

    Returns
    -------
    list of Path
        The files.
    """
    require_matplotlib()
    import matplotlib
    from matplotlib import pyplot

    place = Path(folder) / "figures" if out is None else Path(out)
    make_folder(place)
    paths = []
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(
            {"font.size": 8, "svg.fonttype": "none", "svg.hashsalt": "shortlist"}
        )
        for name, figure in _figures(Path(folder)):
            for kind, metadata in _FILE_METADATA.items():
                buffer = BytesIO()
                figure.savefig(buffer, format=kind, dpi=_DPI, metadata=metadata)
                paths.append(place / f"{name}.{kind}")
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
            lines = []
            for method in METHODS:
                values = draws.fraction(method, role, noise)
                lower, middle, upper = np.quantile(values, [0.025, 0.5, 0.975], axis=0)
                lines += [
                    {"epv": epv, "role": role, "method": METHOD_NAMES[method]}
                    | {"fraction": middle[i], "lower": lower[i], "upper": upper[i]}
                    for i, epv in enumerate(EPVS)
                ]
            plot_fractions(pd.DataFrame(lines), bands=True, ax=ax)
            for method, epv, value in fractions_of(study, role, noise):
                hue = HUES[METHODS.index(method)]
                ax.plot(epv, value, "*", c=hue, mec="black", ms=11, zorder=5)
            ax.set_title(f"{role}, {_NOISE_LABELS[noise]}", loc="left", fontsize=8)
            ax.get_legend().remove()
            ax.set(ylabel="fraction selected" if role == ROLES[0] else "")
            ax.set_ylim(-0.02, 0.32 if role == "uninformative" else 1.04)
            if noise == 0:
                ax.set_xlabel("")
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
            frame = pd.DataFrame(
                {
                    "label": [_RUN_LABELS[study].format(run) for run in part["run"]],
                    "method": part["method"].map(METHOD_NAMES),
                    "estimate": part["auc"],
                    "lower": part["auc_lower"],
                    "upper": part["auc_upper"],
                }
            )
            plot_intervals(frame, xlabel="AUC" if row is panels[1] else "", ax=ax)
            ax.set_title(f"EPV {epv}, {text}", loc="left", fontsize=7.5)
            handles, names = ax.get_legend_handles_labels()
            ax.get_legend().remove()
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
    """Draw where the paper's numbers lie in the spread over draws."""
    frame = numbers.assign(
        label=numbers["place"].astype(str) + "  " + numbers["meaning"],
        reference=(numbers["paper_low"] + numbers["paper_high"]) / 2,
        reference_low=numbers["paper_low"],
        reference_high=numbers["paper_high"],
    )
    figure = new_figure(7.2, 0.8 + 0.19 * len(frame))
    plot_spread(frame, xlabel="accuracy, AUC or fraction", reference="paper", ax=figure.subplots())
    return figure


def draw_methods(table: pd.DataFrame) -> Figure:
    """Draw how other methods differ from the optimum on the same data."""
    figure = new_figure(7.2, 2.6)
    texts = {"auc": "AUC"} | {role: f"{role} share" for role in ROLES[::2]}
    for ax, measure in zip(figure.subplots(1, len(texts), sharey=True), texts, strict=True):
        part = table[table["measure"] == measure]
        part = part.assign(label=part["method"].map(METHOD_NAMES)).drop(columns="method")
        plot_intervals(part, xlabel=texts[measure], ax=ax)
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
    ax = plot_intervals(
        pd.DataFrame(lines), xlabel="mean test accuracy and 95 % interval", ax=figure.subplots()
    )
    ax.axhline(1.5, color=GREY, linewidth=0.6)  # above it what was published, below it ours
    return figure


def _interval(values: Any) -> dict[str, float]:
    return dict(zip(("estimate", "lower", "upper"), values, strict=True))
