"""A ladder of columns: 100 to 10 000, of which 10 matter."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import shortlist as sl

from . import ladder
from .ladder import Rung
from .measure import Row
from .sample import draw
from .settings import Settings

TITLE = "From 100 to 10 000 columns"
ABOUT = (
    "1000 rows of Gaussian features with correlation 0.5^|i-j| or 0.9^|i-j| between columns i and "
    "j, and labels of a logistic model with 10 equally spaced predictors. At most 10 are selected. "
    "Ridge 30 is strong; the section on many correlated columns has ridge 1. "
    f"{ladder.HOW_TO_READ}"
)
N_ROWS, N_TRUE, RIDGE = 1000, 10, 30.0
CORRELATIONS = (0.5, 0.9)
STEPS = (100, 300, 1000, 3000, 10_000)
SHORT_STEPS = STEPS[:3]
summarise = ladder.summarise


def run(settings: Settings) -> Iterator[Row]:
    """Climb one ladder for each correlation."""
    steps = STEPS if settings.full else SHORT_STEPS
    for correlation in CORRELATIONS:
        rungs = (
            Rung(
                {
                    "ladder": f"correlation {correlation:g}",
                    "step": n_columns,
                    "rows": N_ROWS,
                    "columns": n_columns,
                    "ridge": RIDGE,
                    "max_features": N_TRUE,
                },
                partial(_problem, n_columns, correlation),
            )
            for n_columns in (steps[:1] if settings.quick else steps)
        )
        yield from ladder.climb(settings, rungs)


def _problem(n_columns: int, correlation: float) -> sl.SubsetProblem:
    X, y = draw(N_ROWS, n_columns, N_TRUE, correlation=correlation)
    return sl.SubsetProblem(X, y, ridge=RIDGE, max_features=N_TRUE)
