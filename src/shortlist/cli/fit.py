"""`shortlist fit`: from patients and prices to a model."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from ..errors import InvalidProblemError, ShortlistWarning
from .output import check_paths
from .parameter import AsJson, LossName, ReportFile
from .problem_options import ProblemOptions, with_problem_options
from .progress import noting, working
from .report import make_report, report_files

_RESAMPLES = 199


@with_problem_options
def fit(
    options: ProblemOptions,
    model: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to write the model, as JSON.")
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Where to write the proof, as JSON, for `shortlist verify`."
        ),
    ] = None,
    report: ReportFile = None,
    resamples: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Number of resamples of the report, which measure optimism and stability: "
            f"default {_RESAMPLES}; 999 for a paper.",
        ),
    ] = None,
    loss: LossName = "logistic",
    as_json: AsJson = False,
) -> None:
    """Fit a model on the best predictors that are affordable, and prove that none are better.

    Missing values may be left empty. Numbers are standardised, text becomes levels, and a column is
    bought as a whole. Rows of one person stay together when the ridge is tuned.
    """
    from ..losses import loss_of
    from ..prognostic import check_fit, save_proof
    from ..solution import Status
    from .fit_view import Fitted, as_record, render
    from .terminal import print_json

    if not loss_of(loss).gives_risks:
        raise InvalidProblemError(
            f"--loss: {loss} has no risks, which a model file predicts; use `shortlist path` or "
            "`alternatives`, or BestSubsetClassifier in Python."
        )
    if resamples is not None and report is None:
        raise InvalidProblemError("--resamples: has no effect without --report; give one.")
    check_paths(options.inputs, [model, certificate, *report_files(report)])
    options.check_limits()
    started = perf_counter()
    with noting() as notes, working("Reading") as announce:
        patients, estimator = options.read()
        if report is not None:
            from ..report import check_enough

            check_enough(patients.events, patients.persons)
        announce("Preparing")
        estimator.fit(*patients.data, announce, outcome=patients.outcome)
        card = estimator.card_
        announce("Checking data and model")
        for finding in check_fit(estimator, *patients.data):
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
                text = f"{certificate}: was not written, because the proof is too long."
                warnings.warn(text, ShortlistWarning, stacklevel=2)
                certificate = None
    files = {"model": model, "certificate": certificate, "report": report}
    fitted = Fitted(card, estimator, patients, files, notes, perf_counter() - started)
    if as_json:
        print_json(as_record(fitted))
    else:
        render(fitted)
    if report is not None:
        sys.stdout.flush()
        make_report(report, estimator, patients, _RESAMPLES if resamples is None else resamples)
    if estimator.status_ is not Status.OPTIMAL:
        raise typer.Exit(3)
