"""scikit-learn's SequentialFeatureSelector: forward selection by cross-validated log-loss."""

from __future__ import annotations

import numpy as np
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import LogisticRegression

import shortlist as sl

from .answer import Answer, is_number_only


def solve(problem: sl.SubsetProblem, time_limit: float) -> Answer | None:
    """Return what it selects with its default of 5 folds; None for what it has no words for.

    It optimises another quantity than our objective, and knows neither costs nor a time limit.
    """
    if not is_number_only(problem):
        return None
    selector = SequentialFeatureSelector(
        LogisticRegression(C=1.0 / problem.ridge, max_iter=10_000),
        n_features_to_select=problem.limits.max_features,
        scoring="neg_log_loss",
    )
    selector.fit(problem.X, problem.signs)
    return Answer(tuple(np.flatnonzero(selector.get_support()).tolist()))
