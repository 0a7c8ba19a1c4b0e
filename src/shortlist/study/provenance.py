"""Where results come from: versions, seeds, machine and time, in a file beside them."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from .. import __version__
from ..files import write_whole
from .plan import Preset

_TIMES = "times.jsonl"
_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "pandas", "joblib")


def note_time(folder: Path, **facts: Any) -> None:
    """Append how long a part of the work took, which a later run of the rest cannot know."""
    facts["ended"] = datetime.now(UTC).isoformat(timespec="seconds")
    for name in ("seconds", "core_seconds"):
        facts[name] = round(facts[name], 1)
    with (folder / _TIMES).open("a", encoding="utf-8") as file:
        file.write(json.dumps(facts) + "\n")


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
