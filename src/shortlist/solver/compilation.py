"""The kernels' machine code: compiled once, kept on disk, renewed where the source has changed."""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import llvmlite.binding
import numba
import numpy as np
from numba import config
from numba.core.dispatcher import Dispatcher
from numba.core.event import Event, Listener, install_listener

from ..certificate import Bound
from ..files import make_folder, write_whole
from ..problem import SubsetProblem
from ..solution import Options
from . import kernels

_log = logging.getLogger("shortlist")
_STATE = "kernels.json"  # beside the machine code: which sources it was made of, and for what
_checked = False


def ready_kernels() -> int:
    """Make sure that the kernels are compiled; a process that finds them on disk is silent.

    Returns the number of kernels that had to be compiled.
    """
    global _checked
    if _checked or config.DISABLE_JIT:
        return 0
    _checked = True
    state = _State(machine_code_folder())
    if state.is_complete():
        return 0
    _log.warning(
        "Compiling the solver's kernels: one or two minutes, once; later runs load them from disk."
    )
    counter = _Counter()
    with install_listener("numba:compile", counter):
        _run_all()
    counter.wipe()
    state.complete()
    return counter.n_done


def machine_code_folder() -> Path:
    """Return where numba keeps the machine code."""
    from .kernels.search import run_search

    return Path(run_search.stats.cache_path)


def dispatchers() -> Iterator[Dispatcher]:
    """Yield every function of the kernels that is compiled on its own."""
    for name in _sources():
        module = import_module(f"{kernels.__name__}.{name}")
        for value in vars(module).values():
            is_own = getattr(value, "__module__", None) == module.__name__
            if is_own and isinstance(value, Dispatcher) and "inline" not in value.targetoptions:
                yield value


def _sources() -> dict[str, Path]:
    return {path.stem: path for path in sorted(Path(kernels.__path__[0]).glob("*.py"))}


def _dependents(changed: set[str]) -> set[str]:
    """Return the files that changed, and those that import them, directly or not.

    numba renews a function when its own file changes, but not when a function that it calls does.
    """
    imports = {
        name: set(re.findall(r"^from \.(\w+) import", path.read_text(), re.M))
        for name, path in _sources().items()
    }
    while True:
        more = {name for name, imported in imports.items() if imported & changed} - changed
        if not more:
            return changed
        changed = changed | more


def _machine() -> str:
    """Name what machine code depends on besides the sources."""
    versions = f"{sys.implementation.cache_tag}, numba {numba.__version__}"
    return f"{versions}, {llvmlite.binding.get_host_cpu_name()}"


class _State:
    """What the folder of machine code holds; what was made of other sources is dropped."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _STATE
        stats = {name: path.stat() for name, path in _sources().items()}
        self._looks = {name: [stat.st_size, stat.st_mtime_ns] for name, stat in stats.items()}
        self._machines: list[str] = []
        known: dict[str, list[int]] = {}
        try:
            content = json.loads(self._path.read_text())
            known, self._machines = content["sources"], content["machines"]
        except (OSError, ValueError, KeyError, TypeError):
            pass  # nothing is known: all machine code goes
        names = known.keys() | self._looks.keys()
        changed = {name for name in names if known.get(name) != self._looks.get(name)}
        if changed:
            self._machines = []
            stale = _dependents(changed)
            for machine_code in folder.glob("*.nb[ic]"):
                if machine_code.name.split(".")[0] in stale:
                    machine_code.unlink(missing_ok=True)
            self._write()

    def is_complete(self) -> bool:
        """Whether everything was compiled for this machine."""
        return _machine() in self._machines

    def complete(self) -> None:
        """Note that everything is compiled for this machine."""
        self._machines.append(_machine())
        self._write()

    def _write(self) -> None:
        make_folder(self._path.parent)
        state = {"sources": self._looks, "machines": self._machines}
        write_whole(self._path, json.dumps(state, indent=1))


class _Counter(Listener):  # type: ignore[misc]
    """Counts compiled kernels, on the terminal unless somebody listens to the log."""

    def __init__(self) -> None:
        self._left = set(dispatchers())
        self._n_kernels = len(self._left)
        self._is_shown = sys.stderr.isatty() and not _log.isEnabledFor(logging.DEBUG)

    @property
    def n_done(self) -> int:
        return self._n_kernels - len(self._left)

    def on_start(self, event: Event) -> None:
        pass

    def on_end(self, event: Event) -> None:
        self._left.discard(event.data["dispatcher"])
        text = f"{self.n_done} of {self._n_kernels} kernels compiled"
        _log.debug(text)
        if self._is_shown:
            sys.stderr.write(f"\r{text}")
            sys.stderr.flush()

    def wipe(self) -> None:
        """Remove the count from the terminal."""
        if self._is_shown:
            sys.stderr.write("\r" + " " * 40 + "\r")


def _run_all() -> None:
    """Run a small problem through every entry."""
    from .branch_and_bound import branch_and_bound
    from .kernels.part import collect, deal
    from .kernels.search import polish
    from .leaves import leaves_of
    from .listing import list_models
    from .prepare import alongside, prepare
    from .staircase import solve_budgets

    X = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0], [3.0, 0.0, 1.0]])
    problem = SubsetProblem(X, [0, 0, 1, 1], ridge=0.1, budget=2, costs=[1, 1, 2])
    branch_and_bound(problem, Options())
    branch_and_bound(problem.with_weights([0, 1, 1, 1]), Options())
    prepared = prepare(problem)
    polish(prepared.search)
    whole, part = prepared.scratch, alongside(prepared).scratch
    incumbent, other = whole.search.incumbent, part.search.incumbent
    deal(whole.tree, incumbent, part.tree, other, 0)
    collect(whole.tree, whole.trace, incumbent, part.tree, part.trace, other)
    list_models(problem, threshold=10.0, limit=2)
    solve_budgets(problem, 1e-6)
    leaves_of(problem, (), [Bound(0, 0)])
