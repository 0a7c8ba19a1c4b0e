"""The record of a search, and the certificates that are made of it.

`certificate` is imported where one is made: it loads pydantic, which most solves do without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import Float, Int
from ..problem import SubsetProblem
from ..solution import Solution
from .core import Prepared, uncentred

if TYPE_CHECKING:
    from ..certificate import Certificate, Point, Step

# The structs of core/trace.hpp.
_STEP = np.dtype([("kind", "i8"), ("node", "i8"), ("reference", "i8"), ("first_member", "i8")])
_POINT = np.dtype(
    [("intercept", "f8"), ("intercept_step", "f8"), ("smoothing", "f8"), ("first_column", "i8")]
)
_FIX, _BOUND, _BRANCH, _ONE = range(4)


@dataclass(frozen=True)
class Prover:
    """A finished trace, and the problem it belongs to; makes certificates on demand."""

    problem: SubsetProblem
    trace: Any  # core.Trace
    columns: Int  # the problem's column at each place of the core
    centre: Float  # of each column of the problem
    centre_of_outcomes: float
    leaves: list[tuple[int, int]]  # the nodes that were still open, and their points

    @classmethod
    def of(cls, problem: SubsetProblem, prepared: Prepared, search: Any) -> Prover | None:
        """Return what proves the result of a search; None if the proof grew too long.

        Nodes that are still open become leaves, with the bound that they have.
        """
        if not search.is_recording or not search.is_started:
            return None
        # Not the data themselves: a solution must not keep a copy of the rows alive.
        columns = np.array(prepared.data.columns, dtype=np.int64)
        centres = prepared.data.centre, prepared.centre
        return cls(problem, search.take_trace(), columns, *centres, search.open_nodes())

    def __call__(self, solution: Solution) -> Certificate:
        """Return the certificate of the solution."""
        return self.certificate(self.problem, solution, lambda steps: (step for step, _ in steps))

    def certificate(
        self,
        problem: SubsetProblem,
        solution: Solution,
        select: Callable[[list[tuple[Step, list[int]]]], Iterable[Step]],
    ) -> Certificate:
        """Return the certificate for a problem whose proof is a selection of the recorded steps.

        The selection is made from steps with their recorded members.
        """
        steps = [*select(list(self._steps())), *self._leaf_steps()]
        return make_certificate(problem, solution, steps, self._points())

    def proof(self) -> tuple[list[Step], list[Point]]:
        """Return the steps, and the points that they refer to.

        Where one more can be bought, a listing also closes the selection without it, by a bound of
        its own. The other steps of such a node bound it too, so that one is left out.
        """
        from ..certificate import Bound, One

        steps = [*(step for step, _ in self._steps()), *self._leaf_steps()]
        ends = {step.node for step in steps if isinstance(step, One)}
        return [s for s in steps if not (isinstance(s, Bound) and s.node in ends)], self._points()

    def _leaf_steps(self) -> list[Step]:
        from ..certificate import Bound

        return [Bound(node, point) for node, point in self.leaves]

    def _points(self) -> list[Point]:
        """Return the points for columns that are not centred.

        The correction of a point also takes what rounding its intercept leaves over.
        """
        from ..certificate import Point

        recorded = self.trace.points.view(_POINT)
        in_problem = self.columns[self.trace.columns.view(np.int32)]
        columns, centres = in_problem.tolist(), self.centre[in_problem].tolist()
        numbers = self.trace.values.view(np.float64).tolist()
        first = [*recorded["first_column"].tolist(), len(columns)]
        points, next_number = [], 0
        for (start, end), (intercept0, step, smoothing, _) in zip(
            pairwise(first), recorded.tolist(), strict=True
        ):
            n, mine, is_moved = end - start, slice(start, end), not isnan(step)
            values = numbers[next_number : next_number + n]
            steps = numbers[next_number + n : next_number + 2 * n] if is_moved else [0.0] * n
            next_number += 2 * n if is_moved else n
            # The outcomes are like a column with a coefficient of -1.
            moved = ([*values, -1.0], [*centres[mine], self.centre_of_outcomes])
            intercept, left_over = uncentred(intercept0, *moved)
            if is_moved:
                left_over += uncentred(step, steps, centres[mine])[0]
            correction = (left_over, *steps) if is_moved or left_over != 0 else ()
            of_columns = tuple(columns[mine]), tuple(values)
            point = Point(intercept, *of_columns, correction, smoothing)
            if not isfinite(intercept + smoothing + sum(point.values) + sum(correction)):
                # A fit that went astray. Any point serves, and none would prove what it should.
                point = Point(0.0, (), (), (), 1.0 if self.problem.family.is_smoothed else 0.0)
            points.append(point)
        return points

    def _steps(self) -> Iterator[tuple[Step, list[int]]]:
        from ..certificate import Bound, Branch, Fix, One, Unaffordable

        recorded = self.trace.steps.view(_STEP)
        members = self.trace.members.view(np.int64).tolist()
        first = [*recorded["first_member"].tolist(), len(members)]
        for (start, end), (kind, node, reference, _) in zip(
            pairwise(first), recorded.tolist(), strict=True
        ):
            mine = members[start:end]
            if kind == _FIX:
                forbidden = tuple(g for g in mine if g >= 0)
                bought = tuple(~g for g in mine if g < 0)
                yield Fix(node, reference, forbidden, bought), mine
            elif kind == _BOUND:
                yield Bound(node, reference), mine
            elif kind == _BRANCH:
                yield Branch(node, mine[0], reference, reference + 1), mine
            elif kind == _ONE:
                yield One(node, reference, tuple(mine)), mine
            else:
                yield Unaffordable(node), mine


@dataclass(frozen=True)
class BudgetProver:
    """The part of the tree of all budgets that proves the model of one of them."""

    whole: Prover
    problem: SubsetProblem
    budget: int  # in units

    def __call__(self, solution: Solution) -> Certificate:
        """Return the certificate of the solution."""
        return self.whole.certificate(self.problem, solution, self._steps)

    def _steps(self, recorded: list[tuple[Step, list[int]]]) -> Iterator[Step]:
        """Walk the tree, and stop at each node as soon as a bound covers the budget."""
        from ..certificate import Bound, Branch, Fix, Unaffordable

        limits = self.whole.problem.limits
        by_node: dict[int, list[tuple[Step, list[int]]]] = {}
        for step, members in recorded:
            by_node.setdefault(step.node, []).append((step, members))
        nodes = [(0, set(limits.include))]
        while nodes:
            node, bought = nodes.pop()
            if limits.units_of(tuple(bought)) > self.budget:
                yield Unaffordable(node)
                continue
            for step, members in by_node[node]:
                if isinstance(step, Bound) and not members[0] <= self.budget <= members[1]:
                    continue
                yield step
                if isinstance(step, Fix):
                    bought |= set(step.bought)
                    if limits.units_of(tuple(bought)) > self.budget:
                        yield Unaffordable(node)
                        break
                elif isinstance(step, Branch):
                    nodes += [
                        (step.without, set(bought)),
                        (step.including, bought | {step.predictor}),
                    ]
                else:
                    break


def make_certificate(
    problem: SubsetProblem, solution: Solution, steps: Iterable[Step], points: Sequence[Point]
) -> Certificate:
    """Return the certificate of a solution, with the distinct points that its steps refer to."""
    from ..certificate import Branch, Certificate, Unaffordable

    number: dict[Point, int] = {}

    def renumbered(step: Step) -> Step:
        if isinstance(step, Branch | Unaffordable):
            return step
        return step._replace(point=number.setdefault(points[step.point], len(number)))

    steps = tuple(renumbered(step) for step in steps)
    # The bounds of the search are floating point: claim a little less than it computed.
    slack = problem.family.slack * problem.scale.of(solution.objective)
    return Certificate(
        problem=problem.digest,
        objective=solution.objective,
        lower_bound=max(problem.scale.least, solution.lower_bound - slack),
        support=solution.support,
        model=point_of(solution.coef, solution.intercept),
        points=tuple(number),
        steps=steps,
    )


def point_of(coef: Float, intercept: float) -> Point:
    """Return the point of a model: its own coefficients."""
    from ..certificate import Point

    columns = np.flatnonzero(coef)
    return Point(intercept, tuple(columns.tolist()), tuple(coef[columns].tolist()))
