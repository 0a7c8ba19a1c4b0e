"""`shortlist predict`: a saved model applied to new patients."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from .parameter import AsJson, OutputFile
from .place import check_places, write_or_print
from .progress import noting, working


def predict(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A model file that `shortlist fit` wrote.")
    ],
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA", help="New patients, with at least the columns that were bought."
        ),
    ],
    output: OutputFile = None,
    identifier: Annotated[
        str | None,
        typer.Option("--id", metavar="COLUMN", help="A column to copy, such as a patient number."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Predict the probability of the event for new patients.

    The table that is written has the row (counted from 1), the probability, and which values were
    missing or unknown to the model and had to be replaced.
    """
    from ..errors import InvalidFileError
    from ..prognostic import ModelCard
    from ..tables import csv_text, read_table

    check_places([model, data], [output])
    with noting() as notes, working("Predicting"):
        card = ModelCard.load(model)
        table = read_table(data)
        if identifier is not None and identifier not in table.columns:
            raise InvalidFileError(f"{data}: there is no column {identifier!r} for --id.")
        probability = card.probability(table).tolist()
        imputed = card.imputed(table)
    guessed = [
        [name for name, guess in zip(imputed.columns, row, strict=True) if guess]
        for row in imputed.to_numpy().tolist()
    ]
    rows = range(1, len(table) + 1)
    if as_json:
        record = {
            "outcome": card.outcome.model_dump(),
            "predictions": [
                {"row": row, "probability": p, "imputed": names}
                for row, p, names in zip(rows, probability, guessed, strict=True)
            ],
            "notes": notes,
        }
        typer.echo(json.dumps(record, indent=2))
        return
    columns: dict[str, list[object]] = {"row": list(rows)}
    if identifier is not None:
        values = table[identifier]
        columns[identifier] = values.astype(object).where(values.notna(), None).tolist()
    columns["probability"] = probability
    columns["imputed"] = ["; ".join(names) for names in guessed]
    write_or_print(csv_text(list(columns), zip(*columns.values(), strict=True)), output)
