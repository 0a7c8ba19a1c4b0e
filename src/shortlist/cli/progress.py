"""What a command says while it works and what it notices: on standard error, not in results."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.text import Text


@contextmanager
def working(text: str) -> Iterator[Callable[[str], None]]:
    """Show a spinner on a terminal; the function it gives changes the words beside it."""
    with Console(stderr=True).status(Text(f"{text}…")) as status:
        yield lambda news: status.update(Text(f"{news}…"))


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
