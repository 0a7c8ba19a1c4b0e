"""Checks shown at the top of a report: few events, separation, ties, missing values, no proof."""

from __future__ import annotations

from typing import Any, Literal

import pandas as pd

from ..patients import ModelCard
from .performance import json_rows

Level = Literal["good", "note", "warning"]
Check = tuple[Level, str] | None  # None: nothing to say
# Events per candidate parameter: two of the paper's sources, and what its own data needed.
FEW_EVENTS, SOME_EVENTS, ENOUGH_EVENTS = 10.0, 15.0, 17.91
UNSTABLE = 0.5  # of the resamples select the model
MANY_MISSING = 0.05
SMALL_SLOPE, LARGE_SLOPE = 0.9, 1.1


def describe_missing(card: ModelCard, X: pd.DataFrame) -> dict[str, Any]:
    """Return how many values each candidate lacks."""
    bought = [term.name for term in card.terms]
    gaps = X[[item.name for item in card.candidates]].isna()
    columns = pd.DataFrame(
        {"is_bought": gaps.columns.isin(bought), "missing": gaps.sum(), "share": gaps.mean()}
    )
    return {
        "columns": json_rows(columns[columns["missing"] > 0], "predictor"),
        "complete_rows": (~gaps.any(axis=1)).sum(),
        "complete_rows_bought": (~gaps[bought].any(axis=1)).sum(),
    }


def describe_checks(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Return sentences about everything that limits the model, from the rest of the report."""
    size, persons, performance = (
        content[name] for name in ("sample_size", "persons", "performance")
    )
    of_data = {
        "Proof": _check_proof(content["proof"]),
        "Rows and persons": _check_persons(persons),
        "Events per parameter": _check_events(size, persons),
        "Sample size": _check_size(size, persons),
    }
    of_model = {
        "Ties": _check_ties(content["alternatives"]),
        "Missing values": _check_missing(content["missing"], persons),
        "Stability": _check_stability(content["stability"]),
        "Evaluation": _check_evaluation(content),
        "Optimism": _check_optimism(performance),
        "Resamples": _check_resamples(performance),
        "Calibration": _check_calibration(performance),
    }
    return [*_listed(of_data), *content["findings"], *_listed(of_model)]


def _listed(checks: dict[str, Check]) -> list[dict[str, Any]]:
    return [
        {"level": check[0], "topic": topic, "text": check[1]}
        for topic, check in checks.items()
        if check is not None
    ]


def _check_proof(proof: dict[str, Any]) -> Check:
    if not proof["is_optimal"]:
        return "warning", (
            f"The search stopped ({proof['status'].replace('_', ' ')}) before the proof was "
            f"complete: a better selection may exist, by at most {proof['gap']:.2%} of the loss."
        )
    if not proof["valid"]:
        why = proof["reason"] or "there is no certificate to check."
        return "warning", f"The independent checker did not confirm the proof: {why}"
    return "good", "The selection is proven optimal, and the proof was verified independently."


def _check_persons(persons: dict[str, Any]) -> Check:
    if not persons["has_several_rows"]:
        return None
    return "note", (
        f"There are {persons['text']}. Resamples draw persons, folds keep them together, and "
        "intervals and sample sizes count them, not rows."
    )


def _check_events(size: dict[str, Any], persons: dict[str, Any]) -> Check:
    per = size["events_per_parameter"]
    level: Level = "good" if per >= ENOUGH_EVENTS else "note" if per >= SOME_EVENTS else "warning"
    return level, (
        f"{size['rarer']} {persons['unit']} have the rarer outcome, {per:.1f} per candidate "
        f"parameter ({size['n_parameters']} parameters){';' if level == 'good' else '.'} "
        f"Heinze and others (2018) advise at least {FEW_EVENTS:g}, Harrell (2015) "
        f"{SOME_EVENTS:g}, and Knauer and Rodner (2023) found interpretable selections only "
        f"at {ENOUGH_EVENTS:g}."
    )


def _check_size(size: dict[str, Any], persons: dict[str, Any]) -> Check:
    text = (
        "The four criteria of Riley and others (2019, 2020), applied post hoc, require "
        f"{size['needed_overall']} patients, and there are {persons['text']}"
    )
    if size["patients"] >= size["needed_overall"]:
        return "good", f"{text}."
    advice = "expect predictions that are too extreme, and validate on new patients."
    return "warning", f"{text}: {advice}"


def _check_ties(alternatives: dict[str, Any]) -> Check:
    n, are_known = alternatives["n_ties"], alternatives["ties_are_known"]
    if n:
        return "warning", (
            f"{'' if are_known else 'At least '}{n} other selection(s) are exactly as good; the "
            "choice between them is arbitrary."
        )
    if not are_known:
        return "note", (
            "Unknown: a limit was reached before the list of other selections was complete."
        )
    return "good", "No other selection is exactly as good."


def _check_missing(missing: dict[str, Any], persons: dict[str, Any]) -> Check:
    shares = [row["share"] for row in missing["columns"] if row["is_bought"]]
    if not shares:
        return "good", "The predictors bought have no missing values."
    return "warning" if max(shares) > MANY_MISSING else "note", (
        f"{len(shares)} predictor(s) bought have missing values, up to {max(shares):.1%}; they "
        "were replaced by medians and most frequent values, which understates the uncertainty "
        f"that multiple imputation would show. {missing['complete_rows_bought']} of "
        f"{persons['rows']} {persons['row_unit']} are complete."
    )


def _check_stability(stability: dict[str, Any] | None) -> Check:
    if stability is None:
        return None
    own = stability["own_frequency"]
    text = (
        f"{own:.0%} of {stability['n_resamples']} resamples select exactly these predictors; "
        f"{stability['n_models']} different selection(s) occur."
    )
    if own < UNSTABLE:
        return "warning", f"{text} Do not interpret the selection as causal."
    return "good", text


def _check_evaluation(content: dict[str, Any]) -> Check:
    evaluated = content["evaluated"]
    if {row["predictor"] for row in content["purchase"]["bought"]} == set(evaluated):
        return None
    return "warning", (
        f"The evaluation selects other predictors on the same patients ({', '.join(evaluated)}), "
        "so performance and stability describe the selection procedure, not this model."
    )


def _check_optimism(performance: dict[str, Any]) -> Check:
    if performance["n_resamples"]:
        return None
    return "warning", "No resamples were requested: nothing is corrected for optimism."


def _check_resamples(performance: dict[str, Any]) -> Check:
    if not performance["n_unproven"]:
        return None
    return "note", (
        f"{performance['n_unproven']} of {performance['n_solves']} selections on resamples "
        "reached a limit before their proof."
    )


def _check_calibration(performance: dict[str, Any]) -> Check:
    corrected = {row["metric"]: row["corrected"] for row in performance["corrected"]}
    slope = corrected["calibration_slope"]
    if slope is None or SMALL_SLOPE <= slope <= LARGE_SLOPE:
        return None
    problem = "too extreme."
    if slope > LARGE_SLOPE:
        problem = "too close to the overall event rate; a smaller ridge may help."
    return "warning", f"The corrected calibration slope is {slope:.2f}: predictions are {problem}"
