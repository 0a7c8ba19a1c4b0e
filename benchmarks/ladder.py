"""Ladders of columns, rows and ridges: problems that grow harder, and slow peers leave."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

import pandas as pd

import shortlist as sl

from .measure import Row
from .peers.comparison import NATIVE, TOLERANCE, measure
from .peers.registry import EXACT
from .sample import CORRELATION, draw
from .settings import Settings
from .table import Summary, format_percent, format_seconds

# The exact peers that the grid shows to be the fastest, and two fast heuristics.
PEERS = ("cuts, SCIP", "El0ps", "abess", "forward")
SHORT_PEERS = PEERS[2:]
TIME_LIMIT, SHORT_TIME_LIMIT = 20.0, 5.0
_SLOW = 1 / 3  # of the limit, which heuristics do not know; a rung takes several times the last
HOW_TO_READ = (
    "`>`, or a hollow mark, is a time limit. A percentage is how much worse than the native model "
    "a peer's is. A peer that reached the limit, or a heuristic that took a third of it, is not "
    "asked on the rungs after it."
)


class Rung(NamedTuple):
    """A problem of a ladder: the facts that its rows repeat, and how to make it."""

    facts: Row  # `ladder`, its name, and `step`, what changes from rung to rung, among it
    make: Callable[[], sl.SubsetProblem]


def climb(settings: Settings, rungs: Iterable[Rung]) -> Iterator[Row]:
    """Solve the problems of one ladder in turn.

    A peer that is too slow on a rung is not asked on the next ones. The native backend always is.
    """
    time_limit = settings.time_limit(TIME_LIMIT if settings.full else SHORT_TIME_LIMIT)
    peers = settings.only_peers(PEERS if settings.full else SHORT_PEERS)
    for facts, make in rungs:
        too_slow = set()
        for row in measure(settings, make, facts | {"time_limit": time_limit}, peers):
            longest = time_limit if row["peer"] in EXACT else _SLOW * time_limit
            if row.get("seconds", 0.0) > longest or row["status"] in ("time_limit", "failed"):
                too_slow.add(row["peer"])
            yield row
        peers = tuple(name for name in peers if name not in too_slow)


def summarise(frame: pd.DataFrame) -> Summary:
    """Return a line for each rung."""
    answered = frame[frame["seconds"].notna()]
    peers = [name for name in dict.fromkeys(answered["peer"]) if name != NATIVE]
    lines = []
    for (ladder, step), part in answered.groupby(["ladder", "step"], sort=False):
        rows = {row["peer"]: row for row in part.to_dict("records")}
        native = rows[NATIVE]
        lines.append(
            [
                f"{ladder}: {step:.10g}",
                _time(native),
                f"{native['nodes']:.0f}",
                f"{native['gap']:.1e}",
                *(_time(rows[peer]) if peer in rows else "" for peer in peers),
            ]
        )
    limits = sorted(set(frame["time_limit"]))
    return Summary(
        header=["problem", NATIVE, "nodes", "gap", *peers],
        lines=lines,
        notes=[f"Time limit: {' and '.join(f'{limit:g} s' for limit in limits)} of CPU time."],
    )


def _time(row: Row) -> str:
    """Return `4.1 ms`, `> 60 s` or, for a worse model, `4.1 ms (+0.3%)`."""
    excess = row["objective"] / row["optimum"] - 1.0
    mark = "> " if row["status"] == "time_limit" else ""
    worse = f" (+{format_percent(excess)})" if excess > TOLERANCE else ""
    return mark + format_seconds(row["seconds"]) + worse


class Ladder(NamedTuple):
    """An experiment: see `catalogue.Experiment`."""

    TITLE: str
    ABOUT: str
    run: Callable[[Settings], Iterator[Row]]
    summarise: Callable[[pd.DataFrame], Summary] = summarise


def _steps(settings: Settings, steps: tuple[float, ...], short: int) -> tuple[float, ...]:
    """Return the steps of a run: some of them, unless it is full, or only the first."""
    return steps[: 1 if settings.quick else None if settings.full else short]


_RIDGES = (10.0, 1.0, 0.1, 0.02, 0.004, 0.001, 0.0003, 0.0001, 0.00003, 0.00001)


def _climb_columns(settings: Settings) -> Iterator[Row]:
    """Climb one ladder for each correlation."""
    n_rows, n_true, ridge = 1000, 10, 30.0
    for correlation in (0.5, 0.9):
        rungs = (
            Rung(
                {
                    "ladder": f"correlation {correlation:g}",
                    "step": n_columns,
                    "rows": n_rows,
                    "columns": n_columns,
                    "ridge": ridge,
                    "max_features": n_true,
                },
                partial(_drawn, n_rows, n_columns, n_true, ridge, correlation),
            )
            for n_columns in _steps(settings, (100, 300, 1000, 3000, 10_000), 3)
        )
        yield from climb(settings, rungs)


def _climb_rows(settings: Settings) -> Iterator[Row]:
    n_columns, n_true, ridge = 30, 8, 1.0
    rungs = (
        Rung(
            {
                "ladder": f"{n_columns} columns",
                "step": n_rows,
                "rows": n_rows,
                "columns": n_columns,
                "correlation": CORRELATION,
                "ridge": ridge,
                "max_features": n_true,
            },
            partial(_drawn, n_rows, n_columns, n_true, ridge, CORRELATION),
        )
        for n_rows in _steps(settings, (1000, 10_000, 100_000, 1_000_000), 2)
    )
    yield from climb(settings, rungs)


def _drawn(
    n_rows: int, n_columns: int, n_true: int, ridge: float, correlation: float
) -> sl.SubsetProblem:
    X, y = draw(n_rows, n_columns, n_true, correlation=correlation)
    return sl.SubsetProblem(X, y, ridge=ridge, max_features=n_true)


def _climb_ridges(settings: Settings) -> Iterator[Row]:
    """Climb one ladder for each of the paper's data sets with 53 columns and label noise."""
    max_features = 5
    for data in sl.datasets.paper_datasets(n_informative=5, random_state=0):
        n_rows, n_columns = data.X.shape
        if n_columns != 53 or data.parameters["label_noise"] == 0:
            continue
        rungs = (
            Rung(
                {
                    "ladder": f"{n_rows} x {n_columns}",
                    "step": ridge,
                    "rows": n_rows,
                    "columns": n_columns,
                    "label_noise": data.parameters["label_noise"],
                    "ridge": ridge,
                    "max_features": max_features,
                },
                partial(
                    sl.SubsetProblem,
                    data.X.to_numpy(),
                    data.y,
                    ridge=ridge,
                    max_features=max_features,
                ),
            )
            for ridge in _steps(settings, _RIDGES, 5)
        )
        yield from climb(settings, rungs)


COLUMNS = Ladder(
    "From 100 to 10 000 columns",
    "1000 rows of Gaussian features with correlation 0.5^|i-j| or 0.9^|i-j| between columns i and "
    "j, and labels of a logistic model with 10 equally spaced predictors. At most 10 are selected. "
    "Ridge 30 is strong; the section on many correlated columns has ridge 1. "
    f"{HOW_TO_READ}",
    _climb_columns,
)
ROWS = Ladder(
    "From a thousand to a million rows",
    "30 Gaussian columns with correlation 0.5^|i-j| and labels of a logistic model with 8 of them; "
    f"at most 8 are selected at ridge 1. {HOW_TO_READ}",
    _climb_rows,
)
RIDGES = Ladder(
    "From a strong ridge to a weak one",
    "The paper's data with 53 columns and 5% label noise, at most 5 predictors. The weaker the "
    f"ridge, the weaker are all bounds that come from the relaxation. {HOW_TO_READ}",
    _climb_ridges,
)
