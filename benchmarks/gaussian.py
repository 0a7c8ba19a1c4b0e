"""How far it reaches: hundreds of correlated columns, within a time limit."""

from __future__ import annotations

from time import perf_counter

import pandas as pd

import shortlist as sl

from .measure import CpuShare, Row, outcome
from .sample import CORRELATION, draw, true_predictors
from .settings import Settings
from .table import Summary

TITLE = "Many correlated columns"
ABOUT = (
    "Gaussian features with correlation 0.5^|i-j| between columns i and j; labels of a logistic "
    "model with 10 equally spaced predictors, each with coefficient 1. At most 10 are selected at "
    "ridge 1, in one solve with a time limit. At a limit, the gap says how far the model can be "
    "from the best."
)
N_TRUE = 10
RIDGE = 1.0
# Rows, columns, seconds.
CASES = ((1000, 300, 60.0), (1000, 1000, 300.0))


def run(settings: Settings) -> list[Row]:
    """Solve each size once."""
    rows: list[Row] = []
    for n_rows, n_columns, seconds in CASES:
        X, y = draw(n_rows, n_columns, N_TRUE)
        time_limit = settings.time_limit(seconds)
        share = CpuShare()
        started = perf_counter()
        problem = sl.SubsetProblem(X, y, ridge=RIDGE, max_features=N_TRUE)
        solution = sl.solve(problem, time_limit=time_limit, threads=1)
        elapsed = perf_counter() - started
        rows.append(
            {
                "rows": n_rows,
                "columns": n_columns,
                "correlation": CORRELATION,
                "max_features": N_TRUE,
                "ridge": RIDGE,
                "time_limit": time_limit,
                **outcome(solution),
                "true_found": len(set(solution.support) & set(true_predictors(n_columns, N_TRUE))),
                "repeats": 1,
                "seconds": elapsed,
                "cpu_share": share.read(),
            }
        )
    return rows


def summarise(frame: pd.DataFrame) -> Summary:
    """Return a line for each size."""
    return Summary(
        header=["data", "time limit", "status", "time", "nodes", "gap", "true selected"],
        lines=[
            [
                f"{row['rows']} x {row['columns']}",
                f"{row['time_limit']:g} s",
                row["status"],
                f"{row['seconds']:.1f} s",
                str(row["nodes"]),
                f"{row['gap']:.1e}",
                f"{row['true_found']} of {row['max_features']}",
            ]
            for row in frame.to_dict("records")
        ],
    )
