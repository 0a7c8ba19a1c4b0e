"""The experiments, in the order in which they run and are shown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import pandas as pd

from . import (
    gaussian,
    grid,
    ladder,
    machine_grid,
    machines,
    outcomes,
    parkinson,
    peer_grid,
    proof,
    sampling,
    staircase,
    startup,
    survival,
    tall,
    threads,
    wide,
)
from .measure import Row
from .settings import Settings
from .table import Summary


class Experiment(Protocol):
    """Two texts and two functions; most are the files of their names."""

    TITLE: str
    ABOUT: str

    def run(self, settings: Settings) -> Iterable[Row]:
        """Measure."""

    def summarise(self, frame: pd.DataFrame) -> Summary:
        """Return the table of the measurements, with notes and goals."""


EXPERIMENTS: dict[str, Experiment] = {
    "grid": grid,
    "machine_grid": machine_grid,
    "outcomes": outcomes,
    "survival": survival,
    "parkinson": parkinson,
    "gaussian": gaussian,
    "tall": tall,
    "wide": wide,
    "sampling": sampling,
    "startup": startup,
    "proof": proof,
    "staircase": staircase,
    "threads": threads,
    "peers": peer_grid,
    "machines": machines,
    "columns": ladder.COLUMNS,
    "rows": ladder.ROWS,
    "ridges": ladder.RIDGES,
}
