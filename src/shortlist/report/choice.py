"""The choice in the report: its proof, other budgets, other models, substitutes."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..choice import near_optimal, solve_path, substitutes
from ..families import LOGISTIC
from ..patients import PrognosticModel
from ..patients.table import PlainTable
from ..patients.worth import cross_validate_limits, cross_validate_selections
from ..problem import SubsetProblem
from ..verification import verify
from .content import (
    MOST_MODELS,
    TOLERANCE,
    Alternatives,
    ProofCheck,
    Staircase,
)

_BEYOND = 1.5  # the highest limit of the staircase, relative to the model's
_VISIBLE = 0.005  # of the loss of the cheapest selection: smaller steps are not shown


def describe_proof(model: PrognosticModel, problem: SubsetProblem) -> ProofCheck:
    """Return the proof of a model, and the verdict of the independent checker."""
    search = model.card_.search
    verdict = None if model.certificate_ is None else verify(problem, model.certificate_)
    claimed = {"status", "objective", "lower_bound", "gap", "gap_target", "nodes", "ridge"}
    checked: dict[str, Any] = {}
    if verdict is not None:
        checked = {"checked": True, "valid": verdict.valid, "reason": verdict.reason}
    if verdict is not None and verdict.valid:
        bounds = ("lower_bound", "upper_bound", "gap")
        checked |= {f"checked_{name}": getattr(verdict, name) for name in bounds}
    return ProofCheck(
        is_optimal=search.status == "optimal",
        problem_digest=problem.digest,
        **search.model_dump(include=claimed),
        **checked,
    )


def describe_staircase(
    model: PrognosticModel,
    plain: PlainTable,
    problem: SubsetProblem,
    persons: ArrayLike | None,
    threshold: float | None = None,
) -> Staircase:
    """Return the best selection for every budget, up to half as much again as there was.

    Its loss is measured by cross-validation too, and if there is a threshold, how many patients
    each step has to measure for one more true positive.
    """
    card, limits = model.card_, problem.limits
    highest: dict[str, Any] = {}  # with prices but without a budget, the price of everything
    if card.limits.budget is not None:
        highest = {"budget": _BEYOND * limits.budget}
    elif not limits.fees and (limits.costs == 1.0).all():
        highest = {"max_features": ceil(_BEYOND * limits.max_features)}
    wider = problem.with_limits(**highest) if highest else problem
    path = solve_path(wider, time_limit=model.time_limit, threads=model.threads)
    owners = None if persons is None else np.asarray(persons)
    curve = cross_validate_limits(model, plain, path, owners, **highest)
    own = limits.budget if path.limit_name == "budget" else float(limits.max_features)
    steps: list[Any] = path.to_records()
    within = own * (1 + LOGISTIC.resolution)
    affordable = max(i for i, step in enumerate(path) if step.limit <= within)
    shown = -1  # the last step that the page shows
    measured = curve.table.to_dict("records")
    for position, step in enumerate(steps):
        step |= {name: measured[position][name] for name in ("log_loss", "difference", "error")}
        # A model whose search was cut short may be on no step.
        step["is_chosen"] = position == affordable and set(step["predictors"]) == {*card.bought}
        step["reduction"] = 1.0 - step["objective"] / steps[0]["objective"]
        last = steps[shown] if shown >= 0 else None
        step["is_shown"] = (
            last is None
            or step["is_chosen"]
            or step["limit"] in (curve.best, curve.enough)
            or step["reduction"] - last["reduction"] >= _VISIBLE
        )
        before = [] if last is None else last["predictors"]
        step["new"] = [name for name in step["predictors"] if name not in before]
        step["given_up"] = [name for name in before if name not in step["predictors"]]
        if threshold is not None and last is not None:
            step |= curve.predictions.test_tradeoff(shown, position, threshold)
        shown = position if step["is_shown"] else shown
    return Staircase(
        limit_name=path.limit_name,
        own_limit=own,
        highest_limit=path.highest_limit,
        is_proven=path.is_certified,
        n_folds=curve.n_folds,
        best_limit=curve.best,
        enough=curve.enough,
        steps=steps,
        n_hidden=sum(not step["is_shown"] for step in steps),
        threshold=threshold,
    )


def describe_alternatives(
    model: PrognosticModel, plain: PlainTable, problem: SubsetProblem, persons: ArrayLike | None
) -> Alternatives:
    """Return the models that are nearly as good, and the substitute of each predictor."""
    options: dict[str, Any] = {"time_limit": model.time_limit, "threads": model.threads}
    models = near_optimal(problem, TOLERANCE, MOST_MODELS, **options)
    instead = substitutes(problem, **options)
    bought = model.card_.bought
    owners = None if persons is None else np.asarray(persons)
    supports = [found.support for found in models]
    measured = cross_validate_selections(model, plain, problem, supports, owners)
    rows: list[Any] = [
        record | out_of_sample | {"is_chosen": set(record["predictors"]) == set(bought)}
        for record, out_of_sample in zip(
            models.to_records(compared_with=bought), measured.to_dict("records"), strict=True
        )
    ]
    listed_beyond_ties = len(rows) == MOST_MODELS and rows[-1]["excess"] > LOGISTIC.resolution
    replaced: list[Any] = instead.to_records()
    return Alternatives(
        is_complete=models.is_complete,
        models=rows,
        n_ties=sum(row["excess"] <= LOGISTIC.resolution for row in rows[1:]),
        ties_are_known=models.is_complete or listed_beyond_ties,
        substitutes=replaced,
    )
