"""External validation: a saved model on patients it was not fitted to, and its update to them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import chi2

from .arguments import Int
from .errors import InvalidProblemError, ShortlistWarning, shown
from .evaluation import measure
from .evaluation.metric import log_loss
from .patients import Finding, ModelCard, PrognosticModel
from .patients.column import as_numbers
from .patients.preparation import Preparation
from .patients.record import UpdateRecord
from .patients.table import check_table
from .patients.term import BooleanTerm, NumericTerm, Term
from .report.content import ENOUGH, ExternalContent, UpdateRow, finding_rows, json_rows
from .report.document import write_page
from .report.group import (
    SURE,
    check_centres,
    describe_centres,
    describe_measures,
    describe_subgroups,
    split_subgroups,
)
from .report.performance import describe_curves
from .report.population import count_persons
from .report.text import default_title, describe_versions

_ALL, _MOST = 0.98, 0.5  # of the patients are patients of the development
_MANY_OUTSIDE = 0.1  # of the values of a column
_OTHER_UNIT = 3.0  # times the median, or that part of it
_UPDATES = {
    "original": "original",
    "in-the-large": "recalibrated in the large: new intercept",
    "slope": "recalibrated: new intercept and slope",
    "refit": "refitted: same predictors, new coefficients",
}
_RECORDS: dict[str, Any] = {
    "in-the-large": "recalibrated in the large",
    "slope": "recalibrated, intercept and slope",
    "refit": "refitted",
}


def describe_external(
    card: ModelCard,
    X: pd.DataFrame,
    y: ArrayLike,
    persons: ArrayLike | None = None,
    *,
    centres: ArrayLike | None = None,
    subgroups: Sequence[str] = (),
    thresholds: Sequence[float] = (),
    unfold: bool = False,
) -> ExternalContent:
    """Return the content of a page about a model and patients it was not fitted to.

    Parameters
    ----------
    card : ModelCard
        The model.
    X : DataFrame
        New patients, with at least the columns that were bought.
    y : array-like of shape (n_rows,)
        1 for the event, else 0; both occur.
    persons : array-like of shape (n_rows,), optional
        The person of each row.
    centres : array-like of shape (n_rows,), optional
        The centre of each row; performance is then shown by centre too.
    subgroups, thresholds, unfold
        As in `write_report`.

    Returns
    -------
    ExternalContent
        Among others `measures` with intervals, `curves`, `updates`, and missing values by column.

    Examples
    --------
    >>> import shortlist as sl
    >>> from shortlist.external import describe_external
    >>> data = sl.datasets.make_prognostic(n_samples=300, label_noise=0.05, random_state=1)
    >>> model = sl.PrognosticModel(max_features=3, ridge=1.0).fit(data.X[:150], data.y[:150])
    >>> content = describe_external(model.card_, data.X[150:], data.y[150:])
    >>> [row["name"] for row in content.updates]
    ['original', 'in-the-large', 'slope', 'refit']
    """
    labels: Int = np.asarray(y).astype(np.int64)
    if set(np.unique(labels)) != {0, 1}:
        raise InvalidProblemError("y: must be 1 for the event and 0 otherwise, and have both.")
    owners = None if persons is None else np.unique(np.asarray(persons), return_inverse=True)[1]
    groups = split_subgroups(subgroups, X, card)
    log_odds = np.clip(card.log_odds(X), -SURE, SURE)
    by_centre = None
    if centres is not None:
        places = check_centres(centres, labels, owners)
        by_centre = describe_centres(places, labels, log_odds, owners)
    shares = pd.DataFrame({"imputed": card.imputed(X).mean(), "outside": card.outside(X).mean()})
    count = count_persons(labels, persons)
    rarer = min(count.with_event, count.without_event)
    development = _development(card, X, labels)
    return ExternalContent(
        title=f"Validation on other patients: {default_title(card)}",
        is_unfolded=unfold,
        versions=describe_versions(),
        model=card,
        persons=count,
        events=labels.sum(),
        prevalence=labels.mean(),
        development_prevalence=card.data.events / card.data.rows,
        mean_risk=(1 / (1 + np.exp(-log_odds))).mean(),
        is_enough=rarer >= ENOUGH,
        rarer=rarer,
        measures=describe_measures(labels, log_odds, owners),
        curves=describe_curves(labels, log_odds, owners, thresholds),
        centres=by_centre,
        subgroups=describe_subgroups(groups, labels, log_odds, owners),
        columns=json_rows(shares, "predictor"),
        development=development,
        findings=finding_rows([*_check_development(development), *_check_ranges(card, X)]),
        updates=_describe_updates(card, X, labels, owners),
    )


def _development(card: ModelCard, X: pd.DataFrame, labels: Int) -> Literal["none", "most", "all"]:
    """Return whether all patients, most or none are those that the model was fitted to."""
    names = [item.name for item in card.candidates]
    if all(name in X.columns for name in names) and len(labels) == card.data.rows:
        with warnings.catch_warnings(action="ignore", category=ShortlistWarning):
            try:
                plain = check_table(X[names], labels, Preparation.of(card))
            except InvalidProblemError:  # other columns than those bought may be of another kind
                return "none"
        if plain.sha256 == card.data.sha256:
            return "all"
    share = card.development_share(X, labels)
    return "all" if share > _ALL else "most" if share > _MOST else "none"


def _check_development(development: str) -> Iterator[Finding]:
    if development != "none":
        who = "These are" if development == "all" else "Most of these are"
        yield Finding(
            "warning",
            "Not new patients",
            f"{who} the patients that the model was fitted to. This is no validation: all "
            "measures are optimistic.",
        )


def _check_ranges(card: ModelCard, X: pd.DataFrame) -> Iterator[Finding]:
    """Name numbers many of which lie outside the development's range, as in another unit."""
    outside = card.outside(X).mean()
    for term in card.terms:
        if isinstance(term, NumericTerm) and outside[term.name] > _MANY_OUTSIDE:
            values = as_numbers(X[term.name])
            median = float(np.nanmedian(values))
            unit = ""
            if term.fill > 0 and not 1 / _OTHER_UNIT < median / term.fill < _OTHER_UNIT:
                times = f"{median / term.fill:.3g} times the development's"
                unit = f" Their median is {times}; check the unit."
            yield Finding(
                "warning",
                "Outside the development range",
                f"{outside[term.name]:.0%} of the values of {shown(term.name)} lie outside "
                f"{term.range[0]:g} to {term.range[1]:g}, the range of the development.{unit}",
                (term.name,),
            )


