"""Runs that are killed, and workers that die, end with the same bytes as undisturbed runs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from sample_data import make_data

import shortlist as sl
from shortlist.errors import MissingDependencyError
from shortlist.evaluation import Journal, evaluate_resample, read_journal, run_tasks

N_RESAMPLES = 40
SCRIPT = """
import sys
sys.path.insert(0, {tests!r})
from test_run import evaluate_here
evaluate_here({journal!r}, n_jobs={n_jobs})
"""


def evaluate_here(journal: str | Path | None, n_jobs: int = 1) -> Any:
    X, y = make_data(n_rows=120, n_columns=12)
    experiment = sl.Experiment(X, y, max_features=4)
    return sl.evaluate(experiment, N_RESAMPLES, journal=journal, n_jobs=n_jobs)


def start(journal: Path, n_jobs: int) -> subprocess.Popen[bytes]:
    tests = str(Path(__file__).parent)
    script = SCRIPT.format(tests=tests, journal=str(journal), n_jobs=n_jobs)
    package = Path(sl.__file__).parents[1]
    path = os.pathsep.join([str(package), str(Path(tests).parent)])
    return subprocess.Popen(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONPATH": path},
        start_new_session=True,  # so that its processes can be found and ended after it
    )


def wait_for_results(journal: Path, n_results: int, seconds: float = 300) -> int:
    """Wait until a run that is going on has written some results; return how many."""
    deadline = monotonic() + seconds
    while monotonic() < deadline:
        found = len(read_journal(journal).results) if journal.exists() else 0
        if found >= n_results:
            return found
        sleep(0.02)
    raise AssertionError(f"{n_results} results did not come within {seconds} s")


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_killed_and_resumed(tmp_path: Path, n_jobs: int) -> None:
    undisturbed = evaluate_here(None).rows.to_csv()
    journal = tmp_path / "journal.jsonl"
    for target in (3, 12):
        process = start(journal, n_jobs)
        try:
            wait_for_results(journal, target)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        n_results = len(read_journal(journal).results)
        assert target <= n_results <= N_RESAMPLES, "it was to be killed while it ran"
    with journal.open("ab") as file:
        file.write(b'{"task":"/39","seconds":0.1,"res')  # as if killed in the middle of a line
    resumed = evaluate_here(journal)
    assert resumed.rows.to_csv() == undisturbed
    assert len(read_journal(journal).results) == N_RESAMPLES + 1


@pytest.mark.slow
def test_dask_worker_dies(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    X, y = make_data()
    experiment = sl.Experiment(X, y, max_features=2)
    flag = str(tmp_path / "died")

    def evaluate_or_die(resample: int) -> Any:
        if resample == 3:
            try:
                os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        return evaluate_resample(experiment, resample)

    tasks = {f"/{resample}": (resample,) for resample in range(10)}
    path = tmp_path / "journal.jsonl"
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        Journal(path, "work") as journal,
    ):
        results = run_tasks(evaluate_or_die, tasks, journal=journal, dask=cluster.scheduler_address)
    assert Path(flag).exists(), "no worker died"
    alone = run_tasks(evaluate_resample, {key: (experiment, *task) for key, task in tasks.items()})
    assert json.dumps(results) == json.dumps(alone)
    assert len(path.read_text().splitlines()) == 1 + len(tasks)


def test_dask_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingDependencyError, match=r"shortlist\[dask\]"):
        run_tasks(abs, {"a": (1,)}, dask="tcp://127.0.0.1:1")


def test_progress_bar_is_for_terminals(capsys: pytest.CaptureFixture[str]) -> None:
    run_tasks(abs, {"a": (-1,)})
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_progress_bar_shows_the_time_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    run_tasks(abs, {"a": (-1,), "b": (2,)})
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "2/2" in captured.err
    assert "left" in captured.err
    run_tasks(abs, {"a": (-1,)}, progress=False)
    assert capsys.readouterr().err == ""


def double(number: int) -> int:
    return 2 * number


def test_auto_starts_here_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = {str(number): (number,) for number in range(7)}
    expected = {key: 2 * number for key, (number,) in tasks.items()}
    assert run_tasks(double, tasks, n_jobs="auto") == expected
    asked = []

    def parallel(n_jobs: int | None, **_: Any) -> Any:
        asked.append(n_jobs)
        return lambda jobs: (function(*arguments) for function, arguments, _ in jobs)

    monkeypatch.setattr("shortlist.evaluation.task.Parallel", parallel)
    monkeypatch.setattr("shortlist.evaluation.task._SECONDS_HERE", 0.0)
    assert run_tasks(double, tasks, n_jobs="auto") == expected
    monkeypatch.setattr("shortlist.evaluation.task._SECONDS_WORTH_STARTING", 0.0)
    assert run_tasks(double, tasks, n_jobs="auto") == expected
    assert asked == [None, -1]  # other processes only when what is left is worth it


def test_without_a_terminal_there_is_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = {str(number): (number,) for number in range(3)}
    run_tasks(double, tasks)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("shortlist.evaluation.task._SECONDS_BETWEEN_LINES", 0.0)
    run_tasks(double, tasks)
    assert "3 of 3 tasks are done." in capsys.readouterr().err
    run_tasks(double, tasks, progress=False)
    assert capsys.readouterr().err == ""
