"""The kernels' machine code: compiled by the first run, kept on disk, renewed with the source."""

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path
from typing import Any, cast

from . import kernels
from .kernels.search import run_search

_log = logging.getLogger("shortlist")
_STAMP = "sources.stamp"


@cache
def ready_kernels(entry: str = "search.run_search") -> None:
    """Announce a compilation that is about to happen, once, and drop machine code of older sources.

    `entry` is the compiled function that is about to be called, with its module.

    numba renews a cached function when its own file changes, but not when a function that it calls
    does. The stamp covers all kernel files.
    """
    folder = Path(cast(Any, run_search)._cache.cache_path)
    sources = sorted(Path(kernels.__path__[0]).glob("*.py"))
    stamp = "\n".join(f"{p.name} {p.stat().st_size} {p.stat().st_mtime_ns}" for p in sources)
    try:
        current = (folder / _STAMP).read_text() == stamp
    except OSError:
        current = False
    if current and any(folder.glob(f"{entry}-*.nbi")):
        return
    _log.warning(
        "Compiling the solver's kernels: a minute or two, once; later runs load them from disk."
    )
    if not current:
        for machine_code in folder.glob("*.nb[ic]"):
            machine_code.unlink(missing_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / _STAMP).write_text(stamp)
