"""What the intervals depend on: the protocol, the draw of the data, the split of the recordings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from ...plots import plot_intervals, plot_spread
from ...plots.style import GREY, new_figure
from ..paper import LITTLE, PARKINSON
from ..saved import matched_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_AUC = {"auc": "estimate", "matched_lower": "lower", "matched_upper": "upper"}


def draw_protocols(summary: pd.DataFrame) -> Figure | None:
    """Draw the AUC of the optimal selection, means over runs, as many resamples for either."""
    rows = matched_rows(summary)
    if rows.empty:
        return None
    keys = ["study", "epv", "label_noise", "protocol"]
    means = rows.groupby(keys)[list(_AUC)].mean().reset_index().rename(columns=_AUC)
    means["label"] = [
        f"EPV {epv:.2f}, noise {noise:.0%}"
        for epv, noise in zip(means["epv"], means["label_noise"], strict=True)
    ]
    means["method"] = means["protocol"].map(
        {"paper": "paper: copies on both sides", "clean": "clean: copies together"}
    )
    means = means.sort_values(["epv", "label_noise", "protocol"], ascending=[True, True, False])
    studies = [name for name in ("cardinality", "budget") if name in set(means["study"])]
    figure = new_figure(7.2, 0.9 + 0.3 * means["label"].nunique())
    panels = figure.subplots(1, len(studies), sharey=True, sharex=True, squeeze=False)[0]
    for ax, study in zip(panels, studies, strict=True):
        plot_intervals(means[means["study"] == study], xlabel="mean test AUC", ax=ax)
        ax.set_title(study, loc="left", fontsize=9)
        handles, names = ax.get_legend_handles_labels()
        ax.get_legend().remove()
    figure.legend(handles, names, loc="outside upper center", ncols=2, frameon=False)
    return figure


def draw_seeds(comparison: pd.DataFrame) -> Figure | None:
    """Draw where the paper's numbers lie in the spread over draws of the data."""
    rows = comparison[(comparison["kind"] == "value") & (comparison["n_draws"] > 1)]
    if rows.empty:
        return None
    short = rows["place"] + "  " + rows["meaning"].replace(_SHORTER, regex=True)
    frame = rows.assign(
        label=short,
        reference=rows["paper_value"],
        reference_low=rows["paper_low"],
        reference_high=rows["paper_high"],
    )
    figure = new_figure(7.2, 0.8 + 0.19 * len(frame))
    plot_spread(frame, xlabel="AUC or fraction", reference="paper", ax=figure.subplots())
    return figure


_SHORTER = {
    " selection, ": ", ",
    "mean test AUC of all data sets and runs": "AUC",
    "of its 95 % interval": "of interval",
    "fraction of ": "",
    " features selected": "",
    "no label noise": "no noise",
    "label noise": "noise",
}


def draw_parkinson(variants: pd.DataFrame | None) -> Figure | None:
    """Draw the accuracy of each variant, that of the paper and that of Little et al."""
    if variants is None:
        return None
    columns = ["accuracy", "accuracy_lower", "accuracy_upper"]
    frame = variants[["variant", *columns]].set_axis(
        ["label", "estimate", "lower", "upper"], axis=1
    )
    known = pd.DataFrame(
        [("paper", *PARKINSON.accuracy), ("Little et al. 2008", *LITTLE.accuracy)],
        columns=frame.columns,
    )
    figure = new_figure(5.5, 0.7 + 0.25 * (len(frame) + len(known)))
    ax = plot_intervals(
        pd.concat([known, frame], ignore_index=True),
        xlabel="mean test accuracy",
        ax=figure.subplots(),
    )
    ax.axhline(len(known) - 0.5, color=GREY, linewidth=0.6)
    return figure
