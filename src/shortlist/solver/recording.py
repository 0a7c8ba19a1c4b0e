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
from .kernels.reference import new_record
from .kernels.search import Search
from .kernels.trace import Kind, Trace, has_room
from .kernels.tree import Tree

_FIRST_STEPS, _FIRST_ENTRIES = 512, 8192  # the room that a trace starts with, at least
_LARGEST_TRACE = 2**30  # bytes
_ROUNDING = 1e-9


class Recording:
    """Grows with the search, up to a limit beyond which the search goes on without a proof.

    The largest node takes `n_steps` steps, by default those of `run_search`, and points on supports
    of up to `n_fit` columns. A recording that is not `wanted` starts anew when it is full.
    """

    def __init__(self, search: Search, n_steps: int = 0, wanted: bool = True) -> None:
        n_columns = len(search.fit.theta)
        self._largest = (
            (n_steps, n_columns, n_columns)
            if n_steps
            else (len(search.status), n_columns, len(search.endgame.step))
        )
        self._wanted = wanted
        self._complete = wanted
        self.trace = _blank_trace(*self._largest)

    def make_room(self) -> None:
        """Make sure that the next node fits."""
        while not self._has_room():
            is_small = sum(array.nbytes for array in self.trace[:-1]) <= _LARGEST_TRACE // 2
            if self._wanted and is_small:
                self.trace = _lengthen(self.trace)
            else:
                self._forget()

    def _has_room(self) -> bool:
        return bool(has_room(self.trace, *self._largest))

    def _forget(self) -> None:
        was_complete, self._complete = self._complete, False
        now = self.trace.now
        now.n_steps = now.n_members = now.n_points = now.n_entries = 0
        if was_complete:
            warnings.warn(
                f"The proof would exceed {_LARGEST_TRACE / 2**30:g} GiB, so the search goes on "
                "without recording it and the solution will have no certificate.",
                ShortlistWarning,
                stacklevel=5,
            )

    def prover(
        self,
        problem: SubsetProblem,
        columns: NDArray[np.int64],
        tree: Tree,
        open_slots: list[int],
    ) -> Prover | None:
        """Return what makes the certificate on demand; None if the trace was too long.

        Nodes that are still open become leaves, with the bound that they have.
        """
        if not self._complete or tree.now.n_created == 0:
            return None
        serials, points = tree.serial[open_slots].tolist(), tree.point[open_slots].tolist()
        return Prover(problem, columns, self.trace, list(zip(serials, points, strict=True)))


def _blank_trace(n_steps: int, n_columns: int, n_fit: int) -> Trace:
    """Return a trace without steps, with room for the largest node at least."""
    n_entries = _FIRST_ENTRIES + n_columns + (n_steps + 1) * n_fit
    n_steps += _FIRST_STEPS
    return Trace(
        kind=np.empty(n_steps, dtype=np.int8),
        node=np.empty(n_steps, dtype=np.int64),
        reference=np.empty(n_steps, dtype=np.int64),
        first_member=np.empty(n_steps, dtype=np.int64),
        member=np.empty(4 * n_steps, dtype=np.int32),
        intercept=np.empty(n_steps),
        first_entry=np.empty(n_steps, dtype=np.int64),
        column=np.empty(n_entries, dtype=np.int32),
        value=np.empty(n_entries),
        now=new_record(n_steps=0, n_members=0, n_points=0, n_entries=0),
    )


def _lengthen(trace: Trace) -> Trace:
    """Return a trace with the same steps and twice the room."""
    *arrays, now = trace
    longer = [np.concatenate([array, np.empty_like(array)]) for array in arrays]
    return Trace._make([*longer, now])


@dataclass(frozen=True)
class Prover:
    """A finished trace, and the problem it belongs to."""

    problem: SubsetProblem
    columns: NDArray[np.int64]
    trace: Trace
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
        n_points, n_entries = self.trace.now.n_points, self.trace.now.n_entries
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
        trace, n_steps, n_members = self.trace, self.trace.now.n_steps, self.trace.now.n_members
        members = trace.member[:n_members].tolist()
        first = [*trace.first_member[:n_steps].tolist(), int(n_members)]
        kinds, nodes = trace.kind[:n_steps].tolist(), trace.node[:n_steps].tolist()
        for s, reference in enumerate(trace.reference[:n_steps].tolist()):
            node, kind, mine = nodes[s], kinds[s], members[first[s] : first[s + 1]]
            if kind == Kind.FIX:
                forbidden = tuple(g for g in mine if g >= 0)
                bought = tuple(~g for g in mine if g < 0)
                yield Fix(node, reference, forbidden, bought), mine
            elif kind == Kind.BOUND:
                yield Bound(node, reference), mine
            elif kind == Kind.BRANCH:
                yield Branch(node, mine[0], reference, reference + 1), mine
            elif kind == Kind.ONE:
                yield One(node, reference, tuple(mine)), mine
            else:
                yield Unaffordable(node), mine
