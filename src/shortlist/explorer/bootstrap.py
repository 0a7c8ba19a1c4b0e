"""The selection repeated on resamples: how often each predictor is bought, and the optimism."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite, nan
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..backends import solve, uninterrupted
from ..evaluation import inclusion_frequencies, stability
from ..evaluation.metrics import auc, calibration
from ..problem import SubsetProblem
from ..result import Solution, Status
from .cohort import Cohort
from .fitted import STEP_SECONDS, Callback, make_problem
from .state import State

N_RESAMPLES = 100


def draw_selections(cohort: Cohort, state: State, callback: Callback) -> Iterator[dict[str, Any]]:
    """Yield after every resample how often each predictor was bought, and the optimism, so far.

    The columns are prepared once, on all rows; a resample weighs rows, or whole persons. Harrell's
    optimism is the mean of what a resample's model scores on its resample less on the data.
    """
    rng = np.random.default_rng(0)
    everyone = np.ones_like(cohort.events)
    problem = make_problem(cohort, state)
    best = uninterrupted(solve(problem, time_limit=STEP_SECONDS, callback=callback))
    apparent = _scores(cohort, problem, best, everyone)
    selection = np.zeros((N_RESAMPLES, len(cohort.design.names)), dtype=bool)
    optimism = np.full((N_RESAMPLES, len(apparent)), nan)
    unproven = 0
    for done in range(N_RESAMPLES):
        weights = _draw(cohort, rng)
        problem = make_problem(cohort, state, sample_weight=weights)
        solution = uninterrupted(solve(problem, time_limit=STEP_SECONDS, callback=callback))
        selection[done, list(solution.support)] = True
        unproven += solution.status is not Status.OPTIMAL
        optimism[done] = _scores(cohort, problem, solution, weights) - _scores(
            cohort, problem, solution, everyone
        )
        yield _frequencies(cohort.design.names, selection[: done + 1], unproven) | {
            "performance": _corrected(apparent, optimism[: done + 1])
        }


def _scores(
    cohort: Cohort, problem: SubsetProblem, solution: Solution, weights: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the area under the ROC curve and the slope of the calibration."""
    log_odds = problem.decision_function(solution.coef, solution.intercept)
    used = weights > 0
    slope = calibration(cohort.events[used], log_odds[used], weights[used])[1]
    return np.array([auc(cohort.events, log_odds, weights), slope])


def _corrected(
    apparent: NDArray[np.float64], optimism: NDArray[np.float64]
) -> list[dict[str, Any]]:
    """Return each score with its correction; what is not defined is None."""
    entries = []
    for name, score, values in zip(("AUC", "Calibration slope"), apparent, optimism.T, strict=True):
        defined = values[np.isfinite(values)]
        corrected = score - defined.mean() if len(defined) else nan
        entries.append(
            {
                "name": name,
                "apparent": float(score) if isfinite(score) else None,
                "corrected": float(corrected) if isfinite(corrected) else None,
                "resamples": len(defined),
            }
        )
    return entries


def _frequencies(
    names: Sequence[str], selection: NDArray[np.bool_], unproven: int
) -> dict[str, Any]:
    table = inclusion_frequencies(pd.DataFrame(selection, columns=list(names)))
    value = stability(selection).value if len(selection) > 1 else nan
    return {
        "done": len(selection),
        "of": N_RESAMPLES,
        "unproven": unproven,
        "stability": value if isfinite(value) else None,
        "predictors": [
            {"name": name, "frequency": row.frequency, "lower": row.lower, "upper": row.upper}
            for name, row in zip(names, table.itertuples(), strict=True)
        ],
    }


def _draw(cohort: Cohort, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return how often each row counts in a resample that has both outcomes."""
    persons, events = cohort.persons, cohort.events
    n_units = len(events) if persons is None else int(persons.max()) + 1
    while True:
        counts = np.bincount(rng.integers(n_units, size=n_units), minlength=n_units)
        weights = counts if persons is None else counts[persons]
        if 0 < (weights * events).sum() < weights.sum():
            return weights.astype(np.int64)
