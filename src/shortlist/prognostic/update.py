"""A saved model adapted to other patients: a new intercept, a new slope, or new coefficients."""

from __future__ import annotations

import warnings
from typing import Any

import pandas as pd
from numpy.typing import ArrayLike

from ..errors import ShortlistWarning
from .card import ModelCard, Update
from .model import PrognosticModel
from .term import BooleanTerm, NumericTerm, Term


def recalibrate(
    card: ModelCard, intercept: float, slope: float, rows: int, events: int
) -> ModelCard:
    """Return a model whose log-odds are `intercept` plus `slope` times those of another.

    Parameters
    ----------
    card : ModelCard
        The model.
    intercept, slope : float
        As a logistic regression of other patients' outcomes on its log-odds gives them; a slope of
        1 is recalibration in the large.
    rows, events : int
        How many patients that were, for the record.

    Returns
    -------
    ModelCard
        The same predictors, with other coefficients.
    """
    update = Update(
        how="recalibrated in the large" if slope == 1 else "recalibrated, intercept and slope",
        rows=rows,
        events=events,
    )
    return card.model_copy(
        update={
            "intercept": intercept + slope * card.intercept,
            "terms": tuple(_scaled(term, slope) for term in card.terms),
            "update": update,
        }
    )


def refit(card: ModelCard, X: pd.DataFrame, y: ArrayLike) -> ModelCard:
    """Return a model of the same predictors with the same ridge, fitted to other patients.

    Parameters
    ----------
    card : ModelCard
        The model.
    X : DataFrame
        Other patients, with at least its predictors.
    y : array-like of shape (n_rows,)
        1 for the event, else 0.

    Returns
    -------
    ModelCard
        With levels, medians and coefficients of these patients; nothing was selected.
    """
    names = [term.name for term in card.terms]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShortlistWarning)
        model = PrognosticModel(
            include=names,
            kinds={term.name: term.kind for term in card.terms},
            spline_knots=card.preprocessing.spline_knots,
            missing_indicator=card.preprocessing.missing_indicator,
            ridge=card.search.ridge,
        ).fit(X[names], y, outcome=card.outcome)
    fitted = model.card_
    update = Update(how="refitted", rows=fitted.data.rows, events=fitted.data.events)
    return fitted.model_copy(update={"update": update})


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
