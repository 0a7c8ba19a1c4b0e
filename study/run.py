"""Running a study in a folder: start, resume after an interruption, status."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from joblib import hash as joblib_hash
from threadpoolctl import ThreadpoolController

import shortlist as sl
from shortlist.evaluation import (
    Journal,
    Procedure,
    draw,
    read_journal,
    run_tasks,
)

from .plan import FULL, GREEDY, OPTIMAL, PRESETS, Arm, Preset, Run, runs_of
from .provenance import write_provenance
from .tables import Outcome, Tables, tabulate, write_whole

StrPath = str | os.PathLike[str]
_DESCRIPTION_FILE = "study.json"
_BLOCK = 25  # resamples of a task
_NOTHING: Outcome = {"supports": [], "aucs": [], "solves": 0, "unproven": 0}
_THREAD_POOLS = ThreadpoolController()  # one thread each, so that no sum depends on their number


@dataclass(frozen=True)
class ArmStatus:
    """Progress of an arm: tasks that are finished, all of them, and seconds they took."""

    name: str
    finished: int
    total: int
    seconds: float


def start(
    out: StrPath,
    preset: str = "paper",
    *,
    n_jobs: int | None = None,
    dask: str | None = None,
    progress: bool = True,
    announce: Callable[[str], None] = lambda text: None,
) -> Tables:
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
        Called with a sentence when an arm begins.

    Returns
    -------
    Tables
        The results, which are also in the folder.
    """
    if preset not in PRESETS:
        known = ", ".join(map(repr, PRESETS))
        raise sl.InvalidProblemError(f"preset: there is no {preset!r}; use one of {known}.")
    folder = Path(out)
    if (folder / _DESCRIPTION_FILE).exists():
        raise sl.InvalidFileError(f"{folder}: holds a study; resume it or choose another folder.")
    folder.mkdir(parents=True, exist_ok=True)
    description = {"preset": preset, "plan": _plan(PRESETS[preset])}
    write_whole(folder / _DESCRIPTION_FILE, json.dumps(description) + "\n")
    return resume(folder, n_jobs=n_jobs, dask=dask, progress=progress, announce=announce)


def resume(
    out: StrPath,
    *,
    n_jobs: int | None = None,
    dask: str | None = None,
    progress: bool = True,
    announce: Callable[[str], None] = lambda text: None,
) -> Tables:
    """Go on with a study where it stopped, and write its tables when it is finished.

    Parameters
    ----------
    out, n_jobs, dask, progress, announce
        As in `start`.

    Returns
    -------
    Tables
        The results, which are also in the folder.
    """
    folder = Path(out)
    _, preset = _read_description(folder)
    outcomes: dict[str, dict[Run, Outcome]] = {}
    try:
        for arm_name, arm in preset.arms.items():
            runs = arm_runs(preset, arm, outcomes)
            announce(f"{arm_name}: {len(arm.resamples)} resamples of {len(runs)} runs each")
            journal = _journal(folder, arm_name)
            run_arm(runs, arm, journal, n_jobs=n_jobs, dask=dask, progress=progress)
            outcomes[arm_name] = finished(runs, arm, journal)
    finally:  # also after Ctrl-C: finished runs are in the tables
        tables = write_tables(folder)
    return tables


def write_tables(out: StrPath) -> Tables:
    """Write the tables of the runs of a study that are finished.

    Parameters
    ----------
    out : path-like
        Folder of the study.

    Returns
    -------
    Tables
        The results so far, which are also in the folder.
    """
    folder = Path(out)
    name, preset = _read_description(folder)
    outcomes: dict[str, dict[Run, Outcome]] = {}
    parts = {}
    for arm_name, arm in preset.arms.items():
        runs = arm_runs(preset, arm, outcomes)
        outcomes[arm_name] = finished(runs, arm, _journal(folder, arm_name))
        exact = [out for run, out in outcomes[arm_name].items() if run.method in (OPTIMAL, FULL)]
        parts[arm_name] = {
            "runs": len(outcomes[arm_name]),
            "of_runs": _n_runs(preset, arm),
            "resamples": sum(resample > 0 for resample in arm.resamples),
            "solves": sum(outcome["solves"] for outcome in exact),
            "unproven": sum(outcome["unproven"] for outcome in exact),
        }
    tables = tabulate(outcomes)
    tables.save(folder)
    write_provenance(folder, preset=name, plan=_plan(preset), parts=parts)
    return tables


def finished(runs: list[Run], arm: Arm, journal: Path) -> dict[Run, Outcome]:
    """Return the results of the runs of an arm that are finished."""
    results = read_journal(journal).results if journal.exists() else {}
    outcomes = {}
    for run in runs:
        blocks = {_key(run, block): block for block in _blocks(arm)}
        if all(key in results for key in blocks):
            for key, block in blocks.items():
                _check_result(results[key], arm, block, key, journal)
            outcomes[run] = {
                name: sum((results[key][name] for key in blocks), start=zero)
                for name, zero in _NOTHING.items()
            }
    return outcomes


