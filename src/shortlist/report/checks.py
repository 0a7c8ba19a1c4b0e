"""What a reader should be warned of: few events, separation, ties, missing values, no proof."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy.optimize import linprog

from ..problem import SubsetProblem
from ..prognostic import ModelCard

Level = Literal["good", "note", "warning"]
FEW_EVENTS = 10  # per candidate parameter
UNSTABLE = 0.5  # of the resamples select the model
MANY_MISSING = 0.05
SMALL_SLOPE, LARGE_SLOPE = 0.9, 1.1
_MOST_ROWS = 20_000  # of the linear program; above that, separation is not looked for

_SOLVED = 0  # the status of scipy's linear programs


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


def separating_predictors(problem: SubsetProblem, support: tuple[int, ...]) -> list[str] | None:
    """Return the predictors, of those bought, by which some patients are told apart perfectly.

    Separation, complete or not, is a direction in which no patient's prediction gets worse and
    some patient's gets better; without a ridge its coefficients would be infinite (Albert and
    Anderson 1984). A linear program finds one. None if it was not decided: there are too many rows
    to look, or the linear program failed.
    """
    if problem.n_rows > _MOST_ROWS:
        return None
    columns = problem.columns_of(support)
    block = problem.X[:, columns]
    signed = problem.signs[:, None] * np.column_stack(
        [block - block.mean(axis=0), np.ones(problem.n_rows)]
    )
    found = linprog(
        -signed.sum(axis=0), A_ub=-signed, b_ub=np.zeros(problem.n_rows), bounds=(-1.0, 1.0)
    )
    if found.status != _SOLVED or found.x is None or found.fun is None:
        return None
    if found.fun >= -1e-6:
        return []
    used = columns[np.abs(found.x[:-1]) > 1e-6]
    return [problem.name_of(int(g)) for g in np.unique(problem.column_predictor[used])]


def describe_checks(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Return sentences about everything that limits the model, from the rest of the report."""
    checks: list[dict[str, Any]] = []

    def say(level: Level, topic: str, text: str) -> None:
        checks.append({"level": level, "topic": topic, "text": text})

    _check_proof(content["proof"], say)
    _check_persons(content["persons"], say)
    _check_size(content["sample_size"], content["persons"], say)
    _check_separation(content["separating"], say)
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
        say("good", "Proof", "The selection is proven optimal and the proof was checked.")


def _check_persons(persons: dict[str, Any], say: Any) -> None:
    if persons["has_several_rows"]:
        say(
            "warning",
            "Rows and persons",
            f"There are {persons['text']}. The criteria of sample size count rows as if each were "
            "another patient, so they ask for too little.",
        )


def _check_size(size: dict[str, Any], persons: dict[str, Any], say: Any) -> None:
    per = size["events_per_parameter"]
    text = (
        f"{per:.1f} {persons['unit']} of the rarer outcome per candidate parameter "
        f"({size['n_parameters']} parameters)"
    )
    if per < FEW_EVENTS:
        say("warning", "Events per parameter", f"{text}: fewer than {FEW_EVENTS}.")
    else:
        say("good", "Events per parameter", f"{text}: at least {FEW_EVENTS}.")
    enough = size["patients"] >= size["needed_overall"]
    say(
        "good" if enough else "warning",
        "Sample size",
        "Three criteria of Riley and others (2019), applied afterwards, ask for "
        f"{size['needed_overall']} patients, and there are {persons['text']}"
        + (
            "."
            if enough
            else ": expect predictions that are too extreme, and validate on new patients."
        ),
    )


def _check_separation(names: list[str] | None, say: Any) -> None:
    if names is None:
        say(
            "note",
            "Separation",
            "Not decided: there are too many rows, or the linear program failed.",
        )
    elif names:
        say(
            "warning",
            "Separation",
            "Some patients are told apart perfectly by "
            f"{', '.join(names)}. Without the ridge these coefficients would be infinite; their "
            "size is the ridge's doing, so do not read the odds ratios literally.",
        )
    else:
        say("good", "Separation", "No combination of the predictors bought separates outcomes.")


def _check_ties(alternatives: dict[str, Any], say: Any) -> None:
    n, are_known = alternatives["n_ties"], alternatives["ties_are_known"]
    if n:
        say(
            "warning",
            "Ties",
            f"{'' if are_known else 'At least '}{n} other selection(s) are exactly as good; which "
            "is taken is arbitrary.",
        )
    elif not are_known:
        say("note", "Ties", "Not known: a limit came before the list of other selections was done.")
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
            "replaced by medians and most frequent values, which makes the model surer than "
            "multiple imputation would. "
            f"{missing['complete_rows_bought']} of {persons['rows']} {persons['unit']} are "
            "complete.",
        )


def _check_stability(stability: dict[str, Any] | None, say: Any) -> None:
    if stability is None:
        return
    own = stability["own_frequency"]
    text = (
        f"{own:.0%} of {stability['n_resamples']} resamples select exactly these predictors; "
        f"{stability['n_models']} selection(s) occur in all"
    )
    if own < UNSTABLE:
        say("warning", "Stability", f"{text}. Do not read the selection as the truth about causes.")
    else:
        say("good", "Stability", f"{text}.")


def _check_evaluation(content: dict[str, Any], say: Any) -> None:
    performance = content["performance"]
    bought = {row["predictor"] for row in content["purchase"]["bought"]}
    if bought != set(content["evaluated"]):
        say(
            "warning",
            "Evaluation",
            "It selects other predictors on the same patients than the model has "
            f"({', '.join(content['evaluated'])}), so performance and stability are those of the "
            "way to select, not of this model.",
        )
    if not performance["n_resamples"]:
        say(
            "warning", "Optimism", "No resamples were asked for: nothing is corrected for optimism."
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
            f"The corrected calibration slope is {slope:.2f}: predictions are too cautious, too "
            "close to the overall share of events; a smaller ridge may help.",
        )
