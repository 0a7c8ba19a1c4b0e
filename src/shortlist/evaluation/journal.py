"""Results on disk, appended as they come, so that an interrupted run can go on.

The file has a line of JSON per finished task after a first line that says which work it belongs to.
A line is on the disk before the next one is written. So a crash leaves at most one torn line, the
last, which is cut off when the journal is opened again.
"""

from __future__ import annotations

import json
import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from ..errors import InvalidProblemError

_FORMAT = 1


class Journal(AbstractContextManager["Journal"]):
    """The finished tasks of some work.

    Parameters
    ----------
    path : path-like
        The file; it is made if there is none.
    work : str
        What identifies the work. A file that belongs to other work is refused, not overwritten.

    Attributes
    ----------
    results : dict
        The result of each finished task, by its key.
    seconds : float
        Processor time that they took, summed over tasks and over all runs.

    See Also
    --------
    read_journal : Looks into a journal that may be in use.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from shortlist.evaluation import Journal
    >>> path = Path(tempfile.mkdtemp()) / "journal.jsonl"
    >>> with Journal(path, work="squares") as journal:
    ...     journal.append("3", 9, seconds=0.1)
    >>> with Journal(path, work="squares") as journal:
    ...     journal.results
    {'3': 9}
    """

    def __init__(self, path: str | os.PathLike[str], work: str) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self.path.open("a+b")
        try:
            _lock(self._file, self.path)
            content = _parse(self._file, self.path)
            if content.work not in (None, work):
                raise InvalidProblemError(
                    f"journal: {self.path} holds results of other work (other data, settings, seed "
                    "or version); use another file or delete it."
                )
            self._file.truncate(content.length)
            if content.work is None:
                self._write({"format": _FORMAT, "work": work})
        except BaseException:
            self._file.close()
            raise
        self.results = content.results
        self.seconds = content.seconds

    def append(self, key: str, result: Any, seconds: float) -> None:
        """Write the result of a task to the disk; it has to be JSON."""
        self._write({"task": key, "seconds": round(seconds, 3), "result": result})
        self.results[key] = result
        self.seconds += seconds

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def _write(self, entry: dict[str, Any]) -> None:
        line = json.dumps(entry, allow_nan=False, separators=(",", ":"))
        self._file.write(line.encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())


class JournalContent(NamedTuple):
    """What a journal holds: its work, results by task, their seconds, and its bytes that count."""

    work: str | None
    results: dict[str, Any]
    seconds: float
    length: int


def read_journal(path: str | os.PathLike[str]) -> JournalContent:
    """Return what a journal holds, also while a run is writing to it.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    JournalContent
        `results` by task and the `seconds` they took; a torn last line is left out.
    """
    with Path(path).open("rb") as file:
        return _parse(file, Path(path))


def _parse(file: BinaryIO, path: Path) -> JournalContent:
    work, results, seconds, length = None, {}, 0.0, 0
    file.seek(0)
    for number, line in enumerate(file, start=1):
        if not line.endswith(b"\n"):
            break  # torn
        try:
            entry = json.loads(line)
            if number == 1:
                work = str(entry["work"]) if entry["format"] == _FORMAT else "of another format"
            else:
                results[str(entry["task"])] = entry["result"]
                seconds += entry["seconds"]
        except (ValueError, KeyError, TypeError):
            raise InvalidProblemError(
                f"journal: line {number} of {path} is damaged; delete it or use another file."
            ) from None
        length += len(line)
    return JournalContent(work, results, seconds, length)


def _lock(file: BinaryIO, path: Path) -> None:
    """Keep a second process from writing to the same journal; the system unlocks with the end."""
    try:
        import fcntl
    except ImportError:  # not on Windows, where it is up to the user
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise InvalidProblemError(
            f"journal: {path} is in use by another process; wait for it or use another file."
        ) from None
