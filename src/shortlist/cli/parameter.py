"""Arguments and options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

_THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+")

DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="Patients, one per row, names of the columns first: CSV, TSV, Parquet or Excel.",
        show_default=False,
    ),
]
OutcomeColumn = Annotated[
    str, typer.Option("--outcome", metavar="COLUMN", help="The column to predict.")
]
PersonColumn = Annotated[
    str | None,
    typer.Option(
        "--person",
        metavar="COLUMN",
        help="The column that says whom a row belongs to, if persons have several rows.",
    ),
]
OutputFile = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="Where to write the result, if not to the terminal."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead.")]


def split_names(values: Sequence[str] | None, columns: Sequence[str]) -> list[str]:
    """Return the names that an option was given: with commas between them, or in several options.

    A name that contains a comma is known by being a column.
    """
    names: list[str] = []
    for value in values or ():
        names += [value] if value in columns else [part.strip() for part in value.split(",")]
    return names


def decimal(text: str) -> float:
    """Return the number that an option was given, with a decimal point or a decimal comma."""
    if _THOUSANDS.fullmatch(text):
        raise typer.BadParameter(f"{text!r} has two meanings; write it without the comma.")
    return float(text.replace(",", ".") if text.count(",") == 1 else text)


def amount(text: str) -> float:
    """Return a number of at least 0."""
    try:
        number = decimal(text)
    except ValueError:
        number = -1.0
    if not number >= 0:
        raise typer.BadParameter(f"{text!r} is not a number of at least 0.")
    return number
