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

from .backends.heuristics import ComparedFits
from .problem import SubsetProblem

SHRINKAGE = 0.9
R2_DIFFERENCE = 0.05
RISK_MARGIN = 0.05
PREDICTION_ERROR = 0.05
MOST_PARAMETERS = 30  # for which the formula of the fourth criterion was made
_LITTLE = 1e-6  # a ridge next to none
_SEPARATED = 1e-4  # mean log loss of outcomes that all candidates together separate
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


class Criteria(NamedTuple):
    """The criteria of Riley applied to patients and candidates, post hoc.

    `r2` is the Cox-Snell R2 that they assume: that of the full model, fitted by maximum likelihood
    and shrunk for its parameters, or a default (`is_default`) where it promises nothing or does
    not exist. `needed_overall` leaves out the prediction error where there are more parameters than
    its formula was made for (`is_beyond`).
    """

    n_parameters: int
    prevalence: float
    r2: float
    is_default: bool
    needed: SampleSizes
    is_beyond: bool
    needed_overall: int


def judge_sample_size(problem: SubsetProblem) -> Criteria:
    """Return what the criteria of Riley ask of the patients and candidates of a problem.

    Examples
    --------
    >>> import numpy as np, shortlist as sl
    >>> from shortlist.sample_size import judge_sample_size
    >>> data = sl.datasets.make_prognostic(n_samples=400, label_noise=0.1, random_state=1)
    >>> problem = sl.SubsetProblem(data.X, data.y, ridge=1.0, max_features=3)
    >>> found = judge_sample_size(problem)
    >>> found.n_parameters, round(found.r2, 2), found.is_default
    (14, 0.29, False)
    """
    n_parameters = count_parameters(problem)
    prevalence = float(problem.weights @ (problem.response.values > 0) / problem.weights.sum())
    largest = largest_r2(prevalence)
    measured = _r2_of_full_model(problem, n_parameters)
    is_default = not 0 < measured < min(largest, SHRINKAGE)
    r2 = DEFAULT_SHARE * largest if is_default else measured
    needed = riley_sample_sizes(n_parameters, r2, prevalence)
    is_beyond = n_parameters > MOST_PARAMETERS
    return Criteria(
        n_parameters,
        prevalence,
        r2,
        is_default,
        needed,
        is_beyond,
        max(needed[:3] if is_beyond else needed),
    )


def _r2_of_full_model(problem: SubsetProblem, n_parameters: int) -> float:
    """Return the Cox-Snell R2 of all candidates by maximum likelihood, shrunk; 0 if there is none.

    It is shrunk by the factor of van Houwelingen and le Cessie (1990), as Riley et al. (2019) do. A
    next to vanishing ridge makes columns that determine each other harmless.
    """
    if problem.n_columns >= problem.n_rows:
        return 0.0
    full = SubsetProblem(
        problem.X,
        problem.response.values > 0,
        ridge=_LITTLE,
        sample_weight=problem.weights,
    )
    found, n_patients = ComparedFits(full).fit(range(full.n_predictors)), float(full.weights.sum())
    share = float(full.weights @ (full.response.values > 0)) / n_patients
    log_loss = (found.objective - 0.5 * _LITTLE * float(found.coef @ found.coef)) / n_patients
    if not log_loss >= _SEPARATED:
        return 0.0
    apparent = cox_snell_r2(log_loss, share)
    ratio = -n_patients * log(1 - apparent)  # of the likelihoods
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
