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
from shortlist.plots import (
    plot_calibration,
    plot_decision_curve,
    plot_effect,
    plot_forest,
    plot_inclusion,
    plot_instability,
    plot_roc,
)

matplotlib.use("agg")
from matplotlib import pyplot

INCLUSION = pd.DataFrame(
    {
        "predictor": ["age", "blood_$", "c<b>"],
        "frequency": [1.0, 0.5, 0.0],
        "lower": [0.99, 0.4, 0.01],  # 0 is outside its interval
        "upper": [1.0, 0.6, 0.02],
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
FOREST = pd.DataFrame(
    {
        "label": ["north", "south_$"],
        "estimate": [0.7, 0.8],
        "lower": [0.6, 0.7],
        "upper": [0.8, 0.9],
    }
)
PLOTS: list[tuple[Callable[..., Any], pd.DataFrame]] = [
    (plot_inclusion, INCLUSION),
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
def test_intervals_are_optional_and_other_columns_are_not(
    plot: Callable[..., Any], frame: pd.DataFrame
) -> None:
    plot(frame.drop(columns=["lower", "upper"], errors="ignore"))
    first = frame.columns[0]
    with pytest.raises(sl.InvalidProblemError, match=f"frame: has no column '{first}'"):
        plot(frame.drop(columns=first))


def test_instability_is_a_line_per_patient_and_the_diagonal() -> None:
    patients = CALIBRATION.rename(columns={"predicted": "risk"})
    ax = plot_instability(patients)
    (lines,) = ax.collections
    ends = [segment[:, 1].tolist() for segment in lines.get_segments()]  # type: ignore[attr-defined]
    assert ends == patients[["lower", "upper"]].to_numpy().tolist()
    with pytest.raises(sl.InvalidProblemError, match="frame: has no column 'lower'"):
        plot_instability(patients.drop(columns="lower"))


@pytest.mark.parametrize(("plot", "frame"), PLOTS)
def test_nothing_to_draw(plot: Callable[..., Any], frame: pd.DataFrame) -> None:
    with pytest.raises(sl.InvalidProblemError, match="frame: has no rows"):
        plot(frame[:0])


@pytest.mark.parametrize(("plot", "frame"), PLOTS)
def test_matplotlib_is_an_extra(
    plot: Callable[..., Any], frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(sl.MissingDependencyError, match=r"shortlist\[plots\]"):
        plot(frame)


def test_inclusion_bars() -> None:
    ax = plot_inclusion(INCLUSION)
    bars = [
        bar for container in ax.containers if hasattr(container, "patches") for bar in container
    ]
    assert [bar.get_width() for bar in bars] == INCLUSION["frequency"].tolist()
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["age", r"blood_\$", "c<b>"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first is on top


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


def test_forest() -> None:
    new = {"label": "new", "estimate": float("nan"), "lower": 0.5, "upper": 0.95}
    mean = {"label": "mean", "estimate": 0.75, "lower": 0.7, "upper": 0.8}
    ax = plot_forest(FOREST, summary=pd.DataFrame([mean, new]), ideal=1.0, xlabel="AUC")
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == ["north", r"south_\$", "mean", "new"]
    bars = [line.tolist() for part in ax.collections for line in part.get_segments()]
    assert [[start[0], end[0]] for start, end in bars] == [
        [0.6, 0.8], [0.7, 0.9], [0.7, 0.8], [0.5, 0.95],
    ]  # fmt: skip
    marks = [line for line in ax.lines if line.get_marker() in ("s", "D")]
    assert [line.get_xdata().tolist() for line in marks] == [[0.7, 0.8], [0.75]]
    assert plot_forest(FOREST, log=True).get_xscale() == "log"


@pytest.mark.parametrize("log", [False, True])
def test_a_long_bar_of_a_forest_ends_in_arrows_and_the_axis_has_numbers(log: bool) -> None:
    new = {"label": "new", "estimate": float("nan"), "lower": 0.001, "upper": 900.0, "tau": None}
    ax = plot_forest(FOREST, summary=pd.DataFrame([new]), ideal=1.0, log=log)
    left, right = ax.get_xlim()
    assert 0.4 < left < 0.6 and 1.0 < right < 1.2
    arrows = {line.get_marker(): list(line.get_xdata()) for line in ax.lines}
    assert arrows["<"] == [left] and arrows[">"] == [right]
    assert any(left <= tick <= right for tick in ax.get_xticks())


def test_effects_have_bands_and_a_histogram() -> None:
    frame = pd.DataFrame(
        {"value": [1, 2], "odds_ratio": [1, 2.5], "lower": [0.9, 2], "upper": [1.1, 3]}
    )
    counts = pd.DataFrame(
        {"from": [1.0, 1.5], "to": [1.5, 2.0], "events": [3, 0], "others": [1, 2]}
    )
    ax = plot_effect(frame, histogram=counts)
    assert len(ax.collections) == 1
    below = next(other for other in ax.figure.axes if other is not ax)
    assert [bar.get_height() for bar in below.patches] == [4, 2, 3, 0]
    assert len(plot_effect(frame[["value", "odds_ratio"]]).figure.axes) == 1
