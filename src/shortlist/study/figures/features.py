"""The appendix: how often each feature is selected, by run and method, for one data set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from ...plots import plot_profile
from ...plots.style import new_figure
from ..plan import METHODS
from ..saved import METHOD_NAMES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_RUN = {"cardinality": "{} informative", "budget": "draw {}"}


def draw_features(features: pd.DataFrame, study: str) -> Figure:
    """Draw a data set of one study: a panel per run, optimal upwards and greedy downwards.

    Informative features have hues of their own, the redundant one is hatched, and the others are
    grey. In the budget study the costs of all stand below them.
    """
    features = features[features["method"].isin(METHODS)]
    runs = sorted(features["run"].unique())
    figure = new_figure(7.2, 0.6 + 1.5 * len(runs))
    panels = figure.subplots(len(runs), 1, squeeze=False)[:, 0]
    for ax, run in zip(panels, runs, strict=True):
        part = features[features["run"] == run]
        part = part.assign(
            predictor=part["feature"],
            method=part["method"].map(METHOD_NAMES),
            label=_labels(part, study),
        )
        plot_profile(part, ax=ax)
        ax.tick_params(axis="x", length=0, labelsize=6)
        ax.set_ylabel(f"{_RUN[study].format(run)}\nfrequency")
    first = features.iloc[0]
    figure.suptitle(
        f"{study}: {first['n_samples']} rows, {first['n_features']} features, "
        f"EPV {first['epv']:.2f}, label noise {first['label_noise']:.0%}",
        fontsize=9,
    )
    figure.supxlabel(
        "features: informative (numbered), redundant (r), uninformative"
        + ("; below, their cost" if study == "budget" else ""),
        fontsize=8,
    )
    return figure


def _labels(part: pd.DataFrame, study: str) -> list[str]:
    informative = part["role"] == "informative"
    numbers = informative.groupby(part["method"]).cumsum()
    names = numbers.astype(str).where(informative, "r").where(part["role"] != "uninformative", "")
    if study == "budget":
        names += "\n" + part["cost"].astype(str)
    return names.tolist()
