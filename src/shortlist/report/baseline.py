"""Table 1 of a report: every candidate by outcome, with its missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..patients import ModelCard
from ..patients.table import PlainTable
from .content import Rows


def describe_baseline(card: ModelCard, plain: PlainTable) -> Rows:
    """Return each candidate for all patients, those with the event and those without.

    Numbers have their quartiles, truth values and levels their counts, all of the known values.
    """
    everyone = np.ones(len(plain.labels), dtype=bool)
    groups = {"all": everyone, "event": plain.labels == 1, "no_event": plain.labels == 0}
    bought = {term.name for term in card.terms}
    found: Rows = []
    for name, kind in plain.kinds.items():
        row = {"predictor": name, "is_bought": name in bought, "kind": kind, "level": None}
        column = plain.frame[name]
        levels: list[Any] = [None]
        if kind != "numeric":
            levels = [1.0] if kind == "boolean" else sorted(column.dropna().unique())
        found += [
            row
            | {"level": None if kind != "categorical" else level}
            | {group: _describe(column, rows, level) for group, rows in groups.items()}
            for level in levels
        ]
    return found


def _describe(column: pd.Series[Any], rows: NDArray[np.bool_], level: Any) -> dict[str, Any]:
    """Return the quartiles of some values, or how many of them are a level."""
    values = column[rows].dropna()
    n, missing = int(rows.sum()), int(rows.sum()) - len(values)
    facts: dict[str, Any] = {"n": n, "missing": missing, "missing_share": missing / n}
    if level is None:
        quartiles = np.quantile(values, [0.25, 0.5, 0.75]) if len(values) else [None] * 3
        return facts | dict(zip(("q1", "median", "q3"), quartiles, strict=True))
    count = int((values == level).sum())
    return facts | {"count": count, "share": count / len(values) if len(values) else None}
