"""Answers to the questions of the page about a model, as JSON values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

from ..backends import solve, uninterrupted
from ..choice import cheapest_within, near_optimal, solve_path, substitutes
from ..choice.stable import draw_counts
from ..evaluation import (
    Evaluation,
    Experiment,
    FittedModel,
    Procedure,
    Sample,
    inclusion_frequencies,
    stability,
)
from ..evaluation.bootstrap import gather
from ..evaluation.metric import METRICS
from ..evaluation.procedure import evaluate_model
from ..patients.worth import STANDARD_ERROR
from ..report.content import json_rows, json_value
from ..report.equation import describe_equation
from ..report.performance import calibration_groups, describe_risks, roc_points
from ..report.validation import choose_followed
from ..solution import Status
from .model import STEP_SECONDS, fit_again, make_problem
from .prepared import PreparedPatients
from .session import Inquiry

LISTING_SECONDS = 5.0
MOST_ALTERNATIVES = 25
N_RESAMPLES = 100
_OF_SOLUTION = ("cost", "objective", "lower_bound", "gap", "nodes", "seconds")
_SHOWN = ("auc", "brier", "calibration_slope")


def describe_model(inquiry: Inquiry) -> dict[str, Any]:
    """Return the model that is shown, and the proof of the best one."""
    prepared, model = inquiry.prepared, inquiry.fit()
    problem, shown = model.problem, model.shown
    return {
        "predictors": model.card.bought,
        "cost": shown.cost,
        "fees": [fee.model_dump() for fee in model.card.paid_fees],
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
            "status": model.best.status.value,
            "is_proven": model.best.status is Status.OPTIMAL,
            **{name: getattr(model.best, name) for name in _OF_SOLUTION},
        },
        "excess": model.best.scale.excess(shown.objective, model.best.objective),
    }


def describe_staircase(inquiry: Inquiry) -> dict[str, Any]:
    """Return the best selection for every budget, or for every number of predictors."""
    prepared, state = inquiry.prepared, inquiry.state
    problem = make_problem(prepared, state, limited=False)
    path = solve_path(problem, time_limit=STEP_SECONDS, callback=inquiry.turn)
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


def describe_alternatives(inquiry: Inquiry) -> dict[str, Any]:
    """Return the selections that are at most a tolerance worse than the best one."""
    problem, tolerance = make_problem(inquiry.prepared, inquiry.state), inquiry.question.tolerance
    listed = near_optimal(
        problem, tolerance, MOST_ALTERNATIVES, time_limit=LISTING_SECONDS, callback=inquiry.turn
    )
    return {
        "models": listed.to_records(),
        "is_complete": listed.is_complete,
        "tolerance": tolerance,
    }


def describe_cheapest(inquiry: Inquiry) -> dict[str, Any]:
    """Return the limit that buys the cheapest selection at most a tolerance worse than the best."""
    problem = make_problem(inquiry.prepared, inquiry.state.with_prices_of_limit())
    tolerance = inquiry.question.tolerance
    found = cheapest_within(problem, tolerance, time_limit=STEP_SECONDS, callback=inquiry.turn)
    return {"limit": found.limit, "excess": found.excess, "is_proven": found.is_proven}


def describe_substitutes(inquiry: Inquiry) -> dict[str, Any]:
    """Return the substitute of each predictor of the best model."""
    problem = make_problem(inquiry.prepared, inquiry.state)
    found = substitutes(problem, time_limit=STEP_SECONDS, callback=inquiry.turn)
    return {"substitutes": found.to_records()}


def describe_performance(inquiry: Inquiry) -> dict[str, Any]:
    """Return the ROC curve and the calibration on the patients that the model was fitted to."""
    prepared, model = inquiry.prepared, inquiry.fit()
    log_odds = prepared.log_odds(model.problem, model.shown)
    return {
        "auc": prepared.auc(log_odds),
        "roc": roc_points(prepared.plain.labels, log_odds),
        "calibration": calibration_groups(prepared.plain.labels, expit(log_odds)),
    }


def describe_patient(inquiry: Inquiry) -> dict[str, Any]:
    """Return the risk of a patient, and the contribution of each predictor relative to the average.

    The risk is None if all predictors of the model are missing.
    """
    card, values = inquiry.fit().card, inquiry.question.values
    names = card.bought
    row = pd.DataFrame({name: [values.get(name)] for name in names}, index=[0], dtype=object)
    own = card.contributions(row)
    average = card.contributions(inquiry.prepared.plain.frame).mean()
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


def describe_notes(inquiry: Inquiry) -> dict[str, Any]:
    """Return the findings about the best model and the patients, as `fit` has them."""
    model = fit_again(inquiry.prepared, inquiry.state.without_adoption(), announce=inquiry.turn)
    return {"notes": [finding._asdict() for finding in model.findings_]}


def tune_ridge(inquiry: Inquiry) -> dict[str, Any]:
    """Return the ridge that `fit` chooses by cross-validation."""
    state = inquiry.state.without_adoption()
    model = fit_again(inquiry.prepared, state, tuned=True, announce=inquiry.turn)
    search = model.card_.search
    return {
        "ridge": search.ridge,
        "tried": search.tried,
        "by": search.cross_validation,
    }


def find_enough(inquiry: Inquiry) -> dict[str, Any]:
    """Return the lowest limit that predicts as well as any up to the one in the settings."""
    state = inquiry.state.with_prices_of_limit().without_adoption()
    model = fit_again(inquiry.prepared, state, within=STANDARD_ERROR, announce=inquiry.turn)
    (limit,) = model.lowered_.values()
    return {"limit": limit}


def draw_selections(inquiry: Inquiry) -> Iterator[dict[str, Any]]:
    """Yield after every resample selections, optimism and the variation of risks, so far.

    The columns are prepared once, on all rows; a resample weighs rows, or whole persons. Scores are
    corrected as `Evaluation.optimism` does.
    """
    prepared = inquiry.prepared
    experiment = Experiment(
        make_problem(prepared, inquiry.state),
        ridges=(inquiry.state.ridge,),
        persons=prepared.persons,
        followed=choose_followed(len(prepared.plain.labels)),
    )
    procedure = _OfPage(experiment, inquiry)
    rng = np.random.default_rng(0)
    results: list[dict[str, Any]] = []
    for resample in range(N_RESAMPLES + 1):
        weights = _draw_weights(prepared, rng) if resample else np.ones_like(prepared.plain.labels)
        sample = Sample.of_counts(weights)
        (model,) = procedure.fit(sample, experiment.ridges)
        results.append(evaluate_model(procedure, model, sample))
        if resample:
            yield _describe_resamples(gather(experiment, results))


class _OfPage(Procedure):
    """Selects as the page does: the columns as they were prepared, within seconds or not at all."""

    def __init__(self, experiment: Experiment, inquiry: Inquiry) -> None:
        super().__init__(experiment)
        self._inquiry = inquiry

    def fit(self, sample: Sample, ridges: Sequence[float]) -> list[FittedModel]:
        """Return the best model of a sample."""
        weights = sample.counts(self.experiment.n_rows)
        prepared = self._inquiry.prepared
        problem = make_problem(prepared, self._inquiry.state, sample_weight=weights)
        found = solve(problem, time_limit=STEP_SECONDS, callback=self._inquiry.turn)
        solution = uninterrupted(found)
        self.unproven = int(solution.status is not Status.OPTIMAL)
        design = prepared.design
        deployed = design.for_predicting([design.names[g] for g in solution.support])
        X = design.matrix if deployed is design else deployed.transform(prepared.plain.frame)
        return [FittedModel(ridges[0], solution, X)]


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
    labels = prepared.plain.labels
    while True:
        weights = draw_counts(rng, len(labels), prepared.persons)
        if 0 < (weights * labels).sum() < weights.sum():
            return weights
