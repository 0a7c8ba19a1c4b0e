"""scikit-learn's LinearSVC with the L1 norm: the weakest penalty whose machine is affordable."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC, l1_min_c

import shortlist as sl

from .answer import Answer, is_plain

_PENALTIES = 100
_DECADES = 4


def solve(problem: sl.SubsetProblem, time_limit: float) -> Answer | None:
    """Lower the penalty in 100 steps until the machine is not affordable; keep the last that is.

    It has the squared hinge, the only one that goes with this norm, whatever the problem's loss.
    Prices play no part in the penalty. It knows no time limit.
    """
    if not is_plain(problem):
        return None
    support: tuple[int, ...] = ()
    smallest = l1_min_c(problem.X, problem.signs, loss="squared_hinge")
    for C in smallest * np.logspace(0, _DECADES, _PENALTIES):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = LinearSVC(C=C, penalty="l1", dual=False, random_state=0)
            entered = tuple(np.flatnonzero(model.fit(problem.X, problem.signs).coef_).tolist())
        if not problem.limits.is_affordable(entered):
            break
        support = entered
    return Answer(support)
