"""The output of commands: tables, text and JSON, notes and progress, and files."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.text import Text

from ..errors import InvalidFileError, ShortlistWarning
from ..files import write_whole
from ..progress import telling

if TYPE_CHECKING:
    from rich.table import Table


def print_json(record: dict[str, object]) -> None:
    """Print one JSON object."""
    typer.echo(json.dumps(record, indent=2))


def plain_console() -> Console:
    """Return a console that shows names as they are: no markup, no emoji, no colours of its own."""
    return Console(markup=False, emoji=False, highlight=False)


def plain(text: str) -> str:
    """Return text without characters that control a terminal."""
    return "".join(character if character.isprintable() else "�" for character in text)


def make_table(columns: Iterable[str], numbers: Sequence[str] = ()) -> Table:
    """Return an empty table; the columns in `numbers` are aligned to the right."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, pad_edge=False)
    for name in columns:
        table.add_column(name, overflow="fold", justify="right" if name in numbers else "left")
    return table


def print_table(
    title: str, header: Sequence[str], rows: Iterable[Sequence[object]], numbers: Sequence[str] = ()
) -> None:
    """Print a table under a title; a cell may be a list of names."""
    console, table = plain_console(), make_table(header, numbers)
    for row in rows:
        cells = (", ".join(cell) if isinstance(cell, list) else str(cell) for cell in row)
        table.add_row(*[Text(plain(cell)) for cell in cells])
    console.print()
    console.print(Text(title, style="bold"))
    console.print(table)


def check_paths(
    inputs: Iterable[Path | None], outputs: Iterable[Path | None], report: Path | None = None
) -> Path | None:
    """Raise if an input is missing, or an output has no folder or would replace another file.

    Return where the numbers of a report go: a JSON file of the same name, or if that is another
    output, of that name and "-report".
    """
    outputs = list(outputs)
    given = [path for path in inputs if path is not None]
    for path in given:
        if not path.exists():  # said here at once, before pandas is imported to read it
            raise InvalidFileError(f"{path}: there is no such file.")
    taken = {path.resolve() for path in given}
    numbers = None if report is None else report.with_suffix(".json")
    if report is not None and numbers in outputs:
        numbers = report.with_name(f"{report.stem}-report.json")
    for path in (path for path in (*outputs, report, numbers) if path is not None):
        if path.is_dir():
            raise InvalidFileError(f"{path}: cannot be written, because it is a folder.")
        if not path.parent.is_dir():
            reason = f"there is no folder {path.parent}."
            raise InvalidFileError(f"{path}: cannot be written, because {reason}")
        if path.resolve() in taken and path is numbers:
            raise InvalidFileError(
                f"{path}: is where the report {report} puts its numbers, and is used already; "
                "choose another name for one of them."
            )
        if path.resolve() in taken:
            raise InvalidFileError(f"{path}: is used twice; choose another name for the output.")
        taken.add(path.resolve())
    return numbers


def write_or_print(text: str, output: Path | None, hint: str = "") -> None:
    """Write text to a file and say so, or print it."""
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_whole(output, text)
        typer.echo(f"{output} written. {hint}".strip(), err=True)


@contextmanager
def working(text: str) -> Iterator[Callable[[str], None]]:
    """Show a spinner on standard error; yield a function that changes the text beside it.

    After a second the seconds that have passed are shown too. Without a terminal the text is
    written after a second, and again every few seconds.
    """
    console, clock = Console(stderr=True), _Clock(text)
    lines = nullcontext() if console.is_terminal else telling(lambda: clock.text)
    with console.status(clock), lines:

        def announce(news: str) -> None:
            clock.text = news

        yield announce


class _Clock:
    """What is being done, and since when, as it is whenever the terminal is drawn."""

    def __init__(self, text: str) -> None:
        self.text, self._started = text, perf_counter()

    def __rich__(self) -> Text:
        """Return the text of now."""
        seconds = int(perf_counter() - self._started)
        return Text(f"{self.text}…" + (f" {seconds} s" if seconds else ""))


@contextmanager
def noting() -> Iterator[list[str]]:
    """Collect the package's warnings as notes, and print them at the end, also after an error."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield notes
        finally:
            # scikit-learn's warning by its name: to import it takes longer than many a command.
            notes += dict.fromkeys(
                str(warning.message)
                for warning in caught
                if issubclass(warning.category, ShortlistWarning)
                or warning.category.__name__ == "ConvergenceWarning"
            )
            for note in notes:
                typer.echo(f"Note: {note}", err=True)
