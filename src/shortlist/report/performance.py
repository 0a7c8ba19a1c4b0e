"""Performance in the report: corrected for optimism, and what is selected on resamples."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
import pandas as pd

from ..evaluation import Evaluation, inclusion_frequencies, model_frequencies, stability
from ..patients import ModelCard
from .curves import LEVEL, describe_curves

_MOST_MODELS = 5


def describe_performance(evaluation: Evaluation) -> dict[str, Any]:
    """Return metrics with and without optimism, and what the curves are drawn from."""
    known = evaluation.predictions.dropna() if evaluation.predictions is not None else None
    curves = None
    if known is not None and known["y"].nunique() == 2:
        curves = describe_curves(
            known["y"].to_numpy(), known["log_odds"].to_numpy(), known["person"].to_numpy()
        )
    return {
        "level": LEVEL,
        "n_resamples": len(evaluation.resamples),
        "n_folds": evaluation.rows["test_folds"].iloc[0],
        "corrected": json_rows(evaluation.optimism(LEVEL)),
        "log_loss": evaluation.summary(LEVEL).loc["log_loss", "estimate"],
        "n_unproven": evaluation.rows["unproven"].sum(),
        "n_solves": evaluation.rows["solves"].sum(),
        "curves": curves,
    }


def describe_stability(card: ModelCard, evaluation: Evaluation) -> dict[str, Any] | None:
    """Return how often what is selected on resamples; None for fewer than two."""
    selection = evaluation.selection
    if len(selection) < 2:
        return None
    frequencies = model_frequencies(selection)
    own = {term.name for term in card.terms}
    overall = stability(selection, LEVEL)
    models = [
        {"predictors": list(model), "frequency": frequency, "is_chosen": set(model) == own}
        for model, frequency in zip(frequencies["model"], frequencies["frequency"], strict=True)
    ]
    return {
        "n_resamples": len(selection),
        "stability": overall.value,
        "lower": overall.lower,
        "upper": overall.upper,
        "inclusion": [
            row | {"is_bought": row["predictor"] in own}
            for row in json_rows(inclusion_frequencies(selection, LEVEL), "predictor")
        ],
        "models": models[:_MOST_MODELS],
        "n_models": len(models),
        "own_frequency": sum((row["frequency"] for row in models if row["is_chosen"]), 0.0),
    }


def json_rows(frame: pd.DataFrame, key: str = "metric") -> list[dict[str, Any]]:
    """Return the rows of a table as JSON values."""
    return [json_value(row) for row in frame.reset_index(names=key).to_dict("records")]


def json_value(value: Any) -> Any:
    """Return a value, or nested ones, for JSON: no numpy, and None for NaN and infinity."""
    if isinstance(value, dict):
        return {name: json_value(item) for name, item in value.items()}
    if isinstance(value, list):
        return [json_value(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not isfinite(value) else value
