"""Tables about choices on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .fit_view import plain


def print_table(title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table under a title; no cell is markup."""
    console = Console(markup=False, emoji=False, highlight=False)
    table = Table(box=box.SIMPLE, pad_edge=False)
    for name in header:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*[Text(plain(str(cell))) for cell in row])
    console.print()
    console.print(Text(title, style="bold"))
    console.print(table)
