"""The relaxation of the whole problem, solved to the end: what a search starts from."""

from __future__ import annotations

from typing import NamedTuple

from ..problem import SubsetProblem
from .compilation import ready_kernels
from .kernels.root import relax_root
from .prepare import prepare


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
    limits the search relaxes one of them, it prices a fee for each member on its own, and of groups
    it takes limits on coefficients less tightly: the lower bound then still holds for that optimum,
    and the upper bound may not.

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
    search = prepare(problem).search
    search = search._replace(limits=search.limits._replace(integral=False))
    return RootRelaxation(*relax_root(search))
