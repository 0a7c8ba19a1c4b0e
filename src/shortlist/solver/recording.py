"""The trace of a search, kept while it runs and handed over as the proof of its result."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite, isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..certificate import Bound, Branch, Certificate, Fix, One, Point, Step, Unaffordable
from ..errors import ShortlistWarning
from ..problem import SubsetProblem
from ..solution import Solution
from .kernels.endgame import largest_node
from .kernels.trace import Kind, Trace, has_room
from .kernels.tree import DIVE_SLOT, Tree
from .packed import uncentred
from .prepare import Prepared
from .scratch import Memory, Scratch, make_trace

Array = NDArray[Any]

_LARGEST_TRACE = 2**30  # bytes


class Recording:
    """Grows with the search, up to a limit beyond which the search goes on without a proof.

    The largest node takes `n_steps` steps, by default those of `run_search`, and points on supports
    of up to `n_fit` columns. A recording that is not `wanted` starts anew when it is full.
    """

    def __init__(self, scratch: Scratch, n_steps: int = 0, wanted: bool = True) -> None:
        _, n_columns, n_predictors, n_fit, _ = scratch.shape
        if n_steps:
            self._largest = (n_steps, 2 * n_steps, n_columns, n_columns)
            self.trace = make_trace(Memory(), *self._largest)
        else:
            self._largest = (*largest_node(n_predictors), n_columns, n_fit)
            self.trace = scratch.trace
        self._lent = scratch.trace
        self._wanted = wanted
        self._complete = wanted

    def make_room(self, part: Trace | None = None) -> None:
        """Make sure that the next node fits, or what part of the search has recorded."""
        while not self._has_room(part):
            is_small = sum(array.nbytes for array in self.trace[:-1]) <= _LARGEST_TRACE // 2
            if self._wanted and is_small:
                self.trace = _lengthen(self.trace)
            else:
                self._forget()

    def _has_room(self, part: Trace | None) -> bool:
        trace = self.trace
        if part is None:
            return bool(has_room(trace, *self._largest))
        filled = (trace.kind, trace.member, trace.intercept, trace.column)
        counts = zip(part.now.item(), trace.now.item(), filled, strict=True)
        return all(more + now <= len(array) for more, now, array in counts)

    def _forget(self) -> None:
        was_complete, self._complete = self._complete, False
        self.trace.now.base[...] = 0
        if was_complete:
            warnings.warn(
                f"The proof would exceed {_LARGEST_TRACE / 2**30:g} GiB, so the search goes on "
                "without recording it and the solution will have no certificate.",
                ShortlistWarning,
                stacklevel=5,
            )

    def prover(self, problem: SubsetProblem, prepared: Prepared, tree: Tree) -> Prover | None:
        """Return what makes the certificate on demand; None if the trace was too long.

        Nodes that are still open become leaves, with the bound that they have.
        """
        now = tree.now
        if not self._complete or now["n_created"] == 0:
            return None
        slots = [*tree.heap[: now["n_open"]], *[DIVE_SLOT] * int(now["n_diving"])]
        leaves = [Bound(int(tree.serial[slot]), int(tree.point[slot])) for slot in slots]
        # What the scratch lent serves the next search; a trace that outgrew it is not copied again.
        trace = _shorten(self.trace, np.copy if self.trace is self._lent else np.asarray)
        return Prover(problem, prepared.columns, prepared.centre, trace, leaves)


def _lengthen(trace: Trace) -> Trace:
    """Return a trace with the same steps and twice the room."""
    *arrays, now = trace
    return Trace._make([*(np.concatenate([array, np.empty_like(array)]) for array in arrays), now])


def _shorten(trace: Trace, keep: Callable[[Array], Array]) -> Trace:
    """Return the same steps without room for more."""
    *arrays, now = trace
    fields = zip(arrays, Trace.__annotations__.values(), strict=False)
    shorter = [keep(array[: now[field.shape[0]]]) for array, field in fields]
    return Trace._make([*shorter, now.copy()])


@dataclass(frozen=True)
class Prover:
    """A finished trace, without room for more, and the problem it belongs to."""

    problem: SubsetProblem
    columns: NDArray[np.int64]
    centre: NDArray[np.float64]
    trace: Trace
    leaves: list[Bound]  # the nodes that were still open

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
        steps = [*select(list(self._steps())), *self.leaves]
        return make_certificate(problem, solution, steps, self._points())

    def proof(self) -> tuple[list[Step], list[Point]]:
        """Return the steps, and the points that they refer to.

        Where one more can be bought, a listing also closes the selection without it, by a bound of
        its own. The other steps of such a node bound it too, so that one is left out.
        """
        steps = [*(step for step, _ in self._steps()), *self.leaves]
        ends = {step.node for step in steps if isinstance(step, One)}
        return [s for s in steps if not (isinstance(s, Bound) and s.node in ends)], self._points()

    def _points(self) -> list[Point]:
        """Return the points for columns that are not centred.

        The correction of a point also takes what rounding its intercept leaves over.
        """
        trace = self.trace
        columns, centres = self.columns[trace.column].tolist(), self.centre[trace.column].tolist()
        values, steps = trace.value.tolist(), trace.step.tolist()
        first = [*trace.first_entry.tolist(), len(values)]
        points = []
        for p, (start, end) in enumerate(pairwise(first)):
            mine, step = slice(start, end), float(trace.intercept_step[p])
            intercept, left_over = uncentred(float(trace.intercept[p]), values[mine], centres[mine])
            if not isnan(step):
                left_over += uncentred(step, steps[mine], centres[mine])[0]
            correction = () if isnan(step) and left_over == 0 else (left_over, *steps[mine])
            width = float(trace.width[p])
            point = Point(intercept, tuple(columns[mine]), tuple(values[mine]), correction, width)
            if not isfinite(intercept + width + sum(point.values) + sum(correction)):
                # A fit that went astray. Any point serves, and none would prove what it should.
                point = Point(0.0, (), (), (), float(self.problem.loss.is_smoothed))
            points.append(point)
        return points

    def _steps(self) -> Iterator[tuple[Step, list[int]]]:
        trace = self.trace
        members = trace.member.tolist()
        first = [*trace.first_member.tolist(), len(members)]
        kinds, nodes = trace.kind.tolist(), trace.node.tolist()
        for s, reference in enumerate(trace.reference.tolist()):
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


def make_certificate(
    problem: SubsetProblem, solution: Solution, steps: Iterable[Step], points: Sequence[Point]
) -> Certificate:
    """Return the certificate of a solution, with the distinct points that its steps refer to."""
    number: dict[Point, int] = {}

    def renumbered(step: Step) -> Step:
        if isinstance(step, Branch | Unaffordable):
            return step
        return step._replace(point=number.setdefault(points[step.point], len(number)))

    steps = tuple(renumbered(step) for step in steps)
    # The bounds of the search are floating point: claim a little less than it computed.
    return Certificate(
        problem=problem.digest,
        objective=solution.objective,
        lower_bound=max(0.0, solution.lower_bound - problem.loss.slack * solution.objective),
        support=solution.support,
        model=point_of(solution.coef, solution.intercept),
        points=tuple(number),
        steps=steps,
    )


def point_of(coef: NDArray[np.float64], intercept: float) -> Point:
    """Return the point of a model, which is that of its own coefficients."""
    columns = np.flatnonzero(coef)
    return Point(intercept, tuple(columns.tolist()), tuple(coef[columns].tolist()))
