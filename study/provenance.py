"""The provenance of results: versions, machine and time, in a file beside them."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import shortlist as sl
from shortlist.evaluation import read_journal

from .tables import write_whole

_TIMES = "times.jsonl"
_PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "joblib")


@contextmanager
def timing(folder: Path, journal: Path, **facts: Any) -> Iterator[None]:
    """Append how long a part of the work took, which a later run of the rest cannot know.

    `tasks` and `core_seconds` count the new results in the journal; without any, nothing is noted.
    `facts` name the part and how it was run.
    """
    finished, core_seconds = _tasks_and_seconds(journal)
    started = perf_counter()
    try:
        yield
    finally:  # also after Ctrl-C
        seconds = perf_counter() - started
        finished_then, core_seconds_then = _tasks_and_seconds(journal)
        if finished_then > finished:
            facts |= {
                "tasks": finished_then - finished,
                "seconds": round(seconds, 1),
                "core_seconds": round(core_seconds_then - core_seconds, 1),
                "ended": datetime.now(UTC).isoformat(timespec="seconds"),
            }
            with (folder / _TIMES).open("a", encoding="utf-8") as file:
                file.write(json.dumps(facts) + "\n")


def _tasks_and_seconds(journal: Path) -> tuple[int, float]:
    """Return the number of finished tasks in a journal, and their seconds."""
    if not journal.exists():
        return 0, 0.0
    content = read_journal(journal)
    return len(content.results), content.seconds


def write_provenance(folder: Path, **facts: Any) -> None:
    """Write plan, versions, machine and times to `provenance.json`.

    `journals` has the finished resamples of each part (`tasks`) and their time summed over
    processes (`core_seconds`); a part whose journal is gone keeps its old entry. `times` has
    the time on the clock, of the runs that noted it: one that was killed did not. The versions and
    the machine are those of the last run.

    Parameters
    ----------
    folder : Path
        Where the journals are.
    **facts
        Further entries; those of an older file that are not among them are kept.
    """
    path, times = folder / "provenance.json", folder / _TIMES
    lines = times.read_text(encoding="utf-8").splitlines() if times.exists() else []
    provenance = read_provenance(folder) | facts
    journals = provenance.get("journals", {})
    for journal in sorted((folder / "journals").glob("*.jsonl")):
        tasks, core_seconds = _tasks_and_seconds(journal)
        journals[journal.stem] = {"tasks": tasks, "core_seconds": round(core_seconds, 1)}
    provenance |= {
        "journals": journals,
        "times": [json.loads(line) for line in lines],
        "versions": {"shortlist": sl.__version__, "python": platform.python_version()}
        | {package: version(package) for package in _PACKAGES},
        "machine": {"processor": processor(), "cores": os.cpu_count(), "system": platform.system()},
    }
    write_whole(path, json.dumps(provenance, indent=2) + "\n")


def read_provenance(folder: Path) -> dict[str, Any]:
    """Return the content of `provenance.json`; nothing if there is none."""
    path = folder / "provenance.json"
    if not path.is_file():
        return {}
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        raise sl.InvalidFileError(f"{path}: cannot be read as JSON; delete it.") from None


def processor() -> str:
    """Return the model of the processor, if the system has it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()
