"""Confirmation by the checker of what a search claims, where rounding could matter.

A slope s = X'(w a y) is a sum whose terms may cancel: it is rounded by up to 2^-53 sum_m w_m |x_m|.
In a bound, s^2 / (2 ridge) is at most the entropy, which is at most about sum_m w_m. So a bound is
wrong by no more than about 2^-53 sum_m w_m |x_m| sqrt(sum_m w_m / ridge), the `rounding` of
`Prepared`. Against the objective that is 1e-9 or less for data in any usual units. Only columns,
weights and a ridge many orders apart make it more than is harmless.

Columns and outcomes far from zero are centred for the search. The model and the points of the
proof refer to the data as they are: their intercepts lose the digits that the distance takes,
and so does the objective where columns are far.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf
from time import perf_counter

from ..problem import SubsetProblem
from ..solution import Solution, Status
from .core import Prepared

_FARTHEST = 2.0**15  # spreads from zero
_SAME = 1e-9  # two objectives that differ by no more, relatively, are the same one rounded


def is_rounding_harmless(problem: SubsetProblem, prepared: Prepared, objective: float) -> bool:
    """Whether a bound near this objective can be said without a check."""
    harmless = problem.family.harmless_rounding
    return prepared.distance <= _FARTHEST and prepared.rounding <= harmless * problem.scale.of(
        objective
    )


def confirmed(
    problem: SubsetProblem, prepared: Prepared, solution: Solution, gap: float
) -> Solution:
    """Return the solution with what the checker proves, if rounding could matter.

    What rounding may have added is taken off the bound. If that is much, or leaves a gap, the proof
    is checked. A search that reached a limit is not checked, as that may take longer than the
    search; its bound is then the one that always holds.
    """
    scale = problem.scale
    if is_rounding_harmless(problem, prepared, solution.objective):
        if prepared.rounding <= problem.family.slack * scale.of(solution.objective):
            return solution  # its certificate claims that much less
        lower_bound = max(scale.least, solution.lower_bound - prepared.rounding)
        is_closed = solution.objective - lower_bound <= gap * scale.of(solution.objective)
        if is_closed or solution.status is not Status.OPTIMAL:
            return replace(solution, lower_bound=lower_bound)
    if solution.status not in (Status.OPTIMAL, Status.STALLED):
        return replace(solution, lower_bound=scale.least)
    from ..verification import verify  # needed here alone, and not fast to import

    started = perf_counter()
    objective, lower_bound = solution.objective, scale.least
    if solution.certificate is not None:
        claims = replace(
            solution.certificate, objective=inf, lower_bound=scale.below(objective, gap)
        )
        verdict = verify(problem, claims)
        if not verdict.valid:
            verdict = verify(problem, replace(claims, lower_bound=scale.least))
        if verdict.valid:
            if verdict.upper_bound > scale.above(objective, _SAME):
                objective = verdict.upper_bound
            lower_bound = min(verdict.lower_bound, objective)
    is_closed = objective - lower_bound <= gap * scale.of(objective)
    return replace(
        solution,
        status=Status.OPTIMAL if is_closed else Status.STALLED,
        objective=objective,
        lower_bound=lower_bound,
        seconds=solution.seconds + perf_counter() - started,
    )
