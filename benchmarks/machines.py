"""Support vector machines on a few columns: the formulations of papers, and heuristics."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

import shortlist as sl

from .grid import geometric_mean
from .measure import Row
from .peers.comparison import NATIVE, TOLERANCE, measure
from .peers.registry import EXACT, MACHINES
from .settings import Settings
from .table import Summary, format_percent, format_seconds

TITLE = "Peers for support vector machines"
TIME_LIMIT = 5.0
ABOUT = (
    "scikit-learn's breast cancer data (569 rows, 30 columns, standardised; prices 1 to 10 drawn "
    "once) and a data set of the paper (82 rows, 14 columns, 5% label noise), ridge 1. All "
    "minimise our objective, the loss and the squared norm, whatever norm their authors use: "
    "big-M rows as in Labbé, Martínez-Merino and Rodríguez-Chía (2019), with a budget in the place "
    "of the number for prices; generalised Benders cuts in the spirit of Aytug (2015), with "
    "HiGHS; and the conic model with perspective cones. The heuristics are LinearSVC with the L1 "
    "norm and recursive elimination. Times are CPU seconds."
)
FAMILIES = ("squared_hinge", "hinge")


def problems() -> Iterator[tuple[str, Any, Any, dict[str, Any]]]:
    """Yield name, X, y and limits."""
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    costs = np.random.default_rng(0).integers(1, 11, X.shape[1])
    yield "breast cancer, 3 of 30", X, y, {"max_features": 3}
    yield "breast cancer, 5 of 30", X, y, {"max_features": 5}
    yield "breast cancer, budget 10", X, y, {"budget": 10, "costs": costs}
    for data in sl.datasets.paper_datasets(n_informative=5, random_state=0):
        if data.X.shape == (82, 14) and data.parameters["label_noise"] > 0:
            yield "82 x 14, 5 of 14", data.X.to_numpy(), data.y, {"max_features": 5}


def run(settings: Settings) -> Iterator[Row]:
    """Ask every peer about every problem; with `quick`, about the first and the last."""
    for loss in FAMILIES:
        asked = list(problems())
        for name, X, y, limits in asked[:: len(asked) - 1] if settings.quick else asked:
            facts = {
                "problem": name,
                "loss": loss,
                "ridge": 1.0,
                "time_limit": settings.time_limit(TIME_LIMIT),
            }
            make = partial(sl.SubsetProblem, X, y, ridge=1.0, loss=loss, **limits)
            yield from measure(settings, make, facts, settings.only_peers(MACHINES))


def summarise(frame: pd.DataFrame) -> Summary:
    """Return a line for each peer."""
    lines = []
    for name, part in frame[frame["seconds"].notna()].groupby("peer", sort=False):
        is_exact, excess = name in (NATIVE, *EXACT), part["objective"] / part["optimum"] - 1.0
        lines.append(
            [
                str(name),
                f"{(part['status'] == 'optimal').sum()} of {len(part)}" if is_exact else "",
                f"{(excess > TOLERANCE).sum()} of {len(part)}",
                format_percent(max(float(excess.max()), 0.0)),
                format_seconds(float(part["seconds"].median())),
                f"{geometric_mean(part['seconds'] / part['native_seconds']):.3g}",
            ]
        )
    return Summary(
        header=["method", "proven", "misses", "worst miss", "median time", "times ours"],
        lines=lines,
        notes=[f"Each solve had at most {frame['time_limit'].max():g} s."],
    )
