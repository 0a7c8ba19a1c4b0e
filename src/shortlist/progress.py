"""Periodic progress for runs without a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import perf_counter

FIRST_SECONDS = 1.0
SECONDS_BETWEEN = 5.0


@contextmanager
def telling(text: Callable[[], str]) -> Iterator[None]:
    """Write a text with the seconds that have passed to standard error, as long as it takes.

    Parameters
    ----------
    text : callable
        Returns what is being done; it is asked after a second, and every five seconds from then on.

    Examples
    --------
    >>> from shortlist.progress import telling
    >>> with telling(lambda: "Searching"):
    ...     pass  # done in less than a second, so nothing is written
    """
    ended, started = Event(), perf_counter()

    def tell() -> None:
        wait = FIRST_SECONDS
        while not ended.wait(wait):
            wait = SECONDS_BETWEEN
            print(f"{text()} ({perf_counter() - started:.0f} s)", file=sys.stderr, flush=True)

    thread = Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
