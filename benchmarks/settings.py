"""The options of a run of the benchmarks."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[1]
RESULTS = PROJECT / "benchmarks" / "results"
QUICK_RESULTS = Path(tempfile.gettempdir()) / "shortlist-benchmarks"
PARKINSON = PROJECT.parent / "shared" / "data" / "parkinsons.data"


class SkippedError(Exception):
    """An experiment cannot run here; the message is a sentence that says why."""


@dataclass(frozen=True)
class Settings:
    """Options of one run.

    Attributes
    ----------
    quick : bool
        Fewer repeats and smaller problems, to see that everything runs.
    seeds : tuple of int
        Seeds of the grid's data.
    data : Path
        The file parkinsons.data.
    limit : float
        No solve gets more seconds than this, nor more than its experiment gives it.
    full : bool
        The long rungs of the ladders too.
    peers : tuple of str
        Peers to ask; all, if empty.
    done : tuple of dict
        Rows of an earlier run that did not come to its end.
    """

    quick: bool = False
    seeds: tuple[int, ...] = (0,)
    data: Path = PARKINSON
    limit: float = float("inf")
    full: bool = False
    peers: tuple[str, ...] = ()
    done: tuple[dict[str, Any], ...] = ()

    def repeats(self, full: int) -> int:
        """Return the number of repeats for `full` repeats of a full run."""
        return min(full, 2) if self.quick else full

    def time_limit(self, full: float) -> float:
        """Return the seconds that a solve gets which has `full` seconds in a full run."""
        return min(full, self.limit, 5.0 if self.quick else full)

    def only_peers(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return those of these names that are to be asked."""
        return tuple(name for name in names if not self.peers or name in self.peers)

    def resume(self, facts: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the rows that an earlier run has measured with these facts."""
        return [row for row in self.done if all(row.get(key) == facts[key] for key in facts)]
