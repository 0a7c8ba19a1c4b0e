"""The working memory of a search, allocated once for searches of one shape."""

from __future__ import annotations

from math import inf
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .kernels.endgame import Endgame, largest_node
from .kernels.gram import BLOCK_COLUMNS, BLOCK_ROWS, Gram
from .kernels.hessian import Hessian
from .kernels.heuristic import Heuristic
from .kernels.incumbent import Incumbent
from .kernels.listing import Listing
from .kernels.model import Model, System
from .kernels.newton import Fit
from .kernels.oracle import Values
from .kernels.point import Moved, Rows
from .kernels.reference import new_record
from .kernels.relaxation import Relaxation
from .kernels.trace import Trace
from .kernels.tree import Tree

_FIRST_SLOTS = 64  # nodes that a tree has room for at first
_FIRST_STEPS, _FIRST_ENTRIES = 512, 8192  # the room that a trace starts with, at least
# Kept for the next search is what the many small ones of a resampling need, each with a slightly
# different number of rows. What is larger is allocated anew, which such searches do not notice.
_LARGEST_KEPT = 2**20  # bytes
_MOST_KEPT = 32


class Shape(NamedTuple):
    """What the sizes of all arrays follow from."""

    n_rows: int
    n_columns: int
    n_predictors: int
    n_fit: int  # columns of the largest support that is fitted
    n_model: int  # columns that a working set may hold


