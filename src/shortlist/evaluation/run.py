"""Runs tasks on processes of this machine or on a Dask cluster, and survives being killed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter, process_time
from typing import Any, Literal

from joblib import Parallel, delayed, parallel_config
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from ..errors import import_extra
from .journal import Journal

Function = Callable[..., Any]

_SECONDS_HERE = 2.0  # of tasks in this process, before others are thought of
_SECONDS_WORTH_STARTING = 10.0  # starting processes takes three to five seconds
_SECONDS_BETWEEN_LINES = 10.0


def run_tasks(
    function: Function,
    tasks: Mapping[str, tuple[Any, ...]],
    *,
    journal: Journal | None = None,
    n_jobs: int | Literal["auto"] | None = None,
    dask: str | None = None,
    progress: bool = True,
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
        starts others only if what is left takes longer than starting them.
    dask : str, optional
        Address of the scheduler of a Dask cluster that runs the tasks instead; all its workers are
        used. What a worker that dies had not returned is done by another.
    progress : bool
        Whether to show a bar with the time left; without a terminal, a line now and then.

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
    if open_tasks:
        from ..solver.compilation import ready_kernels

        ready_kernels()  # or else every worker would compile them
    jobs = iter(
        [delayed(_timed)(function, key, arguments) for key, arguments in open_tasks.items()]
    )
    with _workers(dask), _bar(progress, len(tasks), len(tasks) - len(open_tasks)) as advance:

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
def _bar(shown: bool, n_tasks: int, n_done: int) -> Iterator[Callable[[], None]]:
    """Give what counts a finished task: on a bar, or without a terminal by lines now and then."""
    console = Console(stderr=True)
    has_bar = console.is_interactive or console.is_jupyter
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
        disable=not (shown and has_bar),
    )
    last_line = perf_counter()

    def advance() -> None:
        nonlocal n_done, last_line
        n_done += 1
        bar.update(task, completed=n_done)
        if shown and not has_bar and perf_counter() - last_line > _SECONDS_BETWEEN_LINES:
            last_line = perf_counter()
            console.print(f"{n_done} of {n_tasks} tasks are done.", highlight=False)

    with bar:
        task = bar.add_task("tasks", total=n_tasks, completed=n_done)
        yield advance
