"""The report of `shortlist fit`, with its progress."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from .progress import working

if TYPE_CHECKING:
    from ..prognostic import PrognosticModel
    from ..prognostic.patients import Patients


_FEW = 5


def report_files(path: Path | None) -> list[Path]:
    """Return the files that a report becomes; raise if it cannot be made, before any work."""
    if path is None:
        return []
    from ..report import report_data_path, require_packages

    require_packages()
    return [path, report_data_path(path)]


def check_report(path: Path | None, patients: Patients) -> None:
    """Raise if there are too few patients for a report, before any work."""
    if path is not None:
        from ..report import check_enough

        check_enough(patients.events, patients.persons)


def make_report(path: Path, model: PrognosticModel, patients: Patients, n_resamples: int) -> None:
    """Evaluate the model, on all cores if it takes long, and write the report."""
    from ..report import validate_model, write_report

    console = Console(stderr=True)
    if console.is_terminal:
        console.print(f"Repeating the selection on {n_resamples} resamples for the report")
    # Starting processes takes as long as a few resamples.
    n_jobs = None if n_resamples <= _FEW else -1
    evaluation = validate_model(
        model,
        patients.predictors,
        patients.events,
        persons=patients.persons,
        n_resamples=n_resamples,
        n_jobs=n_jobs,
        progress=True,
    )
    with working("Writing the report") as announce:
        write_report(
            path,
            model,
            patients.predictors,
            patients.events,
            persons=patients.persons,
            evaluation=evaluation,
            announce=announce,
        )
