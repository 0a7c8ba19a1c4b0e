"""Times and outcomes of solves, and the machine and versions they ran on."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_info  # type: ignore[import-untyped]

import shortlist as sl
from shortlist.native.core import core
from study.provenance import processor

Row = dict[str, Any]
Float = NDArray[np.float64]
QUIET = 0.9


class CpuShare:
    """CPU time over wall-clock time since this was made.

    On one thread it is 1 unless the process had to wait. Below `QUIET`, other work on the machine
    took part in the measurement: wall-clock times then are too large, and not by the same factor
    for all, and CPU times a little.
    """

    def __init__(self) -> None:
        self._wall, self._cpu = perf_counter(), _cpu_seconds()

    def read(self) -> float:
        """Return the share."""
        return (_cpu_seconds() - self._cpu) / (perf_counter() - self._wall)


def interleave(
    tasks: Mapping[str, Callable[[], object]], repeats: int
) -> tuple[dict[str, Float], float]:
    """Take the CPU time of tasks in turn, so that what slows the processor slows all of them.

    By the wall clock, other work on the machine would make a long task wait more than a short one.

    Parameters
    ----------
    tasks : mapping from name to function
        What to time.
    repeats : int
        Number of timed rounds; one that is not timed comes before them.

    Returns
    -------
    seconds : dict from name to ndarray of shape (repeats,)
        CPU seconds of every round.
    cpu_share : float
        See `CpuShare`.
    """
    seconds = {name: np.empty(repeats) for name in tasks}
    for task in tasks.values():
        task()
    share = CpuShare()
    for i in range(repeats):
        for name, task in tasks.items():
            started = process_time()
            task()
            seconds[name][i] = process_time() - started
    return seconds, share.read()


def compare_with_one_fit(
    X: Float,
    y: NDArray[Any],
    repeats: int,
    time_limit: float | None = None,
    **problem: Any,
) -> Row:
    """Time making and solving a problem against one fit of scikit-learn on all columns.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        Features.
    y : ndarray of shape (n_rows,)
        Labels.
    repeats : int
        Rounds of one solve and one fit each.
    time_limit : float, optional
        Seconds that a solve gets.
    **problem
        The other arguments of `SubsetProblem`; `ridge` must be among them.

    Returns
    -------
    dict
        Medians and minima of the seconds, the ratio of the medians, and the outcome.
    """
    solutions: list[sl.Solution] = []

    def solve() -> None:
        posed = sl.SubsetProblem(X, y, **problem)
        solutions.append(sl.solve(posed, time_limit=time_limit, threads=1))

    def fit() -> None:
        LogisticRegression(C=1 / problem["ridge"], max_iter=10_000).fit(X, y)

    seconds, cpu_share = interleave({"solve": solve, "fit": fit}, repeats)
    median_solve, median_fit = np.median(seconds["solve"]), np.median(seconds["fit"])
    return {
        **outcome(solutions[-1]),
        "repeats": repeats,
        "seconds": median_solve,
        "seconds_min": seconds["solve"].min(),
        "sklearn_seconds": median_fit,
        "sklearn_seconds_min": seconds["fit"].min(),
        "ratio": median_solve / median_fit,
        "cpu_share": cpu_share,
    }


def outcome(solution: sl.Solution) -> Row:
    """Return status, nodes, gap and such of a solution."""
    return {
        "status": solution.status.value,
        "nodes": solution.nodes,
        "gap": solution.gap,
        "objective": solution.objective,
        "lower_bound": solution.lower_bound,
        "support": " ".join(map(str, solution.support)),
    }


def warm_up() -> None:
    """Load all that a first solve and a first fit need."""
    data = sl.datasets.make_prognostic(82, 14)
    X = data.X.to_numpy()
    compare_with_one_fit(X, data.y, 1, ridge=0.1, max_features=2)
    compare_with_one_fit(X, data.y, 1, ridge=0.1, budget=10, costs=data.costs)


def notes_on_noise(frame: pd.DataFrame) -> list[str]:
    """Return a sentence if other work disturbed the measurements, else nothing."""
    n_disturbed = int((frame["cpu_share"] < QUIET).sum())
    if n_disturbed == 0:
        return []
    return [
        f"Preliminary: in {n_disturbed} of {len(frame)} measurements the process had the CPU for "
        f"less than {QUIET:.0%} of the time. CPU times leave out the waiting, but not what caches "
        "lose by it. Repeat them on a quiet machine."
    ]


@cache
def system() -> Row:
    """Return what goes on every row: versions, machine and the date of this run."""
    return {
        "shortlist": sl.__version__,
        "shortlist_sources": _digest_of_sources(),
        "numpy": version("numpy"),
        "scikit_learn": version("scikit-learn"),
        "core": core.__name__.rpartition(".")[2],
        "python": platform.python_version(),
        "cpu": processor(),
        "cores": os.cpu_count(),
        "threads": max((pool["num_threads"] for pool in threadpool_info()), default=1),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _cpu_seconds() -> float:
    times = os.times()
    return process_time() + times.children_user + times.children_system


def _digest_of_sources() -> str:
    """Name the code itself: between releases it changes and the version does not."""
    folder = Path(sl.__file__).parents[2]
    digest = sha256()
    sources = (*(folder / "src").rglob("*.py"), *(folder / "core").glob("*.[ch]pp"))
    for path in sorted(sources):
        digest.update(str(path.relative_to(folder)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
