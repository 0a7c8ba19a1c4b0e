"""The model, proof and report of the settings, as `shortlist fit` would write them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..errors import InvalidProblemError, ShortlistWarning
from ..patients import PrognosticModel, check_fit, save_proof
from ..report import N_RESAMPLES, require_packages, write_report
from .fitted import SOLVE_SECONDS, Callback
from .prepared import PreparedPatients
from .state import State


def fit_again(
    prepared: PreparedPatients,
    state: State,
    *,
    tuned: bool = False,
    announce: Callback = lambda news: None,
) -> PrognosticModel:
    """Fit the model of a state as `PrognosticModel` does, so that others can do it again."""
    never, must = [*prepared.left_out, *state.never], state.must
    if state.adopted is not None:
        must = state.adopted
        never += [name for name in prepared.design.names if name not in {*must, *never}]
    limits = replace(state.limits(), include=must, exclude=never)
    model = PrognosticModel(
        **vars(limits),
        kinds=prepared.plain.kinds,
        spline_knots=prepared.spline_knots,
        missing_indicator=prepared.missing_indicator,
        ridge=None if tuned else state.ridge,
        time_limit=SOLVE_SECONDS,
    )
    patients = prepared.patients
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShortlistWarning)  # the page says the same
        return model.fit(*patients.data, announce, outcome=patients.outcome)


def tune_ridge(prepared: PreparedPatients, state: State, callback: Callback) -> dict[str, Any]:
    """Return the ridge that `fit` chooses by cross-validation."""
    model = fit_again(prepared, state.without_adoption(), tuned=True, announce=callback)
    search = model.card_.search
    return {
        "ridge": search.ridge,
        "tried": [entry.ridge for entry in search.tuning],
        "folds": search.folds,
    }


def describe_notes(prepared: PreparedPatients, state: State, callback: Callback) -> dict[str, Any]:
    """Return the findings of `check_fit` about the best model and the patients."""
    model = fit_again(prepared, state.without_adoption(), announce=callback)
    found = check_fit(model, *prepared.patients.data)
    return {"notes": [finding._asdict() for finding in found]}


def model_file(prepared: PreparedPatients, state: State) -> bytes:
    """Return the model as JSON, for `shortlist predict`."""
    return (fit_again(prepared, state).card_.model_dump_json(indent=2) + "\n").encode()


def certificate_file(prepared: PreparedPatients, state: State) -> bytes:
    """Return the proof with its model as JSON, for `shortlist verify`.

    Fitted again, an adopted selection is the best one of a problem that has no other.
    """
    if state.adopted is not None:
        raise InvalidProblemError("Only the best selection has a proof; return to it first.")
    model = fit_again(prepared, state)
    certificate = model.certificate_
    if certificate is None:
        raise InvalidProblemError("The proof is too large to be saved; lower the limit.")
    return _written("certificate.json", lambda path: save_proof(path, model.card_, certificate))


def report_file(prepared: PreparedPatients, state: State) -> bytes:
    """Return the report of the model as one HTML page."""
    require_packages()
    model, patients = fit_again(prepared, state), prepared.patients
    return _written(
        "report.html",
        lambda path: write_report(
            path,
            model,
            patients.predictors,
            patients.events,
            persons=patients.persons,
            n_resamples=N_RESAMPLES,
        ),
    )


def _written(name: str, write: Callable[[Path], object]) -> bytes:
    with TemporaryDirectory(prefix="shortlist-") as folder:
        path = Path(folder) / name
        write(path)
        return path.read_bytes()


WRITERS = {"model": model_file, "certificate": certificate_file, "report": report_file}
