"""The paper's synthetic settings: small problems, solved in less than a plain fit takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import shortlist as sl

from .measure import Row, compare_with_one_fit
from .settings import Settings
from .table import Goal, Summary, format_seconds

TITLE = "The paper's grid"
ABOUT = (
    "The eight synthetic data sets of Knauer and Rodner (2023), each with at most 2 and at most 5 "
    "predictors and with a budget of 10 (costs 1 to 10), at ridge 0.1, 0.02 and 0.004. The ratio "
    "is the time to make and solve the problem to a gap of 1e-6, over the time of one "
    "`LogisticRegression(C=1/ridge, max_iter=10000).fit` on all columns in the same process: below "
    "1, the certified best selection costs less than a plain fit."
)
RIDGES = (0.1, 0.02, 0.004)
GOAL_MEAN = 0.15
GOAL_MAXIMUM = 8.0


def limits_of(data: sl.datasets.PrognosticData) -> dict[str, dict[str, Any]]:
    """Return the three kinds of limit, by name."""
    return {
        "2 predictors": {"max_features": 2},
        "5 predictors": {"max_features": 5},
        "budget 10": {"budget": 10, "costs": data.costs},
    }


def run(settings: Settings) -> list[Row]:
    """Solve 72 problems for each seed."""
    rows: list[Row] = []
    for seed in settings.seeds:
        for data in sl.datasets.paper_datasets(n_informative=5, random_state=seed):
            X = data.X.to_numpy()
            for limit, arguments in limits_of(data).items():
                for ridge in RIDGES:
                    row = {
                        "seed": seed,
                        "rows": X.shape[0],
                        "columns": X.shape[1],
                        "label_noise": data.parameters["label_noise"],
                        "limit": limit,
                        "ridge": ridge,
                    }
                    repeats = settings.repeats(11)
                    measured = compare_with_one_fit(X, data.y, repeats, ridge=ridge, **arguments)
                    rows.append(row | measured)
    return rows


def summarise(frame: pd.DataFrame) -> Summary:
    """Return a line for each size and ridge, and one for each seed as a whole."""
    lines = [
        _line(f"{n_rows} x {n_columns}, ridge {ridge:g}", part)
        for (n_rows, n_columns, ridge), part in frame.groupby(
            ["rows", "columns", "ridge"], sort=False
        )
    ]
    seeds = list(frame.groupby("seed", sort=False))
    lines += [_line(f"all, seed {seed}", part) for seed, part in seeds]
    if len(seeds) > 1:
        lines.append(_line("all", frame))
    fastest = frame["seconds_min"] / frame["sklearn_seconds_min"]
    worst = frame.iloc[int(frame["ratio"].argmax())]
    return Summary(
        header=["data", "proven", "median time", "mean ratio", "max ratio", "max nodes"],
        lines=lines,
        notes=[
            "Means of ratios are geometric. The largest ratio is that of "
            f"{worst['rows']} x {worst['columns']}, {worst['label_noise']:.0%} label noise, "
            f"{worst['limit']}, ridge {worst['ridge']:g}, seed {worst['seed']}: "
            f"{worst['nodes']} nodes in {format_seconds(worst['seconds'])}. "
            f"The largest gap is {frame['gap'].max():.1e}. From fastest rounds instead of medians, "
            f"the mean ratio is {geometric_mean(fastest):.2f}, the largest {fastest.max():.2f}."
        ],
        goals=[
            Goal("geometric mean of the ratios", geometric_mean(frame["ratio"]), GOAL_MEAN),
            Goal("largest ratio", float(frame["ratio"].max()), GOAL_MAXIMUM),
            Goal("problems not certified", float((frame["status"] != "optimal").sum()), 0),
        ],
    )


def geometric_mean(ratios: pd.Series[float]) -> float:
    """Return the mean that treats twice as fast and twice as slow alike."""
    return float(np.exp(np.log(ratios).mean()))


def _line(name: str, part: pd.DataFrame) -> list[str]:
    return [
        name,
        f"{(part['status'] == 'optimal').sum()} of {len(part)}",
        format_seconds(float(part["seconds"].median())),
        f"{geometric_mean(part['ratio']):.2f}",
        f"{part['ratio'].max():.2f}",
        str(part["nodes"].max()),
    ]
