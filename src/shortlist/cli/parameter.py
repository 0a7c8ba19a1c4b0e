"""Arguments and options that several commands share."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

_THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+")

# Options in the panels of --help.
limits_option = partial(typer.Option, rich_help_panel="Prices and limits")
columns_option = partial(typer.Option, rich_help_panel="Columns")
search_option = partial(typer.Option, rich_help_panel="Search")

DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="Patients, one per row, below the column names: CSV, TSV, Parquet or Excel.",
        show_default=False,
    ),
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model file that `shortlist fit` wrote.")
]
OutcomeColumn = Annotated[
    str, typer.Option("--outcome", metavar="COLUMN", help="The column to predict.")
]
EventValue = Annotated[
    str | None,
    typer.Option("--positive", metavar="VALUE", help="The value of the outcome that is the event."),
]
PersonColumn = Annotated[
    str | None,
    typer.Option(
        "--person",
        metavar="COLUMN",
        help="The column that identifies the person, if persons have several rows.",
    ),
]
CostsFile = Annotated[
    Path | None,
    limits_option(
        metavar="FILE",
        help="The price list: a predictor and its cost per row; `shortlist costs-template` makes "
        "one to fill in.",
    ),
]
FeesFile = Annotated[
    Path | None,
    limits_option(
        metavar="FILE",
        help="Fees paid once: an amount, then the predictors that share it, per row.",
    ),
]
ExcludedColumns = Annotated[
    list[str] | None,
    columns_option(metavar="COLUMNS", help="Columns that are not predictors, separated by commas."),
]
CategoricalColumns = Annotated[
    list[str] | None,
    columns_option(metavar="COLUMNS", help="Columns whose numbers are codes, not amounts."),
]
NumericColumns = Annotated[
    list[str] | None, columns_option(metavar="COLUMNS", help="Columns whose numbers are amounts.")
]
SplineKnots = Annotated[
    int | None,
    columns_option(
        min=3, max=5, help="Model numbers by natural cubic splines with this many knots."
    ),
]
MissingIndicator = Annotated[
    bool, columns_option("--missing-indicator", help="Let a missing value itself predict.")
]
LossName = Annotated[
    str,
    search_option(
        "--loss",
        metavar="NAME",
        help="logistic, or squared_hinge or hinge for a support vector machine, which needs "
        "--ridge.",
    ),
]
ReportFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Where to write a report, as HTML to read and print; its numbers go into a JSON file "
        "of the same name.",
    ),
]
OutputFile = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="Where to write the result; default: the terminal."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead.")]


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
