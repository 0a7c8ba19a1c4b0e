"""The result of a search that fits the supports it finds, with the status that its gap deserves."""

from __future__ import annotations

from time import perf_counter

from ..problem import SubsetProblem
from ..result import Solution, Status, solution_of
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
    return solution_of(
        problem,
        model.support,
        model.coef,
        model.intercept,
        status=stopped or Status.OPTIMAL,
        lower_bound=max(0.0, lower_bound),  # a loss is positive
        gap=gap,
        nodes=nodes,
        seconds=perf_counter() - started,
    )
