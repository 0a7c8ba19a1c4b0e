"""Discrimination and calibration of the model, and its prediction for one patient."""

from __future__ import annotations

from typing import Any

import pandas as pd
from scipy.special import expit

from ..report.curves import calibration_groups, roc_points
from .fitted import Fitted
from .prepared import PreparedPatients


def describe_performance(prepared: PreparedPatients, fitted: Fitted) -> dict[str, Any]:
    """Return the ROC curve and the calibration on the patients that the model was fitted to."""
    log_odds = fitted.log_odds
    return {
        "auc": prepared.auc(log_odds),
        "roc": roc_points(prepared.events, log_odds),
        "calibration": calibration_groups(prepared.events, expit(log_odds)),
    }


def describe_patient(
    prepared: PreparedPatients, fitted: Fitted, values: dict[str, Any]
) -> dict[str, Any]:
    """Return one patient's risk, and what each predictor adds relative to the average patient.

    A patient of whom nothing is known that the model asks for has no risk of his own: None.
    """
    card = fitted.card
    names = [term.name for term in card.terms]
    row = pd.DataFrame({name: [values.get(name)] for name in names}, index=[0], dtype=object)
    own = card.contributions(row)
    average = card.contributions(prepared.plain.frame).mean()
    missing, outside = card.imputed(row), card.outside(row)
    base = card.intercept + float(average.sum())
    parts = [
        {
            "name": name,
            "contribution": float(own[name].iloc[0] - average[name]),
            "missing": bool(missing[name].iloc[0]),
            "outside": bool(outside[name].iloc[0]),
        }
        for name in names
    ]
    log_odds = base + float(own.iloc[0].sum() - average.sum())
    unknown = bool(names) and bool(missing.iloc[0].all())
    return {
        "risk": None if unknown else float(expit(log_odds)),
        "average": float(expit(base)),
        "parts": parts,
    }
