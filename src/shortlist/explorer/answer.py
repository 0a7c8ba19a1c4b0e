"""Answers about models for the page, as JSON values."""

from __future__ import annotations

from math import isfinite
from typing import Any

import pandas as pd
from scipy.special import expit

from ..choice import near_optimal, solve_path, substitutes
from ..choice.record import excess
from ..report.equation import describe_equation
from ..report.performance import calibration_groups, roc_points
from ..result import Status
from .fitted import STEP_SECONDS, Callback, Fitted, make_problem
from .prepared import PreparedPatients
from .state import State

LISTING_SECONDS = 5.0
MOST_ALTERNATIVES = 25


def describe_model(prepared: PreparedPatients, state: State, fitted: Fitted) -> dict[str, Any]:
    """Return the model that is shown, and what is proven about it."""
    problem, shown = fitted.problem, fitted.shown
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
        "auc": prepared.auc(fitted.log_odds),
        "equation": describe_equation(fitted.card).model_dump(),
        "effects": [
            {
                "predictor": effect.predictor,
                "contrast": effect.contrast,
                "odds_ratio": effect.odds_ratio if isfinite(effect.odds_ratio) else None,
            }
            for effect in fitted.card.effects()
        ],
        "best": {
            "predictors": [problem.name_of(g) for g in fitted.best.support],
            "cost": fitted.best.cost,
            "status": fitted.best.status.value,
            "is_proven": fitted.best.status is Status.OPTIMAL,
            "objective": fitted.best.objective,
            "lower_bound": fitted.best.lower_bound,
            "gap": fitted.best.gap,
            "nodes": fitted.best.nodes,
            "seconds": fitted.best.seconds,
        },
        "excess": excess(shown.objective, fitted.best.objective),
    }


def describe_staircase(
    prepared: PreparedPatients, state: State, callback: Callback
) -> dict[str, Any]:
    """Return what every budget (or number of predictors) buys."""
    problem = make_problem(prepared, state, limited=False)
    path = solve_path(problem, time_limit=STEP_SECONDS, callback=callback)
    limits = problem.constraints
    everything = tuple(g for g in range(problem.n_predictors) if g not in limits.exclude)
    steps = path.to_records()
    for record, step in zip(steps, path, strict=True):
        solution = step.solution
        record["auc"] = prepared.auc(problem.decision_function(solution.coef, solution.intercept))
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


def describe_substitutes(
    prepared: PreparedPatients, state: State, callback: Callback
) -> dict[str, Any]:
    """Return what to buy instead of each predictor of the best model."""
    problem = make_problem(prepared, state)
    found = substitutes(problem, time_limit=STEP_SECONDS, callback=callback)
    return {"substitutes": found.to_records()}


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
