"""Other ways to get a model, evaluated on the same resamples and folds as the model of a report.

Two of them show the price of selecting: the ridge regression of all candidates and the lasso, which
know no limit. The others are the usual rules within the same limits. Each has the penalty that has
the lowest cross-validated log loss for it on all patients, also on resamples; so has the model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import inf
from numbers import Integral
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..backends import solve
from ..backends.ranking import L1Path
from ..backends.support_fit import SupportFits
from ..cross_validation import GRID, Fold, Tuning, make_folds
from ..evaluation import (
    Evaluation,
    Experiment,
    FittedModel,
    Procedure,
    Sample,
    evaluate_all,
    run_tasks,
    stability,
)
from ..patients import PrognosticModel
from ..problem import SubsetProblem
from ..solution import Status, solution_of
from .content import LEVEL, RuleRow, json_rows
from .validation import make_experiment

_N_PENALTIES, _LEAST_PENALTY = 20, 1e-3  # of the lasso; the least relative to the largest
_N_FOLDS = 5  # where the model's are not a number
N_OF_RULES = 49  # resamples, the first of a report's: rules are compared by paired differences
_OWN_OF_STABLE = "best among stable predictors"
_HEURISTICS = ("lasso", "stepwise", "univariable")
_SHOWN = ("auc", "brier", "calibration_slope")


class Lasso(Procedure):
    """Fits all candidates with an L1 penalty, for which the experiment's ridges stand."""

    def solve(self, problem: SubsetProblem, ridges: Sequence[float]) -> list[FittedModel]:
        """Return the model of each penalty; its support is the predictors not at zero."""
        fits = SupportFits(problem)
        path = L1Path(fits.of_rows, fits.X, fits.null_intercept)
        models = []
        for penalty in ridges:
            coef, centred = path.fit(penalty)
            intercept = centred - float(fits.means @ coef)
            solution = solution_of(
                problem,
                tuple(np.unique(problem.column_predictor[coef != 0]).tolist()),
                coef,
                intercept,
                status=Status.HEURISTIC,
                lower_bound=0.0,
                gap=0.0,
                nodes=0,
                seconds=0.0,
            )
            models.append(self.fitted(penalty, solution))
        return models


class Rule(NamedTuple):
    """A way to get a model: its name on pages, and what it does; where there are prices too."""

    name: str
    text: str
    text_with_prices: str = ""
    is_limited: bool = True
    procedure: type[Procedure] = Procedure


RULES = {
    "own": Rule("proven best", "the model of this report"),
    "full": Rule(
        "all candidates, ridge",
        "ridge regression of all candidates, without selection",
        "ridge regression of all candidates, whatever they cost",
        is_limited=False,
    ),
    "l1": Rule(
        "lasso, cross-validated",
        "L1-penalised regression of all candidates, with no other limit",
        "L1-penalised regression of all candidates, which knows neither prices nor budget",
        is_limited=False,
        procedure=Lasso,
    ),
    "optimum": Rule(
        "proven best of all",
        "the best selection of all candidates, also those that few resamples select",
        "the best affordable selection of all candidates, also those that few resamples select",
    ),
    "lasso": Rule(
        "lasso order, refitted",
        "predictors are taken in the order in which they enter the path of the lasso, and the "
        "model is fitted to them anew, with a ridge",
        "predictors are bought in the order in which they enter the path of a lasso whose "
        "penalties are proportional to prices, and the model is fitted to them anew, with a ridge",
    ),
    "stepwise": Rule(
        "stepwise selection",
        "each step adds the predictor that lowers the loss most, and then removes those without "
        "which a smaller model is better than any seen",
        "each step buys the predictor that lowers the loss most per price, and then returns those "
        "without which a cheaper model is better than any seen",
    ),
    "univariable": Rule(
        "univariable selection",
        "predictors are taken by the size of their coefficient in a regression on each alone",
        "predictors are bought by the size of their coefficient in a regression on each alone, "
        "divided by the price",
    ),
}


