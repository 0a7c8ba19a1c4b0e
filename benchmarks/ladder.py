"""What the ladders share: problems that grow harder, and peers that leave when too slow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import pandas as pd

import shortlist as sl

from .measure import Row
from .peers.comparison import NATIVE, TOLERANCE, measure
from .peers.registry import EXACT
from .settings import Settings
from .table import Summary, format_percent, format_seconds

# The exact peers that the grid shows to be the fastest, and two fast heuristics.
PEERS = ("cuts, SCIP", "El0ps", "abess", "forward")
SHORT_PEERS = PEERS[2:]
TIME_LIMIT, SHORT_TIME_LIMIT = 20.0, 5.0
_SLOW = 1 / 3  # of the limit, which heuristics do not know; a rung takes several times the last
HOW_TO_READ = (
    "Times are CPU seconds; `>`, or a hollow mark, is a time limit, and then the gap says how far "
    "the native model can be from the best. A percentage is how much worse than the native model "
    "a peer's is. A peer that reached the limit is not asked on the rungs after it, nor is a "
    "heuristic, which knows no limit, that took a third of it. Other empty cells are peers that "
    "the run left out."
)


class Rung(NamedTuple):
    """A problem of a ladder: what rows say about it, and how to make it."""

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
