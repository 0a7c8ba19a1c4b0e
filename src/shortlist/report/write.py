"""The report as files: a page to read, and the same as JSON beside it."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from numpy.typing import ArrayLike

from ..errors import InvalidProblemError, ShortlistWarning
from ..evaluation import Evaluation
from ..files import write_whole
from ..patients import PrognosticModel
from .content import describe_model
from .page import render_report, require_packages
from .validation import N_COMPARED, N_RESAMPLES, compare_rules, validate_model


def write_report(
    path: str | Path,
    model: PrognosticModel,
    X: Any,
    y: ArrayLike,
    *,
    persons: ArrayLike | None = None,
    evaluation: Evaluation | None = None,
    rivals: Mapping[str, Evaluation] | None = None,
    n_resamples: int = N_RESAMPLES,
    n_jobs: int | Literal["auto"] | None = None,
    announce: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Write a report about a fitted model: one HTML file, and its numbers as JSON beside it.

    The page needs neither a network nor scripts. Everything in it comes from the JSON file of the
    same name: `render_report` makes the page from it. Needs the extra `shortlist[report]`.

    Parameters
    ----------
    path : str or Path
        The page, which ends in .html; the JSON file ends in .json instead.
    model : PrognosticModel
        Fitted. The name of the outcome and of its values are those of `model.card_.outcome`.
    X, y, persons
        What it was fitted to.
    evaluation : Evaluation, optional
        From `validate_model`; by default it is made here.
    rivals : mapping, optional
        From `compare_rules`; by default made here if the evaluation is, or else left out.
    n_resamples, n_jobs
        As for `validate_model`, if the evaluation is made here.
    announce : callable
        Called with a sentence on the progress.

    Returns
    -------
    dict
        The content of the JSON file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import shortlist as sl
    >>> from shortlist.report import write_report
    >>> data = sl.datasets.make_prognostic(n_samples=82, random_state=1)
    >>> model = sl.PrognosticModel(max_features=2, ridge=1.0).fit(data.X, data.y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "report.html"
    ...     content = write_report(path, model, data.X, data.y, n_resamples=2)
    ...     sorted(file.name for file in path.parent.iterdir())
    ['report.html', 'report.json']
    """
    path = Path(path)
    report_data_path(path)  # raises before the work
    require_packages()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShortlistWarning)  # `fit` has warned already
        X = model.check(X, y)
    if evaluation is None:
        announce(f"Repeating the selection on {n_resamples} resamples")
        options: dict[str, Any] = {"persons": persons, "n_jobs": n_jobs}
        evaluation = validate_model(model, X, y, n_resamples=n_resamples, **options)
        if rivals is None:
            announce("Repeating usual rules on the same resamples")
            n_compared = min(n_resamples, N_COMPARED)
            rivals = compare_rules(model, X, y, n_resamples=n_compared, **options)
    content = describe_model(model, X, y, evaluation, persons, rivals, announce)
    announce("Drawing the report")
    write_page(path, content)
    return content


def write_page(path: Path, content: Mapping[str, Any]) -> None:
    """Write the page of some content, and the content as JSON beside it."""
    page = render_report(content)
    write_whole(report_data_path(path), json.dumps(content, indent=2, allow_nan=False) + "\n")
    write_whole(path, page)


def report_data_path(path: Path) -> Path:
    """Return where the JSON of a report goes."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise InvalidProblemError(
            f"report: is a page, so its name must end in .html, not {path.name!r}."
        )
    return path.with_suffix(".json")
