"""The experiments, in the order in which they run and are shown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import pandas as pd

from . import (
    columns,
    gaussian,
    grid,
    machine_grid,
    machines,
    parkinson,
    peer_grid,
    proof,
    ridges,
    rows,
    sampling,
    staircase,
    startup,
    tall,
    threads,
    wide,
)
from .measure import Row
from .settings import Settings
from .table import Summary


class Experiment(Protocol):
    """What a file of an experiment has: two texts and two functions."""

    TITLE: str
    ABOUT: str

    def run(self, settings: Settings) -> Iterable[Row]:
        """Measure."""

    def summarise(self, frame: pd.DataFrame) -> Summary:
        """Say what is shown of the measurements."""


EXPERIMENTS: dict[str, Experiment] = {
    "grid": grid,
    "machine_grid": machine_grid,
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
    "columns": columns,
    "rows": rows,
    "ridges": ridges,
}
