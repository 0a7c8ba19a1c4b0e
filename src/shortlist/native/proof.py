"""The record of a search, in memory or in files, and the certificates that are made of it.

`certificate` is imported where one is made: it loads pydantic, which most solves do without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import isfinite, isnan
from shutil import disk_usage
from tempfile import TemporaryFile, gettempdir
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..archive import Listed
from ..arguments import Float, Int
from ..problem import SubsetProblem
from ..solution import Solution
from .core import Prepared, uncentred

if TYPE_CHECKING:
    from ..certificate import Certificate, Point, Step

_FIX, _BOUND, _BRANCH, _ONE = range(4)
# The structs of core/trace.hpp.
STEP = np.dtype([("kind", "i8"), ("node", "i8"), ("reference", "i8"), ("first_member", "i8")])
POINT = np.dtype(
    [("intercept", "f8"), ("intercept_step", "f8"), ("smoothing", "f8"), ("first_column", "i8")]
)
_KINDS: tuple[np.dtype[Any], ...] = (
    STEP,
    POINT,
    np.dtype(np.int64),
    np.dtype(np.int32),
    np.dtype(np.float64),
)
_SHARE_OF_DISK = 0.5  # of what is free, that a record may take


class Record(NamedTuple):
    """What the core has written down.

    Attributes
    ----------
    steps, points : ndarray
        Of `STEP` and `POINT`.
    members, columns : ndarray of int
        Of the steps and of the points, one after the other; columns are places of the core.
    values : ndarray of float
        Of the columns of a point, then, if it is moved, their steps.
    """

    steps: NDArray[Any]
    points: NDArray[Any]
    members: Int
    columns: NDArray[np.int32]
    values: Float

    @classmethod
    def of(cls, trace: Any) -> Record:
        """Return what a trace of the core holds, without a copy."""
        arrays = (getattr(trace, name) for name in cls._fields)
        return cls(*(array.view(kind) for array, kind in zip(arrays, _KINDS, strict=True)))

    @property
    def n_bytes(self) -> int:
        """How much memory or disk it takes."""
        return sum(array.nbytes for array in self)


class RecordFiles:
    """The record of a search that outgrows memory, written as it grows.

    Its files are temporary ones without a name: whatever ends the process, nothing is left of them.
    A context closes them; arrays that refer to them live on.
    """

    def __init__(self) -> None:
        self._open = ExitStack()
        self._files: list[Any] = []
        self._lengths = [0] * len(Record._fields)
        self._left = 0.0  # bytes

    def __enter__(self) -> RecordFiles:
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    @property
    def is_used(self) -> bool:
        """Whether anything was written."""
        return bool(self._files)

    def add(self, part: Record) -> bool:
        """Write down what follows; return whether the disk has room for it."""
        try:
            if not self._files:
                self._left = _SHARE_OF_DISK * disk_usage(gettempdir()).free
                for _ in _KINDS:
                    self._files.append(self._open.enter_context(TemporaryFile()))  # noqa: SIM115
            self._left -= part.n_bytes
            if self._left < 0:
                return False
            steps, points = part.steps.copy(), part.points.copy()
            steps["first_member"] += self._lengths[Record._fields.index("members")]
            points["first_column"] += self._lengths[Record._fields.index("columns")]
            for i, array in enumerate(part._replace(steps=steps, points=points)):
                self._files[i].write(array)
                self._lengths[i] += len(array)
        except OSError:
            return False
        return True

    def record(self) -> Record:
        """Return all of it, without reading it into memory."""
        arrays = []
        for file, kind, length in zip(self._files, _KINDS, self._lengths, strict=True):
            file.flush()
            arrays.append(
                np.memmap(file, kind, "r", shape=(length,)) if length else np.empty(0, kind)
            )
        return Record(*arrays)


@dataclass(frozen=True)
class Recorded:
    """The record of a search, as steps and points of a certificate: any stretch of them.

    It does not know the data: a certificate that is read from files must not keep them alive.
    """

    record: Record
    columns: Int  # the problem's column at each place of the core
    centre: Float  # of each column of the problem
    centre_of_outcomes: float
    is_smoothed: bool  # the loss of the problem
    leaves: list[tuple[int, int]]  # the nodes that were still open, and their points

    @property
    def n_steps(self) -> int:
        """How many steps there are, those of the leaves included."""
        return len(self.record.steps) + len(self.leaves)

    def steps(self, start: int, stop: int) -> list[Step]:
        """Return some of the steps; those of open nodes come last."""
        from ..certificate import Bound

        n = len(self.record.steps)
        leaves = self.leaves[max(0, start - n) : max(0, stop - n)]
        return [
            *(step for step, _ in self.with_members(start, min(stop, n))),
            *(Bound(node, point) for node, point in leaves),
        ]

    def with_members(self, start: int, stop: int) -> Iterator[tuple[Step, list[int]]]:
        """Yield some of the recorded steps, with their recorded members."""
        from ..certificate import Bound, Branch, Fix, One, Unaffordable

        recorded = self.record.steps[start:stop].tolist()
        ends, members = _entries(
            self.record.steps["first_member"], self.record.members, start, stop
        )
        listed = members.tolist()
        for (first, last), (kind, node, reference, _) in zip(pairwise(ends), recorded, strict=True):
            mine = listed[first:last]
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

    def points(self, start: int, stop: int) -> list[Point]:
        """Return some of the points, for columns that are not centred.

        The correction of a point also takes what rounding its intercept leaves over.
        """
        from ..certificate import Point

        record = self.record
        recorded = record.points[start:stop].tolist()
        ends, places = _entries(record.points["first_column"], record.columns, start, stop)
        in_problem = self.columns[places]
        columns, centres = in_problem.tolist(), self.centre[in_problem].tolist()
        first_value, last_value = self._first_values[[start, stop]].tolist()
        numbers = record.values[first_value:last_value].tolist()
        points, next_number = [], 0
        for (first, last), (intercept0, step, smoothing, _) in zip(
            pairwise(ends), recorded, strict=True
        ):
            n, mine, is_moved = last - first, slice(first, last), not isnan(step)
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
                point = Point(0.0, (), (), (), 1.0 if self.is_smoothed else 0.0)
            points.append(point)
        return points

    @cached_property
    def _first_values(self) -> Int:
        """The place of the first value of each point, and the number of values."""
        points = self.record.points
        n_columns = np.diff(points["first_column"], append=len(self.record.columns))
        is_moved = ~np.isnan(points["intercept_step"])
        return np.concatenate([[0], np.cumsum(n_columns * (1 + is_moved))])


def _entries(firsts: Int, entries: Any, start: int, stop: int) -> tuple[list[int], Any]:
    """Return where the lists of some owners begin and end, and these lists one after the other."""
    first, last = (
        int(firsts[i]) if i < len(firsts) else len(entries) for i in (start, max(start, stop))
    )
    ends = firsts[start:stop].tolist()
    return [end - first for end in (*ends, last)], entries[first:last]


@dataclass(frozen=True)
class Prover:
    """A finished record, and the problem it belongs to; makes certificates on demand."""

    problem: SubsetProblem
    recorded: Recorded
    is_long: bool  # too long for memory

    @classmethod
    def of(
        cls,
        problem: SubsetProblem,
        prepared: Prepared,
        search: Any,
        files: RecordFiles | None = None,
    ) -> Prover | None:
        """Return what proves the result of a search; None if the proof grew too long.

        Nodes that are still open become leaves, with the bound that they have. What was already
        written to files comes before what the search still holds.
        """
        if not search.is_recording or not search.is_started:
            return None
        record = Record.of(search.take_trace())
        is_long = files is not None and files.is_used
        if files is not None and is_long:
            if not files.add(record):
                return None
            record = files.record()
        # Not the data themselves: a solution must not keep a copy of the rows alive.
        columns = np.array(prepared.data.columns, dtype=np.int64)
        centres = prepared.data.centre, prepared.centre
        is_smoothed = problem.family.is_smoothed
        recorded = Recorded(record, columns, *centres, is_smoothed, search.open_nodes())
        return cls(problem, recorded, is_long)

    def __call__(self, solution: Solution) -> Certificate:
        """Return the certificate of the solution; one that is long refers to the record."""
        recorded = self.recorded
        if not self.is_long:
            return self.certificate(self.problem, solution, lambda steps: (s for s, _ in steps))
        return claims_of(
            self.problem,
            solution,
            Listed(recorded.n_steps, recorded.steps),
            Listed(len(recorded.record.points), recorded.points),
        )

    def certificate(
        self,
        problem: SubsetProblem,
        solution: Solution,
        select: Callable[[list[tuple[Step, list[int]]]], Iterable[Step]],
    ) -> Certificate:
        """Return the certificate for a problem whose proof is a selection of the recorded steps.

        The selection is made from steps with their recorded members.
        """
        recorded = self.recorded
        n_recorded = len(recorded.record.steps)
        steps = [
            *select(list(recorded.with_members(0, n_recorded))),
            *recorded.steps(n_recorded, recorded.n_steps),
        ]
        return make_certificate(problem, solution, steps, self._points())

    def proof(self) -> tuple[list[Step], list[Point]]:
        """Return the steps, and the points that they refer to.

        Where one more can be bought, a listing also closes the selection without it, by a bound of
        its own. The other steps of such a node bound it too, so that one is left out.
        """
        from ..certificate import Bound, One

        steps = self.recorded.steps(0, self.recorded.n_steps)
        ends = {step.node for step in steps if isinstance(step, One)}
        return [s for s in steps if not (isinstance(s, Bound) and s.node in ends)], self._points()

    def _points(self) -> list[Point]:
        return self.recorded.points(0, len(self.recorded.record.points))


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
    from ..certificate import Branch, Unaffordable

    number: dict[Point, int] = {}

    def renumbered(step: Step) -> Step:
        if isinstance(step, Branch | Unaffordable):
            return step
        return step._replace(point=number.setdefault(points[step.point], len(number)))

    steps = tuple(renumbered(step) for step in steps)
    return claims_of(problem, solution, steps, tuple(number))


def claims_of(
    problem: SubsetProblem, solution: Solution, steps: Sequence[Step], points: Sequence[Point]
) -> Certificate:
    """Return the certificate of a solution, with these steps and all of these points."""
    from ..certificate import Certificate

    # The bounds of the search are floating point: claim a little less than it computed.
    slack = problem.family.slack * problem.scale.of(solution.objective)
    return Certificate(
        problem=problem.digest,
        objective=solution.objective,
        lower_bound=max(problem.scale.least, solution.lower_bound - slack),
        support=solution.support,
        model=point_of(solution.coef, solution.intercept),
        points=points,
        steps=steps,
    )


def point_of(coef: Float, intercept: float) -> Point:
    """Return the point of a model: its own coefficients."""
    from ..certificate import Point

    columns = np.flatnonzero(coef)
    return Point(intercept, tuple(columns.tolist()), tuple(coef[columns].tolist()))
