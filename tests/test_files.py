"""Files that are whole or not there."""

import os

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
