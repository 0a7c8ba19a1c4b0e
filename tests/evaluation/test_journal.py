"""A journal at any moment of its life: new, torn, damaged, in use, of other work."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import shortlist as sl
from shortlist.evaluation import Journal, read_journal, run_tasks

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
    for length in sorted({*around, *range(0, len(content), 11)} - {len(content) + 1}):
        path.write_bytes(content[:length])
        with Journal(path, "cubes") as journal:
            n_known = len(journal.results)
            assert n_known == max(0, content[:length].count(b"\n") - 1)
            results = run_tasks(cube, TASKS, journal=journal)
        assert json.dumps(results) == json.dumps(expected())
        assert read_journal(path).results == expected()
        assert path.read_bytes().count(b"\n") == 1 + len(TASKS)


def test_known_tasks_are_not_run_again(complete: Path) -> None:
    def fail(value: int) -> None:
        raise AssertionError

    with Journal(complete, "cubes") as journal:
        assert run_tasks(fail, TASKS, journal=journal) == expected()


def test_results_come_in_the_order_of_the_tasks(complete: Path) -> None:
    with Journal(complete, "cubes") as journal:
        backwards = dict(reversed(TASKS.items()))
        assert list(run_tasks(cube, backwards, journal=journal)) == list(backwards)


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


@pytest.mark.parametrize("content", [b"resample,auc\n1,0.9\n", b"[1, 2]\n", b"\x00\xff\n"])
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "results.csv"
    path.write_bytes(content)
    with pytest.raises(sl.InvalidProblemError, match=r"line 1 of .* is damaged"):
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


def test_seconds_add_up_over_runs(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    for key in ("a", "b"):
        with Journal(path, "work") as journal:
            journal.append(key, None, seconds=1.5)
    assert journal.seconds == 3.0
    assert read_journal(path).seconds == 3.0


def test_values_that_are_not_json_are_refused_before_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path, "work") as journal, pytest.raises(ValueError, match="JSON"):
        journal.append("a", float("nan"), seconds=0)
    assert read_journal(path).results == {}
