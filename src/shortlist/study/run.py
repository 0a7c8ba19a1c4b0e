"""Runs a study in a folder, goes on after an interruption, and says how far it is."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..errors import InvalidFileError, InvalidProblemError
from ..evaluation import Evaluation, evaluate_all, read_journal
from ..evaluation.evaluation import task_key
from ..files import make_folder, write_whole
from .plan import PRESETS, Preset, Run, runs_of
from .provenance import timing, write_provenance
from .results import Results, tabulate

StrPath = str | os.PathLike[str]
_DESCRIPTION = "study.json"


@dataclass(frozen=True)
class ArmStatus:
    """How far an arm is: finished and all resamples, and the seconds that its journal has."""

    name: str
    finished: int
    total: int
    seconds: float


@dataclass(frozen=True)
class Status:
    """How far a study is."""

    preset: str
    arms: tuple[ArmStatus, ...]

    @property
    def finished(self) -> int:
        """Number of finished resamples."""
        return sum(arm.finished for arm in self.arms)

    @property
    def total(self) -> int:
        """Number of all resamples."""
        return sum(arm.total for arm in self.arms)

    @property
    def seconds(self) -> float:
        """How long the finished ones took, summed over processes."""
        return sum(arm.seconds for arm in self.arms)


def start(
    out: StrPath,
    preset: str = "paper",
    *,
    n_jobs: int | None = None,
    dask: str | None = None,
    progress: bool = True,
    announce: Callable[[str], None] = lambda text: None,
) -> Results:
    """Run a study.

    Parameters
    ----------
    out : path-like
        Folder of the study; one that already has a study in it goes on with `resume`.
    preset : str
        What to run: a name of `PRESETS`.
    n_jobs, dask, progress
        As in `shortlist.evaluate`; they change no result.
    announce : callable
        Told in words which arm begins.

    Returns
    -------
    Results
        The tables, which are also in the folder.
    """
    if preset not in PRESETS:
        known = ", ".join(map(repr, PRESETS))
        raise InvalidProblemError(f"preset: there is no {preset!r}; use one of {known}.")
    folder = Path(out)
    if (folder / _DESCRIPTION).exists():
        raise InvalidFileError(f"{folder}: holds a study; resume it or choose another folder.")
    make_folder(folder)
    description = {"preset": preset, "plan": _plan(PRESETS[preset])}
    write_whole(folder / _DESCRIPTION, json.dumps(description) + "\n")
    return resume(folder, n_jobs=n_jobs, dask=dask, progress=progress, announce=announce)


def resume(
    out: StrPath,
    *,
    n_jobs: int | None = None,
    dask: str | None = None,
    progress: bool = True,
    announce: Callable[[str], None] = lambda text: None,
) -> Results:
    """Go on with a study where it stopped, and write its tables when it is finished.

    Parameters
    ----------
    out, n_jobs, dask, progress, announce
        As in `start`.

    Returns
    -------
    Results
        The tables, which are also in the folder.
    """
    folder = Path(out)
    name, preset = _read_description(folder)
    evaluations: dict[Run, Evaluation] = {}
    for arm_name, arm in preset.arms.items():
        runs = {run.name: run for run in runs_of(preset, arm)}
        announce(f"{arm_name}: {len(runs)} runs of {arm.n_resamples} resamples")
        journal = _journal(folder, arm_name)
        with timing(folder, journal, arm=arm_name, n_jobs=n_jobs, dask=dask):
            outcomes = evaluate_all(
                {key: run.experiment() for key, run in runs.items()},
                arm.n_resamples,
                journal=journal,
                n_jobs=n_jobs,
                dask=dask,
                progress=progress,
            )
        evaluations |= {runs[key]: evaluation for key, evaluation in outcomes.items()}
    results = tabulate(evaluations)
    results.save(folder)
    write_provenance(folder, preset=name, plan=_plan(preset))
    return results


def status(out: StrPath) -> Status:
    """Return how far a study is, also while it runs.

    Parameters
    ----------
    out : path-like
        Folder of the study.
    """
    folder = Path(out)
    name, preset = _read_description(folder)
    return Status(name, tuple(_arm_status(folder, preset, arm) for arm in preset.arms))


def _arm_status(folder: Path, preset: Preset, name: str) -> ArmStatus:
    arm = preset.arms[name]
    tasks = {
        task_key(run.name, resample)
        for run in runs_of(preset, arm)
        for resample in range(arm.n_resamples + 1)
    }
    journal = _journal(folder, name)
    if not journal.exists():
        return ArmStatus(name, 0, len(tasks), 0.0)
    content = read_journal(journal)
    return ArmStatus(name, len(tasks & set(content.results)), len(tasks), content.seconds)


def _journal(folder: Path, arm: str) -> Path:
    return folder / "journals" / f"{arm}.jsonl"


def _plan(preset: Preset) -> dict[str, Any]:
    """Return a preset as JSON has it."""
    plan: dict[str, Any] = json.loads(json.dumps(asdict(preset)))
    return plan


def _read_description(folder: Path) -> tuple[str, Preset]:
    path = folder / _DESCRIPTION
    try:
        description = json.loads(path.read_text(encoding="utf-8"))
        name = description["preset"]
        preset = PRESETS[name]
        plan = description.get("plan")  # None in a folder made before plans were kept
    except FileNotFoundError:
        raise InvalidFileError(f"{folder}: holds no study; start one there first.") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise InvalidFileError(
            f"{path}: names no known preset; start the study in another folder."
        ) from None
    if plan not in (None, _plan(preset)):
        raise InvalidFileError(
            f"{path}: has another plan than the preset {name!r} has now; start the study in "
            "another folder, or go on with the version of shortlist that began it."
        )
    return name, preset
