"""scikit-learn's L1-penalised regression: the weakest penalty whose model is affordable."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import l1_min_c

import shortlist as sl

from .answer import Answer, is_plain

_PENALTIES = 100
_DECADES = 4
_INTERCEPT_SCALING = 1e3  # liblinear penalises the intercept, less the larger this is


def solve(problem: sl.SubsetProblem, time_limit: float) -> Answer | None:
    """Lower the penalty in 100 steps until the model is not affordable, and keep the last that is.

    Prices play no part in the penalty. It knows no time limit.
    """
    if not is_plain(problem):
        return None
    support: tuple[int, ...] = ()
    smallest = l1_min_c(problem.X, problem.signs, loss="log", intercept_scaling=_INTERCEPT_SCALING)
    for C in smallest * np.logspace(0, _DECADES, _PENALTIES):
        model = LogisticRegression(
            C=C,
            l1_ratio=1.0,
            solver="liblinear",
            intercept_scaling=_INTERCEPT_SCALING,
            random_state=0,
        )
        entered = tuple(np.flatnonzero(model.fit(problem.X, problem.signs).coef_).tolist())
        if not problem.limits.is_affordable(entered):
            break
        support = entered
    return Answer(support)
