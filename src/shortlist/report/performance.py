"""Performance in the report: corrected for optimism, and curves of out-of-fold predictions."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import roc_curve

from ..evaluation import (
    Evaluation,
    inclusion_frequencies,
    model_frequencies,
    share_interval,
    stability,
)
from ..prognostic import ModelCard

Float = NDArray[np.float64]

LEVEL = 0.95
_THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)  # of the tables
_MOST_GROUPS = 10
_SMALLEST_GROUP = 20
_MOST_MODELS = 5


def describe_performance(evaluation: Evaluation) -> dict[str, Any]:
    """Return metrics with and without optimism, and the tables behind the curves."""
    known = evaluation.predictions.dropna() if evaluation.predictions is not None else None
    has_curves = known is not None and known["y"].nunique() == 2
    curves: dict[str, Any] = {}
    if known is not None and has_curves:
        y, probability = known["y"].to_numpy(), known["probability"].to_numpy()
        curves = {
            "roc": _roc(y, probability),
            "thresholds": [_at_threshold(y, probability, t) for t in _THRESHOLDS],
            "calibration": _calibration(y, probability),
            "decision_curve": [_net_benefit(y, probability, t) for t in np.arange(1, 100).tolist()],
        }
    return {
        "level": LEVEL,
        "n_resamples": len(evaluation.resamples),
        "n_folds": int(evaluation.rows["test_folds"].iloc[0]),
        "corrected": _rows(evaluation.optimism(LEVEL)),
        "cross_validated": _rows(evaluation.summary(LEVEL)),
        "n_unproven": int(evaluation.rows["unproven"].sum()),
        "n_solves": int(evaluation.rows["solves"].sum()),
        "curves": curves or None,
    }


def describe_stability(card: ModelCard, evaluation: Evaluation) -> dict[str, Any] | None:
    """Return how often what is selected on resamples; None for fewer than two."""
    selection = evaluation.selection
    if len(selection) < 2:
        return None
    models = model_frequencies(selection)
    own = {term.name for term in card.terms}
    overall = stability(selection, LEVEL)
    return {
        "n_resamples": len(selection),
        "stability": _number(overall.value),
        "lower": _number(overall.lower),
        "upper": _number(overall.upper),
        "inclusion": [
            row | {"is_bought": row["predictor"] in own}
            for row in _rows(inclusion_frequencies(selection, LEVEL), "predictor")
        ],
        "models": [
            {
                "predictors": list(model),
                "frequency": float(frequency),
                "is_chosen": set(model) == own,
            }
            for model, frequency in zip(models["model"], models["frequency"], strict=True)
        ][:_MOST_MODELS],
        "n_models": len(models),
        "own_frequency": float(
            sum(
                frequency
                for model, frequency in zip(models["model"], models["frequency"], strict=True)
                if set(model) == own
            )
        ),
    }


def _rows(frame: pd.DataFrame, key: str = "metric") -> list[dict[str, Any]]:
    records = frame.reset_index(names=key).to_dict("records")
    return [{str(name): _number(value) for name, value in row.items()} for row in records]


def _number(value: Any) -> Any:
    """Return a value for JSON, which has no NaN."""
    if isinstance(value, float) and not isfinite(value):
        return None
    return value


def _roc(y: NDArray[Any], probability: Float) -> list[dict[str, float]]:
    false_positive, true_positive, _ = roc_curve(y, probability)
    return [
        {"false_positive_rate": x, "true_positive_rate": t}
        for x, t in zip(false_positive.tolist(), true_positive.tolist(), strict=True)
    ]


def _at_threshold(y: NDArray[Any], probability: Float, threshold: float) -> dict[str, Any]:
    """Return what acting above a threshold does."""
    acted = probability >= threshold
    return {
        "threshold": threshold,
        "share_above": float(acted.mean()),
        "sensitivity": float(acted[y == 1].mean()),
        "specificity": float((~acted)[y == 0].mean()),
    } | {
        name: value
        for name, value in _net_benefit(y, probability, round(100 * threshold)).items()
        if name != "threshold"
    }


def _net_benefit(y: NDArray[Any], probability: Float, percent: int) -> dict[str, float]:
    """Return the net benefit of acting above a threshold (Vickers and Elkin 2006).

    The package dcurves computes it too, but brings lifelines and statsmodels for two lines.
    """
    threshold = percent / 100
    harm = threshold / (1 - threshold)
    acted = probability >= threshold
    return {
        "threshold": threshold,
        "model": float((acted & (y == 1)).mean() - harm * (acted & (y == 0)).mean()),
        "everyone": float((y == 1).mean() - harm * (y == 0).mean()),
    }


def _calibration(y: NDArray[Any], probability: Float) -> list[dict[str, Any]]:
    """Return predicted and observed shares of groups of about equal size, the lowest risk first."""
    n_groups = max(2, min(_MOST_GROUPS, len(y) // _SMALLEST_GROUP))
    order = np.argsort(probability, kind="stable")
    groups = []
    for rows in np.array_split(order, n_groups):
        events = int((y[rows] == 1).sum())
        lower, upper = share_interval(events, len(rows), LEVEL)
        groups.append(
            {
                "n": len(rows),
                "events": events,
                "predicted": float(probability[rows].mean()),
                "observed": events / len(rows),
                "lower": lower,
                "upper": upper,
            }
        )
    return groups
