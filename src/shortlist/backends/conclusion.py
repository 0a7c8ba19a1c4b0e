"""The result of a search that fits the supports it finds, with the status that its gap deserves."""

from __future__ import annotations

from time import perf_counter

from ..problem import SubsetProblem
from ..result import Solution, Status
from .support_fit import SupportModel


def conclude(
    problem: SubsetProblem,
    model: SupportModel,
    *,
    lower_bound: float,
    stopped: Status | None,
    gap: float,
    nodes: int,
    started: float,
) -> Solution:
    """Return the result of a solve that `started` then and was `stopped`, or came to its end.

    At its end the status is what the gap says, whatever a solver thinks of its own model.
    """
    lower_bound = min(max(0.0, lower_bound), model.objective)  # a loss is positive
    closed = model.objective - lower_bound <= gap * model.objective
    return Solution(
        status=stopped or (Status.OPTIMAL if closed else Status.STALLED),
        support=model.support,
        cost=problem.constraints.cost_of(model.support),
        coef=model.coef,
        intercept=model.intercept,
        objective=model.objective,
        lower_bound=lower_bound,
        nodes=nodes,
        seconds=perf_counter() - started,
        names=tuple(map(problem.name_of, model.support)),
    )
