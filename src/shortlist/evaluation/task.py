"""Tasks on processes of this machine or on a Dask cluster, with a journal of their results.

The journal has a line of JSON per finished task after a header that says which work it belongs to.
A line is on the disk before the next one is written. So a crash leaves at most one torn line, the
last, which is cut off when the journal is opened again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, BinaryIO, Literal, NamedTuple

from joblib import Parallel, delayed, parallel_config
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from ..errors import InvalidProblemError, import_extra
from ..progress import telling

Function = Callable[..., Any]

_FORMAT = "shortlist journal"
_SECONDS_HERE = 2.0  # of tasks in this process, before others may be started
_SECONDS_WORTH_STARTING = 10.0  # starting processes takes three to five seconds
_HEADER = f'{{"format":"{_FORMAT}","version":1,"work":'.encode()  # how a journal starts
_START = b'{"task":"'  # of every line below


def run_tasks(
    function: Function,
    tasks: Mapping[str, tuple[Any, ...]],
    *,
    journal: Journal | None = None,
    n_jobs: int | Literal["auto"] | None = None,
    dask: str | None = None,
    progress: bool | str = True,
) -> dict[str, Any]:
    """Return the result of every task, in the order of `tasks`, whatever the order they end in.

    Parameters
    ----------
    function : callable
        A pure function that gives a JSON value. It has to be importable by other processes.
    tasks : mapping
        The arguments of each task, by a key that stays the same from run to run.
    journal : Journal, optional
        Where results are kept as they come. Tasks that it knows are not run again.
    n_jobs : int, optional
        Number of processes, as in joblib: -1 for one per core. "auto" starts in this process, and
        starts others only if the tasks left take longer than starting them.
    dask : str, optional
        Address of the scheduler of a Dask cluster that runs the tasks instead; all its workers are
        used. Tasks of a worker that dies are done by another.
    progress : bool or str
        Whether to show a bar with the time left, or what it calls the tasks; without a terminal, a
        line now and then.

    Returns
    -------
    dict
        Results by key.

    Examples
    --------
    >>> from math import factorial
    >>> from shortlist.evaluation import run_tasks
    >>> run_tasks(factorial, {"small": (3,), "large": (10,)})
    {'small': 6, 'large': 3628800}
    """
    results = dict(journal.results) if journal is not None else {}
    open_tasks = {key: arguments for key, arguments in tasks.items() if key not in results}
    jobs = iter(
        [delayed(_timed)(function, key, arguments) for key, arguments in open_tasks.items()]
    )
    n_known = len(tasks) - len(open_tasks)
    with _workers(dask), _bar(progress, len(tasks), n_known) as advance:

        def keep(key: str, result: Any, seconds: float) -> None:
            results[key] = result
            if journal is not None:
                journal.append(key, result, seconds)
            advance()

        if n_jobs == "auto":
            n_jobs = _start_here(jobs, len(open_tasks), keep)
        for done in Parallel(n_jobs=n_jobs, return_as="generator_unordered")(jobs):
            keep(*done)
    return {key: results[key] for key in tasks}


def _start_here(jobs: Iterator[Any], n_jobs: int, keep: Function) -> int | None:
    """Do the first tasks in this process; return the number of processes for the others."""
    started = perf_counter()
    for n_done, (function, arguments, _) in enumerate(jobs, start=1):
        keep(*function(*arguments))
        seconds = perf_counter() - started
        if seconds > _SECONDS_HERE:
            is_long = seconds / n_done * (n_jobs - n_done) > _SECONDS_WORTH_STARTING
            return -1 if is_long else None
    return None


def _timed(function: Function, key: str, arguments: tuple[Any, ...]) -> tuple[str, Any, float]:
    started = process_time()  # of the processor: waiting for other programs does not count
    return key, function(*arguments), process_time() - started


@contextmanager
def _workers(dask: str | None) -> Iterator[None]:
    if dask is None:
        yield
        return
    client = import_extra("distributed", "dask").Client(dask, set_as_default=False)
    with client, parallel_config("dask", client=client, n_jobs=-1):
        yield


@contextmanager
def _bar(shown: bool | str, n_tasks: int, n_known: int) -> Iterator[Callable[[], None]]:
    """Give what counts a finished task: on a bar, or without a terminal by lines now and then.

    Both name the phase, its share and the time left.
    """
    phase = shown if isinstance(shown, str) else "Tasks"
    n_done, started = n_known, perf_counter()

    def line() -> str:
        text = f"{phase}: {n_done / n_tasks:.0%}"
        if n_done == n_known:
            return text
        left = (perf_counter() - started) / (n_done - n_known) * (n_tasks - n_done)
        return f"{text}, {left:.0f} s left"

    console = Console(stderr=True)
    has_bar = console.is_interactive or console.is_jupyter
    bar = Progress(
        *(TextColumn("{task.description}"), BarColumn(), TaskProgressColumn()),
        *(TextColumn("left"), TimeRemainingColumn()),
        console=console,
        disable=not (shown and has_bar),
    )

    def advance() -> None:
        nonlocal n_done
        n_done += 1
        bar.update(task, completed=n_done)

    lines = telling(line)
    with bar, lines if shown and not has_bar else nullcontext():
        task = bar.add_task(phase, total=n_tasks, completed=n_done)
        yield advance


class Journal(AbstractContextManager["Journal"]):
    """The finished tasks of some work.

    Parameters
    ----------
    path : path-like
        The file; it is made if there is none.
    work : str
        What identifies the work. A file that belongs to other work, or that is no journal, is
        refused and stays as it is.

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
                self._write({"format": _FORMAT, "version": 1, "work": work})
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
    """Work, results by task, their seconds, and how many bytes its whole lines have."""

    work: str | None
    results: dict[str, Any]
    seconds: float
    length: int


def read_journal(path: str | os.PathLike[str]) -> JournalContent:
    """Return the content of a journal, also while a run is writing to it.

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
        if number == 1 and not line.startswith(_HEADER):
            raise InvalidProblemError(
                f"journal: {path} is not a journal of this version; use another file or delete it."
            )
        try:
            if not line.endswith(b"\n"):
                if number > 1 and line[: len(_START)] != _START[: len(line)]:
                    raise ValueError
                break  # torn
            entry = json.loads(line)
            if number == 1:
                work = str(entry["work"])
            else:
                if entry.keys() != {"task", "seconds", "result"} or entry["task"] in results:
                    raise ValueError
                results[str(entry["task"])] = entry["result"]
                seconds += float(entry["seconds"])
        except (ValueError, KeyError, TypeError, AttributeError):
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
