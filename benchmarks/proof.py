"""The certificates of the paper's grid: time of the independent checker, and its bounds."""

from __future__ import annotations

from time import process_time

import pandas as pd

import shortlist as sl

from .grid import RIDGES, limits_of
from .measure import CpuShare, Row
from .settings import Settings
from .table import Goal, Summary, format_seconds

TITLE = "Checking the proofs"
ABOUT = (
    "Every problem of the paper's grid: its certificate is checked by `verify`. The gap is the "
    "rigorous one. Time goes with the number of points times rows: a and its entropy for each row, "
    "and a few products with the data, for each point."
)
GOAL_SECONDS = 5.0
GOAL_GAP = 1e-6


def run(settings: Settings) -> list[Row]:
    """Solve and check 72 problems for each seed."""
    rows: list[Row] = []
    for seed in settings.seeds:
        for data in sl.datasets.paper_datasets(n_informative=5, random_state=seed):
            for limit, arguments in limits_of(data).items():
                for ridge in RIDGES:
                    problem = sl.SubsetProblem(data.X, data.y, ridge=ridge, **arguments)
                    certificate = sl.solve(problem).certificate
                    assert certificate is not None
                    started, share = process_time(), CpuShare()
                    verdict = sl.verify(problem, certificate)
                    rows.append(
                        {
                            "seed": seed,
                            "rows": problem.n_rows,
                            "columns": problem.n_columns,
                            "label_noise": data.parameters["label_noise"],
                            "limit": limit,
                            "ridge": ridge,
                            "points": len(certificate.points),
                            "steps": len(certificate.steps),
                            "valid": verdict.valid,
                            "gap": verdict.gap,
                            "seconds": process_time() - started,
                            "cpu_share": share.read(),
                        }
                    )
    return rows


def summarise(frame: pd.DataFrame) -> Summary:
    """Return a line for each size."""
    return Summary(
        header=["data", "valid", "median time", "max time", "max points", "max gap"],
        lines=[
            [
                f"{n_rows} x {n_columns}",
                f"{part['valid'].sum()} of {len(part)}",
                format_seconds(part["seconds"].median()),
                format_seconds(part["seconds"].max()),
                str(part["points"].max()),
                f"{part['gap'].max():.1e}",
            ]
            for (n_rows, n_columns), part in frame.groupby(["rows", "columns"], sort=False)
        ],
        goals=[
            Goal("certificates not valid", float((~frame["valid"]).sum()), 0.0),
            Goal("largest rigorous gap", float(frame["gap"].max()), GOAL_GAP),
            Goal("slowest check, seconds", float(frame["seconds"].max()), GOAL_SECONDS),
        ],
    )
