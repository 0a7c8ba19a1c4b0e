"""The relaxation of the whole problem, solved to the end: what a search starts from."""

from __future__ import annotations

from math import inf, log
from typing import NamedTuple

import numpy as np

from ..problem import SubsetProblem
from .compilation import ready_kernels
from .kernels.fit import PREDICTOR
from .kernels.heuristic import FINE, fit_status
from .kernels.layout import FREE, IN, linear_predictor
from .kernels.relaxation import relax
from .kernels.search import settle
from .prepare import prepare

_MAX_ROUNDS = 50  # of a few Newton steps each
_TOLERANCE = 1e-9


class RootRelaxation(NamedTuple):
    """What is known of the optimum of the relaxation."""

    lower_bound: float
    upper_bound: float


def root_relaxation(problem: SubsetProblem) -> RootRelaxation:
    """Solve the perspective relaxation of the root.

    The search stops a relaxation as soon as it decides its node, and its oracle knows that
    predictors are bought whole. Here the relaxation is solved until its bounds meet, and the oracle
    may buy fractions, which is the dual of the relaxation. With one limit, a number or a budget,
    and no fees, the two bounds enclose the optimum of the conic model's relaxation. With both
    limits the search relaxes one of them, and it prices a fee for each member on its own: the lower
    bound then still holds for that optimum, and the upper bound may not.

    Parameters
    ----------
    problem : SubsetProblem
        Data, prices and limits.

    Returns
    -------
    RootRelaxation
        Bounds of the optimum. They may be apart where Newton's method stalls, as it may at weak
        ridge on columns of very different scales.

    Examples
    --------
    >>> import shortlist as sl
    >>> from shortlist.solver.root import root_relaxation
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]
    >>> problem = sl.SubsetProblem(X, [0, 0, 1, 1], ridge=0.1, max_features=1)
    >>> root_relaxation(problem).lower_bound <= sl.solve(problem).objective
    True
    """
    ready_kernels()
    prepared = prepare(problem)
    data, work = prepared.data, prepared.work
    limits = prepared.limits._replace(integral=False)
    status = prepared.root
    left, count, capacity, _, all_affordable = settle(limits, work, status)
    positive = data.w[: data.n_positive].sum()
    theta0, mu = log(positive / (data.w.sum() - positive)), 0.0
    work.theta[:] = 0.0
    if all_affordable:
        status[status == FREE] = IN
        linear_predictor(data.X, data.n_positive, work.theta, theta0, work.u)
        _, objective, bound = fit_status(data, work, status, theta0, inf, FINE, PREDICTOR)
        return RootRelaxation(bound, objective)
    lower, upper = -inf, inf
    for _ in range(_MAX_ROUNDS):
        base, value, theta0, mu = relax(
            data, limits, work, status, left, count, capacity, theta0, mu, inf, False
        )
        lower = max(lower, base - value)
        loss, z = work.point[0], work.z
        squares = np.bincount(data.owner, work.theta**2, len(z))
        upper = loss + 0.5 * data.ridge * float((squares[z > 0] / z[z > 0]).sum())
        if upper - lower <= _TOLERANCE * upper:
            break
    return RootRelaxation(lower, upper)
