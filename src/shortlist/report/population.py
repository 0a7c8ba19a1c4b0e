"""The patients of a report: their number, Table 1, and the criteria of sample size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ..arguments import Int
from ..patients import ModelCard
from ..patients.table import PlainTable
from ..problem import SubsetProblem
from ..sample_size import judge_sample_size, persons_by_outcome
from .content import BaselineRow, Facts, PersonCount, SampleSize


def count_persons(labels: Int, persons: ArrayLike | None) -> PersonCount:
    """Count rows and persons; without persons each row is a patient.

    A person has the event if any of its rows has.
    """
    rows = len(labels)
    n_persons = rows if persons is None else len(pd.unique(np.asarray(persons)))
    without_event, with_event = persons_by_outcome(labels, persons)
    has_several_rows = n_persons < rows
    return PersonCount(
        rows=rows,
        persons=n_persons,
        with_event=with_event,
        without_event=without_event,
        has_several_rows=has_several_rows,
        unit="persons" if has_several_rows else "patients",
        row_unit="rows" if has_several_rows else "patients",
        text=f"{rows} rows of {n_persons} persons" if has_several_rows else f"{rows} patients",
    )


def describe_sample_size(problem: SubsetProblem, labels: Int, persons: PersonCount) -> SampleSize:
    """Return events per candidate parameter, and how many persons Riley's criteria need."""
    found, events = judge_sample_size(problem), int(labels.sum())
    rarer = min(persons.with_event, persons.without_event)
    return SampleSize(
        patients=persons.persons,
        events=events,
        rarer=rarer,
        events_per_parameter=rarer / found.n_parameters,
        **found._asdict() | {"prevalence": events / len(labels), "needed": found.needed._asdict()},
    )


def describe_baseline(card: ModelCard, plain: PlainTable) -> list[BaselineRow]:
    """Return each candidate for all patients, those with the event and those without.

    Numbers have their quartiles, binary values and levels their counts, all of the known values.
    """
    everyone = np.ones(len(plain.labels), dtype=bool)
    found: list[BaselineRow] = []
    for name, kind in plain.kinds.items():
        column = plain.frame[name]
        levels: list[Any] = [None]
        if kind != "numeric":
            levels = [1.0] if kind == "boolean" else sorted(column.dropna().unique())
        found += [
            {
                "predictor": name,
                "is_bought": name in card.bought,
                "kind": kind,
                "level": level if kind == "categorical" else None,
                "all": _describe(column, everyone, level),
                "event": _describe(column, plain.labels == 1, level),
                "no_event": _describe(column, plain.labels == 0, level),
            }
            for level in levels
        ]
    return found


def _describe(column: pd.Series[Any], rows: NDArray[np.bool_], level: Any) -> Facts:
    """Return the quartiles of some values, or how many of them are a level."""
    values = column[rows].dropna()
    n, missing = int(rows.sum()), int(rows.sum()) - len(values)
    facts: Facts = {"n": n, "missing": missing, "missing_share": missing / n}
    if level is None:
        q1, median, q3 = np.quantile(values, [0.25, 0.5, 0.75]) if len(values) else [None] * 3
        return {**facts, "q1": q1, "median": median, "q3": q3}
    count = int((values == level).sum())
    return {**facts, "count": count, "share": count / len(values) if len(values) else None}
