"""CPU seconds of a new process: the import, the first solve, the first list and staircase."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pandas as pd

from .measure import CpuShare, Row
from .settings import Settings
from .table import Goal, Summary, format_seconds

TITLE = "Starting up"
ABOUT = "CPU seconds of whole processes, each new. A fit of scikit-learn is what to compare with."
_DATA = """
import numpy as np
X = np.random.default_rng(0).random((82, 14))
y = X[:, 0] + X[:, 1] > 1
"""
_IMPORT = "from shortlist import SubsetProblem, solve"
_SOLVE = f"""{_DATA}
{_IMPORT}
problem = SubsetProblem(X, y, ridge=0.1, budget=2, costs=np.ones(14))
solve(problem)
"""
_ALL = f"""{_SOLVE}
from shortlist import near_optimal, solve_path
near_optimal(problem, tolerance=0.01)
solve_path(problem)
"""
_FIT = f"""{_DATA}
from sklearn.linear_model import LogisticRegression
LogisticRegression(C=10).fit(X, y)
"""
PEER = "scikit-learn, one fit"
PROCESSES = {
    "python": "pass",
    PEER: _FIT,
    "import shortlist": "import shortlist",
    _IMPORT: f"import numpy\n{_IMPORT}",
    "a first solve, 82 x 14": _SOLVE,
    "a first optimum, listing and staircase": _ALL,
}
_SOLVED = "a first solve, 82 x 14"


def run(settings: Settings) -> list[Row]:
    """Time each process; the round that is not timed warms the disk."""
    repeats = settings.repeats(7)
    share = CpuShare()
    seconds: dict[str, list[float]] = {stage: [] for stage in PROCESSES}
    for timed in range(-1, repeats):
        for stage, code in PROCESSES.items():
            spent = _cpu_seconds_of(code)
            if timed >= 0:
                seconds[stage].append(spent)
    cpu_share = share.read()
    peer = float(np.median(seconds[PEER]))
    return [
        {
            "stage": stage,
            "status": "done",
            "repeats": len(all_seconds),
            "cpu_seconds": float(np.median(all_seconds)),
            "cpu_seconds_min": min(all_seconds),
            "ratio": float(np.median(all_seconds)) / peer,
            "cpu_share": cpu_share,
        }
        for stage, all_seconds in seconds.items()
    ]


def _cpu_seconds_of(code: str) -> float:
    """Return the CPU seconds of a process that runs the code."""
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"This process ended with {process.returncode}: {code}")
    return usage.ru_utime + usage.ru_stime


def summarise(frame: pd.DataFrame) -> Summary:
    """Return a line for each process."""
    seconds = dict(zip(frame["stage"], frame["cpu_seconds"], strict=True))
    share = seconds[_SOLVED] / seconds[PEER]
    return Summary(
        header=["process", "CPU time", "of a scikit-learn fit's"],
        lines=[
            [row["stage"], format_seconds(row["cpu_seconds"]), f"{row['ratio']:.2f}"]
            for row in frame.to_dict("records")
        ],
        notes=[
            f"A process with a first solve takes {share:.2f} of what that of scikit-learn takes."
        ],
        goals=[
            Goal("a process with a first solve, of scikit-learn's process", share, 0.35),
        ],
    )
