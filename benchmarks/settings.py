"""What a run of the benchmarks is told."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

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
    """

    quick: bool = False
    seeds: tuple[int, ...] = (0,)
    data: Path = PARKINSON
    limit: float = float("inf")

    def repeats(self, full: int) -> int:
        """Return how often to repeat what a full run repeats `full` times."""
        return min(full, 2) if self.quick else full

    def time_limit(self, full: float) -> float:
        """Return the seconds that a solve gets which has `full` seconds in a full run."""
        return min(full, self.limit, 5.0 if self.quick else full)
