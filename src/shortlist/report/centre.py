"""Performance by centre: internal-external validation, and how much centres differ.

Each centre is left out in turn, the whole procedure, tuning and selection included, is run on the
others, and its model predicts the centre (Steyerberg and Harrell 2016). Estimates are summarised on
scales on which they are about normal between centres: log-odds of the AUC, logarithms of observed /
expected, the slope as it is (Snell and others 2018).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import nan
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.model_selection import LeaveOneGroupOut

from ..arguments import Float, Int
from ..blocks import one_thread
from ..errors import InvalidProblemError, ShortlistWarning
from ..evaluation import random_effects, run_tasks
from ..patients import PrognosticModel
from ..patients.column import level_of
from ..patients.record import SearchRecord
from ..patients.table import PlainTable, check_persons
from .content import FEWEST_OF_GROUP, LEVEL, Centres, Rows
from .group import SHOWN, describe_group, too_few


class _Scale(NamedTuple):
    """A scale for the values of centres: there, the slope of the way there, and back."""

    there: Callable[[float], float]
    slope: Callable[[float], float]
    back: Callable[[float], float]


SCALES = {
    "auc": _Scale(logit, lambda value: 1 / (value * (1 - value)), expit),
    "observed_expected": _Scale(np.log, lambda value: 1 / value, np.exp),
    "calibration_slope": _Scale(float, lambda value: 1.0, float),
}


def validate_centres(
    model: PrognosticModel,
    X: Any,
    y: ArrayLike,
    centres: ArrayLike,
    *,
    persons: ArrayLike | None = None,
    n_jobs: int | Literal["auto"] | None = None,
    progress: bool = False,
) -> Centres:
    """Leave out each centre in turn, fit on the others, and measure the model on the centre.

    Everything is repeated: imputation, the choice of the ridge unless it was given, selection and
    fit. Centres with too few patients of an outcome are not left out, but serve the others. Rows of
    persons who are in the centre that is left out are left out with it.

    Parameters
    ----------
    model : PrognosticModel
        Fitted.
    X, y, persons
        The data of the fit.
    centres : array-like of shape (n_rows,)
        The centre of each row, which should not be a column of X.
    n_jobs, progress
        As in `validate_model`.

    Returns
    -------
    Centres
        For `write_report`.

    Examples
    --------
    >>> import numpy as np, shortlist as sl
    >>> from shortlist.report import validate_centres
    >>> data = sl.datasets.make_prognostic(n_samples=300, label_noise=0.05, random_state=1)
    >>> model = sl.PrognosticModel(max_features=2, ridge=1.0).fit(data.X, data.y)
    >>> found = validate_centres(model, data.X, data.y, np.arange(300) % 3)
    >>> [(row["centre"], row["n"], row["reason"]) for row in found.rows]
    [('0', 100, None), ('1', 100, None), ('2', 100, None)]
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShortlistWarning)  # `fit` has warned already
        plain = model.check(X, y)
    places = check_centres(centres, plain.labels, persons)
    owners = check_persons(persons, len(plain.labels))
    codes = None if owners is None else np.unique(owners, return_inverse=True)[1]
    tasks = {}
    for train, test in LeaveOneGroupOut().split(places, groups=places):
        if codes is not None:
            train = train[~np.isin(codes[train], codes[test])]
        own = None if codes is None else codes[test]
        both = len(np.unique(plain.labels[train])) == 2
        if both and too_few(plain.labels[test], own) is None:
            tasks[places[test[0]]] = (clone(model), plain, train, test, owners)
    found = run_tasks(fit_elsewhere, tasks, n_jobs=n_jobs, progress=progress)
    log_odds = np.full(len(places), nan)
    for place, (*_, test, _) in tasks.items():
        log_odds[test] = found[place]["log_odds"]
    facts = {
        place: {name: value for name, value in result.items() if name != "log_odds"}
        | {"is_same": set(result["predictors"]) == set(model.selected_features_)}
        for place, result in found.items()
    }
    return describe_centres(places, plain.labels, log_odds, codes, facts)


def fit_elsewhere(
    model: PrognosticModel, plain: PlainTable, train: Int, test: Int, persons: NDArray[Any] | None
) -> dict[str, Any]:
    """Fit a model to some rows, and predict the others."""
    with warnings.catch_warnings(), one_thread():
        warnings.simplefilter("ignore")
        own = None if persons is None else persons[train]
        model.fit(plain.rows(train), plain.labels[train], own)
        log_odds = model.card_.log_odds(plain.frame.iloc[test])
    return {
        "log_odds": log_odds.tolist(),
        "predictors": list(model.selected_features_),
        "ridge": float(model.ridge_),
        "is_proven": all_proven(model.card_.search),
    }


def all_proven(search: SearchRecord) -> bool:
    """Whether every search that a model rests on ended with a proof."""
    earlier = (search.within, search.stable)
    return search.status == "optimal" and all(each is None or each.is_proven for each in earlier)


def check_centres(
    centres: ArrayLike, y: ArrayLike, persons: ArrayLike | None = None
) -> NDArray[Any]:
    """Return the name of each row's centre; raise if none can be left out."""
    given, labels = np.asarray(centres), np.asarray(y)
    if given.shape != labels.shape:
        raise InvalidProblemError(
            f"centres: expected {len(labels)} values, one per row, but got shape {given.shape}."
        )
    places = np.array([level_of(value) for value in given.tolist()])
    owners = None if persons is None else np.asarray(persons)
    names = np.unique(places)
    if len(names) < 2:
        raise InvalidProblemError("centres: all rows are of one; give the column of several.")
    parts = (places == name for name in names)
    if all(too_few(labels[part], None if owners is None else owners[part]) for part in parts):
        raise InvalidProblemError(
            f"centres: none has {FEWEST_OF_GROUP} patients with and {FEWEST_OF_GROUP} without the "
            "event; merge centres into regions."
        )
    return places


def describe_centres(
    places: NDArray[Any],
    y: Int,
    log_odds: Float,
    persons: Int | None,
    facts: dict[str, dict[str, Any]] | None = None,
) -> Centres:
    """Return the performance in each centre and its summary; `facts` are of the models."""
    rows = []
    for place in np.unique(places):
        inside = places == place
        other = None
        if facts is not None and place not in facts:
            other = "the other centres have one outcome only"
        row = {"centre": str(place), **describe_group(inside, y, log_odds, persons, other)}
        rows.append(row | (facts or {}).get(place, {}))
    return Centres(is_internal=facts is not None, rows=rows, pooled=summarise(rows))


def summarise(rows: Rows) -> Rows:
    """Return the random-effects summary of each measure over the centres that have it."""
    found = []
    for metric in SHOWN:
        there, slope, back = SCALES[metric]
        usable = [
            each
            for row in rows
            for each in row["measures"]
            if each["metric"] == metric and np.isfinite(each["lower"]) and each["error"] > 0
        ]
        values = [there(each["estimate"]) for each in usable]
        errors = [each["error"] * slope(each["estimate"]) for each in usable]
        summary = random_effects(values, errors, LEVEL)._asdict()
        ends = ("estimate", "lower", "upper", "prediction_lower", "prediction_upper")
        found.append(
            {"metric": metric} | summary | {name: float(back(summary[name])) for name in ends}
        )
    return found
