"""Rows to CSV files and back, and their tables on the screen and in the docs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.table import Table

from shortlist.files import make_folder, write_whole

from .measure import Row, system


@dataclass(frozen=True)
class Goal:
    """A figure and the limit that it should keep."""

    name: str
    value: float
    limit: float

    def __str__(self) -> str:
        verdict = "met" if self.value <= self.limit else "missed"
        return f"{self.name}: {self.value:.3g}, goal at most {self.limit:g}: {verdict}"


@dataclass(frozen=True)
class Summary:
    """The table of an experiment, with notes and goals.

    Attributes
    ----------
    header : list of str
        Names of the columns.
    lines : list of list of str
        The table, as text.
    notes : list of str
        Sentences below the table.
    goals : list of Goal
        Shown on the screen only.
    """

    header: list[str]
    lines: list[list[str]]
    notes: list[str] = field(default_factory=list)
    goals: list[Goal] = field(default_factory=list)


def write_csv(rows: list[Row], path: Path) -> None:
    """Write rows, each with the machine and the versions that it was measured on."""
    replace(path, pd.DataFrame([row | system() | row for row in rows]).to_csv(index=False))


def read_csv(path: Path) -> pd.DataFrame:
    """Read what `write_csv` wrote."""
    return pd.read_csv(path, dtype={"support": str, "shortlist_sources": str})


def unfinished(path: Path) -> Path:
    """Return where the rows are kept until an experiment comes to its end."""
    return path.with_name(f".{path.name}.unfinished")


def read_rows(path: Path) -> tuple[Row, ...]:
    """Return the rows of a file without their empty cells; none if there is no file."""
    if not path.is_file():
        return ()
    records = read_csv(path).to_dict("records")
    return tuple({str(k): v for k, v in row.items() if not pd.isna(v)} for row in records)


def replace(path: Path, text: str) -> None:
    """Write a file whole, in a folder that is made if it is missing."""
    make_folder(path.parent)
    write_whole(path, text)


def show(console: Console, title: str, summary: Summary) -> None:
    """Print a summary and its goals."""
    table = Table(title=title, title_justify="left")
    for i, name in enumerate(summary.header):
        table.add_column(name, justify="left" if i == 0 else "right", no_wrap=i == 0)
    for line in summary.lines:
        table.add_row(*line)
    console.print(table)
    for text in [*summary.notes, *map(str, summary.goals)]:
        console.print(text, highlight=False)
    console.print()


def to_markdown(summary: Summary) -> str:
    """Return the table of a summary in Markdown."""
    rule = [":--", *["--:"] * (len(summary.header) - 1)]
    lines = ["| " + " | ".join(line) + " |" for line in [summary.header, rule, *summary.lines]]
    return "\n".join([*lines, ""])


def format_percent(share: float) -> str:
    """Return `0.3%` or `120%`."""
    return f"{100 * share:.0f}%" if share >= 1 else f"{100 * share:.2g}%"


def format_seconds(seconds: float) -> str:
    """Return `4.1 ms` or `12.3 s`."""
    return f"{1000 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
