"""`shortlist predict` and `shortlist validate`: a saved model applied to new patients."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InvalidFileError, InvalidProblemError
from .fit import require_report
from .option import (
    AsJson,
    CentreColumn,
    DropMissingOutcome,
    EventValue,
    ModelFile,
    OutcomeColumn,
    OutputFile,
    PersonColumn,
    ReportFile,
    Subgroups,
    Thresholds,
    risks,
)
from .terminal import check_paths, noting, print_json, print_table, working, write_or_print

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
    check_paths([model, data], [output])
    with noting() as notes, working("Predicting"):
        from ..patients import ModelCard
        from ..tables import csv_text, read_table

        card = ModelCard.load(model)
        table = read_table(data)
        if identifier is not None and identifier not in table.columns:
            raise InvalidFileError(f"{data}: there is no column {identifier!r} for --id.")
        columns: dict[str, list[Any]] = {
            "probability": card.probability(table).tolist(),
            "imputed": _names_where(card.imputed(table)),
            "outside": _names_where(card.outside(table)),
        }
    columns = {"row": list(range(1, len(table) + 1))} | columns
    owners: list[Any] = []
    if identifier is not None:
        values = table[identifier]
        owners = values.astype(object).where(values.notna(), None).tolist()
    if as_json:
        if identifier is not None:
            columns["id"] = [o if isinstance(o, int | float | None) else str(o) for o in owners]
        rows = zip(*columns.values(), strict=True)
        record = {
            "outcome": card.outcome.model_dump(),
            "predictions": [dict(zip(columns, row, strict=True)) for row in rows],
            "notes": notes,
        }
        write_or_print(json.dumps(record, indent=2) + "\n", output)
        return
    for name in ("imputed", "outside"):
        columns[name] = ["; ".join(names) for names in columns[name]]
    if identifier is not None:
        columns = {"row": columns.pop("row"), identifier: owners} | columns
    write_or_print(csv_text(list(columns), zip(*columns.values(), strict=True)), output)


def _names_where(marks: pd.DataFrame) -> list[list[str]]:
    """Return for each row the columns that are marked."""
    return [
        [name for name, marked in zip(marks.columns, row, strict=True) if marked]
        for row in marks.to_numpy().tolist()
    ]


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
    centre: CentreColumn = None,
    drop_missing_outcome: DropMissingOutcome = False,
    subgroups: Subgroups = None,
    thresholds: Thresholds = None,
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

    Discrimination, calibration and net benefit have 95 % intervals. The gain of an update is
    shown for all three ways to update.
    """
    if (update is None) != (updated is None):
        raise InvalidProblemError("--update: needs --updated, and vice versa; give both.")
    if thresholds is not None and report is None and not as_json:
        raise InvalidProblemError("--thresholds: has no effect without --report or --json.")
    check_paths([model, data], [updated], report)
    require_report(report)
    with noting() as notes, working("Validating"):
        from ..external import describe_external, update_model, write_external
        from ..patients import ModelCard
        from ..patients.column import level_of
        from ..patients.table import split_patients
        from ..tables import read_table

        card = ModelCard.load(model)
        table = read_table(data)
        if positive is None and outcome in table.columns:
            values = {level_of(value) for value in table[outcome].dropna()}
            positive = card.outcome.event if card.outcome.event in values else None
        drop = drop_missing_outcome
        patients = split_patients(data, table, outcome, positive, person, centre, drop=drop)
        new = (patients.predictors, patients.events.to_numpy())
        groups = {"centres": patients.centres, "subgroups": subgroups or ()}
        options: dict[str, Any] = {**groups, "thresholds": risks(thresholds)}
        if report is not None:
            content = write_external(report, card, *new, patients.persons, **options)
        else:
            found = describe_external(card, *new, patients.persons, **options)
            content = found.model_dump(mode="json")
        if update is not None and updated is not None:
            update_model(card, *new, update.value).save(updated)
    if as_json:
        print_json(content | {"notes": notes})
    else:
        _print_validation(content)
    for path, hint in ((report, "Open it in a browser."), (updated, "Predict with it.")):
        if path is not None:
            typer.echo(f"{path} written. {hint}", err=True)


def _print_validation(content: dict[str, Any]) -> None:
    """Print the measures, and the performance of updated models."""
    from ..evaluation.metric import METRICS

    level = f"{content['level']:.0%} interval"
    share = content["prevalence"]
    null = f" (no model: {share * (1 - share):.3f})"
    print_table(
        f"{content['persons']['text']}, {content['events']} with the event",
        ["measure", "estimate", level],
        [
            (
                METRICS[row["metric"]] + (null if row["metric"] == "brier" else ""),
                "-" if row["estimate"] is None else f"{row['estimate']:z.3f}",
                "-" if row["lower"] is None else f"{row['lower']:z.3f} to {row['upper']:z.3f}",
            )
            for row in content["measures"]
        ],
        numbers=["estimate", level],
    )
    _print_groups(content)
    for row in content["findings"]:
        typer.echo(f"Caution: {row['topic']}: {row['text']}")
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
    for row in content["updates"]:
        if row["reason"] is not None:
            typer.echo(f"Not {row['text']}: {row['reason']}")


def _print_groups(content: dict[str, Any]) -> None:
    """Print the performance by centre and by subgroup, as far as these were asked for."""
    centres = [] if content["centres"] is None else content["centres"]["rows"]
    for kind, rows in (("centre", centres), ("group", content["subgroups"])):
        if rows:
            print_table(
                f"By {kind}: AUC, calibration slope and observed / expected, 95% intervals",
                [kind, "n", "events", "AUC", "slope", "O/E"],
                [
                    (
                        row[kind],
                        row["n"],
                        row["events"],
                        *(map(_with_interval, row["measures"]) if row["measures"] else ("-",) * 3),
                    )
                    for row in rows
                ],
                numbers=["n", "events"],
            )
            for reason in dict.fromkeys(row["reason"] for row in rows if row["reason"]):
                typer.echo(f"- {reason}")


def _with_interval(row: dict[str, Any]) -> str:
    if row["estimate"] is None:
        return "-"
    ends = "" if row["lower"] is None else f" ({row['lower']:.2f}-{row['upper']:.2f})"
    return f"{row['estimate']:.2f}{ends}"
