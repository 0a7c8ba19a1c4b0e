"""Tasks and their journal: torn, damaged, in use, of other work; runs that are killed."""

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
from flat_options import experiment_of
from sample_data import make_data

import shortlist as sl
from shortlist.evaluation import Journal, evaluate_resample, read_journal, run_tasks

TASKS = {f"cube/{i}": (i,) for i in range(5)}


def cube(value: int) -> dict[str, float]:
    return {"value": value**3, "third": value / 3}


def expected() -> dict[str, dict[str, float]]:
    return {key: cube(*arguments) for key, arguments in TASKS.items()}


@pytest.fixture
def complete(tmp_path: Path) -> Path:
    path = tmp_path / "complete.jsonl"
    with Journal(path, "cubes") as journal:
        run_tasks(cube, TASKS, journal=journal)
    return path


def test_cut_anywhere_it_is_completed(complete: Path, tmp_path: Path) -> None:
    content = complete.read_bytes()
    path = tmp_path / "cut.jsonl"
    line_ends = [i + 1 for i, byte in enumerate(content) if byte == ord("\n")]
    around = {end + offset for end in line_ends for offset in (-1, 0, 1)}
    header = content.index(b'"cubes"')
    for length in sorted({*around, *range(header, len(content), 11)} - {len(content) + 1} | {0}):
        path.write_bytes(content[:length])
        with Journal(path, "cubes") as journal:
            n_known = len(journal.results)
            assert n_known == max(0, content[:length].count(b"\n") - 1)
            results = run_tasks(cube, TASKS, journal=journal)
        assert json.dumps(results) == json.dumps(expected())
        assert read_journal(path).results == expected()
        assert path.read_bytes().count(b"\n") == 1 + len(TASKS)


def test_known_tasks_are_not_run_again_and_come_in_the_order_asked_for(complete: Path) -> None:
    def fail(value: int) -> None:
        raise AssertionError

    with Journal(complete, "cubes") as journal:
        assert run_tasks(fail, TASKS, journal=journal) == expected()
        backwards = dict(reversed(TASKS.items()))
        assert list(run_tasks(fail, backwards, journal=journal)) == list(backwards)


def test_work_of_a_failed_run_is_kept(tmp_path: Path) -> None:
    def fail_late(value: int) -> int:
        if value == 3:
            raise RuntimeError("no cube of 3")
        return value**3

    path = tmp_path / "failed.jsonl"
    with Journal(path, "cubes") as journal, pytest.raises(RuntimeError, match="no cube of 3"):
        run_tasks(fail_late, TASKS, journal=journal, n_jobs=1)
    assert read_journal(path).results == {"cube/0": 0, "cube/1": 1, "cube/2": 8}


def test_other_work_is_refused_and_left_alone(complete: Path) -> None:
    before = complete.read_bytes()
    with pytest.raises(sl.InvalidProblemError, match="holds results of other work"):
        Journal(complete, "squares")
    assert complete.read_bytes() == before


def test_damage_inside_is_reported(complete: Path) -> None:
    lines = complete.read_bytes().splitlines(keepends=True)
    lines[2] = b'{"task": \n'
    complete.write_bytes(b"".join(lines))
    for read in (read_journal, lambda path: Journal(path, "cubes")):
        with pytest.raises(sl.InvalidProblemError, match=r"line 3 of .* is damaged"):
            read(complete)


