"""A finished variant of the Parkinson experiment, as the comparison needs it."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from .claims import LARGE_OVERLAP, Check, Finding, overlap
from .draw import Interval


class Variant(NamedTuple):
    """A variant: its accuracy, and the measures selected on the data as they are."""

    name: str
    accuracy: Interval
    measures: frozenset[str]


def finished_variants(summary: pd.DataFrame | None) -> list[Variant]:
    """Return the finished variants."""
    if summary is None:
        return []
    columns = ["accuracy", "accuracy_lower", "accuracy_upper"]
    return [
        Variant(name, Interval(*accuracy), frozenset(measures.split("; ")))
        for name, accuracy, measures in zip(
            summary["variant"], summary[columns].to_numpy(), summary["measures"], strict=True
        )
    ]


def selects(measures: frozenset[str]) -> Check:
    """The measures selected are these."""
    return lambda variant: Finding(variant.measures == measures, _told(variant.measures))


def selects_other_than(measures: frozenset[str]) -> Check:
    """The measures selected are not these."""
    return lambda variant: Finding(variant.measures != measures, _told(variant.measures))


def includes(measure: str) -> Check:
    """A measure is among those selected."""
    return lambda variant: Finding(measure in variant.measures, _told(variant.measures))


def overlaps(other: Interval) -> Check:
    """The interval of the accuracy overlaps to a large extent with another."""

    def check(variant: Variant) -> Finding:
        own = variant.accuracy
        shared = overlap(own, other)
        return Finding(
            shared >= LARGE_OVERLAP,
            f"[{own.lower:.2f}, {own.upper:.2f}], {max(shared, 0):.0%} of the shorter one shared",
        )

    return check


def _told(measures: frozenset[str]) -> str:
    return ", ".join(sorted(measures))
