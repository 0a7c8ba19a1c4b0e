"""The figures show the table's numbers, in its order, with or without optional columns."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib
import pandas as pd
import pytest

import shortlist as sl
from shortlist.errors import MissingDependencyError
from shortlist.plots import (
    plot_calibration,
    plot_decision_curve,
    plot_fractions,
    plot_inclusion,
    plot_intervals,
    plot_roc,
)

matplotlib.use("agg")
from matplotlib import pyplot

FRACTIONS = pd.DataFrame(
    {
        "epv": [17.91, 1.35] * 4,
        "role": ["informative", "informative", "uninformative", "uninformative"] * 2,
        "method": ["native"] * 4 + ["univariable"] * 4,
        "fraction": [0.9, 0.5, 0.01, 0.1, 0.6, 0.4, 0.1, 0.2],
        "lower": [0.8, 0.3, 0.02, 0.0, 0.5, 0.3, 0.0, 0.1],  # 0.01 is outside its interval
        "upper": [1.0, 0.7, 0.03, 0.2, 0.7, 0.5, 0.2, 0.3],
    }
)
INCLUSION = pd.DataFrame(
    {
        "predictor": ["age", "blood_$", "c<b>"] * 2,
        "method": ["native"] * 3 + ["forward"] * 3,
        "role": ["informative", "informative", "uninformative"] * 2,
        "frequency": [1.0, 0.5, 0.0, 0.9, 0.6, 0.1],
        "lower": [0.99, 0.4, 0.0, 0.8, 0.5, 0.05],
        "upper": [1.0, 0.6, 0.01, 0.95, 0.7, 0.2],
    }
)
INTERVALS = pd.DataFrame(
    {
        "label": ["EPV 0.36", "EPV 1.35"] * 2,
        "method": ["clean", "clean", "paper", "paper"],
        "estimate": [0.8, 0.9, 0.8, 0.9],
        "lower": [0.7, 0.8, 0.85, 0.92],
        "upper": [0.9, 0.95, 0.98, 1.0],
    }
)
CALIBRATION = pd.DataFrame(
    {
        "predicted": [0.1, 0.4, 0.8],
        "observed": [0.2, 0.3, 0.9],
        "lower": [0.1, 0.2, 0.7],
        "upper": [0.3, 0.5, 1.0],
    }
)
ROC = pd.DataFrame({"false_positive_rate": [0.0, 0.2, 1.0], "true_positive_rate": [0.0, 0.7, 1.0]})
DECISION = pd.DataFrame(
    {"threshold": [0.1, 0.5, 0.9], "model": [0.4, 0.3, 0.1], "everyone": [0.35, 0.0, -4.0]}
)
PLOTS: list[tuple[Callable[..., Any], pd.DataFrame]] = [
    (plot_fractions, FRACTIONS),
    (plot_inclusion, INCLUSION),
    (plot_intervals, INTERVALS),
    (plot_calibration, CALIBRATION),
    (plot_roc, ROC),
    (plot_decision_curve, DECISION),
]


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    yield
    pyplot.close("all")


@pytest.mark.parametrize(("plot", "frame"), PLOTS)
def test_draws_into_given_axes_and_leaves_the_table(
    plot: Callable[..., Any], frame: pd.DataFrame, tmp_path: Path
) -> None:
    before = frame.copy()
    figure, (left, right) = pyplot.subplots(1, 2)
    assert plot(frame, ax=right) is right
    assert not left.has_data()
    figure.savefig(tmp_path / "figure.svg")
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize(("plot", "frame"), PLOTS)
@pytest.mark.parametrize("optional", [["method"], ["lower", "upper"], ["role"]])
def test_optional_columns(
    plot: Callable[..., Any], frame: pd.DataFrame, optional: list[str]
) -> None:
    needed = {plot_fractions: "role", plot_intervals: "lower"}.get(plot)
    if needed in optional:
        with pytest.raises(sl.InvalidProblemError, match=f"frame: has no column '{needed}'"):
            plot(frame.drop(columns=optional))
    else:
        plot(frame.drop(columns=optional, errors="ignore")[: max(1, len(frame) // 2)])


@pytest.mark.parametrize(("plot", "frame"), PLOTS)
def test_nothing_to_draw(plot: Callable[..., Any], frame: pd.DataFrame) -> None:
    with pytest.raises(sl.InvalidProblemError, match="frame: has no rows"):
        plot(frame[:0])


@pytest.mark.parametrize(("plot", "frame"), PLOTS)
def test_matplotlib_is_an_extra(
    plot: Callable[..., Any], frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match=r"shortlist\[plots\]"):
        plot(frame)


def test_fractions_are_lines_in_the_order_of_epv() -> None:
    ax = plot_fractions(FRACTIONS)
    heights = [list(container[0].get_ydata()) for container in ax.containers]
    assert heights == [[0.5, 0.9], [0.4, 0.6], [0.1, 0.01], [0.2, 0.1]]
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[:2] == ["informative, native", "informative, univariable"]
    colours = [container[0].get_color() for container in ax.containers]
    assert colours[0] == colours[1] != colours[2] == colours[3]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["1.35", "17.91"]


def test_inclusion_bars() -> None:
    ax = plot_inclusion(INCLUSION)
    bars = [
        bar for container in ax.containers if hasattr(container, "patches") for bar in container
    ]
    assert [bar.get_width() for bar in bars] == INCLUSION["frequency"].tolist()
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["age", r"blood_\$", "c<b>"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first is on top
    hues = [bar.get_facecolor() for bar in bars]
    assert len(set(hues[:3])) == 3
    assert hues[:3] == hues[3:]
    assert {bar.get_hatch() for bar in bars[:3]}.isdisjoint({bar.get_hatch() for bar in bars[3:]})


def test_intervals_are_where_the_table_says() -> None:
    ax = plot_intervals(INTERVALS, xlabel="accuracy")
    assert ax.get_xlabel() == "accuracy"
    ends = [
        segment[:, 0].tolist()
        for collection in ax.collections
        for segment in collection.get_segments()
    ]
    assert ends == INTERVALS[["lower", "upper"]].to_numpy().tolist()
    points = [x for line in ax.lines for x in line.get_xdata()]
    assert points == INTERVALS["estimate"].tolist()


def test_curves_show_the_table() -> None:
    diagonal, curve = plot_roc(ROC).lines
    assert curve.get_ydata().tolist() == ROC["true_positive_rate"].tolist()
    assert diagonal.get_xydata().tolist() == [[0, 0], [1, 1]]
    (groups,) = plot_calibration(CALIBRATION).containers
    assert groups[0].get_xydata().tolist() == CALIBRATION[["predicted", "observed"]].values.tolist()
    ax = plot_decision_curve(DECISION)
    drawn = {line.get_label(): list(line.get_ydata()) for line in ax.lines}
    assert drawn["model"] == DECISION["model"].tolist()
    assert drawn["treat all"] == DECISION["everyone"].tolist()
    assert drawn["treat none"] == [0.0, 0.0]
    assert ax.get_ylim()[0] > -1  # what is hopeless does not squeeze the rest
