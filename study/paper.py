"""The statements of Knauer and Rodner (2023), sections 5.1 to 5.3: numbers and claims.

`statements.csv` has a line for each: its key, what the paper prints ("true" for a claim), and its
meaning in our words. What the paper says twice is there once. How a number is measured on our
draws is found here under its key, and what a claim asks for in `claims.py`.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

from .draws import EPVS, Draws, Float
from .plan import METHODS, NUMBERS
from .tables import ROLES

# The names of the measures are those of the data file: the paper's 5-point and 11-point amplitude
# perturbation quotients are Shimmer:APQ5 and MDVP:APQ, its correlation dimension is D2.
MEASURES = frozenset({"PPE", "Shimmer:APQ5", "MDVP:APQ", "D2"})
LITTLE_ACCURACY = (0.91, 0.87, 0.96)
_SECTIONS = {"parkinson": "5.1", "cardinality": "5.2", "budget": "5.3"}


class Statement(NamedTuple):
    """A number or a claim of the paper; what is printed like it lies from `low` to `high`."""

    kind: str
    study: str
    key: str
    meaning: str
    stated: str
    low: float
    high: float

    @property
    def place(self) -> str:
        """The section."""
        return _SECTIONS[self.study]


def _read_statements() -> Iterator[Statement]:
    with Path(__file__).with_name("statements.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            key, stated = line["key"], line["paper"]
            kind, low, high = "claim", 1.0, 1.0
            if stated != "true":
                number = float(stated.strip("< %")) / (100 if "%" in stated else 1)
                kind, low, high = "number", number - 0.005, number + 0.005
                if stated.startswith("<"):
                    low, high = 0.0, number
            study = key.partition(".")[0]
            yield Statement(kind, study, key, line["meaning"], stated, low, high)


STATEMENTS: tuple[Statement, ...] = tuple(_read_statements())


def _extreme(method: str, which: str, end: str) -> Callable[[Draws], Float]:
    if end == "estimate":
        return lambda draws: draws.extreme_aucs(method, which)
    return lambda draws: draws.extreme_ends(method, which, end)


def _fraction(method: str, role: str, noise: int, epv: float) -> Callable[[Draws], Float]:
    return lambda draws: draws.cells(method, role, noise)[:, EPVS.index(epv)]


def _largest(method: str, noise: int) -> Callable[[Draws], Float]:
    return lambda draws: draws.cells(method, "informative", noise).max(axis=1)


# How numbers are measured on draws. A fraction that the paper calls the largest is compared with
# the largest of each draw, at whichever EPV that has it.
QUANTITIES: dict[str, Callable[[Draws], Float]] = {
    **{
        f"{study}.{method}.{which}_auc.{end}": _extreme(method, which, end)
        for study, method in product(NUMBERS, METHODS)
        for which, end in product(("lowest", "highest"), ("estimate", "lower", "upper"))
    },
    **{
        f"cardinality.{method}.{role}.noise{noise}.{epv}": _fraction(method, role, noise, epv)
        for method, role, noise, epv in product(METHODS, ROLES, (0, 1), EPVS)
    },
    **{
        f"cardinality.{method}.informative.noise{noise}.largest.{epv}": _largest(method, noise)
        for method, noise, epv in product(METHODS, (0, 1), EPVS)
    },
}


def fractions_of(study: str, role: str, noise: int) -> Iterator[tuple[str, float, float]]:
    """Yield method, EPV and value of the fractions that the paper states."""
    for statement in STATEMENTS:
        parts = statement.key.split(".", 4)
        if len(parts) == 5 and (parts[0], parts[2], parts[3]) == (study, role, f"noise{noise}"):
            epv = float(parts[4].removeprefix("largest."))
            yield parts[1], epv, (statement.low + statement.high) / 2
