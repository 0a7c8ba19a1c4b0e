"""Sample size in the report: rows, persons, events per parameter, and the criteria of Riley."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import Int
from ..patients.sample_size import (
    count_parameters,
    cox_snell_r2,
    expected_r2,
    largest_r2,
    riley_sample_sizes,
)
from ..problem import SubsetProblem
from .content import PersonCount, SampleSize

_MOST_PARAMETERS = 30  # for which the formula of the fourth criterion was made


def count_persons(y: ArrayLike, persons: ArrayLike | None) -> PersonCount:
    """Count rows and persons; without persons each row is a patient.

    A person has the event if any of its rows has.
    """
    labels = np.asarray(y)
    events = labels == np.unique(labels)[-1]
    owners = np.arange(len(labels)) if persons is None else np.asarray(persons).astype(str)
    rows, n_persons = len(labels), len(np.unique(owners))
    has_several_rows = n_persons < rows
    return PersonCount(
        rows=rows,
        persons=n_persons,
        with_event=len(np.unique(owners[events])),
        without_event=len(np.unique(owners[~events])),
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