@pytest.mark.parametrize(
    "content",
    [
        *[b"resample,auc\n1,0.9\n", b"[1, 2]\n", b"\x00\xff\n", b"\n", b"{"],
        b"6" * 48_000,  # one line without an end is no torn line of ours
        b'{"format": "shortlist model"}',
        b'{"task":"a","seconds":1,"result":1}\n',
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "results.csv"
    path.write_bytes(content)
    with pytest.raises(sl.InvalidProblemError, match=r"results.csv is not a journal"):
        Journal(path, "cubes")
    assert path.read_bytes() == content


def test_a_journal_has_one_writer_and_many_readers(complete: Path) -> None:
    pytest.importorskip("fcntl", reason="there is no lock on this system")
    with Journal(complete, "cubes"):
        with pytest.raises(sl.InvalidProblemError, match="in use by another process"):
            Journal(complete, "cubes")
        assert read_journal(complete).results == expected()
    with Journal(complete, "cubes") as journal:  # free again
        assert journal.results == expected()


def test_seconds_add_up_over_runs_and_values_must_be_json(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    for key in ("a", "b"):
        with Journal(path, "work") as journal:
            journal.append(key, None, seconds=1.5)
    with Journal(path, "work") as journal, pytest.raises(ValueError, match="JSON"):
        journal.append("c", float("nan"), seconds=0)
    assert journal.seconds == read_journal(path).seconds == 3.0
    assert read_journal(path).results == {"a": None, "b": None}


N_RESAMPLES = 40
SCRIPT = """
import sys
sys.path.insert(0, {tests!r})
from test_task import evaluate_here
evaluate_here({journal!r}, n_jobs={n_jobs})
"""


def evaluate_here(journal: str | Path | None, n_jobs: int = 1) -> Any:
    X, y = make_data(n_rows=120, n_columns=12)
    experiment = experiment_of(X, y, max_features=4)
    return sl.evaluate(experiment, N_RESAMPLES, journal=journal, n_jobs=n_jobs)


def start(journal: Path, n_jobs: int) -> subprocess.Popen[bytes]:
    tests = Path(__file__).parent
    script = SCRIPT.format(tests=str(tests), journal=str(journal), n_jobs=n_jobs)
    package = Path(sl.__file__).parents[1]
    path = os.pathsep.join([str(package), str(tests.parent / "support")])
    return subprocess.Popen(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONPATH": path},
        start_new_session=True,  # so that its processes can be found and ended after it
    )


def wait_for_results(
    process: subprocess.Popen[bytes], journal: Path, n_results: int, seconds: float = 300
) -> None:
    """Wait until a run has written some results; fail at once if it ended before."""
    deadline = monotonic() + seconds
    while monotonic() < deadline:
        if journal.exists() and len(read_journal(journal).results) >= n_results:
            return
        assert process.poll() is None, f"the run ended with exit code {process.returncode}"
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
            wait_for_results(process, journal, target)
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
    experiment = experiment_of(X, y, max_features=2)
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
    with pytest.raises(sl.MissingDependencyError, match=r"shortlist\[dask\]"):
        run_tasks(abs, {"a": (1,)}, dask="tcp://127.0.0.1:1")


def test_the_bar_is_for_terminals_and_shows_the_time_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run_tasks(abs, {"a": (-1,)})
    assert capsys.readouterr() == ("", "")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    run_tasks(abs, {"a": (-1,), "b": (2,)})
    output, notes = capsys.readouterr()
    assert output == ""
    assert "Tasks" in notes and "100%" in notes and "left" in notes
    assert "left" in notes
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
    monkeypatch.setattr("shortlist.progress.FIRST_SECONDS", 0.05)
    run_tasks(sleep, {"a": (0.3,)})
    assert "Tasks: 0% (0 s)" in capsys.readouterr().err
    run_tasks(double, tasks, progress=False)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "line",
    [
        "garbage",
        "garbage\n",
        '{"task":"b","seconds":"soon","result":1}\n',
        '{"task":"b","seconds":1,"result":1,"more":1}\n',
        '{"task":"a","seconds":1,"result":99}\n',
        "[1]\n",
    ],
)
def test_a_line_of_garbage_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path, work="w") as journal:
        journal.append("a", 1, seconds=0.1)
    with path.open("a") as file:
        file.write(line)
    with pytest.raises(sl.InvalidProblemError, match=r"line 3 of .* is damaged"):
        Journal(path, work="w")
