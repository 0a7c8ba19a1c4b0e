"""The appendix: how often each feature is selected, by run and method, for one data set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from ...plots import plot_profile
from ...plots.style import new_figure
from ..draw import METHODS
from ..saved import METHOD_NAMES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_RUN = {"cardinality": "select {} of", "budget": "draw {}"}


def draw_features(features: pd.DataFrame, study: str) -> Figure:
    """Draw a data set of one study: a row of panels per run, a column per method.

    Informative features have hues of their own, the redundant one is hatched, and the others are
    grey. In the budget study the costs of the former stand below them.
    """
    runs = sorted(features["run"].unique())
    figure = new_figure(7.2, 0.7 + (1.15 if study == "cardinality" else 1.25) * len(runs))
    panels = figure.subplots(len(runs), len(METHODS), sharey=True, squeeze=False)
    for row, run in zip(panels, runs, strict=True):
        for ax, method in zip(row, METHODS, strict=True):
            part = features[(features["run"] == run) & (features["method"] == method)]
            if part.empty:
                ax.set_axis_off()
                continue
            plot_profile(part.assign(predictor=part["feature"], label=_labels(part, study)), ax=ax)
            ax.tick_params(axis="x", length=0, labelsize=7)
            if ax is row[0]:
                what = f"select {run}" if study == "cardinality" else f"draw {run}"
                ax.set_ylabel(f"{what}\nfrequency")
            else:
                ax.set_ylabel("")
            if row is panels[0]:
                ax.set_title(METHOD_NAMES[method], loc="left", fontsize=9)
    first = features.iloc[0]
    figure.suptitle(
        f"{study}: {first['n_samples']} rows, {first['n_features']} features, "
        f"EPV {first['epv']:.2f}, label noise {first['label_noise']:.0%}",
        fontsize=9,
    )
    figure.supxlabel(
        "features: informative (numbered), redundant (r), uninformative"
        + ("; below their cost" if study == "budget" else ""),
        fontsize=8,
    )
    return figure


def _labels(part: pd.DataFrame, study: str) -> list[str]:
    labels = []
    for number, (role, cost) in enumerate(zip(part["role"], part["cost"], strict=True), start=1):
        if role == "uninformative":
            labels.append("")
            continue
        name = str(number) if role == "informative" else "r"
        labels.append(f"{name}\n{cost:g}" if study == "budget" else name)
    return labels
