"""Sample size: events per parameter, and the criteria of Riley.

Riley et al. (2019, Statistics in Medicine 38:1276-1296) ask of the development of a model with a
binary outcome: (1) an expected shrinkage of at least 0.9, (2) at most 0.05 between the apparent and
the adjusted Nagelkerke R2, (3) the overall risk known to within 0.05; and Riley et al. (2020, BMJ
368:m441) of (4) a mean absolute error of predicted risks of at most 0.05, by the formula of van
Smeden et al. (2019). The package pmsampsize computes the first three; it is under the GPL and
prints its results, so here are the formulas.
"""

from __future__ import annotations

from math import ceil, exp, log
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..problem import SubsetProblem
from .content import (
    DEFAULT_SHARE,
    PREDICTION_ERROR,
    R2_DIFFERENCE,
    RISK_MARGIN,
    SHRINKAGE,
    PersonCount,
    SampleSize,
)

_MOST_PARAMETERS = 30  # for which the formula of the fourth criterion was made


class SampleSizes(NamedTuple):
    """The smallest numbers of patients that the criteria need."""

    shrinkage: int
    r2_difference: int
    overall_risk: int
    prediction_error: int


def riley_sample_sizes(n_parameters: int, r2: float, prevalence: float) -> SampleSizes:
    """Return the smallest numbers of patients for a model with a binary outcome.

    Parameters
    ----------
    n_parameters : int
        Number of candidate parameters.
    r2 : float
        Cox-Snell R2 that the model is expected to have on new patients, between 0 and its largest
        value for this prevalence.
    prevalence : float
        Share of events.

    Returns
    -------
    SampleSizes
        By criterion.

    Examples
    --------
    The example of Riley et al. (2020, BMJ 368:m441) with 24 parameters:

    >>> from shortlist.report import riley_sample_sizes
    >>> riley_sample_sizes(24, 0.288, 0.174)
    SampleSizes(shrinkage=623, r2_difference=662, overall_risk=221, prediction_error=801)
    """

    def needed(shrinkage: float) -> int:
        return ceil(n_parameters / ((shrinkage - 1) * log(1 - r2 / shrinkage)))

    second = r2 / (r2 + R2_DIFFERENCE * largest_r2(prevalence))
    third = ceil((1.96 / RISK_MARGIN) ** 2 * prevalence * (1 - prevalence))
    rarer = min(prevalence, 1 - prevalence)
    size = -0.508 + 0.259 * log(rarer) + 0.504 * log(n_parameters) - log(PREDICTION_ERROR)
    return SampleSizes(needed(SHRINKAGE), needed(second), third, ceil(exp(size / 0.544)))


def largest_r2(prevalence: float) -> float:
    """Return the Cox-Snell R2 of a perfect model."""
    return cox_snell_r2(0.0, prevalence)


def cox_snell_r2(log_loss: float, prevalence: float) -> float:
    """Return the Cox-Snell R2 of predictions with a mean log loss."""
    entropy = prevalence * log(prevalence) + (1 - prevalence) * log(1 - prevalence)
    return 1 - exp(2 * (log_loss + entropy))


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
    problem: SubsetProblem, log_loss: float | None, persons: PersonCount
) -> SampleSize:
    """Return events per candidate parameter, and the number of persons that Riley's criteria need.

    Without a log loss, or with one that explains nothing, R2 is a default.
    """
    n, events = problem.n_rows, int((problem.signs > 0).sum())
    prevalence = events / n
    n_parameters = sum(_n_parameters(problem, g) for g in range(problem.n_predictors))
    largest = largest_r2(prevalence)
    measured = 0.0 if log_loss is None else cox_snell_r2(log_loss, prevalence)
    is_default = not 0 < measured < min(largest, SHRINKAGE)
    r2 = DEFAULT_SHARE * largest if is_default else measured
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
        nagelkerke_r2=r2 / largest,
        r2_is_default=is_default,
        is_beyond_formula=n_parameters > _MOST_PARAMETERS,
        needed=sizes._asdict(),
        needed_overall=max(sizes),
    )


def _n_parameters(problem: SubsetProblem, predictor: int) -> int:
    """Return the parameters of a predictor: of the columns of a factor, one is redundant."""
    block = problem.X[:, problem.columns_of((predictor,))]
    return max(1, int(np.linalg.matrix_rank(block - block.mean(axis=0))))
