"""The report as one HTML page with its figures, from its content alone."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from math import ceil, floor, log10
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from ..errors import import_extra
from ..evaluation.metric import METRICS
from ..page import render
from ..plots import (
    plot_calibration,
    plot_decision_curve,
    plot_effect,
    plot_forest,
    plot_inclusion,
    plot_instability,
    plot_roc,
    plot_staircase,
)
from ..plots.style import new_figure, plain
from .content import (
    Centres,
    Curves,
    ExternalContent,
    InclusionRow,
    ReportContent,
    SplineRow,
    Staircase,
    labelled,
)

_MINUS = "\N{MINUS SIGN}"
_LONGEST_NAME = 32
_ENDS = ("estimate", "lower", "upper")
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


def require_packages() -> None:
    """Raise if a package that only reports need is not installed."""
    for package in ("jinja2", "matplotlib"):
        import_extra(package, "report")


def render_report(content: ReportContent | ExternalContent | Mapping[str, Any]) -> str:
    """Return the page; the same content gives the same page.

    Parameters
    ----------
    content : ReportContent, ExternalContent or mapping
        From `describe_model` or `describe_external`, or read from the JSON beside a report.

    Returns
    -------
    str
        HTML that refers to nothing outside itself and runs nothing.
    """
    require_packages()
    if isinstance(content, Mapping):
        is_external = content["format"] == "shortlist external validation"
        content = (ExternalContent if is_external else ReportContent).model_validate(content)
    content = labelled(content)
    if isinstance(content, ExternalContent):
        template, prevalence = "external.html", content.prevalence
    else:
        template, prevalence = "page.html", content.sample_size.prevalence
    return render(
        Path(__file__).with_name(template),
        filters=_FILTERS | {"small": partial(_decimals, digits=_places(prevalence))},
        metrics=METRICS,
        figures=draw_figures(content),
        **dict(content),
    )


def _number(value: float | None, digits: int = 4) -> str:
    """Return a number to some significant digits."""
    if value is None:
        return "\N{EN DASH}"
    return f"{value:.{digits}g}".replace("-", _MINUS)


def _price(value: float) -> str:
    """Return a price as it was given, whole ones without decimals."""
    return f"{value:.10g}"


def _decimals(value: float | None, digits: int = 3) -> str:
    """Return a number with some decimals; 0 has no sign."""
    if value is None:
        return "\N{EN DASH}"
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.removeprefix("-")
    return text.replace("-", _MINUS)


def _to_error(value: float | None, error: float | None) -> str:
    """Return a number to the first digit of its Monte-Carlo error: one to four decimals."""
    if not error:
        return _decimals(value)
    return _decimals(value, min(4, max(1, -floor(log10(error)))))


def _tests(value: float | None) -> str:
    """Return how many patients must be measured for one more true positive; None is never."""
    return "never" if value is None else f"{ceil(value)}"


def _places(prevalence: float) -> int:
    """Return the decimals of all measures of a page: three, and more where events are rare.

    Brier score and net benefit are at most about as large as the share of the event.
    """
    return max(3, 1 - floor(log10(max(1e-9, min(prevalence, 1 - prevalence)))))


def _p_value(value: float | None) -> str:
    """Return a p value with three decimals, or that it is below them."""
    return "< 0.001" if value is not None and value < 0.001 else _decimals(value)


def _percent(value: float | None, digits: int = 1) -> str:
    return "\N{EN DASH}" if value is None else f"{_decimals(100 * value, digits)}%"


def _risk(value: float | None) -> str:
    """Return a share in percent: a decimal, and more of them if it is small."""
    if value is None:
        return "\N{EN DASH}"
    if value == 0 or value >= 0.1:
        return f"{100 * value:.1f}%".replace(".0%", "%")
    return f"{100 * value:.2g}%"


def _ratio(value: float | None) -> str:
    """Return an odds ratio with two decimals; none is so large that its digits matter."""
    if value is None or value > 1e6:
        return "over a million"
    if value < 1e-6:
        return "under a millionth"
    return _decimals(value, 2) if value >= 0.1 else _number(value, 2)


def _signed(value: float, digits: int = 4) -> str:
    """Return a number with its sign apart, as a summand of an equation."""
    return f"{_MINUS if value < 0 else '+'} {abs(value):.{digits}g}"


_FILTERS: dict[str, Callable[..., str]] = {
    "number": _number,
    "decimals": _decimals,
    "to_error": _to_error,
    "tests": _tests,
    "p_value": _p_value,
    "percent": _percent,
    "risk": _risk,
    "ratio": _ratio,
    "signed": _signed,
    "price": _price,
}


class Drawing(NamedTuple):
    """A figure as an SVG element: the attributes of its start tag, and its content."""

    width: float  # in pixels
    attributes: str
    inside: str


@contextmanager
def _style_of_page() -> Iterator[None]:
    """Draw in the colours of the page; also a decorator."""
    from matplotlib import rc_context

    with rc_context(_STYLE), warnings.catch_warnings(action="ignore"):
        # Of characters that the font lacks: the browser has them
        yield


@_style_of_page()
def draw_figures(content: ReportContent | ExternalContent) -> dict[str, Drawing]:
    """Return the figures that the content has data for, by name."""
    return {name: _draw(name, figure) for name, figure in make_figures(content).items()}


def make_figures(content: ReportContent | ExternalContent) -> dict[str, Any]:
    """Return the figures that the content has data for, by name, as matplotlib has them."""
    if isinstance(content, ExternalContent):
        return _make_curves(content.curves) | _make_forest(content.centres)
    labels = _short_labels([item.name for item in content.model.candidates])
    figures = {"staircase": _make_staircase(content.staircase, labels)}
    if content.splines:
        figures["splines"] = _make_splines(content.splines, labels)
    if content.performance.curves is not None:
        figures |= _make_curves(content.performance.curves)
    figures |= _make_forest(content.centres)
    if content.stability is not None:
        figures["inclusion"] = _make_inclusion(content.stability.inclusion, labels)
    risks = content.individual_risks
    if risks is not None and risks.patients[0]["lower"] is not None:
        figures["instability"] = plot_instability(pd.DataFrame(risks.patients)).figure
    return figures


def _make_curves(curves: Curves) -> dict[str, Any]:
    smooth, histogram = pd.DataFrame(curves.smooth), pd.DataFrame(curves.histogram)
    axes = {
        "calibration": plot_calibration(
            pd.DataFrame(curves.calibration), curve=smooth, histogram=histogram
        ),
        "roc": plot_roc(pd.DataFrame(curves.roc)),
        "decision": plot_decision_curve(pd.DataFrame(curves.decision_curve)),
    }
    return {name: ax.figure for name, ax in axes.items()}


def _make_staircase(staircase: Staircase, labels: dict[str, str]) -> Any:
    steps = pd.DataFrame(staircase.steps)
    steps["predictors"] = [[labels[name] for name in names] for names in steps["predictors"]]
    figure = plot_staircase(
        steps,
        xlabel="budget" if staircase.limit_name == "budget" else "number of predictors",
        highest=staircase.highest_limit or steps["limit"].iloc[-1],
    )
    figure.axes[0].set_title("", loc="left")  # the page has one
    figure.axes[0].set_ylabel("penalised loss")
    if staircase.own_limit is not None:
        for ax in figure.axes:
            ax.axvline(staircase.own_limit, color="#d55e00", linewidth=1, linestyle="--")
    return figure


def _make_splines(curves: list[SplineRow], labels: dict[str, str]) -> Any:
    n_rows = -(-len(curves) // 2)
    figure = new_figure(5.6, 2.2 * n_rows)
    axes = figure.subplots(n_rows, 2, squeeze=False).ravel()
    for ax, curve in zip(axes, curves, strict=False):
        points = pd.DataFrame(curve["points"]).astype(float)
        name = plain([labels[curve["predictor"]]])[0]
        plot_effect(points, xlabel=name, histogram=pd.DataFrame(curve["histogram"]), ax=ax)
    for ax in axes[len(curves) :]:
        ax.set_visible(False)
    return figure


def _make_forest(centres: Centres | None) -> dict[str, Any]:
    """Return the forest plot of centres, a panel per measure; nothing without centres."""
    if centres is None:
        return {}
    rows = [row for row in centres.rows if not row["reason"]]
    labels = _short_labels([row["centre"] for row in rows])
    figure = new_figure(6.0, 1.3 + 0.3 * (len(rows) + 2))
    for number, pooled in enumerate(centres.pooled):
        measures = [{"label": labels[row["centre"]], **row["measures"][number]} for row in rows]
        new = {"lower": pooled["prediction_lower"], "upper": pooled["prediction_upper"]}
        summary = [pooled | {"label": "mean"}, new | {"label": "new centre", "estimate": None}]
        is_auc = pooled["metric"] == "auc"
        ax = plot_forest(
            pd.DataFrame(measures).astype(dict.fromkeys(_ENDS, float)),
            summary=pd.DataFrame(summary).astype(dict.fromkeys(_ENDS, float)),
            ideal=None if is_auc else 1.0,
            log=pooled["metric"] == "observed_expected",
            xlabel=METRICS[pooled["metric"]],
            ax=figure.add_subplot(1, len(centres.pooled), number + 1),
        )
        if number:
            ax.tick_params(labelleft=False)
    return {"forest": figure}


def _make_inclusion(data: list[InclusionRow], labels: dict[str, str]) -> Any:
    frame = pd.DataFrame(data)
    frame["predictor"] = [labels[name] for name in frame["predictor"]]
    figure = new_figure(6.4, 0.9 + 0.26 * len(frame))
    plot_inclusion(frame, ax=figure.subplots())
    return figure


def _draw(name: str, figure: Any) -> Drawing:
    """Return a figure as SVG in the page's colours, and close it."""
    from matplotlib import pyplot

    buffer = io.StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    figure.savefig(buffer, format="svg", transparent=True, metadata=nothing)
    pyplot.close(figure)
    svg = buffer.getvalue().partition("<svg")[2]
    # Names of parts must not collide with names in the other figures of the page.
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    for colour, variable in _COLOURS.items():
        svg = svg.replace(colour, variable)
    attributes, _, inside = svg.partition(">")
    attributes = re.sub(r'\s(width|height)="[^"]*"', "", attributes).strip()
    return Drawing(96 * figure.get_figwidth(), attributes, inside.strip())


def _short_labels(names: list[str]) -> dict[str, str]:
    """Return a label per name, long ones shortened; no two labels are equal."""
    short = [
        name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…" for name in names
    ]
    return {
        name: label if short.count(label) == 1 else f"{label} ({number})"
        for number, (name, label) in enumerate(zip(names, short, strict=True), start=1)
    }
