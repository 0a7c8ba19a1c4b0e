"""abess: splicing, a heuristic for a number of columns, with its penalty matched to the ridge."""

from __future__ import annotations

import numpy as np
from abess import LogisticRegression  # type: ignore[import-untyped]

import shortlist as sl

from .answer import Answer


def solve(problem: sl.SubsetProblem, time_limit: float) -> Answer | None:
    """Return its best support of `max_features` columns.

    Its objective is the summed loss plus alpha times the squared coefficients, if it is told not to
    scale the columns: alpha is half of the ridge. Columns are centred, which changes the intercept
    alone and makes it miss far less. It knows neither costs nor a time limit.
    """
    limits = problem.limits
    if limits.budget < np.inf or problem.has_groups or limits.exclude:
        return None
    model = LogisticRegression(
        support_size=[limits.max_features],
        alpha=[0.5 * problem.ridge],
        always_select=list(limits.include),
        max_iter=100,
        primary_model_fit_max_iter=100,
    )
    X = problem.X - problem.X.mean(axis=0)
    model.fit(X, problem.response.values > 0, is_normal=False, sample_weight=problem.weights)
    return Answer(tuple(np.flatnonzero(model.coef_).tolist()))