def compare_rules(
    model: PrognosticModel,
    X: Any,
    y: ArrayLike,
    *,
    persons: ArrayLike | None = None,
    n_resamples: int = N_OF_RULES,
    seed: int = 0,
    n_jobs: int | Literal["auto"] | None = None,
    dask: str | None = None,
    progress: bool = False,
) -> dict[str, Evaluation]:
    """Evaluate other ways to get a model as `validate_model` evaluates a model.

    Parameters
    ----------
    model, X, y, persons, n_resamples, seed, n_jobs, dask, progress
        As in `validate_model`; resamples and folds are the same.

    Returns
    -------
    dict
        Evaluations by the keys of the rules: "own", "full", "l1", "optimum" (if the model is
        narrowed to stable predictors), "lasso", "stepwise", "univariable".
    """
    base = make_experiment(model, X, y, persons, seed)
    fixed = replace(base, probes=None, followed=(), ridges=(model.ridge_,), is_open=False)
    fixed = replace(fixed, own_ridge=None)
    tuning = model.tuning or Tuning()
    own = replace(fixed, ridges=tuning.ridges or GRID, is_open=tuning.ridges is None, stable=None)
    all_of_them = own.problem.with_limits(budget=inf, max_features=len(own.names))
    unlimited = replace(own, problem=all_of_them, backend="native")
    everything = all_of_them.with_limits(include=range(len(own.names)))
    experiments = {
        "full": replace(unlimited, problem=everything),
        "l1": replace(unlimited, ridges=_l1_penalties(unlimited), is_open=False),
    }
    if model.stable:
        experiments["optimum"] = own
    experiments |= {name: replace(own, backend=name) for name in _HEURISTICS}
    cv = tuning.cv if isinstance(tuning.cv, Integral) else _N_FOLDS
    folds = make_folds(cv, None, own.y, own.persons, model.random_state, int(tuning.n_repeats))
    options: dict[str, Any] = {"n_jobs": n_jobs, "dask": dask}
    penalties = run_tasks(
        choose_penalty,
        {name: (each, RULES[name].procedure, folds) for name, each in experiments.items()},
        progress=progress and "Tuning usual rules",
        **options,
    )
    chosen = {
        name: replace(each, ridges=(penalties[name],), is_open=False)
        for name, each in experiments.items()
    }
    return evaluate_all(
        {"own": fixed, **chosen},
        n_resamples,
        procedures={name: rule.procedure for name, rule in RULES.items()},
        cross_validate_resamples=False,
        progress=progress and "Repeating usual rules",
        **options,
    )


def choose_penalty(
    experiment: Experiment, procedure: Callable[[Experiment], Procedure], folds: list[Fold]
) -> float:
    """Return the ridge, or L1 penalty, of an experiment with the lowest mean log loss in folds."""
    return procedure(experiment).best_ridge(
        [(Sample.of_copies(train), Sample.of_copies(test)) for train, test in folds]
    )


def _l1_penalties(experiment: Experiment) -> list[float]:
    """Return penalties from the one that leaves no coefficient to a thousandth of it."""
    everyone = np.arange(experiment.n_rows)
    problem = experiment.problem_of(experiment.columns(everyone))
    residuals = experiment.y - experiment.y.mean()
    largest = float(np.abs(residuals @ problem.X).max())
    penalties = np.geomspace(largest, _LEAST_PENALTY * largest, _N_PENALTIES)
    return [float(penalty) for penalty in penalties]


def describe_comparison(problem: SubsetProblem, rivals: Mapping[str, Evaluation]) -> list[RuleRow]:
    """Return each way to get a model, and its paired differences to the proven selection.

    Parameters
    ----------
    problem : SubsetProblem
        Of the model, at whose ridge selections are compared by their loss.
    rivals
        From `compare_rules`.
    """
    has_prices = np.isfinite(problem.limits.budget)
    rows: list[RuleRow] = []
    for name, rival in rivals.items():
        rule = RULES[name]
        if name == "own" and "optimum" in rivals:
            rule = rule._replace(name=_OWN_OF_STABLE)
        text = rule.text_with_prices if has_prices and rule.text_with_prices else rule.text
        rows.append(_describe(rule, text, problem, rivals["own"], rival))
    return rows


def _describe(
    rule: Rule, text: str, problem: SubsetProblem, own: Evaluation, rival: Evaluation
) -> RuleRow:
    same = own.rows["support"] == rival.rows["support"]
    is_own = rival is own
    is_same_model = same.iloc[0] and own.rows["ridge"].iloc[0] == rival.rows["ridge"].iloc[0]
    corrected = rival.optimism(LEVEL)["corrected"]
    difference = rival.corrected_difference(own, LEVEL).loc[list(_SHOWN)]
    selection = rival.selection
    return {
        "rule": rule.name,
        "is_own": is_own,
        "is_limited": rule.is_limited,
        "definition": text,
        "penalty": rival.rows["ridge"].iloc[0],
        "n_resamples": len(rival.resamples),
        "predictors": list(rival.selected),
        "cost": rival.rows["cost"].iloc[0],
        "excess": _excess(problem, own, rival) if rule.is_limited else None,
        "same_share": same.iloc[1:].mean(),
        "corrected": {metric: corrected[metric] for metric in _SHOWN},
        "differences": [] if is_own or is_same_model else json_rows(difference),
        "stability": stability(selection).value if len(selection) > 1 else None,
    }


def _excess(problem: SubsetProblem, own: Evaluation, rival: Evaluation) -> float:
    """Return by how much the loss of a selection exceeds the model's, at the same ridge.

    Below zero only if the model is narrowed to stable predictors and the other is not.
    """
    losses = []
    for evaluation in (own, rival):
        bought = evaluation.selected
        others = {problem.name_of(g) for g in range(problem.n_predictors)}.difference(bought)
        alone = problem.with_limits(include=bought, exclude=sorted(others))
        losses.append(solve(alone).objective)
    above = losses[1] / losses[0] - 1
    return 0.0 if abs(above) <= problem.family.resolution else above
