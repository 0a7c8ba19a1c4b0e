"""Tables, text and JSON on a terminal, in which nothing a user named is markup."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text


def print_json(record: dict[str, object]) -> None:
    """Print one JSON object."""
    typer.echo(json.dumps(record, indent=2))


def plain_console() -> Console:
    """Return a console that shows names as they are: no markup, no emoji, no colours of its own."""
    return Console(markup=False, emoji=False, highlight=False)


def plain(text: str) -> str:
    """Return text without characters that control a terminal."""
    return "".join(character if character.isprintable() else "�" for character in text)


def print_table(
    title: str, header: Sequence[str], rows: Iterable[Sequence[object]], numbers: Sequence[str] = ()
) -> None:
    """Print a table under a title; the columns in `numbers` are aligned to the right.

    A cell may be a list of names.
    """
    console = plain_console()
    table = Table(box=box.SIMPLE, pad_edge=False)
    for name in header:
        table.add_column(name, overflow="fold", justify="right" if name in numbers else "left")
    for row in rows:
        cells = (", ".join(cell) if isinstance(cell, list) else str(cell) for cell in row)
        table.add_row(*[Text(plain(cell)) for cell in cells])
    console.print()
    console.print(Text(title, style="bold"))
    console.print(table)