def update_model(card: ModelCard, X: pd.DataFrame, y: ArrayLike, update: str) -> ModelCard:
    """Return a model updated to new patients.

    Parameters
    ----------
    card, X, y
        As in `describe_external`.
    update : {"in-the-large", "slope", "refit"}
        A new intercept, a new intercept and slope, or all coefficients new.

    Returns
    -------
    ModelCard
        The updated model; its `update` is set.
    """
    labels: Int = np.asarray(y).astype(np.int64)
    record = UpdateRecord(how=_RECORDS[update], rows=len(labels), events=int(labels.sum()))
    if update == "refit":
        return _refit(card, X, labels).model_copy(update={"update": record})
    found = measure(labels, np.clip(card.log_odds(X), -SURE, SURE))
    intercept, slope = found["calibration_intercept"].value, found["calibration_slope"].value
    if update == "in-the-large":
        intercept, slope = found["calibration_in_the_large"].value, 1.0
    if not (isfinite(intercept) and isfinite(slope)):
        raise InvalidProblemError(
            f"update: {update!r} has no solution here, as the predictions separate the outcomes or "
            "do not differ; use another update or more patients."
        )
    changes = {
        "intercept": intercept + slope * card.intercept,
        "terms": tuple(_scaled(term, slope) for term in card.terms),
        "update": record,
    }
    return card.model_copy(update=changes)


def write_external(
    path: str | Path,
    card: ModelCard,
    X: pd.DataFrame,
    y: ArrayLike,
    persons: ArrayLike | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Write a page about an external validation, and its numbers as JSON beside it.

    Parameters
    ----------
    path : str or Path
        The page, which ends in .html; the JSON file ends in .json instead.
    card, X, y, persons, **options
        As in `describe_external`.

    Returns
    -------
    dict
        The content of the JSON file.
    """
    return write_page(Path(path), describe_external(card, X, y, persons, **options))


def _describe_updates(
    card: ModelCard, X: pd.DataFrame, y: Int, persons: Int | None
) -> list[UpdateRow]:
    """Return each update with its performance on the patients that it was made from."""
    ones = np.ones(len(y), dtype=np.int64)
    rows: list[UpdateRow] = []
    deviance_before: float | None = None
    for update, text in _UPDATES.items():
        try:
            model = card if update == "original" else update_model(card, X, y, update)
        except InvalidProblemError as error:
            rows.append({"name": update, "text": text, "reason": str(error)})
            deviance_before = None
            continue
        log_odds = np.clip(model.log_odds(X), -SURE, SURE)
        deviance = 2 * len(y) * log_loss(y, log_odds, ones)
        found = measure(y, log_odds)
        p_value = None
        # Each recalibration has one parameter more; a refit is penalised, so it has no such test.
        if update in ("in-the-large", "slope") and deviance_before is not None and persons is None:
            p_value = chi2.sf(max(0.0, deviance_before - deviance), 1)
        rows.append(
            {
                "name": update,
                "text": text,
                "reason": None,
                "intercept": model.intercept,
                "deviance": deviance,
                "p_value": p_value,
                "auc": found["auc"].value,
                "brier": found["brier"].value,
                "effects": [
                    {"predictor": name, "contrast": contrast, "coefficient": coefficient}
                    for name, contrast, coefficient in model.effects()
                    if contrast != "missing"
                ],
            }
        )
        deviance_before = deviance
    return rows


def _refit(card: ModelCard, X: pd.DataFrame, y: Int) -> ModelCard:
    """Return a model of the same predictors with the same ridge; nothing is selected."""
    names = card.bought
    with warnings.catch_warnings(action="ignore", category=ShortlistWarning):
        model = PrognosticModel(
            include=names,
            preparation=Preparation.of(card, names).set_params(imputations=None),
            ridge=card.search.ridge,
        ).fit(X[names], y, outcome=card.outcome)
    return model.card_


def _scaled(term: Term, slope: float) -> Term:
    changes: dict[str, Any] = {}
    if isinstance(term, NumericTerm):
        changes["coefficients"] = tuple(slope * c for c in term.coefficients)
    elif isinstance(term, BooleanTerm):
        changes["coefficient"] = slope * term.coefficient
    else:
        changes["coefficients"] = {level: slope * c for level, c in term.coefficients.items()}
    if term.missing_coefficient is not None:
        changes["missing_coefficient"] = slope * term.missing_coefficient
    return term.model_copy(update=changes)