def run_arm(runs: list[Run], arm: Arm, journal: Path, **how: Any) -> None:
    """Run the tasks that are not yet in the journal of an arm."""
    tasks = {
        _key(run, block): (run, block, arm.nested, arm.selecting)
        for block in _blocks(arm)  # the first resamples of all runs, then the next
        for run in runs
    }
    # A key says all about a task but how data are drawn, for which one data set stands.
    data = Run("budget", 0, 82, 14, 0.05, 1, OPTIMAL).experiment()
    identity = (sl.__version__, arm.nested, arm.selecting, data.fingerprint)
    with Journal(journal, joblib_hash(identity, hash_name="sha1")) as book:
        run_tasks(evaluate_run, tasks, journal=book, **how)


def _blocks(arm: Arm) -> list[range]:
    """Return the resamples of a run in parts, each of which is a task."""
    return [arm.resamples[i : i + _BLOCK] for i in range(0, len(arm.resamples), _BLOCK)]


def _key(run: Run, block: range) -> str:
    return f"{run.name}/{block.start}-{block.stop - 1}"


def _check_result(result: Any, arm: Arm, block: range, key: str, journal: Path) -> None:
    lengths = {"supports": arm.selecting * len(block), "aucs": arm.nested * len(block)}
    is_result = isinstance(result, dict) and result.keys() == _NOTHING.keys()
    if not is_result or any(len(result[name]) != n for name, n in lengths.items()):
        raise sl.InvalidFileError(
            f"{journal}: what it has of {key!r} is no result; delete that line."
        )


def evaluate_run(
    run: Run, resamples: range, nested: bool = True, selecting: bool = True
) -> Outcome:
    """Return the AUCs of a run on some resamples if nested, and, if selecting, what it selects.

    They are those of `shortlist.evaluation.evaluate_resample`, which measures more.
    """
    experiment = run.experiment()
    procedure = Procedure(experiment)
    supports, aucs = [], []
    with _THREAD_POOLS.limit(limits=1):
        for resample in resamples:
            sample, rng = draw(experiment, resample)
            if nested:
                aucs.append(procedure.cross_validate(sample, rng).means["auc"])
            if selecting and run.method == GREEDY:  # needs no tuning: the ridge plays no part
                fitted = procedure.fit(sample, experiment.ridges[:1])[0]
                supports.append(list(fitted.solution.support))
            elif selecting:
                supports.append(list(procedure.tune(sample, rng).solution.support))
    return {
        "supports": supports,
        "aucs": aucs,
        "solves": procedure.solves,
        "unproven": procedure.unproven,
    }


def arm_runs(preset: Preset, arm: Arm, outcomes: Mapping[str, Mapping[Run, Outcome]]) -> list[Run]:
    """Return the runs of an arm; those of `extremes_of` follow from an earlier arm."""
    if not arm.extremes_of:
        return list(runs_of(preset, arm))
    auc = {run: outcome["aucs"][0] for run, outcome in outcomes[arm.extremes_of].items()}
    chosen: dict[Run, None] = {}
    for seed in arm.seeds:
        for study in ("cardinality", "budget"):
            for method in arm.methods:
                case = (seed, study, method)
                runs = [run for run in auc if (run.seed, run.study, run.method) == case]
                ranked = sorted(runs, key=lambda run: (auc[run], rank_of(run)))
                chosen |= dict.fromkeys(ranked[:1] + ranked[-1:])
    return list(chosen)


def rank_of(run: Run) -> tuple[float, ...]:
    """Return the order of runs with the same AUC, of which the last is called the highest."""
    return (-run.label_noise, run.epv, run.run)


def status(out: StrPath) -> list[ArmStatus]:
    """Return how far each arm of a study is, also while it runs.

    Parameters
    ----------
    out : path-like
        Folder of the study.
    """
    folder = Path(out)
    _, preset = _read_description(folder)
    return [_arm_status(folder, preset, name, arm) for name, arm in preset.arms.items()]


def _arm_status(folder: Path, preset: Preset, name: str, arm: Arm) -> ArmStatus:
    total = _n_runs(preset, arm) * len(_blocks(arm))
    journal = _journal(folder, name)
    if not journal.exists():
        return ArmStatus(name, 0, total, 0.0)
    content = read_journal(journal)
    return ArmStatus(name, min(len(content.results), total), total, content.seconds)


def _n_runs(preset: Preset, arm: Arm) -> int:
    if arm.extremes_of:
        return 2 * 2 * len(arm.seeds) * len(arm.methods)  # lowest and highest of both studies
    return len(list(runs_of(preset, arm)))


def _journal(folder: Path, arm: str) -> Path:
    return folder / "journals" / f"{arm}.jsonl"


def _plan(preset: Preset) -> dict[str, Any]:
    """Return a preset as JSON has it."""
    plan: dict[str, Any] = json.loads(json.dumps(asdict(preset), default=str))  # ranges as text
    return plan


def _read_description(folder: Path) -> tuple[str, Preset]:
    path = folder / _DESCRIPTION_FILE
    try:
        description = json.loads(path.read_text(encoding="utf-8"))
        name, plan = description["preset"], description["plan"]
        preset = PRESETS[name]
    except FileNotFoundError:
        raise sl.InvalidFileError(f"{folder}: holds no study; start one there first.") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise sl.InvalidFileError(
            f"{path}: names no known preset; start the study in another folder."
        ) from None
    if plan != _plan(preset):
        raise sl.InvalidFileError(
            f"{path}: has another plan than the preset {name!r} has now; start the study in "
            "another folder, or go on with the version of shortlist that began it."
        )
    return name, preset
