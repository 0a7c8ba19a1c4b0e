"""The calculator: one page for the bedside that computes the risk of a patient, offline."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..errors import InvalidProblemError, ShortlistWarning, shown
from ..files import write_whole
from ..page import render
from ..patients import ModelCard
from ..patients.term import NumericTerm, Part, Term
from .code import as_json, describe, event_of, plain_form

_MINUS = "\N{MINUS SIGN}"


def write_calculator(
    path: str | Path,
    card: ModelCard,
    patients: pd.DataFrame | None = None,
    units: Mapping[str, str] | None = None,
) -> None:
    """Write the calculator of a model: one HTML file that needs no server and no network.

    Parameters
    ----------
    path : str or Path
        The file.
    card : ModelCard
        The model.
    patients : DataFrame, optional
        The development patients, among whose risks a patient's is placed. The page keeps
        percentiles of the risks only.
    units : mapping from predictor to text, optional
        Units beside the fields, such as `{"age": "years"}`, instead of those in the codebook of the
        card; also of candidates not bought.

    Examples
    --------
    >>> import pandas as pd, shortlist as sl
    >>> patients = pd.DataFrame({"age": [40, 50, 60, 70], "smoker": [True, False, True, True]})
    >>> model = sl.PrognosticModel(max_features=1, ridge=0.1).fit(patients, [0, 0, 1, 1])
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "calculator.html"
    >>> sl.deployment.write_calculator(file, model.card_, patients, units={"age": "years"})
    >>> "Content-Security-Policy" in file.read_text()
    True
    """
    write_whole(Path(path), calculator_page(card, patients, units))


def calculator_page(
    card: ModelCard,
    patients: pd.DataFrame | None = None,
    units: Mapping[str, str] | None = None,
) -> str:
    """Return the page; the parameters are as in `write_calculator`."""
    units = dict(units or {})
    unknown = [name for name in units if name not in card.costs]
    if unknown:
        raise InvalidProblemError(f"units: the model knows no predictor {shown(unknown[0])}.")
    units = card.codebook.units | units
    data = plain_form(card) | {
        "costs": [(name, card.costs[name]) for name in card.bought],
        "fees": [(fee.amount, fee.members) for fee in card.paid_fees],
        "cost": card.cost,
        "event_share": card.data.events / card.data.rows,
        "percentiles": None if patients is None else _percentiles(card, patients),
        "labels": [(name, card.codebook.label(name)) for name in card.bought],
    }
    return render(
        Path(__file__).with_name("calculator.html"),
        scripts=["predict.js", "calculator.js"],
        filters={"number": number},
        data=as_json(data),
        terms=[
            _field(term, units.get(term["name"])) | {"label": card.codebook.label(term["name"])}
            for term in data["terms"]
        ],
        card=card,
        event=event_of(card),
        about=describe(card),
        equation=_equation(card),
        stand_ins=_stand_ins(card),
        has_costs=card.limits.budget is not None,
    )


def number(value: float, digits: int = 4) -> str:
    """Return a number to some significant digits, whole ones of up to nine digits as they are."""
    text = f"{value:.0f}" if value == round(value) and abs(value) < 1e9 else f"{value:.{digits}g}"
    return text.replace("-", _MINUS)


def _percentiles(card: ModelCard, patients: pd.DataFrame) -> list[float]:
    with warnings.catch_warnings(action="ignore", category=ShortlistWarning):
        risks = card.probability(patients)
    if len(risks) < 2:
        raise InvalidProblemError("patients: must have at least two rows.")
    percentiles: list[float] = np.quantile(risks, np.linspace(0, 1, 101)).round(6).tolist()
    return percentiles


def _field(term: dict[str, Any], unit: str | None) -> dict[str, Any]:
    """Return what the page shows of a predictor."""
    if term["kind"] == "numeric":
        low, high = term["range"]
        hint = f"{number(low)} to {number(high)}"
        filled = number(term["fill"])
    elif term["kind"] == "boolean":
        hint, filled = "", "yes" if term["fill"] else "no"
    else:
        hint, filled = "", term["reference"]
    if term["imputation"] is not None:
        filled = "a value imputed from the others"
    return {"name": term["name"], "kind": term["kind"], "unit": unit, "hint": hint} | {
        "filled": filled,
        "levels": [level for level, _ in term.get("levels", [])],
    }


def _equation(card: ModelCard) -> list[tuple[str, str]]:
    """Return the summands of the log-odds and what multiplies each."""
    parts = [
        _summand(part.coefficient, _multiplied(card.codebook.label(term.name), term, part))
        for term in card.terms
        for part in term.parts()
        if part.what != "reference" and (part.what != "missing" or part.coefficient)
    ]
    return [_summand(card.intercept, ""), *parts]


def _multiplied(label: str, term: Term, part: Part) -> str:
    """Return what the coefficient of a part multiplies."""
    if part.what == "curve" and isinstance(term, NumericTerm):
        knots = ", ".join(map(number, term.knots))
        return f"curve {part.level} of {label} (natural cubic spline, knots {knots})"
    if part.what == "missing":
        return f"{label} not measured"
    if part.what == "is":
        return f"{label} is {'yes' if term.kind == 'boolean' else part.level}"
    return label


def _summand(coefficient: float, text: str) -> tuple[str, str]:
    return f"{_MINUS if coefficient < 0 else '+'} {abs(coefficient):.6g}", text


def _stand_ins(card: ModelCard) -> list[tuple[str, tuple[float, float], list[tuple[str, str]]]]:
    """Return predictors that have an equation if not measured, its range and its summands."""
    label = card.codebook.label
    return [
        (
            label(term.name),
            term.imputation.range,
            [_summand(term.imputation.intercept, "")]
            + [
                _summand(
                    w.weight, label(w.predictor) + ("" if w.level is None else f" is {w.level}")
                )
                for w in term.imputation.weights
            ],
        )
        for term in card.terms
        if term.imputation is not None
    ]
