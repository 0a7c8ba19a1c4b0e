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
from ..sample_size import (
    count_parameters,
    cox_snell_r2,
    expected_r2,
    largest_r2,
    persons_by_outcome,
    riley_sample_sizes,
)
from .content import BaselineRow, Facts, PersonCount, SampleSize

_MOST_PARAMETERS = 30  # for which the formula of the fourth criterion was made


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


def describe_sample_size(
    problem: SubsetProblem, labels: Int, log_loss: float | None, persons: PersonCount
) -> SampleSize:
    """Return events per candidate parameter, and the number of persons that Riley's criteria need.

    Without a log loss, or with one that explains nothing, R2 is a default.
    """
    events = int(labels.sum())
    prevalence = events / len(labels)
    n_parameters = count_parameters(problem)
    measured = 0.0 if log_loss is None else cox_snell_r2(log_loss, prevalence)
    r2, is_default = expected_r2(measured, prevalence)
    sizes = riley_sample_sizes(n_parameters, r2, prevalence)
    rarer = min(persons.with_event, persons.without_event)
    return SampleSize(
        patients=persons.persons,
        events=events,
        prevalence=prevalence,
        n_parameters=n_parameters,
        rarer=rarer,
        events_per_parameter=rarer / n_parameters,
        cox_snell_r2=r2,
        nagelkerke_r2=r2 / largest_r2(prevalence),
        r2_is_default=is_default,
        is_beyond_formula=n_parameters > _MOST_PARAMETERS,
        needed=sizes._asdict(),
        needed_overall=max(sizes),
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
