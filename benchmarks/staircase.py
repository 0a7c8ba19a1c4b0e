"""The whole staircase of budgets against solving its budgets one by one."""

from __future__ import annotations

import numpy as np
import pandas as pd

import shortlist as sl
from shortlist.choice import Path

from .grid import RIDGES
from .measure import Row, interleave
from .settings import Settings
from .table import Goal, Summary, format_seconds

TITLE = "Every budget"
ABOUT = (
    "The 1090 x 53 data of the grid, costs 1 to 10: `solve_path` up to budget 40, against making "
    "and solving the problem for every budget from 0 to 40. `hardest` is the share of the latter "
    "that the one budget takes which takes longest: no staircase that includes it is much cheaper."
)
HIGHEST = 40
GOAL_RATIO = 0.2


def run(settings: Settings) -> list[Row]:
    """Time both ways in turn, for each data set and ridge."""
    rows: list[Row] = []
    highest = HIGHEST // 4 if settings.quick else HIGHEST
    for seed in settings.seeds:
        for data in sl.datasets.paper_datasets(n_informative=5, random_state=seed):
            if data.X.shape != (1090, 53):
                continue
            for ridge in RIDGES:
                rows.append(
                    {
                        "seed": seed,
                        "label_noise": data.parameters["label_noise"],
                        "ridge": ridge,
                        "highest": highest,
                        **_compare(data, ridge, highest, settings.repeats(3)),
                    }
                )
    return rows


def _compare(data: sl.datasets.PrognosticData, ridge: float, highest: int, repeats: int) -> Row:
    X, costs = data.X.to_numpy(), np.asarray(data.costs)

    def problem(budget: int) -> sl.SubsetProblem:
        return sl.SubsetProblem(X, data.y, ridge=ridge, costs=costs).with_limits(budget=budget)

    def path() -> None:
        paths.append(sl.solve_path(problem(highest)))

    tasks = {str(b): lambda b=b: sl.solve(problem(b), threads=1) for b in range(highest + 1)}
    paths: list[Path] = []
    seconds, cpu_share = interleave({"path": path, **tasks}, repeats)
    medians = {name: float(np.median(times)) for name, times in seconds.items()}
    alone = [medians[name] for name in tasks]
    return {
        "steps": len(paths[-1]),
        "certified": paths[-1].is_certified,
        "seconds": medians["path"],
        "one_by_one_seconds": sum(alone),
        "ratio": medians["path"] / sum(alone),
        "hardest": max(alone) / sum(alone),
        "repeats": repeats,
        "cpu_share": cpu_share,
    }


def summarise(frame: pd.DataFrame) -> Summary:
    """Return a line for each data set and ridge."""
    return Summary(
        header=["data", "steps", "path", "one by one", "ratio", "hardest"],
        lines=[
            [
                f"{row['label_noise']:.0%} noise, ridge {row['ridge']:g}",
                str(row["steps"]),
                format_seconds(row["seconds"]),
                format_seconds(row["one_by_one_seconds"]),
                f"{row['ratio']:.2f}",
                f"{row['hardest']:.2f}",
            ]
            for row in frame.to_dict("records")
        ],
        goals=[Goal("largest ratio", float(frame["ratio"].max()), GOAL_RATIO)],
    )
