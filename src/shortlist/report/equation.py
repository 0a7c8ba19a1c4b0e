"""The model in the report: what was bought, the equation, an example, odds ratios."""

from __future__ import annotations

from math import exp
from typing import Any

import pandas as pd

from ..patients import ModelCard
from ..patients.term import BooleanTerm, NumericTerm, Term


def describe_purchase(card: ModelCard) -> dict[str, Any]:
    """Return what was bought and what was not, with prices."""
    names = {term.name for term in card.terms}

    def predictors(bought: bool) -> list[dict[str, Any]]:
        return [
            {"predictor": item.name, "kind": item.kind, "cost": item.cost}
            for item in card.candidates
            if item.bought == bought
        ]

    return {
        "bought": predictors(True),
        "not_bought": predictors(False),
        "fees": [
            {"amount": fee.amount, "members": [name for name in fee.members if name in names]}
            for fee in card.limits.fees
            if names.intersection(fee.members)
        ],
        "not_bought_fees": [
            {"amount": fee.amount, "members": list(fee.members)}
            for fee in card.limits.fees
            if not names.intersection(fee.members)
        ],
        "n_bought": len(card.terms),
        "n_candidates": len(card.candidates),
        "cost": card.cost,
        "budget": card.limits.budget,
        "max_features": card.limits.max_features,
        "include": list(card.limits.include),
    }


def describe_equation(card: ModelCard) -> dict[str, Any]:
    """Return the intercept and everything that is added to it."""
    return {
        "intercept": card.intercept,
        "parts": [part for term in card.terms for part in _parts(term)],
        "splines": [
            {"predictor": term.name, "knots": list(term.knots)}
            for term in card.terms
            if isinstance(term, NumericTerm) and term.knots
        ],
    }


def describe_example(card: ModelCard) -> dict[str, Any]:
    """Return the worked example: a made-up patient, typical in every predictor.

    It has the median of every number and the most frequent value of everything else, so that the
    report shows no real patient.
    """
    values = {term.name: term.typical for term in card.terms}
    patient = pd.DataFrame({name: [value] for name, value in values.items()}, index=[0])
    added = card.contributions(patient)
    log_odds = float(card.log_odds(patient)[0])
    return {
        "terms": [
            {"predictor": name, "value": value, "adds": float(added[name].iloc[0])}
            for name, value in values.items()
        ],
        "intercept": card.intercept,
        "log_odds": log_odds,
        "probability": float(card.probability(patient)[0]),
        "odds": exp(log_odds) if log_odds < 700 else None,
    }


def _parts(term: Term) -> list[dict[str, Any]]:
    """Return what a term adds to the log-odds, and when."""
    parts: list[tuple[float, str, str | None]]
    if isinstance(term, NumericTerm):
        parts = [(term.coefficients[0], "times", None)]
        parts += [(c, "curve", str(j)) for j, c in enumerate(term.coefficients[1:], start=1)]
    elif isinstance(term, BooleanTerm):
        parts = [(term.coefficient, "is", "1")]
    else:
        parts = [
            (term.coefficients[level], "reference" if level == term.reference else "is", level)
            for level in term.levels
        ]
    if term.missing_coefficient is not None:
        parts.append((term.missing_coefficient, "missing", None))
    return [
        {"predictor": term.name, "coefficient": coefficient, "what": what, "level": level}
        for coefficient, what, level in parts
    ]
