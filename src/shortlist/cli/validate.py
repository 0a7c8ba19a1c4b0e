"""`shortlist validate`: external validation of a saved model, and its update."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InvalidProblemError
from .output import check_paths
from .parameter import AsJson, EventValue, ModelFile, OutcomeColumn, PersonColumn, ReportFile
from .progress import noting, working
from .report import report_files

if TYPE_CHECKING:
    from ..prognostic import ModelCard
    from ..prognostic.patients import Patients


class UpdateKind(StrEnum):
    """How much of a model is changed."""

    IN_THE_LARGE = "in-the-large"
    SLOPE = "slope"
    REFIT = "refit"


def validate(
    model: ModelFile,
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="New patients with their outcome and at least the columns that were bought.",
        ),
    ],
    outcome: OutcomeColumn,
    positive: EventValue = None,
    person: PersonColumn = None,
    report: ReportFile = None,
    update: Annotated[
        UpdateKind | None,
        typer.Option(
            help="Update the model to these patients: new intercept, new intercept and slope, or "
            "new coefficients; needs --updated."
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
    from .terminal import print_json

    if (update is None) != (updated is None):
        raise InvalidProblemError("--update: needs --updated, and vice versa; give both.")
    check_paths([model, data], [updated, *report_files(report)])
    with noting() as notes, working("Validating"):
        card = ModelCard.load(model)
        patients = _read_new_patients(card, data, outcome, positive, person)
        new = (patients.predictors, patients.events.to_numpy())
        if report is not None:
            content = write_external(report, card, *new, patients.persons)
        else:
            content = describe_external(card, *new, patients.persons)
        if update is not None and updated is not None:
            update_model(card, *new, update.value).save(updated)
    if as_json:
        print_json(content | {"notes": notes})
    else:
        _render(content)
    for path, hint in ((report, "Open it in a browser."), (updated, "Predict with it.")):
        if path is not None:
            typer.echo(f"{path} written. {hint}", err=True)


def _read_new_patients(
    card: ModelCard, data: Path, outcome: str, positive: str | None, person: str | None
) -> Patients:
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
    from ..evaluation.metric import METRICS
    from .terminal import print_table

    level = f"{content['level']:.0%} interval"
    print_table(
        f"{content['persons']['text']}, {content['events']} with the event",
        ["measure", "estimate", level],
        [
            (
                METRICS[row["metric"]],
                "-" if row["estimate"] is None else f"{row['estimate']:.3f}",
                "-" if row["lower"] is None else f"{row['lower']:.3f} to {row['upper']:.3f}",
            )
            for row in content["measures"]
        ],
        numbers=["estimate", level],
    )
    print_table(
        "Updated models, measured on the patients they were updated to",
        ["model", "deviance", "AUC", "Brier score"],
        [
            (row["text"], f"{row['deviance']:.1f}", f"{row['auc']:.3f}", f"{row['brier']:.3f}")
            for row in content["updates"]
            if row["reason"] is None
        ],
        numbers=["deviance", "AUC", "Brier score"],
    )
