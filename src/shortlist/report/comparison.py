"""The usual selection rules at the same budget, on the same resamples and folds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..evaluation import Evaluation, stability
from .curves import LEVEL
from .performance import json_rows

# The usual ways to select, by the name of their backend.
RULES = {"lasso": "lasso", "stepwise": "stepwise selection", "univariable": "univariable selection"}
_OWN = "proven best"
_SHOWN = ("auc", "brier", "calibration_slope")


def describe_comparison(
    evaluation: Evaluation, rivals: Mapping[str, Evaluation]
) -> list[dict[str, Any]]:
    """Return for each rule what it selects, and its paired differences to the proven selection.

    The rules may have fewer resamples, which are then the first of the others.
    """
    if not rivals:
        return []
    last = min(int(rival.rows["resample"].max()) for rival in rivals.values())
    own = _first(evaluation, last)
    compared = {_OWN: own} | {RULES[name]: _first(r, last) for name, r in rivals.items()}
    return [_describe_rule(rule, own, of_rule) for rule, of_rule in compared.items()]


def _first(evaluation: Evaluation, last: int) -> Evaluation:
    rows = evaluation.rows[evaluation.rows["resample"] <= last]
    return Evaluation(rows, evaluation.names, evaluation.predictions)


def _describe_rule(rule: str, evaluation: Evaluation, rival: Evaluation) -> dict[str, Any]:
    excess = rival.rows["objective"] / evaluation.rows["objective"] - 1
    same = evaluation.rows["support"] == rival.rows["support"]
    corrected = rival.optimism(LEVEL)["corrected"]
    difference = rival.corrected_difference(evaluation, LEVEL).loc[list(_SHOWN)]
    selection = rival.selection
    return {
        "rule": rule,
        "is_own": rule == _OWN,
        "n_resamples": len(rival.resamples),
        "predictors": list(rival.selected),
        "cost": rival.rows["cost"].iloc[0],
        "excess": excess.iloc[0],
        "mean_excess": excess.iloc[1:].mean(),
        "same_share": same.iloc[1:].mean(),
        "corrected": {metric: corrected[metric] for metric in _SHOWN},
        # With the same selection the model is the same, whatever happens on resamples.
        "differences": [] if same.iloc[0] else json_rows(difference),
        "stability": stability(selection).value if len(selection) > 1 else None,
    }
