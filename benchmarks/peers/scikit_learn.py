"""scikit-learn's ways to select: L1 norms, recursive elimination, sequential selection.

None of them knows a time limit, and prices play no part in a penalty.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE, SequentialFeatureSelector
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC, l1_min_c

import shortlist as sl

from .answer import Answer, is_number_only, is_plain

_PENALTIES = 100
_DECADES = 4
_INTERCEPT_SCALING = 1e3  # liblinear penalises the intercept, less the larger this is


def solve_l1_path(problem: sl.SubsetProblem, time_limit: float) -> Answer | None:
    """Return the model of the weakest L1 penalty that is affordable."""
    scaling = {"intercept_scaling": _INTERCEPT_SCALING}

    def model(C: float) -> Any:
        return LogisticRegression(C=C, l1_ratio=1.0, solver="liblinear", random_state=0, **scaling)

    return _weaken(
        problem, l1_min_c(problem.X, problem.response.values, loss="log", **scaling), model
    )


def solve_l1_machine(problem: sl.SubsetProblem, time_limit: float) -> Answer | None:
    """Return the machine of the weakest L1 penalty that is affordable.

    It has the squared hinge, the only one that goes with this norm, whatever the problem's loss.
    """
    smallest = l1_min_c(problem.X, problem.response.values, loss="squared_hinge")
    return _weaken(
        problem, smallest, lambda C: LinearSVC(C=C, penalty="l1", dual=False, random_state=0)
    )


def _weaken(
    problem: sl.SubsetProblem, smallest: float, make: Callable[[float], Any]
) -> Answer | None:
    """Lower the penalty in 100 steps until the model is not affordable; keep the last that is."""
    if not is_plain(problem):
        return None
    support: tuple[int, ...] = ()
    for C in smallest * np.logspace(0, _DECADES, _PENALTIES):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            coef = make(C).fit(problem.X, problem.response.values).coef_
        entered = tuple(np.flatnonzero(coef).tolist())
        if not problem.limits.is_affordable(entered):
            break
        support = entered
    return Answer(support)


def solve_elimination(problem: sl.SubsetProblem, time_limit: float) -> Answer | None:
    """Fit a machine, drop the column with the smallest coefficient, repeat."""
    if problem.family.name == "logistic" or not is_number_only(problem):
        return None
    machine = LinearSVC(loss=problem.family.name, C=1.0 / problem.ridge, random_state=0)
    selector = RFE(machine, n_features_to_select=problem.limits.max_features)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        selector.fit(problem.X, problem.response.values)
    return Answer(tuple(np.flatnonzero(selector.support_).tolist()))


def solve_sequential(problem: sl.SubsetProblem, time_limit: float) -> Answer | None:
    """Select forward by the log-loss of 5 folds, its default: not our objective."""
    if not is_number_only(problem):
        return None
    selector = SequentialFeatureSelector(
        LogisticRegression(C=1.0 / problem.ridge, max_iter=10_000),
        n_features_to_select=problem.limits.max_features,
        scoring="neg_log_loss",
    )
    selector.fit(problem.X, problem.response.values)
    return Answer(tuple(np.flatnonzero(selector.get_support()).tolist()))
