"""The selection repeated on resamples: inclusion frequencies and optimism, as they come in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..backends import solve, uninterrupted
from ..evaluation import Evaluation, inclusion_frequencies, stability
from ..evaluation.metrics import METRICS, scores
from ..evaluation.resampling import draw_counts
from ..report.content import json_rows, json_value
from ..result import Status
from .fitted import STEP_SECONDS, Callback, make_problem
from .prepared import PreparedPatients
from .state import State

N_RESAMPLES = 100
_SHOWN = ("auc", "brier", "calibration_slope")


def draw_selections(
    prepared: PreparedPatients, state: State, callback: Callback
) -> Iterator[dict[str, Any]]:
    """Yield after every resample how often each predictor was bought, and the optimism, so far.

    The columns are prepared once, on all rows; a resample weighs rows, or whole persons. Harrell's
    optimism is the mean of what a resample's model scores on its resample less on the data.
    """
    rng = np.random.default_rng(0)
    everyone = np.ones_like(prepared.events)
    rows = []
    for resample in range(N_RESAMPLES + 1):
        weights = _draw(prepared, rng) if resample else everyone
        problem = make_problem(prepared, state, sample_weight=weights)
        solution = uninterrupted(solve(problem, time_limit=STEP_SECONDS, callback=callback))
        log_odds = problem.decision_function(solution.coef, solution.intercept)
        row: dict[str, Any] = {
            "resample": resample,
            "support": " ".join(map(str, solution.support)),
            "unproven": solution.status is not Status.OPTIMAL,
        }
        for place, counts in (("resample", weights), ("data", everyone)):
            found = scores(prepared.events, log_odds, counts)
            row |= {f"{place}_{name}": value for name, value in found.items()}
        rows.append(row)
        if resample:
            yield _describe(Evaluation(pd.DataFrame(rows), prepared.design.names))


def _describe(evaluation: Evaluation) -> dict[str, Any]:
    selection = evaluation.selection
    corrected = evaluation.optimism().loc[list(_SHOWN)]
    return {
        "done": len(selection),
        "of": N_RESAMPLES,
        "unproven": int(evaluation.resamples["unproven"].sum()),
        "stability": json_value(stability(selection).value) if len(selection) > 1 else None,
        "inclusion": json_rows(inclusion_frequencies(selection), "predictor"),
        "corrected": [row | {"name": METRICS[row["metric"]]} for row in json_rows(corrected)],
    }


def _draw(prepared: PreparedPatients, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return how often each row counts in a resample that has both outcomes."""
    while True:
        weights = draw_counts(rng, len(prepared.events), prepared.persons)
        if 0 < (weights * prepared.events).sum() < weights.sum():
            return weights
