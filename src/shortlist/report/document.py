"""The report of a fitted model: its content, the page, and the JSON file beside it."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

from numpy.typing import ArrayLike

from ..errors import InvalidProblemError, ShortlistWarning
from ..evaluation import Evaluation
from ..files import write_whole
from ..patients import PrognosticModel
from .choice import describe_alternatives, describe_proof, describe_staircase
from .comparison import N_OF_RULES, compare_rules, describe_comparison
from .content import Centres, ExternalContent, ReportContent, finding_rows
from .equation import (
    describe_effects,
    describe_equation,
    describe_example,
    describe_purchase,
    describe_splines,
)
from .group import describe_subgroups, split_subgroups, validate_centres
from .page import render_report, require_packages
from .performance import (
    check_thresholds,
    describe_performance,
    describe_risks,
    describe_stability,
)
from .population import count_persons, describe_baseline, describe_sample_size
from .text import (
    default_title,
    describe_checks,
    describe_decision,
    describe_missing,
    describe_versions,
)
from .validation import N_RESAMPLES, validate_model


def describe_model(
    model: PrognosticModel,
    X: Any,
    y: ArrayLike,
    evaluation: Evaluation,
    persons: ArrayLike | None = None,
    rivals: Mapping[str, Evaluation] | None = None,
    announce: Callable[[str], None] = lambda text: None,
    *,
    centres: Centres | None = None,
    subgroups: Sequence[str] = (),
    thresholds: Sequence[float] = (),
    unfold: bool = False,
) -> ReportContent:
    """Return the content of a report.

    Parameters
    ----------
    model : PrognosticModel
        Fitted.
    X, y
        The data of the fit.
    evaluation : Evaluation
        Of this model, as `validate_model` gives it.
    persons : array-like of shape (n_rows,), optional
        The person of each row, as for `fit` and `validate_model`.
    rivals : mapping, optional
        Evaluations of the usual rules, as `compare_rules` gives them.
    announce : callable
        Called with a sentence on the progress.
    centres, subgroups, thresholds, unfold
        As in `write_report`.

    Returns
    -------
    ReportContent
        The content.
    """
    card = model.card_
    check_thresholds(thresholds)
    groups = split_subgroups(subgroups, X, card)
    with warnings.catch_warnings(action="ignore", category=ShortlistWarning):
        # `fit` has warned already
        plain = model.check(X, y)
        problem = model.problem(plain, plain.labels)
    count = count_persons(plain.labels, persons)
    announce("Checking the proof")
    proof = describe_proof(model, problem)
    announce("Solving for other budgets")
    threshold = thresholds[0] if len(thresholds) else None
    staircase = describe_staircase(model, plain, problem, persons, threshold)
    announce("Listing alternatives")
    alternatives = describe_alternatives(model, plain, problem, persons)
    announce("Describing performance")
    performance = describe_performance(card, evaluation, thresholds)
    predictions = evaluation.predictions
    content = ReportContent(
        versions=describe_versions(),
        model=card,
        purchase=describe_purchase(card),
        equation=describe_equation(card),
        example=describe_example(card),
        persons=count,
        proof=proof,
        staircase=staircase,
        alternatives=alternatives,
        performance=performance,
        centres=centres,
        subgroups=[]
        if predictions is None
        else describe_subgroups(
            groups, *(predictions[name].to_numpy() for name in ("y", "log_odds", "person"))
        ),
        comparison=describe_comparison(problem, rivals or {}),
        evaluated=list(evaluation.selected),
        stability=describe_stability(card, evaluation),
        individual_risks=describe_risks(evaluation),
        effects=describe_effects(card, evaluation),
        splines=describe_splines(card, plain, evaluation),
        sample_size=describe_sample_size(problem, plain.labels, count),
        missing=describe_missing(card, plain.frame),
        baseline=describe_baseline(card, plain),
        findings=finding_rows(model.findings_),
        title=default_title(card),
        is_unfolded=unfold,
    )
    checks = describe_checks(content)
    return content.model_copy(
        update={"checks": checks, "decision": describe_decision(content, checks)}
    )


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
    dask: str | None = None,
    progress: bool = False,
    announce: Callable[[str], None] = lambda text: None,
    centres: Centres | ArrayLike | None = None,
    subgroups: Sequence[str] = (),
    thresholds: Sequence[float] = (),
    numbers: Path | None = None,
    unfold: bool = False,
) -> dict[str, Any]:
    """Write a report about a fitted model: one HTML file, and its numbers as JSON beside it.

    The page needs neither a network nor scripts. Everything in it comes from the JSON file of the
    same name: `render_report` makes the page from it. Needs the extra `shortlist[report]`.

    Parameters
    ----------
    path : str or Path
        The page, which ends in .html; the JSON file ends in .json instead.
    model : PrognosticModel
        Fitted. The name of the outcome and of its values are as in `model.card_.outcome`.
    X, y, persons
        The data of the fit.
    evaluation : Evaluation, optional
        From `validate_model`; by default it is made here.
    rivals : mapping, optional
        From `compare_rules`; by default made here if the evaluation is, or else left out.
    n_resamples, n_jobs, dask, progress
        As for `validate_model`, if the evaluation is made here.
    announce : callable
        Called with a sentence on the progress.
    centres : Centres or array-like of shape (n_rows,), optional
        Performance by centre, from `validate_centres`; or the centre of each row, for it to be made
        here.
    subgroups : sequence of str
        Columns, each level of which is a subgroup, and comparisons such as "age>65", both sides of
        which are. Columns that are not predictors may be among them.
    thresholds : sequence of float
        Risks above which one would act, between 0 and 1; by default round ones are chosen. At the
        first that is given, every step of the staircase has its test tradeoff.
    unfold : bool
        Whether everything is unfolded, for a print of all of it.
    numbers : Path, optional
        Another file for the numbers.

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
    split_subgroups(subgroups, X, model.card_)
    check_thresholds(thresholds)
    options: dict[str, Any] = {
        "persons": persons,
        "n_jobs": n_jobs,
        "dask": dask,
        "progress": progress,
    }
    if evaluation is None:
        announce(f"Repeating the selection on {n_resamples} resamples")
        evaluation = validate_model(model, X, y, n_resamples=n_resamples, **options)
        if rivals is None:
            announce("Repeating usual rules on the same resamples")
            rivals = compare_rules(model, X, y, n_resamples=min(n_resamples, N_OF_RULES), **options)
    by_centre = centres if isinstance(centres, Centres) else None
    if centres is not None and by_centre is None:
        announce("Leaving out each centre in turn")
        by_centre = validate_centres(model, X, y, cast(ArrayLike, centres), **options)
    content = describe_model(
        model,
        X,
        y,
        evaluation,
        persons,
        rivals,
        announce,
        centres=by_centre,
        subgroups=subgroups,
        thresholds=thresholds,
        unfold=unfold,
    )
    announce("Drawing the report")
    return write_page(path, content, numbers)


def write_page(
    path: Path, content: ReportContent | ExternalContent, numbers: Path | None = None
) -> dict[str, Any]:
    """Write the page of some content, and the content as JSON beside it; return the latter."""
    page, record = render_report(content), content.model_dump(mode="json")
    write_whole(
        numbers or report_data_path(path), json.dumps(record, indent=2, allow_nan=False) + "\n"
    )
    write_whole(path, page)
    return record


def report_data_path(path: Path) -> Path:
    """Return the path of the JSON file of a report."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise InvalidProblemError(
            f"report: is a page, so its name must end in .html, not {path.name!r}."
        )
    return path.with_suffix(".json")
