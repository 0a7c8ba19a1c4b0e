"""Where results come from: versions, seeds, machine and time, in a file beside them."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

from .. import __version__
from ..evaluation import read_journal
from ..files import write_whole
from .plan import Preset

_TIMES = "times.jsonl"
_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "pandas", "joblib")


@contextmanager
def timing(folder: Path, journal: Path, **facts: Any) -> Iterator[None]:
    """Append how long a part of the work took, which a later run of the rest cannot know.

    `tasks` and `core_seconds` are what came into the journal meanwhile; if nothing did, nothing is
    noted. `facts` say which part it was and how it was run.
    """
    finished, core_seconds = _content(journal)
    started = perf_counter()
    yield
    seconds = perf_counter() - started
    finished_then, core_seconds_then = _content(journal)
    if finished_then == finished:
        return
    facts |= {
        "tasks": finished_then - finished,
        "seconds": round(seconds, 1),
        "core_seconds": round(core_seconds_then - core_seconds, 1),
        "ended": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    with (folder / _TIMES).open("a", encoding="utf-8") as file:
        file.write(json.dumps(facts) + "\n")


def _content(journal: Path) -> tuple[int, float]:
    """Return the number of finished tasks in a journal, and their seconds."""
    if not journal.exists():
        return 0, 0.0
    content = read_journal(journal)
    return len(content.results), content.seconds


def write_provenance(folder: Path, preset_name: str, preset: Preset) -> None:
    """Write what was run, on what, and how long it took: `seconds` on the clock of each part.

    A part that was interrupted and resumed has the time of its last run on the clock; its
    `core_seconds`, too, are those of the last run, `tasks` says how many resamples that did.
    """
    times = folder / _TIMES
    lines = times.read_text(encoding="utf-8").splitlines() if times.exists() else []
    provenance = {
        "preset": preset_name,
        "arms": {name: asdict(arm) for name, arm in preset.arms.items()},
        "times": [json.loads(line) for line in lines],
        "versions": {"shortlist": __version__, "python": platform.python_version()}
        | {package: version(package) for package in _PACKAGES},
        "machine": {
            "processor": _processor(),
            "cores": os.cpu_count(),
            "system": platform.system(),
        },
    }
    write_whole(folder / "provenance.json", json.dumps(provenance, indent=2) + "\n")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()
