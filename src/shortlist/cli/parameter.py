"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

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
