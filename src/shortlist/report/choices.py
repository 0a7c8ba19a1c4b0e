"""The choice in the report: its proof, other budgets, other models, substitutes."""

from __future__ import annotations

from math import ceil
from typing import Any

from ..choice import near_optimal, solve_path, substitutes
from ..losses import LOGISTIC
from ..patients import ModelCard, PrognosticModel
from ..problem import SubsetProblem
from ..result import Status
from ..verification import verify

TOLERANCE = 0.01
MOST_MODELS = 20
WORTHWHILE = 0.01  # of the loss
_BEYOND = 1.5  # how far above the limits the staircase is climbed, relative to them


def describe_proof(model: PrognosticModel, problem: SubsetProblem) -> dict[str, Any]:
    """Return what was proven, and what the independent checker says about it."""
    search = model.card_.search
    verdict = None if model.certificate_ is None else verify(problem, model.certificate_)
    return {
        "status": search.status,
        "is_optimal": search.status == Status.OPTIMAL.value,
        "objective": search.objective,
        "lower_bound": search.lower_bound,
        "gap": search.gap,
        "gap_target": search.gap_target,
        "nodes": search.nodes,
        "ridge": search.ridge,
        "checked": verdict is not None,
        "valid": verdict is not None and verdict.valid,
        "reason": "" if verdict is None else verdict.reason,
        "checked_lower_bound": verdict.lower_bound if verdict and verdict.valid else None,
        "checked_upper_bound": verdict.upper_bound if verdict and verdict.valid else None,
        "checked_gap": verdict.gap if verdict and verdict.valid else None,
        "problem_digest": problem.digest,
    }


def describe_staircase(
    card: ModelCard, problem: SubsetProblem, time_limit: float | None, threads: int | None
) -> dict[str, Any]:
    """Return what every budget buys, up to half as much again as there was."""
    limits = problem.constraints
    wider = problem  # with prices but without a budget the steps go up to the price of everything
    if card.limits.budget is not None:
        wider = problem.with_limits(budget=_BEYOND * limits.budget)
    elif not limits.fees and (limits.costs == 1.0).all():
        wider = problem.with_limits(max_features=ceil(_BEYOND * limits.max_features))
    path = solve_path(wider, time_limit=time_limit, threads=threads)
    own = limits.budget if path.limit_name == "budget" else float(limits.max_features)
    steps = path.to_records()
    within = own * (1 + LOGISTIC.resolution)
    affordable = max(i for i, step in enumerate(path) if step.limit <= within)
    beyond = steps[affordable + 1 :]
    bought = {term.name for term in card.terms}
    shown: dict[str, Any] | None = None  # the last step that a reader sees a change at
    for position, step in enumerate(steps):
        # A model whose search was cut short may be on no step.
        step["is_chosen"] = position == affordable and set(step["predictors"]) == bought
        step["reduction"] = 1.0 - step["objective"] / steps[0]["objective"]
        before = [] if shown is None else shown["predictors"]
        step["is_shown"] = (
            shown is None
            or step["is_chosen"]
            or f"{step['reduction']:.1%}" != f"{shown['reduction']:.1%}"
        )
        step["new"] = [name for name in step["predictors"] if name not in before]
        step["given_up"] = [name for name in before if name not in step["predictors"]]
        shown = step if step["is_shown"] else shown
    return {
        "limit_name": path.limit_name,
        "own_limit": own,
        "highest_limit": path.highest_limit,
        "is_proven": path.is_certified,
        "steps": steps,
        "n_hidden": sum(not step["is_shown"] for step in steps),
        "next": _first_step(card, beyond, 0.0),
        "worthwhile": WORTHWHILE,
        "next_worthwhile": _first_step(card, beyond, WORTHWHILE),
    }


def _first_step(
    card: ModelCard, steps: list[dict[str, Any]], smallest_gain: float
) -> dict[str, Any] | None:
    """Return the first of some steps that lowers the model's loss by at least a share."""
    before = [term.name for term in card.terms]
    for step in steps:
        gain = 1.0 - step["objective"] / card.search.objective
        if gain >= smallest_gain:
            return {
                "limit": step["limit"],
                "gain": gain,
                "gained": [name for name in step["predictors"] if name not in before],
                "lost": [name for name in before if name not in step["predictors"]],
            }
    return None


def describe_alternatives(
    card: ModelCard, problem: SubsetProblem, time_limit: float | None, threads: int | None
) -> dict[str, Any]:
    """Return the models that are nearly as good, and the substitute of each predictor."""
    models = near_optimal(problem, TOLERANCE, MOST_MODELS, time_limit=time_limit, threads=threads)
    instead = substitutes(problem, time_limit=time_limit, threads=threads)
    bought = [term.name for term in card.terms]
    rows = [
        record | {"is_chosen": set(record["predictors"]) == set(bought)}
        for record in models.to_records(compared_with=bought)
    ]
    listed_beyond_ties = len(rows) == MOST_MODELS and rows[-1]["excess"] > LOGISTIC.resolution
    return {
        "tolerance": TOLERANCE,
        "most": MOST_MODELS,
        "is_complete": models.is_complete,
        "models": rows,
        "n_ties": sum(row["excess"] <= LOGISTIC.resolution for row in rows[1:]),
        "ties_are_known": models.is_complete or listed_beyond_ties,
        "substitutes": instead.to_records(),
    }
