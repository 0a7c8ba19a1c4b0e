"""Spline columns of the Oxford Parkinson's data: 4 of 88 columns, and 4 of 22 measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.preprocessing import SplineTransformer, minmax_scale

from .measure import Row, compare_with_one_fit
from .settings import Settings, SkippedError
from .table import Goal, Summary, format_seconds

TITLE = "Parkinson's disease from voice recordings"
ABOUT = (
    "195 recordings of the Oxford Parkinson's data (Little et al. 2008, UCI repository). Each of "
    "the 22 measurements becomes 4 cubic B-spline columns (3 knots at quantiles), min-max scaled: "
    "88 columns. Either any 4 columns are selected, or 4 measurements with all their columns. The "
    "ratio is to one scikit-learn fit on all columns, as for the grid."
)
RIDGES = (0.1, 0.02, 0.004)
N_SPLINES = 4
TIME_LIMIT = 300.0
# design.md: the prototype on 4 of 88 columns at ridge 0.004.
PROTOTYPE_SECONDS = 4.0


def load(path: Path) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Read the recordings and expand them.

    The paper has 4 cubic splines with 3 knots along the quartiles. Three knots at the minimum, the
    median and the maximum give 5 cubic B-splines, and the last is left out as the intercept has it.

    Returns
    -------
    X : ndarray of shape (195, 88)
        Spline columns in [0, 1], those of one measurement side by side.
    y : ndarray of shape (195,)
        1 for Parkinson's disease.
    groups : ndarray of shape (88,)
        The measurement of each column.
    """
    if not path.is_file():
        raise SkippedError(
            f"There is no file {path}: download parkinsons.data from the UCI Machine Learning "
            "Repository and pass its place with --data."
        )
    frame = pd.read_csv(path)
    measurements = frame.drop(columns=["name", "status"]).to_numpy(dtype=np.float64)
    splines = SplineTransformer(n_knots=3, degree=3, knots="quantile", include_bias=False)
    X = np.ascontiguousarray(minmax_scale(splines.fit_transform(measurements)))
    groups = np.repeat(np.arange(measurements.shape[1]), N_SPLINES)
    assert X.shape[1] == len(groups)
    return X, frame["status"].to_numpy(dtype=np.int64), groups


def run(settings: Settings) -> list[Row]:
    """Solve both selections at each ridge."""
    X, y, groups = load(settings.data)
    kinds: dict[str, dict[str, Any]] = {
        "4 of 88 columns": {"max_features": 4},
        "4 of 22 measurements": {"max_features": 4, "groups": groups},
    }
    rows: list[Row] = []
    for selection, arguments in kinds.items():
        for ridge in RIDGES:
            row: Row = {
                "selection": selection,
                "rows": X.shape[0],
                "columns": X.shape[1],
                "ridge": ridge,
                "time_limit": settings.time_limit(TIME_LIMIT),
            }
            row |= compare_with_one_fit(
                X,
                y,
                settings.repeats(5),
                time_limit=row["time_limit"],
                ridge=ridge,
                **arguments,
            )
            is_prototype = selection == "4 of 88 columns" and ridge == min(RIDGES)
            rows.append(row | {"prototype_seconds": PROTOTYPE_SECONDS if is_prototype else None})
    return rows


def summarise(frame: pd.DataFrame) -> Summary:
    """Return a line for each problem."""
    known = frame[frame["prototype_seconds"].notna()]
    return Summary(
        header=["selection", "ridge", "status", "time", "ratio", "nodes", "gap"],
        lines=[
            [
                row["selection"],
                f"{row['ridge']:g}",
                row["status"],
                format_seconds(row["seconds"]),
                f"{row['ratio']:.2f}",
                str(row["nodes"]),
                f"{row['gap']:.1e}",
            ]
            for row in frame.to_dict("records")
        ],
        goals=[
            Goal(f"time over the prototype's {PROTOTYPE_SECONDS:g} s", float(ratio), 1.0)
            for ratio in known["seconds"] / known["prototype_seconds"]
        ],
    )
