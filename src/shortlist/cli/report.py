"""The report of `shortlist fit`, with its progress."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from .progress import working

if TYPE_CHECKING:
    from ..prognostic import PrognosticModel
    from ..prognostic.patients import Patients


def report_files(path: Path | None) -> list[Path]:
    """Return the files that a report becomes; raise if it cannot be made, before any work."""
    if path is None:
        return []
    from ..report import report_data_path, require_packages

    require_packages()
    return [path, report_data_path(path)]


def make_report(path: Path, model: PrognosticModel, patients: Patients, n_resamples: int) -> None:
    """Evaluate the model and the usual rules, on all cores if it takes long; write the report."""
    from ..report import N_COMPARED, compare_rules, validate_model, write_report

    console = Console(stderr=True)
    console.print(f"Report: repeating the selection on {n_resamples} resamples.")
    data = (patients.predictors, patients.events)
    options: dict[str, Any] = {"persons": patients.persons, "n_jobs": "auto", "progress": True}
    evaluation = validate_model(model, *data, n_resamples=n_resamples, **options)
    n_compared = min(n_resamples, N_COMPARED)
    console.print(f"Report: the usual selection rules on {n_compared} of them.")
    rivals = compare_rules(model, *data, n_resamples=n_compared, **options)
    with working("Writing the report") as announce:
        write_report(
            path,
            model,
            *data,
            persons=patients.persons,
            evaluation=evaluation,
            rivals=rivals,
            announce=announce,
        )
    console.print(f"{path} written. Open it in a browser.", soft_wrap=True, highlight=False)
