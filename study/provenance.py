"""The provenance of results: versions, machine and time, in a file beside them."""

from __future__ import annotations

import json
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import shortlist as sl
from shortlist.evaluation import read_journal

from .tables import write_whole

_PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "joblib")


def write_provenance(folder: Path, **facts: Any) -> None:
    """Write plan, versions, machine and times to `provenance.json`.

    `journals` has the finished tasks of each part and the processor time that they took, summed
    over processes (`core_seconds`); a part whose journal is gone keeps its old entry. The versions
    and the machine are those of the last run.

    Parameters
    ----------
    folder : Path
        Where the journals are.
    **facts
        Further entries; those of an older file that are not among them are kept.
    """
    provenance = read_provenance(folder) | facts
    journals = provenance.get("journals", {})
    for journal in sorted((folder / "journals").glob("*.jsonl")):
        content = read_journal(journal)
        seconds = round(content.seconds, 1)
        journals[journal.stem] = {"tasks": len(content.results), "core_seconds": seconds}
    provenance |= {
        "journals": journals,
        "versions": {"shortlist": sl.__version__, "python": platform.python_version()}
        | {package: version(package) for package in _PACKAGES},
        "machine": {"processor": processor(), "cores": os.cpu_count(), "system": platform.system()},
    }
    write_whole(folder / "provenance.json", json.dumps(provenance, indent=2) + "\n")


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
