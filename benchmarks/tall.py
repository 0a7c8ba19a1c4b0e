"""Many rows: time, and memory beyond the data, measured in a process of its own.

`python -m benchmarks.tall ROWS REPEATS` is that process; it prints its row as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd

import shortlist as sl

from .measure import Row, compare_with_one_fit, warm_up
from .sample import draw
from .settings import Settings, SkippedError
from .table import Goal, Summary, format_seconds

TITLE = "Many rows"
ABOUT = (
    "30 correlated Gaussian columns and labels of a logistic model as above, with 8 true "
    "predictors; at most 8 are selected at ridge 1. Memory is the peak of the resident memory "
    "during the solve, less what the process held before it made the data (interpreter and "
    "libraries), over the size of the data: 1 is the data alone."
)
N_ROWS = 200_000
N_COLUMNS = 30
N_TRUE = 8
RIDGE = 1.0
GOAL_MEMORY = 3.0
_STATUS = Path("/proc/self/status")


def run(settings: Settings) -> list[Row]:
    """Start the process that measures."""
    if not _STATUS.is_file():
        raise SkippedError(f"Peak memory is read from {_STATUS}, which this system does not have.")
    n_rows = N_ROWS // 10 if settings.quick else N_ROWS
    command = [sys.executable, "-m", "benchmarks.tall", str(n_rows), str(settings.repeats(3))]
    process = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    row: Row = json.loads(process.stdout)
    return [row]


def measure(n_rows: int, repeats: int) -> Row:
    """Solve once for memory, then a few times for time."""
    warm_up()
    before_data = resident("VmRSS")
    X, y = draw(n_rows, N_COLUMNS, N_TRUE)
    before_solve = resident("VmRSS")
    forget_peak()
    sl.solve(sl.SubsetProblem(X, y, ridge=RIDGE, max_features=N_TRUE), threads=1)
    peak = resident("VmHWM")
    return {
        "rows": n_rows,
        "columns": N_COLUMNS,
        "max_features": N_TRUE,
        "ridge": RIDGE,
        **compare_with_one_fit(X, y, repeats, ridge=RIDGE, max_features=N_TRUE),
        "data_bytes": X.nbytes,
        "resident_before_data": before_data,
        "resident_before_solve": before_solve,
        "resident_peak": peak,
        "memory_ratio": (peak - before_data) / X.nbytes,
    }


def summarise(frame: pd.DataFrame) -> Summary:
    """Return a line for each size."""
    return Summary(
        header=["data", "status", "time", "ratio", "nodes", "gap", "memory, data = 1"],
        lines=[
            [
                f"{row['rows']} x {row['columns']}",
                row["status"],
                format_seconds(row["seconds"]),
                f"{row['ratio']:.2f}",
                str(row["nodes"]),
                f"{row['gap']:.1e}",
                f"{row['memory_ratio']:.2f}",
            ]
            for row in frame.to_dict("records")
        ],
        goals=[Goal("memory over data", float(frame["memory_ratio"].max()), GOAL_MEMORY)],
    )


def resident(entry: str) -> int:
    """Bytes of resident memory: now (VmRSS) or at most (VmHWM).

    Not getrusage: its maximum survives exec, so it would start at that of the parent process.
    """
    for line in _STATUS.read_text().splitlines():
        if line.startswith(f"{entry}:"):
            return 1024 * int(line.split()[1])
    raise RuntimeError(f"{_STATUS} has no {entry}.")


def forget_peak() -> None:
    """Let VmHWM start again from here. Where that is forbidden the result is only larger."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), int(sys.argv[2]))))
