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
import pandas as pd
from numpy.typing import ArrayLike

from .problem import SubsetProblem

SHRINKAGE = 0.9
R2_DIFFERENCE = 0.05
RISK_MARGIN = 0.05
PREDICTION_ERROR = 0.05
DEFAULT_SHARE = 0.15  # of the largest R2, when the model explains nothing (Riley et al. 2020)


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

    >>> from shortlist.sample_size import riley_sample_sizes
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


def expected_r2(measured: float, prevalence: float) -> tuple[float, bool]:
    """Return the R2 for the criteria: the measured one, or a default, and whether it is that."""
    largest = largest_r2(prevalence)
    if 0 < measured < min(largest, SHRINKAGE):
        return measured, False
    return DEFAULT_SHARE * largest, True


def adjusted_r2(log_loss: float, prevalence: float, n_rows: int, n_parameters: int) -> float:
    """Return the Cox-Snell R2 that an apparent log loss promises for new patients.

    It is shrunk by the factor of van Houwelingen and le Cessie (1990), as Riley et al. (2019) do.
    """
    apparent = cox_snell_r2(log_loss, prevalence)
    ratio = -n_rows * log(1 - apparent) if 0 < apparent < 1 else 0.0
    return apparent * max(0.0, 1 - n_parameters / ratio) if ratio > 0 else 0.0


def persons_by_outcome(y: ArrayLike, persons: ArrayLike | None = None) -> tuple[int, int]:
    """Return how many persons have rows without the event, and how many have rows with it.

    Without persons each row is one.
    """
    labels = np.asarray(y)
    owners = np.arange(len(labels)) if persons is None else np.asarray(persons)
    without, having = (len(pd.unique(owners[labels == label])) for label in (0, 1))
    return without, having


def count_parameters(problem: SubsetProblem) -> int:
    """Return the number of candidate parameters; of the columns of a factor, one is redundant."""
    blocks = (problem.X[:, problem.columns_of((g,))] for g in range(problem.n_predictors))
    ranks = (int(np.linalg.matrix_rank(block - block.mean(axis=0))) for block in blocks)
    return sum(max(1, rank) for rank in ranks)
