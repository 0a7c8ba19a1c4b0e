"""What a user waits for in a new process: the import, and the first solve."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

import numpy as np
import pandas as pd

from .measure import Row, interleave
from .settings import Settings
from .table import Goal, Summary, format_seconds

TITLE = "Starting up"
ABOUT = (
    "Whole processes, each new, with compiled kernels already on disk. Every stage does what the "
    "one above it does, and more; the difference is what it adds."
)
_NAMES = "from shortlist import SubsetProblem, solve"
_FIRST_SOLVE = f"""
import numpy as np
{_NAMES}
X = np.random.default_rng(0).random((82, 14))
y = X[:, 0] + X[:, 1] > 1
solve(SubsetProblem(X, y, ridge=0.1, max_features=2))
"""
STAGES = {
    "python": "pass",
    "import shortlist": "import shortlist",
    _NAMES: _NAMES,
    "a first solve, 82 x 14": _FIRST_SOLVE,
}
GOAL_SECONDS = 1.0


def run(settings: Settings) -> list[Row]:
    """Time each stage in processes of its own; the round that is not timed warms the disk."""
    repeats = settings.repeats(7)
    tasks = {
        stage: partial(subprocess.run, [sys.executable, "-c", code], check=True)
        for stage, code in STAGES.items()
    }
    rows: list[Row] = []
    earlier = 0.0
    measured, cpu_share = interleave(tasks, repeats)
    for stage, seconds in measured.items():
        median = float(np.median(seconds))
        rows.append(
            {
                "stage": stage,
                "status": "done",
                "repeats": repeats,
                "seconds": median,
                "seconds_min": seconds.min(),
                "seconds_added": median - earlier,
                "cpu_share": cpu_share,
            }
        )
        earlier = median
    return rows


def summarise(frame: pd.DataFrame) -> Summary:
    """Return a line for each stage."""
    added = dict(zip(frame["stage"], frame["seconds_added"], strict=True))
    stages = list(STAGES)
    return Summary(
        header=["process", "time", "added"],
        lines=[
            [
                row["stage"],
                format_seconds(row["seconds"]),
                format_seconds(row["seconds_added"]),
            ]
            for row in frame.to_dict("records")
        ],
        goals=[
            Goal("import, seconds", added[stages[1]] + added[stages[2]], GOAL_SECONDS),
            Goal("first solve, seconds more", added[stages[3]], GOAL_SECONDS),
        ],
    )
