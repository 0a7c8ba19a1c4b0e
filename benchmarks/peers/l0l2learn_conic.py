"""l0l2learn: the conic model of the paper's authors, solved by MOSEK, which wants a licence."""

from __future__ import annotations

from functools import cache

import mosek
import numpy as np
from l0l2learn import L0L2Classifier  # type: ignore[import-untyped]

import shortlist as sl
from shortlist.errors import MissingDependencyError

from .answer import Answer, is_plain


def solve(problem: sl.SubsetProblem, time_limit: float) -> Answer | None:
    """Return its answer for a number of columns or a budget; None for both, or anything else.

    It says neither whether it ended within the time limit nor what its bound is: an answer in time
    counts as claimed to be optimal.
    """
    _check_licence()
    limits = problem.limits
    has_budget = limits.budget < np.inf
    has_number = limits.max_features < problem.n_predictors
    if limits.fees or not is_plain(problem) or (has_budget and has_number):
        return None
    model = L0L2Classifier(
        b=limits.budget if has_budget else limits.max_features,
        c=limits.costs if has_budget else None,
        lambd=problem.ridge,
        time_limit=time_limit,
    )
    model.fit(problem.X, problem.response.values)
    return Answer(tuple(model.support_.tolist()), "optimal")


@cache
def _check_licence() -> None:
    """Ask MOSEK once."""
    try:
        with mosek.Env() as environment:
            environment.checkoutlicense(mosek.feature.pton)
    except mosek.Error:
        raise MissingDependencyError("l0l2learn: MOSEK has no licence here.") from None
