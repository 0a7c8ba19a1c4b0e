"""The report as one HTML page, from its content alone."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import MissingDependencyError
from .figures import draw_figures

_FOLDER = Path(__file__).parent
_MINUS = "\N{MINUS SIGN}"
METRICS = {
    "auc": "AUC",
    "accuracy": "Accuracy at 50%",
    "brier": "Brier score",
    "log_loss": "Log loss",
    "calibration_intercept": "Calibration intercept",
    "calibration_slope": "Calibration slope",
}


def require_packages() -> None:
    """Raise if a package that only reports need is not installed."""
    for package in ("jinja2", "matplotlib"):
        try:
            import_module(package)
        except ImportError:
            raise MissingDependencyError(
                f"report: the package {package} is not installed; pip install 'shortlist[report]'."
            ) from None


def render_report(content: Mapping[str, Any]) -> str:
    """Return the page; the same content gives the same page.

    Parameters
    ----------
    content : mapping
        From `describe_model`, or read from the JSON beside a report.

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
        number=_number, decimals=_decimals, percent=_percent, signed=_signed, price=_price
    )
    page: str = environment.get_template("page.html").render(
        content,
        metrics=METRICS,
        css=Markup((_FOLDER / "page.css").read_text(encoding="utf-8")),
        figures={name: Markup(svg) for name, svg in draw_figures(content).items()},
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
    """Return a number with some decimals."""
    return "\N{EN DASH}" if value is None else f"{value:.{digits}f}".replace("-", _MINUS)


def _percent(value: float | None, digits: int = 1) -> str:
    return "\N{EN DASH}" if value is None else f"{value:.{digits}%}".replace("-", _MINUS)


def _signed(value: float, digits: int = 4) -> str:
    """Return a number with its sign apart, as a summand of an equation."""
    return f"{_MINUS if value < 0 else '+'} {abs(value):.{digits}g}"
