"""What a command says while it works and what it notices: on standard error, not in results."""

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

        with _hearing(announce):
            yield announce


@contextmanager
def _hearing(announce: Callable[[str], None]) -> Iterator[None]:
    log, handler = logging.getLogger("shortlist"), _Teller(announce)
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        log.setLevel(level)
        log.removeHandler(handler)


class _Teller(logging.Handler):
    def __init__(self, announce: Callable[[str], None]) -> None:
        super().__init__()
        self._announce = announce

    def emit(self, record: logging.LogRecord) -> None:
        """Show a record."""
        if record.levelno >= logging.WARNING:
            typer.echo(record.getMessage(), err=True)
        else:
            self._announce(record.getMessage())


@contextmanager
def noting() -> Iterator[list[str]]:
    """Collect what the package warns about as notes, and print them at the end."""
    from sklearn.exceptions import ConvergenceWarning

    from ..errors import ShortlistWarning

    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        for category in (ShortlistWarning, ConvergenceWarning):
            warnings.simplefilter("always", category)
        yield notes
    notes += dict.fromkeys(str(warning.message) for warning in caught)
    for note in notes:
        typer.echo(f"Note: {note}", err=True)
