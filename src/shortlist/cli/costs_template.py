"""`shortlist costs-template`: a price list to fill in."""

from __future__ import annotations

from pathlib import Path

import typer

from .parameter import DataFile, OutcomeColumn, OutputFile, PersonColumn
from .place import check_places
from .progress import noting, working


def costs_template(
    data: DataFile,
    outcome: OutcomeColumn,
    person: PersonColumn = None,
    output: OutputFile = None,
) -> None:
    """Write a price list with all predictors of a table, to fill in the costs."""
    from ..tables import csv_text, read_table
    from .patients import part_columns

    check_places([data], [output])
    with noting(), working("Reading"):
        predictors = part_columns(data, read_table(data), outcome, person)
    text = csv_text(["predictor", "cost"], [(name, None) for name in predictors.columns])
    write_or_print(text, output, "Fill in a cost of at least 0 in every row.")


def write_or_print(text: str, output: Path | None, hint: str = "") -> None:
    """Write text to a file and say so, or print it."""
    from ..files import write_whole

    if output is None:
        typer.echo(text, nl=False)
    else:
        write_whole(output, text)
        typer.echo(f"{output} is written. {hint}".strip(), err=True)
