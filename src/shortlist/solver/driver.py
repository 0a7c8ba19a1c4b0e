"""The sliced driver: compiled work in slices of about 50 ms, between which limits are looked at."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np

from ..problem import SubsetProblem
from ..solution import Options, Progress, Status
from .kernels.tree import DIVE_SLOT, Tree
from .prepare import Prepared
from .recording import Prover, Recording

_FIRST_SLICE = 4e6  # entries of X that the nodes of the first slice may read once
_SLICE_SECONDS = 0.05


class Run:
    """One search: its open nodes and its trace. The tree does not depend on the slices."""

    def __init__(self, prepared: Prepared, recording: Recording) -> None:
        self.prepared = prepared
        self.recording = recording
        self.tree = prepared.scratch.tree

    def drive(self, advance: Callable[[int], bool], options: Options, started: float) -> Status:
        """Call `advance` with a number of nodes until it returns True.

        Returns `Status.OPTIMAL` then, and otherwise which limit ended the run.
        """
        now = self.tree.now
        n_slice = max(1, int(_FIRST_SLICE / (1 + self.prepared.search.data.X.size)))
        try:
            while True:
                if options.node_limit is not None:
                    n_slice = min(n_slice, options.node_limit - int(now["nodes"]))
                slice_started, nodes_before = perf_counter(), int(now["nodes"])
                if advance(n_slice):
                    return Status.OPTIMAL
                clock = perf_counter()
                if options.callback is not None:
                    options.callback(self._progress(clock - started))
                if options.node_limit is not None and now["nodes"] >= options.node_limit:
                    return Status.NODE_LIMIT
                if options.time_limit is not None and clock - started >= options.time_limit:
                    return Status.TIME_LIMIT
                self.make_room(1)
                self.recording.make_room()
                # Slices of equal time, so that limits and Ctrl-C are noticed soon.
                ratio = _SLICE_SECONDS / max(clock - slice_started, 1e-6)
                n_slice = max(1, int((now["nodes"] - nodes_before) * min(max(ratio, 0.25), 4.0)))
        except KeyboardInterrupt:
            return Status.INTERRUPTED

    def make_room(self, n_nodes: int) -> None:
        """Make sure that the tree has room for more nodes."""
        while int(self.tree.now["n_open"]) + n_nodes > len(self.tree.heap):
            self.tree = enlarge(self.tree)

    def lower_bound(self) -> float:
        """Return the minimum over closed leaves and open nodes; a loss is never below 0."""
        tree = self.tree
        if tree.now["n_created"] == 0:
            return 0.0  # not even the root was looked at
        bound = float(tree.now["closed"])
        if tree.now["n_open"] > 0:
            bound = min(bound, float(tree.bound[tree.heap[0]]))
        if tree.now["n_diving"] > 0:
            bound = min(bound, float(tree.bound[DIVE_SLOT]))
        return max(bound, 0.0)

    def n_open(self) -> int:
        """Return how many nodes are open."""
        return int(self.tree.now["n_open"] + self.tree.now["n_diving"])

    def prover(self, problem: SubsetProblem) -> Prover | None:
        """Return what makes the certificate on demand; see `Recording.prover`."""
        return self.recording.prover(problem, self.prepared, self.tree)

    def _progress(self, seconds: float) -> Progress:
        now = self.tree.now
        return Progress(
            nodes=int(now["nodes"]),
            open_nodes=self.n_open(),
            objective=float(self.prepared.search.incumbent.score["objective"]),
            lower_bound=self.lower_bound(),
            seconds=seconds,
        )


def enlarge(tree: Tree) -> Tree:
    """Return a tree with the same nodes and twice the room."""
    n = len(tree.heap)
    *arrays, now = tree
    larger = (np.concatenate([array, np.empty_like(array[:n])]) for array in arrays)
    grown = Tree._make([*larger, now])
    grown.vacant[n:] = np.arange(n + 1, 2 * n + 1)
    return grown
