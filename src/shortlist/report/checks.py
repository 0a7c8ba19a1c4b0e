"""Checks shown at the top of a report: few events, separation, ties, missing values, no proof."""

from __future__ import annotations

from typing import Any, Literal

import pandas as pd

from ..prognostic import ModelCard

Level = Literal["good", "note", "warning"]
# Events per candidate parameter: two of the paper's sources, and what its own data needed.
FEW_EVENTS, SOME_EVENTS, ENOUGH_EVENTS = 10.0, 15.0, 17.91
UNSTABLE = 0.5  # of the resamples select the model
MANY_MISSING = 0.05
SMALL_SLOPE, LARGE_SLOPE = 0.9, 1.1


def describe_missing(card: ModelCard, X: pd.DataFrame) -> dict[str, Any]:
    """Return how many values each candidate lacks."""
    bought = [term.name for term in card.terms]
    gaps = X[[item.name for item in card.candidates]].isna()
    return {
        "columns": [
            {
                "predictor": name,
                "is_bought": name in bought,
                "missing": int(gaps[name].sum()),
                "share": float(gaps[name].mean()),
            }
            for name in gaps.columns
            if gaps[name].any()
        ],
        "complete_rows": int((~gaps.any(axis=1)).sum()),
        "complete_rows_bought": int((~gaps[bought].any(axis=1)).sum()),
    }


def describe_checks(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Return sentences about everything that limits the model, from the rest of the report."""
    checks: list[dict[str, Any]] = []

    def say(level: Level, topic: str, text: str) -> None:
        checks.append({"level": level, "topic": topic, "text": text})

    _check_proof(content["proof"], say)
    _check_persons(content["persons"], say)
    _check_size(content["sample_size"], content["persons"], say)
    for finding in content["findings"]:
        say(finding["level"], finding["topic"], finding["text"])
    _check_ties(content["alternatives"], say)
    _check_missing(content["missing"], content["persons"], say)
    _check_stability(content["stability"], say)
    _check_evaluation(content, say)
    return checks


def _check_proof(proof: dict[str, Any], say: Any) -> None:
    if not proof["is_optimal"]:
        say(
            "warning",
            "Proof",
            f"The search stopped ({proof['status'].replace('_', ' ')}) before the proof was "
            f"complete: a better selection may exist, by at most {proof['gap']:.2%} of the loss.",
        )
    elif not proof["valid"]:
        why = proof["reason"] or "there is no certificate to check."
        say("warning", "Proof", f"The independent checker did not confirm the proof: {why}")
    else:
        say(
            "good",
            "Proof",
            "The selection is proven optimal, and the proof was verified independently.",
        )


def _check_persons(persons: dict[str, Any], say: Any) -> None:
    if persons["has_several_rows"]:
        say(
            "note",
            "Rows and persons",
            f"There are {persons['text']}. Resamples draw persons, folds keep them together, and "
            "intervals and sample sizes count them, not rows.",
        )


def _check_size(size: dict[str, Any], persons: dict[str, Any], say: Any) -> None:
    per = size["events_per_parameter"]
    text = (
        f"{size['rarer']} {persons['unit']} have the rarer outcome, {per:.1f} per candidate "
        f"parameter ({size['n_parameters']} parameters)"
    )
    advice = (
        f"Heinze and others (2018) advise at least {FEW_EVENTS:g}, Harrell (2015) "
        f"{SOME_EVENTS:g}, and Knauer and Rodner (2023) found interpretable selections only "
        f"at {ENOUGH_EVENTS:g}"
    )
    if per < ENOUGH_EVENTS:
        say(
            "warning" if per < SOME_EVENTS else "note", "Events per parameter", f"{text}. {advice}."
        )
    else:
        say("good", "Events per parameter", f"{text}; {advice}.")
    enough = size["patients"] >= size["needed_overall"]
    say(
        "good" if enough else "warning",
        "Sample size",
        "The four criteria of Riley and others (2019, 2020), applied post hoc, require "
        f"{size['needed_overall']} patients, and there are {persons['text']}"
        + (
            "."
            if enough
            else ": expect predictions that are too extreme, and validate on new patients."
        ),
    )


def _check_ties(alternatives: dict[str, Any], say: Any) -> None:
    n, are_known = alternatives["n_ties"], alternatives["ties_are_known"]
    if n:
        say(
            "warning",
            "Ties",
            f"{'' if are_known else 'At least '}{n} other selection(s) are exactly as good; the "
            "choice between them is arbitrary.",
        )
    elif not are_known:
        say(
            "note",
            "Ties",
            "Unknown: a limit was reached before the list of other selections was complete.",
        )
    else:
        say("good", "Ties", "No other selection is exactly as good.")


def _check_missing(missing: dict[str, Any], persons: dict[str, Any], say: Any) -> None:
    bought = [row for row in missing["columns"] if row["is_bought"]]
    worst = max((row["share"] for row in bought), default=0.0)
    if not bought:
        say("good", "Missing values", "The predictors bought have no missing values.")
    else:
        say(
            "warning" if worst > MANY_MISSING else "note",
            "Missing values",
            f"{len(bought)} predictor(s) bought have missing values, up to {worst:.1%}; they were "
            "replaced by medians and most frequent values, which understates the uncertainty "
            "that multiple imputation would show. "
            f"{missing['complete_rows_bought']} of {persons['rows']} {persons['row_unit']} are "
            "complete.",
        )


def _check_stability(stability: dict[str, Any] | None, say: Any) -> None:
    if stability is None:
        return
    own = stability["own_frequency"]
    text = (
        f"{own:.0%} of {stability['n_resamples']} resamples select exactly these predictors; "
        f"{stability['n_models']} different selection(s) occur"
    )
    if own < UNSTABLE:
        say("warning", "Stability", f"{text}. Do not interpret the selection as causal.")
    else:
        say("good", "Stability", f"{text}.")


def _check_evaluation(content: dict[str, Any], say: Any) -> None:
    performance = content["performance"]
    bought = {row["predictor"] for row in content["purchase"]["bought"]}
    if bought != set(content["evaluated"]):
        say(
            "warning",
            "Evaluation",
            "The evaluation selects other predictors on the same patients "
            f"({', '.join(content['evaluated'])}), so performance and stability describe the "
            "selection procedure, not this model.",
        )
    if not performance["n_resamples"]:
        say(
            "warning", "Optimism", "No resamples were requested: nothing is corrected for optimism."
        )
    if performance["n_unproven"]:
        say(
            "note",
            "Resamples",
            f"{performance['n_unproven']} of {performance['n_solves']} selections on resamples "
            "reached a limit before their proof.",
        )
    slope = next(
        row["corrected"] for row in performance["corrected"] if row["metric"] == "calibration_slope"
    )
    if slope is not None and slope < SMALL_SLOPE:
        say(
            "warning",
            "Calibration",
            f"The corrected calibration slope is {slope:.2f}: predictions are too extreme.",
        )
    if slope is not None and slope > LARGE_SLOPE:
        say(
            "warning",
            "Calibration",
            f"The corrected calibration slope is {slope:.2f}: predictions are too close "
            "to the overall event rate; a smaller ridge may help.",
        )
