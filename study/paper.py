"""The statements of Knauer and Rodner (2023), sections 5.1 to 5.3: numbers and claims.

`statements.csv` has a line for each: its key, what the paper prints ("true" for a claim), and its
meaning in our words. How it is measured on our draws is found here under its key.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from . import claims
from .claims import DRASTIC, GREEDY, OPTIMAL, Quantity
from .draws import EPVS, Draws
from .plan import METHODS
from .tables import ROLES

_SECTIONS = {"parkinson": "5.1", "cardinality": "5.2", "budget": "5.3"}
_ENDS = ("estimate", "lower", "upper")
_LARGEST = "largest"  # over all EPVs

# The names of the measures are those of the data file: the paper's 5-point and 11-point amplitude
# perturbation quotients are Shimmer:APQ5 and MDVP:APQ, its correlation dimension is D2.
MEASURES = frozenset({"PPE", "Shimmer:APQ5", "MDVP:APQ", "D2"})
LITTLE_MEASURES = frozenset({"HNR", "RPDE", "DFA", "PPE"})
LITTLE_ACCURACY = (0.91, 0.87, 0.96)


class Statement(NamedTuple):
    """A number or a claim of the paper.

    `measure` gives, for each draw, our number, or whether the claim holds. What would be printed
    like the number lies from `low` to `high`; a claim has 1 for both.
    """

    kind: str
    study: str
    key: str
    meaning: str
    stated: str
    low: float
    high: float
    measure: Quantity

    @property
    def place(self) -> str:
        """The section."""
        return _SECTIONS[self.study]


def _extreme(method: str, which: str, end: str) -> Quantity:
    return lambda draws: getattr(draws.extreme(method, highest=which == "highest"), end)


def _fraction(method: str, role: str, noise: int, epv: float | str) -> Quantity:
    def measure(draws: Draws) -> Any:
        values = draws.fraction(method, role, noise)
        return values.max(axis=1) if epv == _LARGEST else values[:, EPVS.index(epv)]

    return measure


def _accuracy(i: int) -> Quantity:
    return lambda findings: findings.draws()[i]


_MEASURES: dict[str, Quantity] = {
    **{f"parkinson.accuracy.{end}": _accuracy(i) for i, end in enumerate(_ENDS)},
    **{
        f"{study}.{method}.{which}_auc.{end}": _extreme(method, which, end)
        for study, method in product(("cardinality", "budget"), METHODS)
        for which, end in product(("lowest", "highest"), _ENDS)
    },
    **{
        f"cardinality.{method}.{role}.noise{noise}.{epv}": _fraction(method, role, noise, epv)
        for method, role in product(METHODS, ROLES)
        for noise in (0, 1)
        for epv in (*EPVS, _LARGEST)
    },
    **{
        f"{study}.{key}": check
        for study in ("cardinality", "budget")
        for key, check in {
            "overlap": claims.intervals_overlap,
            "no_difference": claims.no_difference,
            "interpretable_only_at": claims.only_at(17.91, interpretable=True),
            "noise_harms": claims.noise_harms,
        }.items()
    },
    "parkinson.selected": claims.optimum(lambda measures: measures == MEASURES),
    "parkinson.other_than_little": claims.optimum(lambda measures: measures != LITTLE_MEASURES),
    "parkinson.ppe": claims.optimum(lambda measures: "PPE" in measures),
    "parkinson.overlaps_little": claims.accuracy_overlaps(LITTLE_ACCURACY),
    "cardinality.rises": claims.rises(0),
    "cardinality.greedy_largest_at": claims.largest_at(4.73, GREEDY, 0),
    "cardinality.redundant_less": claims.selects_less(OPTIMAL, GREEDY, "redundant", 0),
    "cardinality.uninformative_comparable": claims.comparable("uninformative", 0),
    "cardinality.uninformative_differs_most_at": claims.differ_most_at(17.91, "uninformative", 0),
    "cardinality.noise_lowers_optimal": claims.noise_adds(OPTIMAL, lambda by: by <= -DRASTIC),
    "cardinality.noise_raises_greedy": claims.noise_adds(GREEDY, lambda by: by > 0),
    "cardinality.noisy_optimal_largest_at": claims.largest_at(1.35, OPTIMAL, 1),
    "cardinality.noisy_greedy_largest_at": claims.largest_at(1.35, GREEDY, 1),
    "cardinality.noisy_redundant_less": claims.selects_less(OPTIMAL, GREEDY, "redundant", 1, 3),
    "cardinality.noisy_uninformative_differ_by": claims.never_differ_by(0.015, "uninformative", 1),
    "cardinality.noisy_uninformative_never_below": claims.never_below_2,
    "cardinality.stable_only_at": claims.only_at(17.91),
    "budget.rises": claims.rises(0, 1),
    "budget.informative_comparable": claims.comparable("informative", 0, 1),
    "budget.greedy_redundant_less": claims.selects_less(GREEDY, OPTIMAL, "redundant", 0),
    "budget.noisy_redundant_equivocal": claims.equivocal,
    "budget.uninformative_comparable": claims.comparable("uninformative", 0, 1),
    "budget.uninformative_less_at": claims.less_at_most_events,
    "budget.stable_only_at": claims.only_at(4.73, 17.91),
    "budget.informative_larger_at": claims.larger_at_last,
    "budget.uninformative_low_in_most_runs": claims.low_in_most_runs,
}


def _range_of(stated: str) -> tuple[float, float]:
    """Return between which numbers lies what would be printed like a number."""
    if stated == "true":
        return 1.0, 1.0
    number = float(stated.strip("< %")) / (100 if "%" in stated else 1)
    return (0.0, number) if stated.startswith("<") else (number - 0.005, number + 0.005)


def _read_statements() -> Iterator[Statement]:
    with Path(__file__).with_name("statements.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            key, stated = line["key"], line["paper"]
            kind = "claim" if stated == "true" else "number"
            yield Statement(
                kind,
                key.partition(".")[0],
                key,
                line["meaning"],
                stated,
                *_range_of(stated),
                _MEASURES[key],
            )


STATEMENTS: tuple[Statement, ...] = tuple(_read_statements())
ACCURACY = [float(s.stated) for s in STATEMENTS if s.key.startswith("parkinson.accuracy")]


def fractions_of(study: str, role: str, noise: int) -> Iterator[tuple[str, float, float]]:
    """Yield method, EPV and value of the fractions that the paper states."""
    for statement in STATEMENTS:
        parts = statement.key.split(".", 4)
        if len(parts) < 5 or parts[4] == _LARGEST:
            continue
        if (parts[0], parts[2], parts[3]) == (study, role, f"noise{noise}"):
            yield parts[1], float(parts[4]), (statement.low + statement.high) / 2
