"""Answers about models for the page, as JSON values."""

from __future__ import annotations

from math import isfinite
from typing import Any

from ..choice import near_optimal, solve_path, substitutes
from ..choice.record import excess
from ..report.equation import describe_equation
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
        "equation": describe_equation(fitted.card),
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
