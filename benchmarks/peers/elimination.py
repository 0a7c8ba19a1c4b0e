"""Recursive elimination: fit a machine, drop the column with the smallest coefficient, repeat."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE
from sklearn.svm import LinearSVC

import shortlist as sl

from .answer import Answer, is_number_only


def solve(problem: sl.SubsetProblem, time_limit: float) -> Answer | None:
    """Return what scikit-learn's RFE keeps; None for what it has no words for."""
    if problem.loss.name == "logistic" or not is_number_only(problem):
        return None
    machine = LinearSVC(loss=problem.loss.name, C=1.0 / problem.ridge, random_state=0)
    selector = RFE(machine, n_features_to_select=problem.limits.max_features)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        selector.fit(problem.X, problem.signs)
    return Answer(tuple(np.flatnonzero(selector.support_).tolist()))
