"""Files that are whole or not there."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from shortlist.errors import InvalidFileError
from shortlist.files import write_whole


def test_replaces_a_file_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    write_whole(path, "old")
    write_whole(path, "neu \U0001f600\n")
    assert path.read_text(encoding="utf-8") == "neu \U0001f600\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    write_whole(path, "old")

    def full(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(InvalidFileError, match="No space left on device"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_only_regular_files_are_replaced(tmp_path):
    with pytest.raises(InvalidFileError, match="not a regular file"):
        write_whole(tmp_path, "x")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InvalidFileError, match="not a regular file"):
        write_whole(pipe, "x")


def test_what_another_run_left_is_not_in_the_way(tmp_path):
    path = tmp_path / "a.txt"
    for name in (f".a.txt.{os.getpid()}.part", ".shortlist-abc"):
        (tmp_path / name).write_text("left")
    write_whole(path, "new")
    assert path.read_text() == "new"


def test_of_many_writers_the_last_one_wins(tmp_path):
    path = tmp_path / "a.txt"
    texts = [str(i) * 100_000 for i in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda text: write_whole(path, text), texts * 10))
    assert path.read_text() in texts
    assert list(tmp_path.iterdir()) == [path]


def test_others_may_read_what_the_user_lets_them(tmp_path):
    (tmp_path / "usual.txt").write_text("")
    write_whole(tmp_path / "whole.txt", "x")
    modes = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert len(modes) == 1
