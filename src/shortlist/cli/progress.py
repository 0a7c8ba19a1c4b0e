"""Progress and notes of a command, on standard error."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.text import Text


@contextmanager
def working(text: str) -> Iterator[Callable[[str], None]]:
    """Show a spinner on a terminal; the function it gives changes the words beside it.

    What the package logs meanwhile is shown too: notices above the spinner, details beside it.
    """
    with Console(stderr=True).status(Text(f"{text}…")) as status:

        def announce(news: str) -> None:
            status.update(Text(f"{news}…"))

        def notify(notice: str) -> None:
            status.console.print(Text(notice), soft_wrap=True)

        log, handler = logging.getLogger("shortlist"), _Teller(notify, announce)
        level = log.level
        log.addHandler(handler)
        log.setLevel(logging.DEBUG)
        try:
            yield announce
        finally:
            log.setLevel(level)
            log.removeHandler(handler)


class _Teller(logging.Handler):
    def __init__(self, notify: Callable[[str], None], announce: Callable[[str], None]) -> None:
        super().__init__()
        self._notify, self._announce = notify, announce

    def emit(self, record: logging.LogRecord) -> None:
        """Show a record."""
        show = self._notify if record.levelno >= logging.WARNING else self._announce
        show(record.getMessage())


@contextmanager
def noting() -> Iterator[list[str]]:
    """Collect what the package warns about as notes, and print them at the end, come what may."""
    from sklearn.exceptions import ConvergenceWarning

    from ..errors import ShortlistWarning

    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        for category in (ShortlistWarning, ConvergenceWarning):
            warnings.simplefilter("always", category)
        try:
            yield notes
        finally:
            notes += dict.fromkeys(str(warning.message) for warning in caught)
            for note in notes:
                typer.echo(f"Note: {note}", err=True)
