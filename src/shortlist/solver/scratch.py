"""The working memory of a search, allocated once for searches of one shape."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from .kernels.endgame import largest_node
from .kernels.fields import Array, Record
from .kernels.listing import Listing
from .kernels.search import Search
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

    def struct(self, kind: Any, sizes: Mapping[Any, Any], **given: Any) -> Any:
        """Return a struct; what is not given is made as the annotations of its fields say."""
        return kind(
            **{
                name: given[name] if name in given else self._make(field, sizes)
                for name, field in kind.__annotations__.items()
            }
        )

    def _make(self, field: Any, sizes: Mapping[Any, Any]) -> Any:
        if isinstance(field, Array):
            return self.array(field, sizes)
        if isinstance(field, Record):
            record = np.array(field.start, field.dtype)
            self._starts.append((record, field.start))
            return record[()]
        return self.struct(field, sizes)

    def array(self, field: Array, sizes: Mapping[Any, Any]) -> Any:
        """Return an array, which is written before it is read unless it starts with something."""
        array: Any = np.empty([sizes.get(size, size) for size in field.shape], field.dtype)
        self.nbytes += array.nbytes
        if field.start is not None:
            array[...] = field.start
            self._starts.append((array, field.start))
        return array

    def reset(self) -> None:
        """Give everything what it started with."""
        for array, value in self._starts:
            array[...] = value


class Scratch:
    """The structs of one search; `take_scratch` gives it out, `give_back` takes it back.

    The search lacks the data and the limits of a problem.
    """

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.memory = memory = Memory()
        sizes = shape._asdict()
        listing = make_listing(memory, shape, 0)
        self.search: Search = memory.struct(Search, sizes, data=None, limits=None, listing=listing)
        self.warm = memory.array(Array("n_predictors", dtype=np.bool_, start=False), sizes)
        self.tree = make_tree(memory, shape, _FIRST_SLOTS)
        n_steps, n_members = largest_node(shape.n_predictors)
        self.trace = make_trace(memory, n_steps, n_members, shape.n_columns, shape.n_fit)


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
    listing: Listing = memory.struct(Listing, shape._asdict() | {"n_places": n_places})
    return listing


def make_trace(memory: Memory, n_steps: int, n_members: int, n_columns: int, n_fit: int) -> Trace:
    """Return a trace without steps, with room for the largest node at least.

    That takes `n_steps` steps and three more, and as many points on up to `n_fit` columns.
    """
    n_entries = _FIRST_ENTRIES + n_columns + (n_steps + 1) * n_fit
    n_steps += _FIRST_STEPS + 3
    sizes = {"n_steps": n_steps, "n_points": n_steps, "n_entries": n_entries}
    trace: Trace = memory.struct(Trace, sizes | {"n_members": n_members + 4 * n_steps})
    return trace


def make_tree(memory: Memory, shape: Shape, n_nodes: int) -> Tree:
    """Return a tree without nodes, with room for so many and the one of a dive."""
    sizes = shape._asdict() | {"n_nodes": n_nodes, "n_slots": n_nodes + 1}
    vacant = Array("n_nodes", dtype=np.int64, start=np.arange(1, n_nodes + 1))
    tree: Tree = memory.struct(Tree, sizes, vacant=memory.array(vacant, sizes))
    return tree
