"""All cores for one long search: rounds of parts that run side by side.

A search that has proved to be long deals its open nodes of lowest bound to a fixed number of parts.
Each part is a search of its own, with its own scratch, for a fixed number of nodes. Then all of
them are collected in order, and the next round begins. Nothing of that depends on the clock or on
the number of threads, so neither does any bit of the result.
"""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from math import inf
from sys import maxsize
from time import perf_counter
from typing import NamedTuple

from ..solution import Options
from .driver import Run
from .kernels.part import collect, deal
from .kernels.search import Search, run_search
from .kernels.tree import Tree
from .prepare import alongside
from .recording import Recording
from .scratch import Memory, make_tree

# Work is counted in nodes times entries of X, plus what a node takes whatever the size of X. A
# search is long after about a fifth of a second, and after so many nodes that some are open; a part
# of a round takes some milliseconds.
_NODE_ENTRIES = 2_000
_LONG_SEARCH, _FIRST_NODE = 2e7, 64
_PART = 6e5
_LEAST_NODES, _MOST_NODES = 4, 256  # of a part in a round
_MOST_PARTS = 16
_MOST_MEMORY = 2**28  # bytes, of the scratch of all parts


class Part(NamedTuple):
    """What one part works on."""

    search: Search
    tree: Tree
    recording: Recording


class Rounds:
    """Rounds of one search, which begin when it has processed `first_node` nodes.

    Where the scratch of two parts would take too much memory they never do.
    """

    def __init__(self, run: Run, options: Options, gap: float, started: float) -> None:
        scratch = run.prepared.scratch
        n_entries = run.prepared.search.data.X.size + _NODE_ENTRIES
        self._n_parts = min(_MOST_PARTS, _MOST_MEMORY // scratch.memory.nbytes)
        first_node = max(int(_LONG_SEARCH // n_entries), _FIRST_NODE)
        self.first_node = first_node if self._n_parts > 1 else maxsize
        self._n_nodes = int(min(max(_LEAST_NODES, _PART // n_entries), _MOST_NODES))
        self._run = run
        self._gap = gap
        self._threads = options.threads
        self._node_limit = inf if options.node_limit is None else options.node_limit
        self._deadline = inf if options.time_limit is None else started + options.time_limit
        self._parts: list[Part] = []
        self._pool: ThreadPoolExecutor | None = None

    def close(self) -> None:
        """End the threads, and collect what they leave in the parts."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        self._collect()

    def play(self) -> None:
        """Play one round. What ends it early leaves nodes in the parts until `close`."""
        if not self._parts:
            self._begin()
        shares = self._deal()
        work = map if self._pool is None else self._pool.map
        for _ in work(self._work, *zip(*shares, strict=True)):
            pass  # an error is raised here
        self._collect()

    def _begin(self) -> None:
        for _ in range(self._n_parts):
            part = alongside(self._run.prepared)
            # Each node that is dealt or processed adds one at most.
            tree = make_tree(Memory(), part.scratch.shape, 2 * self._n_nodes)
            self._parts.append(Part(part.search, tree, Recording(part.scratch)))
        n_threads = usable_cores() if self._threads is None else self._threads
        if n_threads > 1:
            self._pool = ThreadPoolExecutor(min(n_threads, self._n_parts), "shortlist")

    def _deal(self) -> list[tuple[Part, int]]:
        """Deal open nodes to the parts; return those that have some, and how many to process."""
        run = self._run
        run.make_room(1)
        now, incumbent = run.tree.now, run.prepared.search.incumbent
        n_open = run.n_open()
        n_left = min(self._node_limit - int(now["nodes"]), self._n_parts * self._n_nodes)
        shares = []
        for i, part in enumerate(self._parts):
            n_parts_left = self._n_parts - i
            n_nodes = int(-(-n_left // n_parts_left))
            n_dealt = min(-(-n_open // n_parts_left), n_nodes)
            if n_dealt == 0:
                break
            deal(run.tree, incumbent, part.tree, part.search.incumbent, n_dealt)
            shares.append((part, n_nodes))
            n_open -= n_dealt
            n_left -= n_nodes
        return shares

    def _work(self, part: Part, n_nodes: int) -> None:
        if perf_counter() < self._deadline:
            search, tree, recording = part
            warm = self._run.prepared.scratch.warm
            run_search(search, tree, recording.trace, warm, self._gap, n_nodes)

    def _collect(self) -> None:
        """Bring what the parts have done together, in their order."""
        run, incumbent = self._run, self._run.prepared.search.incumbent
        for search, tree, recording in self._parts:
            recording.make_room()  # for more nodes than in this round, if it was too little
            run.make_room(int(tree.now["n_open"] + tree.now["n_diving"]))
            run.recording.make_room(recording.trace)
            whole = run.tree, run.recording.trace, incumbent
            collect(*whole, tree, recording.trace, search.incumbent)


def usable_cores() -> int:
    """Return how many cores this process may use: one if it is one of many workers."""
    if multiprocessing.parent_process() is not None:
        return 1
    from joblib import cpu_count

    return int(cpu_count())
