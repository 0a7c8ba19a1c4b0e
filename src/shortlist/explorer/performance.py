"""How well the model tells patients apart, and what it says about one of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.metrics import roc_curve

from ..evaluation import share_interval
from .cohort import Cohort
from .fitted import Fitted

_N_BINS = 10
_N_ROC_POINTS = 200


def describe_performance(cohort: Cohort, fitted: Fitted) -> dict[str, Any]:
    """Return the ROC curve and the calibration on the patients that the model was fitted to."""
    y = cohort.events
    log_odds = fitted.log_odds
    false_rate, true_rate, _ = roc_curve(y, log_odds)
    kept = np.unique(np.linspace(0, len(false_rate) - 1, _N_ROC_POINTS).astype(np.int64))
    probability = expit(log_odds)
    bins = []
    for rows in np.array_split(np.argsort(probability, kind="stable"), _N_BINS):
        if len(rows) == 0:
            continue
        lower, upper = share_interval(int(y[rows].sum()), len(rows))
        bins.append(
            {
                "predicted": float(probability[rows].mean()),
                "observed": float(y[rows].mean()),
                "lower": lower,
                "upper": upper,
                "rows": len(rows),
            }
        )
    return {
        "auc": cohort.auc(log_odds),
        "roc": [[float(false_rate[i]), float(true_rate[i])] for i in kept],
        "bins": bins,
    }


def describe_patient(cohort: Cohort, fitted: Fitted, values: dict[str, Any]) -> dict[str, Any]:
    """Return one patient's risk, and what each predictor adds relative to the average patient.

    A patient of whom nothing is known that the model asks for has no risk of his own: None.
    """
    card = fitted.card
    names = [term.name for term in card.terms]
    row = pd.DataFrame({name: [values.get(name)] for name in names}, index=[0], dtype=object)
    own = card.contributions(row)
    average = card.contributions(cohort.plain.frame).mean()
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
