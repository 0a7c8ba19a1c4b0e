"""How far it reaches: hundreds of correlated columns, within a time limit."""

from __future__ import annotations

from collections.abc import Iterator
from time import process_time

import pandas as pd

import shortlist as sl

from .measure import CpuShare, Row, outcome
from .peers.backend import solve_within
from .sample import CORRELATION, draw, true_predictors
from .settings import Settings
from .table import Summary

TITLE = "Many correlated columns"
ABOUT = (
    "Gaussian features with correlation 0.5^|i-j| between columns i and j; labels of a logistic "
    "model with 10 equally spaced predictors, each with coefficient 1. At most 10 are selected at "
    "ridge 1, in one solve with a time limit. 1000 columns are solved twice: with coefficients of "
    "at most 2 in size, as instances of this kind are posed elsewhere (Liu, Shafiee and Lodi "
    "2025), and without that limit. Times are CPU seconds. At a time limit, the gap says how far "
    "the model can be from the best."
)
N_TRUE = 10
RIDGE = 1.0
# Rows, columns, CPU seconds, largest size of a coefficient.
CASES = ((1000, 300, 60.0, None), (1000, 1000, 300.0, 2.0), (1000, 1000, 300.0, None))


def run(settings: Settings) -> Iterator[Row]:
    """Solve each case once."""
    for n_rows, n_columns, seconds, max_coefficient in CASES:
        facts = {
            "rows": n_rows,
            "columns": n_columns,
            "correlation": CORRELATION,
            "max_features": N_TRUE,
            "ridge": RIDGE,
            "max_coefficient": max_coefficient,
            "time_limit": settings.time_limit(seconds),
        }
        yield from settings.resume(facts) or [_solve(facts)]


def _solve(facts: Row) -> Row:
    X, y = draw(facts["rows"], facts["columns"], N_TRUE)
    share, started = CpuShare(), process_time()
    problem = sl.SubsetProblem(
        X, y, ridge=RIDGE, max_features=N_TRUE, max_coefficient=facts["max_coefficient"]
    )
    solution, status = solve_within(problem, "native", facts["time_limit"])
    true = true_predictors(facts["columns"], N_TRUE)
    return {
        **facts,
        **outcome(solution),
        "status": status,
        "true_found": len(set(solution.support) & set(true)),
        "repeats": 1,
        "seconds": process_time() - started,
        "cpu_share": share.read(),
    }


def summarise(frame: pd.DataFrame) -> Summary:
    """Return a line for each case."""
    return Summary(
        header=["data", "time limit", "status", "time", "nodes", "gap", "true selected"],
        lines=[
            [
                f"{row['rows']} x {row['columns']}{limit_of(row)}",
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


def limit_of(row: Row) -> str:
    """Return `, coefficients at most 2`, or nothing where they have no limit."""
    limit = row["max_coefficient"]
    return "" if pd.isna(limit) else f", coefficients at most {limit:g}"
