"""The gain of more threads on hard problems; they change nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import numpy as np
import pandas as pd

import shortlist as sl

from . import parkinson
from .measure import CpuShare, Row, outcome
from .sample import draw
from .settings import Settings
from .table import Goal, Summary, format_seconds

TITLE = "Threads"
ABOUT = (
    "Three problems that take more than 2 seconds on one thread, solved by one and by two threads "
    "in turns: medians of wall-clock times. Every bit of the answer and of its certificate is the "
    "same."
)
REPEATS = 5
N_THREADS = 2


def problems(settings: Settings) -> Iterator[tuple[str, sl.SubsetProblem]]:
    """Yield problems with their names."""
    for data in sl.datasets.paper_datasets(n_informative=5, random_state=0):
        if data.X.shape == (82, 53) and data.parameters["label_noise"] > 0:
            X = data.X.to_numpy()
            name = "82 x 53, 5 of 53, ridge 0.0001"
            yield name, sl.SubsetProblem(X, data.y, ridge=1e-4, max_features=5)
    X, y = draw(1000, 300, 10)
    yield "1000 x 300, 10 of 300, ridge 1", sl.SubsetProblem(X, y, ridge=1.0, max_features=10)
    X, y, _ = parkinson.load(settings.data)
    yield "Parkinson, 6 of 88, ridge 0.004", sl.SubsetProblem(X, y, ridge=0.004, max_features=6)


def run(settings: Settings) -> Iterator[Row]:
    """Solve each problem by one thread and by two, in turns."""
    repeats = settings.repeats(REPEATS)
    for name, problem in problems(settings):
        seconds: dict[int, list[float]] = {1: [], N_THREADS: []}
        shares = []
        answers = []
        for _ in range(repeats):
            for threads, times in seconds.items():
                share, started = CpuShare(), perf_counter()
                solution = sl.solve(problem, threads=threads)
                times.append(perf_counter() - started)
                if threads == 1:
                    shares.append(share.read())
                answers.append((outcome(solution), solution.certificate))
        assert all(answer == answers[0] for answer in answers), name
        one, more = (float(np.median(times)) for times in seconds.values())
        yield {
            "problem": name,
            **answers[0][0],
            "repeats": repeats,
            "seconds": one,
            "seconds_two": more,
            "speedup": one / more,
            "cpu_share": float(np.mean(shares)),
        }


def summarise(frame: pd.DataFrame) -> Summary:
    """Return a line for each problem."""
    return Summary(
        header=["problem", "nodes", "one thread", "two threads", "times faster"],
        lines=[
            [
                row["problem"],
                str(row["nodes"]),
                format_seconds(row["seconds"]),
                format_seconds(row["seconds_two"]),
                f"{row['speedup']:.2f}",
            ]
            for row in frame.to_dict("records")
        ],
        goals=[
            Goal(
                "largest share of the time of one thread",
                float((1 / frame["speedup"]).max()),
                1 / 1.6,
            )
        ],
    )
