"""The kernels' machine code: compiled once, kept on disk, renewed where the source has changed."""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import numpy as np
from numba import config
from numba.core.dispatcher import Dispatcher
from numba.core.event import Event, Listener, install_listener

from ..options import Options
from ..problem import SubsetProblem
from . import kernels

_log = logging.getLogger("shortlist")
_STAMPS = "kernels.json"
# What Python calls: these hold the machine code of everything that they call.
_ENTRIES = (
    "pack.constant_columns", "pack.merge_rows", "pack.pack_columns", "pack.pack_rows",
    "search.polish", "search.run_search", "staircase.run_staircase",
)  # fmt: skip
_checked = False


def ready_kernels() -> None:
    """Make sure that the kernels are compiled; a process that finds them on disk is silent."""
    global _checked
    if _checked or config.DISABLE_JIT:
        return
    _checked = True
    if not _is_compiled(_folder()):
        _log.warning(
            "Compiling the solver's kernels: about half a minute, once; "
            "later runs load them from disk."
        )
        with _counter(len(list(dispatchers()))):
            _run_all()


def dispatchers() -> Iterator[Dispatcher]:
    """Yield every compiled function of the kernels."""
    for name in _sources():
        module = import_module(f"{kernels.__name__}.{name}")
        for value in vars(module).values():
            if isinstance(value, Dispatcher) and value.py_func.__module__ == module.__name__:
                yield value


def _folder() -> Path:
    """Return where numba keeps machine code."""
    from .kernels.search import run_search

    return Path(run_search.stats.cache_path)


def _sources() -> dict[str, Path]:
    return {path.stem: path for path in sorted(Path(kernels.__path__[0]).glob("*.py"))}


def _stamps() -> dict[str, list[str]]:
    """Return, for each kernel file, what it and the files that it imports look like.

    numba renews a function when its own file changes, but not when a function that it calls does.
    """
    sources = _sources()
    imports = {
        name: re.findall(r"^from \.(\w+) import", path.read_text(), re.M)
        for name, path in sources.items()
    }

    def reached(name: str, seen: set[str]) -> set[str]:
        for other in [name, *imports[name]]:
            if other not in seen and other in sources:
                seen.add(other)
                reached(other, seen)
        return seen

    looks = {
        name: f"{name} {path.stat().st_size} {path.stat().st_mtime_ns}"
        for name, path in sources.items()
    }
    return {name: [looks[other] for other in sorted(reached(name, set()))] for name in sources}


def _is_compiled(folder: Path) -> bool:
    """Whether all entries are on disk; drops machine code whose sources have changed."""
    stamps = _stamps()
    try:
        known = json.loads((folder / _STAMPS).read_text())
    except (OSError, ValueError):
        known = {}
    if known != stamps:
        for machine_code in folder.glob("*.nb[ic]"):
            name = machine_code.name.split(".")[0]
            if known.get(name) != stamps.get(name):
                machine_code.unlink(missing_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / _STAMPS).write_text(json.dumps(stamps))
    return all(any(folder.glob(f"{entry}-*.nbi")) for entry in _ENTRIES)


@contextmanager
def _counter(n_kernels: int) -> Iterator[None]:
    """Count compilations on a terminal."""
    with install_listener("numba:compile", _Counter(n_kernels)):
        yield
    if sys.stderr.isatty():
        sys.stderr.write("\r" + " " * 40 + "\r")


class _Counter(Listener):  # type: ignore[misc]
    def __init__(self, n_kernels: int) -> None:
        self._n_kernels, self._n_done = n_kernels, 0

    def on_start(self, event: Event) -> None:
        pass

    def on_end(self, event: Event) -> None:
        self._n_done += 1
        if sys.stderr.isatty():
            done = min(self._n_done, self._n_kernels)
            sys.stderr.write(f"\r{done} of {self._n_kernels} kernels compiled")
            sys.stderr.flush()


def _run_all() -> None:
    """Run a small problem through every entry."""
    from .branch_and_bound import branch_and_bound
    from .kernels.search import polish
    from .listing import list_models
    from .prepare import prepare
    from .staircase import solve_budgets

    X = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0], [3.0, 0.0, 1.0]])
    problem = SubsetProblem(X, [0, 0, 1, 1], ridge=0.1, budget=2, costs=[1, 1, 2])
    branch_and_bound(problem, Options())
    polish(prepare(problem).search)
    list_models(problem, threshold=10.0, limit=2)
    solve_budgets(problem, 1e-6)
    branch_and_bound(
        SubsetProblem(np.asfortranarray(X), [0, 0, 1, 1], ridge=0.1, max_features=1), Options()
    )
