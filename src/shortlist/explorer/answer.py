"""Answers to the questions of the page about a model, as JSON values."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

from ..backends import solve, uninterrupted
from ..choice import cheapest_within, near_optimal, solve_path, substitutes
from ..choice.record import excess
from ..choice.stable import draw_counts
from ..evaluation import Evaluation, inclusion_frequencies, stability
from ..evaluation.metric import METRICS, brier_by_chance, outside_scores, scores
from ..report.content import json_rows, json_value
from ..report.equation import describe_equation
from ..report.performance import calibration_groups, describe_risks, roc_points
from ..report.validation import choose_followed
from ..solution import Status
from .model import STEP_SECONDS, Callback, ShownModel, make_problem
from .prepared import PreparedPatients
from .state import State

LISTING_SECONDS = 5.0
MOST_ALTERNATIVES = 25
N_RESAMPLES = 100
_SHOWN = ("auc", "brier", "calibration_slope")


def describe_model(prepared: PreparedPatients, state: State, model: ShownModel) -> dict[str, Any]:
    """Return the model that is shown, and the proof of the best one."""
    problem, shown = model.problem, model.shown
    bought = [problem.name_of(g) for g in shown.support]
    return {
        "predictors": bought,
        "cost": shown.cost,
        "fees": [
            {"amount": fee.amount, "members": [name for name in fee.members if name in bought]}
            for fee in state.fees
            if not set(bought).isdisjoint(fee.members)
        ],
        "objective": shown.objective,
        "auc": prepared.auc(prepared.log_odds(model.problem, model.shown)),
        "equation": describe_equation(model.card).model_dump(),
        "effects": [
            {
                "predictor": effect.predictor,
                "contrast": effect.contrast,
                "odds_ratio": effect.odds_ratio if isfinite(effect.odds_ratio) else None,
            }
            for effect in model.card.effects()
        ],
        "best": {
            "predictors": [problem.name_of(g) for g in model.best.support],
            "cost": model.best.cost,
            "status": model.best.status.value,
            "is_proven": model.best.status is Status.OPTIMAL,
            "objective": model.best.objective,
            "lower_bound": model.best.lower_bound,
            "gap": model.best.gap,
            "nodes": model.best.nodes,
            "seconds": model.best.seconds,
        },
        "excess": excess(shown.objective, model.best.objective),
    }


def describe_staircase(
    prepared: PreparedPatients, state: State, callback: Callback
) -> dict[str, Any]:
    """Return the best selection for every budget, or for every number of predictors."""
    problem = make_problem(prepared, state, limited=False)
    path = solve_path(problem, time_limit=STEP_SECONDS, callback=callback)
    limits = problem.limits
    everything = tuple(g for g in range(problem.n_predictors) if g not in limits.exclude)
    steps = path.to_records()
    for record, step in zip(steps, path, strict=True):
        record["auc"] = prepared.auc(prepared.log_odds(problem, step.solution))
    return {
        "steps": steps,
        "highest": limits.cost_of(everything) if state.limit == "budget" else len(everything),
        "is_proven": path.is_certified,
    }


def describe_alternatives(
    prepared: PreparedPatients, state: State, tolerance: float, callback: Callback
) -> dict[str, Any]:
    """Return the selections that are at most `tolerance` worse than the best one."""
    problem = make_problem(prepared, state)
    listed = near_optimal(
        problem, tolerance, MOST_ALTERNATIVES, time_limit=LISTING_SECONDS, callback=callback
    )
    return {
        "models": listed.to_records(),
        "is_complete": listed.is_complete,
        "tolerance": tolerance,
    }


def describe_cheapest(
    prepared: PreparedPatients, state: State, tolerance: float, callback: Callback
) -> dict[str, Any]:
    """Return the limit that buys the cheapest selection at most `tolerance` worse than the best."""
    if state.limit == "count":  # the fewest predictors, whatever they cost
        state = state.model_copy(update={"costs": dict.fromkeys(state.costs, 1.0), "fees": ()})
    problem = make_problem(prepared, state)
    found = cheapest_within(problem, tolerance, time_limit=STEP_SECONDS, callback=callback)
    return {"limit": found.limit, "excess": found.excess, "is_proven": found.is_proven}


def describe_substitutes(
    prepared: PreparedPatients, state: State, callback: Callback
) -> dict[str, Any]:
    """Return the substitute of each predictor of the best model."""
    problem = make_problem(prepared, state)
    found = substitutes(problem, time_limit=STEP_SECONDS, callback=callback)
    return {"substitutes": found.to_records()}


def describe_performance(prepared: PreparedPatients, model: ShownModel) -> dict[str, Any]:
    """Return the ROC curve and the calibration on the patients that the model was fitted to."""
    log_odds = prepared.log_odds(model.problem, model.shown)
    return {
        "auc": prepared.auc(log_odds),
        "roc": roc_points(prepared.events, log_odds),
        "calibration": calibration_groups(prepared.events, expit(log_odds)),
    }


def describe_patient(
    prepared: PreparedPatients, model: ShownModel, values: dict[str, Any]
) -> dict[str, Any]:
    """Return the risk of a patient, and the contribution of each predictor relative to the average.

    The risk is None if all predictors of the model are missing.
    """
    card = model.card
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


def draw_selections(
    prepared: PreparedPatients, state: State, callback: Callback
) -> Iterator[dict[str, Any]]:
    """Yield after every resample selections, optimism and the variation of risks, so far.

    The columns are prepared once, on all rows; a resample weighs rows, or whole persons. Scores are
    corrected as `Evaluation.optimism` does.
    """
    rng = np.random.default_rng(0)
    everyone = np.ones_like(prepared.events)
    followed = choose_followed(len(everyone))
    rows, risks = [], []
    for resample in range(N_RESAMPLES + 1):
        weights = _draw_weights(prepared, rng) if resample else everyone
        problem = make_problem(prepared, state, sample_weight=weights)
        solution = uninterrupted(solve(problem, time_limit=STEP_SECONDS, callback=callback))
        log_odds = prepared.log_odds(problem, solution)
        row: dict[str, Any] = {
            "resample": resample,
            "support": " ".join(map(str, solution.support)),
            "unproven": solution.status is not Status.OPTIMAL,
        }
        for place, counts in (("resample", weights), ("data", everyone)):
            found = scores(prepared.events, log_odds, counts)
            row |= {f"{place}_{name}": value for name, value in found.items()}
        others = weights == 0
        outside = outside_scores(prepared.events[others], log_odds[others], everyone[others])
        row |= {f"outside_{name}": value for name, value in outside.items()}
        row["brier_by_chance"] = brier_by_chance(prepared.events, log_odds, everyone)
        rows.append(row)
        risks.append(log_odds[followed])
        if resample:
            names, of_patients = prepared.design.names, pd.DataFrame(risks, columns=followed)
            yield _describe_resamples(Evaluation(pd.DataFrame(rows), names, followed=of_patients))


def _describe_resamples(evaluation: Evaluation) -> dict[str, Any]:
    selection = evaluation.selection
    corrected = evaluation.optimism().loc[list(_SHOWN)]
    risks = describe_risks(evaluation)
    return {
        "done": len(selection),
        "of": N_RESAMPLES,
        "unproven": int(evaluation.resamples["unproven"].sum()),
        "stability": json_value(stability(selection).value) if len(selection) > 1 else None,
        "inclusion": json_rows(inclusion_frequencies(selection), "predictor"),
        "risks": None if risks is None else risks.model_dump(exclude={"patients"}),
        "corrected": [row | {"name": METRICS[row["metric"]]} for row in json_rows(corrected)],
    }


def _draw_weights(prepared: PreparedPatients, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the weight of each row in a resample that has both outcomes."""
    while True:
        weights = draw_counts(rng, len(prepared.events), prepared.persons)
        if 0 < (weights * prepared.events).sum() < weights.sum():
            return weights
