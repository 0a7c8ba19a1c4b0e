"""Few rows, thousands of columns: gene expression data, and breast cancer for comparison."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import minmax_scale

from .measure import Row, compare_with_one_fit
from .settings import Settings, SkippedError
from .table import Summary, format_seconds

TITLE = "Thousands of columns"
ABOUT = (
    "Colon cancer (Alon and others 1999), leukaemia (Golub and others 1999, training part), as "
    "distributed with LIBSVM, and breast cancer of scikit-learn, min-max scaled. The ratio is to "
    "one scikit-learn fit on all columns, as for the grid. A solve gets 20 s."
)
RIDGES = (1.0, 0.1)
SIZES = (3, 5, 8)
TIME_LIMIT = 20.0
_FILES = {"colon cancer": "colon-cancer.npz", "leukaemia": "leukemia.npz"}


def load(folder: Path) -> Iterator[tuple[str, NDArray[np.float64], NDArray[Any]]]:
    """Yield the name, the scaled columns and the labels of each table."""
    for name, file in _FILES.items():
        if not (folder / file).is_file():
            raise SkippedError(f"There is no {file} beside the file that --data names.")
        with np.load(folder / file) as table:
            yield name, minmax_scale(table["X"]), table["y"]
    X, y = load_breast_cancer(return_X_y=True)
    yield "breast cancer", minmax_scale(X), y


def run(settings: Settings) -> Iterator[Row]:
    """Solve every table with every size at every ridge."""
    for name, X, y in load(settings.data.parent):
        for ridge in RIDGES:
            for size in SIZES[:1] if settings.quick else SIZES:
                facts = {
                    "data": name,
                    "rows": X.shape[0],
                    "columns": X.shape[1],
                    "max_features": size,
                    "ridge": ridge,
                }
                result = compare_with_one_fit(
                    X,
                    y,
                    settings.repeats(3),
                    time_limit=settings.time_limit(TIME_LIMIT),
                    ridge=ridge,
                    max_features=size,
                )
                yield {**facts, **result}


def summarise(frame: pd.DataFrame) -> Summary:
    """Return a line for each data set and ridge."""
    lines = []
    for (data, columns, ridge), part in frame.groupby(["data", "columns", "ridge"], sort=False):
        proven = part["status"] == "optimal"
        times = [format_seconds(seconds) for seconds in part["seconds"]]
        numbers = ", ".join(map(str, part["max_features"]))
        lines.append(
            [
                f"{data}, {columns} columns, ridge {ridge:g}",
                numbers,
                f"{proven.sum()} of {len(part)}",
                ", ".join(times),
                f"{part['ratio'].max():.2f}",
                str(part["nodes"].max()),
            ]
        )
    header = ["data", "at most", "proven", "times", "max ratio", "max nodes"]
    return Summary(header=header, lines=lines)