class Memory:
    """Arrays and records, and what those started with that must start with something."""

    def __init__(self) -> None:
        self._starts: list[tuple[Any, Any]] = []
        self.nbytes = 0

    def empty(self, *shape: int, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """Return an array that is written before it is read."""
        array = np.empty(shape, dtype)
        self.nbytes += array.nbytes
        return array

    def filled(self, value: Any, *shape: int, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """Return an array that starts with a value."""
        array = self.empty(*shape, dtype=dtype)
        array[...] = value
        self._starts.append((array, value))
        return array

    def record(self, **values: float) -> np.record:
        """Return a record of scalars, integers or floats by what they start with."""
        record: np.record = new_record(**values)
        self._starts.append((record.base, tuple(values.values())))
        return record

    def reset(self) -> None:
        """Give everything what it started with."""
        for array, value in self._starts:
            array[...] = value


class Scratch:
    """The structs of one search; `take_scratch` gives it out, `give_back` takes it back."""

    def __init__(self, shape: Shape) -> None:
        n_rows, n_columns, n_predictors, n_fit, _ = self.shape = shape
        self.memory = memory = Memory()
        self.relaxation = _relaxation(memory, shape)
        self.fit = Fit(
            rows=_rows(memory, n_rows),
            hessian=_hessian(memory, n_fit, n_rows),
            theta=memory.empty(n_columns),
            gradient=memory.empty(n_columns),
            target=memory.empty(n_rows),
            moved=_moved(memory, n_rows),
            now=memory.record(is_moved=0, n_columns=0, intercept=0.0),
        )
        self.heuristic = Heuristic(
            trial=_status(memory, n_predictors),
            held=_status(memory, n_predictors),
            gain=memory.empty(n_predictors),
        )
        self.endgame = Endgame(
            trial=_status(memory, n_predictors),
            base=_rows(memory, n_rows),
            theta=memory.empty(n_columns),
            slope=memory.empty(n_columns),
            cross=memory.empty(n_columns, n_fit),
            square=memory.empty(n_columns),
            mean=memory.empty(n_columns),
            hessian=_hessian(memory, n_fit, n_rows),
            gain=memory.empty(n_predictors),
            step=memory.empty(n_fit),
            moved=_moved(memory, n_rows),
            now=memory.record(
                intercept=0.0,
                objective=0.0,
                mismatch=0.0,
                total=0.0,
                n_bought=0,
                is_solved=0,
                step0=0.0,
            ),
        )
        self.incumbent = Incumbent(
            status=_status(memory, n_predictors),
            theta=memory.empty(n_columns),
            score=memory.record(objective=inf, intercept=0.0),
        )
        self.listing = make_listing(memory, shape, 0)
        self.root = _status(memory, n_predictors)
        self.status = _status(memory, n_predictors)
        self.warm = memory.filled(False, n_predictors, dtype=np.bool_)
        self.tree = make_tree(memory, n_columns, n_predictors, _FIRST_SLOTS)
        n_steps, n_members = largest_node(n_predictors)
        self.trace = make_trace(memory, n_steps, n_members, n_columns, n_fit)


_idle: dict[Shape, Scratch] = {}  # what was given back last comes last
_lock = Lock()


def take_scratch(shape: Shape) -> Scratch:
    """Return scratch of a shape as if it were new; it is the caller's until it is given back."""
    with _lock:
        scratch = _idle.pop(shape, None)
    if scratch is None:
        return Scratch(shape)
    scratch.memory.reset()
    return scratch


def give_back(scratch: Scratch) -> None:
    """Let the next search of this shape have the scratch: nothing may refer to it any more."""
    if scratch.memory.nbytes > _LARGEST_KEPT:
        return
    with _lock:
        _idle.pop(scratch.shape, None)
        _idle[scratch.shape] = scratch
        if len(_idle) > _MOST_KEPT:
            del _idle[next(iter(_idle))]


def make_listing(memory: Memory, shape: Shape, n_places: int) -> Listing:
    """Return a listing without models."""
    return Listing(
        status=memory.empty(n_places, shape.n_predictors, dtype=np.int8),
        theta=memory.empty(n_places, shape.n_columns),
        theta0=memory.empty(n_places),
        objective=memory.empty(n_places),
        now=memory.record(n_listed=0, n_left_out=0),
    )


def make_trace(memory: Memory, n_steps: int, n_members: int, n_columns: int, n_fit: int) -> Trace:
    """Return a trace without steps, with room for the largest node at least.

    That takes `n_steps` steps and three more, and as many points on up to `n_fit` columns.
    """
    n_entries = _FIRST_ENTRIES + n_columns + (n_steps + 1) * n_fit
    n_steps += _FIRST_STEPS + 3
    return Trace(
        kind=memory.empty(n_steps, dtype=np.int8),
        node=memory.empty(n_steps, dtype=np.int64),
        reference=memory.empty(n_steps, dtype=np.int64),
        first_member=memory.empty(n_steps, dtype=np.int64),
        member=memory.empty(n_members + 4 * n_steps, dtype=np.int32),
        intercept=memory.empty(n_steps),
        intercept_step=memory.empty(n_steps),
        width=memory.empty(n_steps),
        first_entry=memory.empty(n_steps, dtype=np.int64),
        column=memory.empty(n_entries, dtype=np.int32),
        value=memory.empty(n_entries),
        step=memory.empty(n_entries),
        now=memory.record(n_steps=0, n_members=0, n_points=0, n_entries=0),
    )


def make_tree(memory: Memory, n_columns: int, n_predictors: int, n_slots: int) -> Tree:
    """Return a tree without nodes."""
    n = n_slots + 1
    return Tree(
        status=memory.empty(n, n_predictors, dtype=np.int8),
        theta=memory.empty(n, n_columns),
        theta0=memory.empty(n),
        mu=memory.empty(n),
        bound=memory.empty(n),
        point=memory.empty(n, dtype=np.int64),
        serial=memory.empty(n, dtype=np.int64),
        low=memory.empty(n, dtype=np.int64),
        high=memory.empty(n, dtype=np.int64),
        heap=memory.empty(n - 1, dtype=np.int64),
        vacant=memory.filled(np.arange(1, n), n - 1, dtype=np.int64),
        now=memory.record(
            nodes=0,
            n_open=0,
            n_diving=0,
            n_created=0,
            closed=inf,
            nodes_before=0,
            created_before=0,
        ),
    )


def _status(memory: Memory, n_predictors: int) -> NDArray[np.int8]:
    return memory.filled(0, n_predictors, dtype=np.int8)


def _rows(memory: Memory, n_rows: int) -> Rows:
    u, a, b, d, q, decay, scratch = (memory.empty(n_rows) for _ in range(7))
    rho, entropy = (memory.record(positive=1.0, negative=1.0) for _ in range(2))
    kink = memory.record(width=0.0)
    return Rows(u, a, b, d, q, rho, entropy, kink, decay, scratch)


def _moved(memory: Memory, n_rows: int) -> Moved:
    t, q = memory.empty(n_rows), memory.empty(n_rows)
    return Moved(t, q, memory.record(positive=1.0, negative=1.0))


def _hessian(memory: Memory, n_fit: int, n_rows: int) -> Hessian:
    return Hessian(
        columns=memory.empty(n_fit, dtype=np.int64),
        matrix=memory.empty(n_fit, n_fit),
        mean=memory.empty(n_fit),
        step=memory.empty(n_fit),
        weighted=memory.empty(n_rows),
    )


def _relaxation(memory: Memory, shape: Shape) -> Relaxation:
    n_rows, n_columns, n_predictors, _, n_model = shape
    gram = Gram(
        matrix=memory.empty(n_model, n_model),
        mean=memory.empty(n_model),
        member=memory.empty(n_model, dtype=np.int64),
        position=memory.filled(-1, n_columns, dtype=np.int64),
        d=memory.filled(0.0, n_rows),
        block=memory.empty(BLOCK_COLUMNS, BLOCK_ROWS),
        now=memory.record(n_columns=0, total=0.0),
    )
    system = System(
        active=memory.empty(n_model, dtype=np.int64),
        matrix=memory.empty(n_model, n_model),
        solution=memory.empty(n_model),
        response=memory.empty(n_model),
    )
    model = Model(
        gram=gram,
        theta=memory.empty(n_columns),
        gradient=memory.empty(n_columns),
        price=memory.empty(n_predictors),
        root_price=memory.empty(n_predictors),
        zone=_status(memory, n_predictors),
        held=memory.empty(n_columns, dtype=np.bool_),
        chain=memory.empty(n_predictors, dtype=np.int64),
        entry=memory.empty(n_predictors),
        linear=memory.empty(n_model),
        slope=memory.empty(n_model),
        system=system,
    )
    v, value_in, value_out, ranked = (memory.empty(n_predictors) for _ in range(4))
    return Relaxation(
        rows=_rows(memory, n_rows),
        values=Values(v, value_in, value_out, ranked),
        model=model,
        z=memory.empty(n_predictors),
        u_old=memory.empty(n_rows),
        theta_old=memory.empty(n_columns),
        moved=_moved(memory, n_rows),
        bought=_status(memory, n_predictors),
        last=memory.record(
            loss=0.0, entropy=0.0, mismatch=0.0, is_moved=0, is_loose=0, theta0=0.0, step0=0.0
        ),
    )
