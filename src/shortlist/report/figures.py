"""The figures of the report as SVG that goes into the page itself."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import pandas as pd

from ..plots import (
    plot_calibration,
    plot_decision_curve,
    plot_effect,
    plot_inclusion,
    plot_roc,
    plot_staircase,
)
from ..plots.style import new_figure, plain

_LONGEST_NAME = 32
_NARROWEST = 0.7  # how far, relatively, a figure shrinks before a phone has to scroll it
_PHONE = 350.0  # pixels for a figure
# The page's own colours, so that figures follow light and dark.
_INK, _RULE = "#010203", "#dddddd"
_COLOURS = {
    _INK: "currentColor",
    "#000000": "currentColor",
    _RULE: "var(--rule)",
    "#0072b2": "var(--blue)",
    "#d55e00": "var(--red)",
    "#8c8c8c": "var(--grey)",
}
_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "shortlist",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _INK,
    "axes.linewidth": 0.6,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "patch.edgecolor": "none",
}


class Drawing(NamedTuple):
    """A figure as an SVG element: attributes of its start tag, and what is inside it."""

    width: float  # in pixels
    narrowest: float
    is_wide: bool
    attributes: str
    inside: str


@contextmanager
def _style_of_page() -> Iterator[None]:
    """Draw in the colours of the page; also a decorator."""
    from matplotlib import rc_context

    with rc_context(_STYLE), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of characters that the font lacks: the browser has them
        yield


@_style_of_page()
def draw_figures(content: Mapping[str, Any]) -> dict[str, Drawing]:
    """Return the figures that the content has data for, by name."""
    labels = _short_labels([item["name"] for item in content["model"]["candidates"]])
    figures = {"staircase": _draw_staircase(content["staircase"], labels)}
    if content["splines"]:
        figures["splines"] = _draw_splines(content["splines"], labels)
    if content["performance"]["curves"] is not None:
        figures |= draw_curves(content["performance"]["curves"])
    if content["stability"] is not None:
        figures["inclusion"] = _draw_inclusion(content["stability"]["inclusion"], labels)
    return figures


@_style_of_page()
def draw_curves(curves: Mapping[str, Any]) -> dict[str, Drawing]:
    """Return the figures of predictions for patients whom the model has not seen."""
    frames = {
        name: pd.DataFrame(curves[name])
        for name in ("calibration", "smooth", "histogram", "roc", "decision_curve")
    }
    axes = {
        "calibration": plot_calibration(
            frames["calibration"], curve=frames["smooth"], histogram=frames["histogram"]
        ),
        "roc": plot_roc(frames["roc"]),
        "decision": plot_decision_curve(frames["decision_curve"]),
    }
    return {name: _draw(name, ax.figure) for name, ax in axes.items()}


def _draw_staircase(data: Mapping[str, Any], labels: dict[str, str]) -> Drawing:
    steps = pd.DataFrame(data["steps"])
    steps["predictors"] = [[labels[name] for name in names] for names in steps["predictors"]]
    figure = plot_staircase(
        steps,
        xlabel="budget" if data["limit_name"] == "budget" else "number of predictors",
        highest=data["highest_limit"] or steps["limit"].iloc[-1],
    )
    figure.axes[0].set_title("", loc="left")  # the page has one
    figure.axes[0].set_ylabel("penalised loss")
    if data["own_limit"] is not None:
        for ax in figure.axes:
            ax.axvline(data["own_limit"], color="#d55e00", linewidth=1, linestyle="--")
    return _draw("staircase", figure)


def _draw_splines(curves: list[dict[str, Any]], labels: dict[str, str]) -> Drawing:
    n_rows = -(-len(curves) // 2)
    figure = new_figure(6.6, 2.5 * n_rows)
    axes = figure.subplots(n_rows, 2, squeeze=False).ravel()
    for ax, curve in zip(axes, curves, strict=False):
        points = pd.DataFrame(curve["points"])
        plot_effect(points, xlabel=plain([labels[curve["predictor"]]])[0], ax=ax)
    for ax in axes[len(curves) :]:
        ax.set_visible(False)
    return _draw("splines", figure)


def _draw_inclusion(data: list[dict[str, Any]], labels: dict[str, str]) -> Drawing:
    frame = pd.DataFrame(data)
    frame["predictor"] = [labels[name] for name in frame["predictor"]]
    figure = new_figure(6.4, 0.9 + 0.26 * len(frame))
    plot_inclusion(frame, ax=figure.subplots())
    return _draw("inclusion", figure)


def _draw(name: str, figure: Any) -> Drawing:
    """Return a figure as SVG in the page's colours, and close it."""
    from matplotlib import pyplot

    buffer = io.StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    figure.savefig(buffer, format="svg", transparent=True, metadata=nothing)
    pyplot.close(figure)
    svg = buffer.getvalue().partition("<svg")[2]
    # Names of parts must not collide with those of the other figures of the page.
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    for colour, variable in _COLOURS.items():
        svg = svg.replace(colour, variable)
    attributes, _, inside = svg.partition(">")
    attributes = re.sub(r'\s(width|height)="[^"]*"', "", attributes).strip()
    width = 96 * figure.get_figwidth()
    narrowest = _NARROWEST * width
    return Drawing(width, narrowest, narrowest > _PHONE, attributes, inside.strip())


def _short_labels(names: list[str]) -> dict[str, str]:
    """Return a label per name, long ones shortened; no two labels are equal."""
    short = [
        name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…" for name in names
    ]
    return {
        name: label if short.count(label) == 1 else f"{label} ({number})"
        for number, (name, label) in enumerate(zip(names, short, strict=True), start=1)
    }
