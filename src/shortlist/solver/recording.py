"""The trace of a search, kept while it runs and handed over as the proof of its result."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..certificate import Bound, Branch, Certificate, Fix, One, Point, Step, Unaffordable
from ..errors import ShortlistWarning
from ..problem import SubsetProblem
from ..result import Solution
from .kernels.layout import (
    DIVE,
    ENTRIES,
    MEMBERS,
    OPEN,
    POINTS,
    SERIAL,
    STEPS,
    Trace,
    Tree,
)
from .kernels.staircase import staircase_has_room
from .kernels.trace import BOUND, BRANCH, FIX, ONE, has_room
from .kernels.tree import DIVE_SLOT
from .prepare import Prepared, blank_trace, lengthen

_LARGEST_TRACE = 2**30  # bytes
_ROUNDING = 1e-9


class Recording:
    """Grows with the search, up to a limit beyond which the search goes on without a proof."""

    def __init__(self, prepared: Prepared, n_budgets: int = 0) -> None:
        self.trace: Trace = blank_trace(prepared)
        self._prepared = prepared
        self._n_budgets = n_budgets  # of a staircase
        self._complete = True

    def make_room(self) -> None:
        """Make sure that the next node fits."""
        while not self._has_room():
            if sum(array.nbytes for array in self.trace) <= _LARGEST_TRACE // 2:
                self.trace = lengthen(self.trace)
                continue
            self._forget()

    def _has_room(self) -> bool:
        work = self._prepared.work
        if self._n_budgets > 0:
            return bool(staircase_has_room(self.trace, work, self._n_budgets))
        n_columns, n_fit = len(work.theta), len(work.step)
        return bool(has_room(self.trace, work.counter, len(work.status), n_columns, n_fit))

    def _forget(self) -> None:
        counter = self._prepared.work.counter
        was_complete, self._complete = self._complete, False
        counter[[STEPS, MEMBERS, POINTS, ENTRIES]] = 0
        if was_complete:
            warnings.warn(
                f"The proof would exceed {_LARGEST_TRACE / 2**30:g} GiB, so the search goes on "
                "without recording it and the solution will have no certificate.",
                ShortlistWarning,
                stacklevel=4,
            )

    def prover(self, problem: SubsetProblem, tree: Tree) -> Prover | None:
        """Return what makes the certificate on demand; None if the trace was too long.

        Nodes that are still open become leaves, with the bound that they have.
        """
        counter = self._prepared.work.counter
        if not self._complete or counter[SERIAL] == 0:
            return None
        slots = tree.heap[: counter[OPEN]].tolist() + [DIVE_SLOT] * int(counter[DIVE])
        leaves = list(zip(tree.serial[slots].tolist(), tree.point[slots].tolist(), strict=True))
        return Prover(problem, self._prepared.columns, self.trace, counter.copy(), leaves)


@dataclass(frozen=True)
class Prover:
    """A finished trace, and the problem it belongs to."""

    problem: SubsetProblem
    columns: NDArray[np.int64]
    trace: Trace
    counter: NDArray[np.int64]
    open_nodes: list[tuple[int, int]]

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
        points = self._points()
        steps = [*select(list(self._steps())), *(Bound(*leaf) for leaf in self.open_nodes)]
        number: dict[Point, int] = {}  # of the distinct points that the proof uses

        def renumbered(step: Step) -> Step:
            if isinstance(step, Branch | Unaffordable):
                return step
            return step._replace(point=number.setdefault(points[step.point], len(number)))

        steps = [renumbered(step) for step in steps]
        columns = np.flatnonzero(solution.coef)
        return Certificate(
            problem=problem.digest,
            objective=solution.objective,
            # The bounds of the search are floating point: claim a little less than it computed.
            lower_bound=max(0.0, solution.lower_bound - _ROUNDING * solution.objective),
            support=solution.support,
            model=Point(
                solution.intercept, tuple(columns.tolist()), tuple(solution.coef[columns].tolist())
            ),
            points=tuple(number),
            steps=tuple(steps),
        )

    def _points(self) -> list[Point]:
        n_points, n_entries = self.counter[POINTS], self.counter[ENTRIES]
        columns = self.columns[self.trace.column[:n_entries]].tolist()
        values = self.trace.value[:n_entries].tolist()
        first = [*self.trace.first_entry[:n_points].tolist(), int(n_entries)]
        return [
            Point(intercept, tuple(columns[start:end]), tuple(values[start:end]))
            for intercept, (start, end) in zip(
                self.trace.intercept[:n_points].tolist(), pairwise(first), strict=True
            )
        ]

    def _steps(self) -> Iterator[tuple[Step, list[int]]]:
        trace, n_steps, n_members = self.trace, self.counter[STEPS], self.counter[MEMBERS]
        members = trace.member[:n_members].tolist()
        first = [*trace.first_member[:n_steps].tolist(), int(n_members)]
        kinds, nodes = trace.kind[:n_steps].tolist(), trace.node[:n_steps].tolist()
        for s, reference in enumerate(trace.reference[:n_steps].tolist()):
            node, kind, mine = nodes[s], kinds[s], members[first[s] : first[s + 1]]
            if kind == FIX:
                forbidden = tuple(g for g in mine if g >= 0)
                bought = tuple(~g for g in mine if g < 0)
                yield Fix(node, reference, forbidden, bought), mine
            elif kind == BOUND:
                yield Bound(node, reference), mine
            elif kind == BRANCH:
                yield Branch(node, mine[0], reference, reference + 1), mine
            elif kind == ONE:
                yield One(node, reference, tuple(mine)), mine
            else:
                yield Unaffordable(node), mine
