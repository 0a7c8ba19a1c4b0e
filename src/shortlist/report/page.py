"""The report as one HTML page, from its content alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import import_extra
from ..evaluation.metric import METRICS
from .figures import draw_curves, draw_figures

_FOLDER = Path(__file__).parent
_MINUS = "\N{MINUS SIGN}"


def require_packages() -> None:
    """Raise if a package that only reports need is not installed."""
    for package in ("jinja2", "matplotlib"):
        import_extra(package, "report")


def render_report(content: Mapping[str, Any]) -> str:
    """Return the page; the same content gives the same page.

    Parameters
    ----------
    content : mapping
        From `describe_model` or `describe_external`, or read from the JSON beside a report.

    Returns
    -------
    str
        HTML that refers to nothing outside itself and runs nothing.
    """
    require_packages()
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=_number,
        decimals=_decimals,
        small=_small,
        percent=_percent,
        risk=_risk,
        ratio=_ratio,
        signed=_signed,
        price=_price,
    )
    is_external = content["format"] == "shortlist external validation"
    figures = draw_curves(content["curves"]) if is_external else draw_figures(content)
    template = "external.html" if is_external else "page.html"
    page: str = environment.get_template(template).render(
        content,
        metrics=METRICS,
        css=Markup((_FOLDER / "page.css").read_text(encoding="utf-8")),
        figures=figures,
    )
    return page


def _number(value: float | None, digits: int = 4) -> str:
    """Return a number to some significant digits."""
    if value is None:
        return "\N{EN DASH}"
    return f"{value:.{digits}g}".replace("-", _MINUS)


def _price(value: float) -> str:
    """Return a price as it was given, whole ones without decimals."""
    return f"{value:.10g}"


def _decimals(value: float | None, digits: int = 3) -> str:
    """Return a number with some decimals; what rounds to 0 has no sign."""
    if value is None:
        return "\N{EN DASH}"
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.removeprefix("-")
    return text.replace("-", _MINUS)


def _small(value: float | None) -> str:
    """Return a number with three decimals, or with two digits if it is small."""
    if value is None or abs(value) >= 0.01 or abs(value) < 5e-7:
        return _decimals(value)
    return f"{value:.2g}".replace("-", _MINUS)


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
    """Return an odds ratio; none is so large that its digits matter."""
    if value is None or value > 1e6:
        return "over a million"
    return "under a millionth" if value < 1e-6 else _number(value, 3)


def _signed(value: float, digits: int = 4) -> str:
    """Return a number with its sign apart, as a summand of an equation."""
    return f"{_MINUS if value < 0 else '+'} {abs(value):.{digits}g}"
