"""A ladder of rows: a thousand to a million."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import shortlist as sl

from . import ladder
from .ladder import Rung
from .measure import Row
from .sample import CORRELATION, draw
from .settings import Settings

TITLE = "From a thousand to a million rows"
ABOUT = (
    "30 Gaussian columns with correlation 0.5^|i-j| and labels of a logistic model with 8 of them; "
    f"at most 8 are selected at ridge 1. {ladder.HOW_TO_READ}"
)
N_COLUMNS, N_TRUE, RIDGE = 30, 8, 1.0
STEPS = (1000, 10_000, 100_000, 1_000_000)
SHORT_STEPS = STEPS[:2]
summarise = ladder.summarise


def run(settings: Settings) -> Iterator[Row]:
    """Climb the ladder."""
    steps = STEPS if settings.full else SHORT_STEPS
    rungs = (
        Rung(
            {
                "ladder": f"{N_COLUMNS} columns",
                "step": n_rows,
                "rows": n_rows,
                "columns": N_COLUMNS,
                "correlation": CORRELATION,
                "ridge": RIDGE,
                "max_features": N_TRUE,
            },
            partial(_problem, n_rows),
        )
        for n_rows in (steps[:1] if settings.quick else steps)
    )
    yield from ladder.climb(settings, rungs)


def _problem(n_rows: int) -> sl.SubsetProblem:
    X, y = draw(n_rows, N_COLUMNS, N_TRUE)
    return sl.SubsetProblem(X, y, ridge=RIDGE, max_features=N_TRUE)
