"""`shortlist costs-template`: a price list to fill in."""

from __future__ import annotations

from ..errors import InvalidFileError
from .output import check_paths, write_or_print
from .parameter import DataFile, OutcomeColumn, OutputFile, PersonColumn
from .progress import noting, working


def costs_template(
    data: DataFile,
    outcome: OutcomeColumn,
    person: PersonColumn = None,
    output: OutputFile = None,
) -> None:
    """Write a price list with all predictors of a table, to fill in the costs."""
    from ..prognostic.patients import split_columns
    from ..tables import csv_text, read_table

    check_paths([data], [output])
    if output is not None and output.exists():
        raise InvalidFileError(
            f"{output}: exists already, perhaps filled in; choose another name or delete it."
        )
    with noting(), working("Reading"):
        predictors = split_columns(data, read_table(data), outcome, person)
    text = csv_text(["predictor", "cost"], [(name, None) for name in predictors.columns])
    write_or_print(text, output, "Fill in a cost of at least 0 in every row.")
