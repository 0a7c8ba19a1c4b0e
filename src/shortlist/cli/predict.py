"""`shortlist predict`: a saved model applied to new patients."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .output import check_paths, write_or_print
from .parameter import AsJson, ModelFile, OutputFile
from .progress import noting, working

if TYPE_CHECKING:
    import pandas as pd


def predict(
    model: ModelFile,
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

    The result has the row (counted from 1 below the names), the probability, which values were
    missing or unknown to the model and had to be replaced, and which lie outside those that it was
    fitted to.
    """
    from ..errors import InvalidFileError
    from ..prognostic import ModelCard
    from ..tables import csv_text, read_table

    check_paths([model, data], [output])
    with noting() as notes, working("Predicting"):
        card = ModelCard.load(model)
        table = read_table(data)
        if identifier is not None and identifier not in table.columns:
            raise InvalidFileError(f"{data}: there is no column {identifier!r} for --id.")
        probability = card.probability(table).tolist()
        imputed = _names_where(card.imputed(table))
        outside = _names_where(card.outside(table))
    rows = range(1, len(table) + 1)
    owners: list[object] = []
    if identifier is not None:
        values = table[identifier]
        owners = values.astype(object).where(values.notna(), None).tolist()
    if as_json:
        predictions: list[dict[str, object]] = [
            {"row": row, "probability": p, "imputed": guessed, "outside": far}
            for row, p, guessed, far in zip(rows, probability, imputed, outside, strict=True)
        ]
        if identifier is not None:
            for prediction, owner in zip(predictions, owners, strict=True):
                prediction["id"] = owner if isinstance(owner, int | float | None) else str(owner)
        record = {
            "outcome": card.outcome.model_dump(),
            "predictions": predictions,
            "notes": notes,
        }
        write_or_print(json.dumps(record, indent=2) + "\n", output)
        return
    columns: dict[str, list[object]] = {"row": list(rows)}
    if identifier is not None:
        columns[identifier] = owners
    columns["probability"] = probability
    columns["imputed"] = ["; ".join(names) for names in imputed]
    columns["outside"] = ["; ".join(names) for names in outside]
    write_or_print(csv_text(list(columns), zip(*columns.values(), strict=True)), output)


def _names_where(marks: pd.DataFrame) -> list[list[str]]:
    """Return for each row the columns that are marked."""
    return [
        [name for name, marked in zip(marks.columns, row, strict=True) if marked]
        for row in marks.to_numpy().tolist()
    ]
