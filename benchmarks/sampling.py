"""Search on a sample, prove on all rows: time and memory with and without, from memory and disk.

`python -m benchmarks.sampling ROWS COLUMNS WAY` is the process that measures; it prints its row as
JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
import pandas as pd

import shortlist as sl

from .measure import CpuShare, Row, warm_up
from .sample import draw
from .settings import Settings
from .table import Summary, format_seconds
from .tall import forget_peak, resident

TITLE = "A sample of the rows, proven on all of them"
ABOUT = (
    "Gaussian columns with correlation 0.5^|i-j| and labels of a logistic model with 8 of them; at "
    'most 8 are selected at ridge 1. "all rows" is `solve(problem)`, "sample" is `solve(problem, '
    'sample="auto")`, both on float64 in memory; "sample, disk" is the latter on a float32 file '
    "that is mapped. Every answer is proven on all rows. Times are CPU seconds on one thread, "
    "without making the data. Memory is the peak of the resident memory of making the problem and "
    "solving it, less what the process held before it made the data, so it includes the data "
    "themselves where they are in memory."
)
USUAL, SAMPLE, DISK = "all rows", "sample", "sample, disk"
N_TRUE, RIDGE = 8, 1.0
STEPS = [
    *((n, 50, way) for n in (10_000, 100_000, 1_000_000) for way in (USUAL, SAMPLE)),
    (20_000_000, 20, DISK),
    (1_000_000, 50, DISK),
    (10_000_000, 50, DISK),
]
_BLOCK = 200_000


def run(settings: Settings) -> Iterator[Row]:
    """Start a process for each measurement."""
    for n_rows, n_columns, way in STEPS[:2] if settings.quick else STEPS:
        command = [sys.executable, "-m", "benchmarks.sampling", str(n_rows), str(n_columns), way]
        process = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        row: Row = json.loads(process.stdout)
        yield row


def measure(n_rows: int, n_columns: int, way: str) -> Row:
    """Solve once."""
    warm_up()
    _solve(*draw(20_000, n_columns, N_TRUE), SAMPLE)
    before = resident("VmRSS")
    with TemporaryDirectory() as folder:
        if way == DISK:
            X, y = _draw_to_disk(Path(folder) / "X.npy", n_rows, n_columns)
        else:
            X, y = draw(n_rows, n_columns, N_TRUE)
        forget_peak()
        share, started = CpuShare(), process_time()
        solution = _solve(X, y, way)
        seconds = process_time() - started
        peak = resident("VmHWM")
    return {
        "rows": n_rows,
        "columns": n_columns,
        "way": way,
        "seconds": seconds,
        "cpu_share": share.read(),
        "status": solution.status.value,
        "nodes": solution.nodes,
        "gap": solution.gap,
        "objective": solution.objective,
        "data_bytes": X.nbytes,
        "peak_bytes": peak - before,
    }


def _solve(X: np.ndarray, y: np.ndarray, way: str) -> sl.Solution:
    problem = sl.SubsetProblem(X, y, ridge=RIDGE, max_features=N_TRUE)
    return sl.solve(problem, threads=1, sample=None if way == USUAL else "auto")


def _draw_to_disk(path: Path, n_rows: int, n_columns: int) -> tuple[np.memmap, np.ndarray]:
    """Write blocks of rows, each with a seed of its own; return the file, mapped, and labels."""
    X = np.lib.format.open_memmap(path, "w+", np.float32, (n_rows, n_columns))
    y = np.empty(n_rows, dtype=np.int8)
    for seed, first in enumerate(range(0, n_rows, _BLOCK)):
        rows = slice(first, min(first + _BLOCK, n_rows))
        X[rows], y[rows] = draw(rows.stop - first, n_columns, N_TRUE, random_state=seed)
    X.flush()
    del X
    return np.load(path, mmap_mode="r"), y


def summarise(frame: pd.DataFrame) -> Summary:
    """Return a line for each measurement."""
    usual = frame[frame["way"] == USUAL].set_index("rows")["seconds"]
    lines = []
    for row in frame.to_dict("records"):
        faster = usual.get(row["rows"], np.nan) / row["seconds"] if row["way"] == SAMPLE else np.nan
        lines.append(
            [
                f"{row['rows']:,} x {row['columns']}".replace(",", " "),
                row["way"],
                row["status"],
                format_seconds(row["seconds"]),
                "" if np.isnan(faster) else f"{faster:.1f}",
                f"{row['gap']:.1e}",
                f"{row['data_bytes'] / 1e6:.0f} MB",
                f"{row['peak_bytes'] / 1e6:.0f} MB",
            ]
        )
    return Summary(
        header=["data", "way", "status", "CPU time", "times faster", "gap", "data", "memory"],
        lines=lines,
    )


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])))
