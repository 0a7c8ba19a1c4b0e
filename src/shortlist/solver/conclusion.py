"""The solution of a search: its model, scored by the problem, and what is proven about it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..certificate import Certificate
from ..problem import SubsetProblem
from ..result import Solution, Status


def conclude(
    problem: SubsetProblem,
    support: tuple[int, ...],
    coef: NDArray[np.float64],
    intercept: float,
    *,
    status: Status,
    lower_bound: float,
    gap: float,
    nodes: int,
    seconds: float,
    prover: Callable[[Solution], Certificate] | None = None,
) -> Solution:
    """Return the solution of a search that ended with a status; it is optimal if the gap is closed.

    The bound and the objective are rounded separately; a bound above the objective is rounding.
    """
    objective = problem.objective(coef, intercept)
    lower_bound = min(lower_bound, objective)
    if status is Status.OPTIMAL and objective - lower_bound > gap * objective:
        status = Status.STALLED
    return Solution(
        status=status,
        support=support,
        cost=problem.constraints.cost_of(support),
        coef=coef,
        intercept=intercept,
        objective=objective,
        lower_bound=lower_bound,
        nodes=nodes,
        seconds=seconds,
        names=tuple(map(problem.name_of, support)),
        prover=prover,
    )
