"""`shortlist validate`: a saved model on patients who had no part in it, and its update."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import InvalidProblemError
from .parameter import AsJson, OutcomeColumn, PersonColumn
from .place import check_places
from .progress import noting, working
from .report import report_files


class Update(StrEnum):
    """How much of a model is changed."""

    IN_THE_LARGE = "in-the-large"
    SLOPE = "slope"
    REFIT = "refit"


def validate(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A model file that `shortlist fit` wrote.")
    ],
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="New patients with their outcome and at least the columns that were bought.",
        ),
    ],
    outcome: OutcomeColumn,
    positive: Annotated[
        str | None,
        typer.Option(
            metavar="VALUE", help="The value of the outcome that is the event, if not the model's."
        ),
    ] = None,
    person: PersonColumn = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where to write a page to read and print, as HTML; its numbers go into a JSON "
            "file of the same name.",
        ),
    ] = None,
    update: Annotated[
        Update | None,
        typer.Option(
            help="Update the model to these patients: another intercept, another intercept and "
            "slope, or all coefficients; needs --updated."
        ),
    ] = None,
    updated: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to write the updated model, as JSON."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Validate a saved model on new patients, and update it to them.

    Discrimination, calibration and net benefit have 95 % intervals. What an update gains is
    shown for all three ways to update.
    """
    from ..prognostic import ModelCard
    from ..report import describe_external, update_model, write_external

    if (update is None) != (updated is None):
        raise InvalidProblemError("--update: needs --updated, and the other way round; give both.")
    check_places([model, data], [updated, *report_files(report)])
    with noting() as notes, working("Validating"):
        card = ModelCard.load(model)
        patients = read_new_patients(card, data, outcome, positive, person)
        new = (patients.predictors, patients.events.to_numpy())
        if report is not None:
            content = write_external(report, card, *new, patients.persons)
        else:
            content = describe_external(card, *new, patients.persons)
        if update is not None and updated is not None:
            update_model(card, *new, update.value).save(updated)
    if as_json:
        typer.echo(json.dumps(content | {"notes": notes}, indent=2))
    else:
        _render(content)
    for path, hint in ((report, "Open it in a browser."), (updated, "Predict with it.")):
        if path is not None:
            typer.echo(f"{path} is written. {hint}", err=True)


def read_new_patients(
    card: Any, data: Path, outcome: str, positive: str | None, person: str | None
) -> Any:
    """Read new patients; without `positive`, the event is what the model calls so, if it occurs."""
    from ..prognostic.columns import level_of
    from ..prognostic.patients import split_patients
    from ..tables import read_table

    table = read_table(data)
    if positive is None and outcome in table.columns:
        values = {level_of(value) for value in table[outcome].dropna()}
        if card.outcome.event in values:
            positive = card.outcome.event
    return split_patients(data, table, outcome, positive, person)


def _render(content: dict[str, Any]) -> None:
    """Print the measures and what updates gain."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from ..report.page import METRICS

    console = Console(markup=False, emoji=False, highlight=False)
    table = Table(box=box.SIMPLE, pad_edge=False)
    for column in ("measure", "estimate", f"{content['level']:.0%} interval"):
        table.add_column(column, justify="left" if column == "measure" else "right")
    for row in content["measures"]:
        known = row["lower"] is not None
        table.add_row(
            METRICS[row["metric"]],
            "-" if row["estimate"] is None else f"{row['estimate']:.3f}",
            f"{row['lower']:.3f} to {row['upper']:.3f}" if known else "-",
        )
    console.print(f"{content['persons']['text']}, {content['events']} with the event.")
    console.print(table)
    updates = Table(box=box.SIMPLE, pad_edge=False)
    for column in ("model", "deviance", "AUC", "Brier score"):
        updates.add_column(column, justify="left" if column == "model" else "right")
    for row in content["updates"]:
        if row["reason"] is None:
            figures = (f"{row['deviance']:.1f}", f"{row['auc']:.3f}", f"{row['brier']:.3f}")
            updates.add_row(row["text"], *figures)
    console.print(updates)
    console.print("Updated models are measured on the patients they were updated to.")
