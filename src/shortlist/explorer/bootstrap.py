"""How often each predictor is bought when the patients are drawn again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite, nan
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..backends import solve, uninterrupted
from ..evaluation import inclusion_frequencies, stability
from ..result import Status
from .cohort import Cohort
from .fitted import STEP_SECONDS, Callback, make_problem
from .state import State

N_RESAMPLES = 100


def draw_selections(cohort: Cohort, state: State, callback: Callback) -> Iterator[dict[str, Any]]:
    """Yield after every resample how often each predictor was bought so far.

    The columns are prepared once, on all rows; a resample weighs rows, or whole persons.
    """
    rng = np.random.default_rng(0)
    selection = np.zeros((N_RESAMPLES, len(cohort.design.names)), dtype=bool)
    unproven = 0
    for done in range(N_RESAMPLES):
        problem = make_problem(cohort, state, sample_weight=_draw(cohort, rng))
        solution = uninterrupted(solve(problem, time_limit=STEP_SECONDS, callback=callback))
        selection[done, list(solution.support)] = True
        unproven += solution.status is not Status.OPTIMAL
        yield _frequencies(cohort.design.names, selection[: done + 1], unproven)


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
