"""`shortlist fit`: from patients and prices to a model."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import ShortlistWarning, shown
from .parameter import AsJson, split_names
from .place import check_places
from .progress import noting, working
from .question import Question, asking
from .report import check_report, make_report, report_files

if TYPE_CHECKING:
    import pandas as pd


@asking
def fit(
    question: Question,
    model: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to write the model, as JSON.")
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Where to write the proof, as JSON, for `shortlist verify`."
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where to write a report to read and print, as HTML; its numbers go into a JSON "
            "file of the same name.",
        ),
    ] = None,
    resamples: Annotated[
        int,
        typer.Option(
            min=0,
            help="How often the report repeats the selection to measure optimism and stability; "
            "999 for a paper.",
        ),
    ] = 199,
    as_json: AsJson = False,
) -> None:
    """Fit a model on the best predictors that are affordable, and prove that none are better.

    Missing values may be left empty. Numbers are standardised, text becomes levels, and a column is
    bought as a whole. Rows of one person stay together when the ridge is tuned.
    """
    from ..prognostic import check_fit, save_proof
    from ..result import Status
    from .fit_view import Fitted, as_record, render

    check_places(question.inputs, [model, certificate, *report_files(report)])
    question.check_limits()
    started = perf_counter()
    with noting() as notes, working("Reading") as announce:
        patients, estimator = question.pose()
        check_report(report, patients)
        announce("Preparing")
        estimator.fit(patients.predictors, patients.events, patients.persons, announce)
        card = estimator.card_.model_copy(update={"outcome": patients.outcome})
        estimator.card_ = card  # with the outcome's own values, not 0 and 1
        amounts = split_names(question.numeric, list(patients.predictors.columns))
        _note_codes(patients.predictors, estimator.kinds_, amounts)
        announce("Looking for what is suspicious")
        data = (patients.predictors, patients.events, patients.persons)
        for finding in check_fit(estimator, *data):
            if finding.level == "warning":
                text = f"{finding.topic}: {finding.text}"
                warnings.warn(text, ShortlistWarning, stacklevel=2)
        if model is not None:
            card.save(model)
        if certificate is not None:
            proof = estimator.certificate_
            if proof is not None:
                save_proof(certificate, card, proof)
            else:
                text = f"{certificate}: is not written; the proof is too long."
                warnings.warn(text, ShortlistWarning, stacklevel=2)
                certificate = None
    files = {"model": model, "certificate": certificate, "report": report}
    fitted = Fitted(card, estimator, patients, files, notes, perf_counter() - started)
    if as_json:
        typer.echo(json.dumps(as_record(fitted), indent=2))
    else:
        render(fitted)
    if report is not None:
        sys.stdout.flush()
        make_report(report, estimator, patients, resamples)
    if estimator.status_ is not Status.OPTIMAL:
        raise typer.Exit(3)


def _note_codes(predictors: pd.DataFrame, kinds: Mapping[str, str], numeric: list[str]) -> None:
    """Point at numbers that may be codes: three to ten different ones, all of them whole."""
    from ..prognostic.columns import as_numbers

    suspects = []
    for name, kind in kinds.items():
        if kind == "numeric" and name not in numeric:
            values = set(as_numbers(predictors[name]).tolist())
            values = {value for value in values if value == value}  # NaN is not itself
            if 3 <= len(values) <= 10 and all(value.is_integer() for value in values):
                suspects.append(name)
    if suspects:
        warnings.warn(
            f"{', '.join(map(shown, suspects))} hold few whole numbers and are taken for amounts; "
            f"if they are codes, add --categorical {quote(','.join(suspects))}, "
            "and --numeric for those that are not.",
            ShortlistWarning,
            stacklevel=2,
        )
