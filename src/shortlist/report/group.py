"""Performance by groups of patients: of subgroups that a user names, and of centres.

Each centre is left out in turn, the whole procedure, tuning and selection included, is run on the
others, and its model predicts the centre (Steyerberg and Harrell 2016). Estimates are summarised on
scales on which they are about normal between centres: log-odds of the AUC, logarithms of observed /
expected, the slope as it is (Snell and others 2018).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from math import isfinite, nan
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.model_selection import LeaveOneGroupOut

from ..arguments import Float, Int
from ..blocks import one_thread
from ..errors import InvalidProblemError, ShortlistWarning, shown
from ..evaluation import interval, measure, random_effects, run_tasks
from ..evaluation.metric import METRICS, standard_error
from ..patients import ModelCard, PrognosticModel
from ..patients.column import as_levels, as_numbers, level_of
from ..patients.record import SearchRecord
from ..patients.table import PlainTable, as_table, check_persons, mended
from ..sample_size import persons_by_outcome
from .content import (
    FEWEST_OF_GROUP,
    LEVEL,
    CentreRow,
    Centres,
    GroupRow,
    MeasureRow,
    PooledRow,
    SubgroupRow,
)

SURE = 50.0  # log-odds beyond which a risk is 0 or 1
SHOWN = ("auc", "calibration_slope", "observed_expected")
_COMPARISON = re.compile(r"<=|>=|!=|==|<|>|=")
_OTHER_SIDE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "=": "!=", "!=": "="}
_MOST_LEVELS = 20


class Subgroup(NamedTuple):
    """A group of rows: the expression that made it, its name, and which rows are in it."""

    by: str
    name: str
    rows: NDArray[np.bool_]


def split_subgroups(
    subgroups: Sequence[str], X: Any, card: ModelCard | None = None
) -> list[Subgroup]:
    """Return the groups of rows that expressions name.

    Parameters
    ----------
    subgroups : sequence of str
        Columns, each level of which is a group, and comparisons such as `age>65`, both sides of
        which are; several may be in one text, with commas between them.
    X : DataFrame or PlainTable
        The patients; columns that are not predictors count too.
    card : ModelCard, optional
        The model, whose codes for missing values and synonyms apply.

    Returns
    -------
    list of Subgroup
        In the order of the expressions; missing values are a group of their own.
    """
    table = X.frame if isinstance(X, PlainTable) else as_table(X)
    if card is not None:
        table = mended(table, card.preprocessing.missing_codes, card.preprocessing.synonyms)
    found: list[Subgroup] = []
    for text in [subgroups] if isinstance(subgroups, str) else subgroups:
        for part in [text] if text in table.columns else str(text).split(","):
            found += _split(part.strip(), table)
    return found


def _split(by: str, table: pd.DataFrame) -> list[Subgroup]:
    """Return the groups of one expression."""
    if by in table.columns:
        levels = as_levels(table[by])
        names = _in_order({level for level in levels if level is not None})
        if len(names) > _MOST_LEVELS:
            raise InvalidProblemError(
                f"subgroups: {shown(by)} has {len(names)} different values; compare it with one, "
                f"such as {shown(f'{by}>{names[len(names) // 2]}')}."
            )
        groups = {f"{by}: {name}": levels == name for name in names}
        missing = levels == None  # noqa: E711, element by element
    else:
        groups, missing = _compare(by, table)
    if missing.any():
        groups[f"{by}: missing"] = missing
    return [Subgroup(by, name, np.asarray(rows, dtype=bool)) for name, rows in groups.items()]


def _compare(by: str, table: pd.DataFrame) -> tuple[dict[str, Any], Any]:
    """Return both sides of a comparison, and which values are missing."""
    for sign in _COMPARISON.finditer(by):
        column, value = by[: sign.start()].strip(), by[sign.end() :].strip()
        if column not in table.columns or not value:
            continue
        operator = "=" if sign[0] == "==" else sign[0]
        sides = {f"{column} {each} {value}": each for each in (operator, _OTHER_SIDE[operator])}
        if operator in ("=", "!="):
            levels = as_levels(table[column])
            missing = levels == None  # noqa: E711
            if value not in levels:
                raise InvalidProblemError(
                    f"subgroups: column {shown(column)} has no value {shown(value)}; correct it."
                )
            is_equal = levels == value
            groups = {n: (is_equal if e == "=" else ~is_equal) & ~missing for n, e in sides.items()}
            return groups, missing
        try:
            bound, numbers = float(value), as_numbers(table[column])
            if not isfinite(bound):
                raise ValueError
        except (ValueError, InvalidProblemError):
            raise InvalidProblemError(
                f"subgroups: {shown(by)} compares what is not a number; compare levels with = ."
            ) from None
        compare = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
        missing = np.isnan(numbers)
        return {n: compare[e](numbers, bound) & ~missing for n, e in sides.items()}, missing
    raise InvalidProblemError(
        f"subgroups: {shown(by)} is neither a column nor a comparison of one; write for example "
        "'sex,age>65'."
    )


def _in_order(names: set[str]) -> list[str]:
    """Return levels sorted, as numbers if they all are."""
    try:
        return sorted(names, key=float)
    except ValueError:
        return sorted(names)


def describe_subgroups(
    subgroups: Sequence[Subgroup], y: Int, log_odds: Float, persons: Int | None
) -> list[SubgroupRow]:
    """Return the performance in each subgroup; rows without a prediction are left out."""
    known = ~np.isnan(log_odds)
    return [
        {
            "by": each.by,
            "group": each.name,
            **describe_group(each.rows & known, y, log_odds, persons),
        }
        for each in subgroups
    ]


def describe_group(
    rows: NDArray[np.bool_],
    y: Int,
    log_odds: Float,
    persons: Int | None,
    unmeasured: str | None = None,
) -> GroupRow:
    """Return the numbers of rows and events of a group, and its measures or why it has none.

    `unmeasured` says why its rows have no predictions.
    """
    owners = None if persons is None else persons[rows]
    reason = too_few(y[rows], owners) or unmeasured
    return {
        "n": int(rows.sum()),
        "events": int(y[rows].sum()),
        "reason": reason,
        "measures": [] if reason else describe_measures(y[rows], log_odds[rows], owners, SHOWN),
    }


def too_few(y: Int, persons: Int | None) -> str | None:
    """Return why a group is too small to be measured; None if it is not."""
    without, having = persons_by_outcome(y, persons)
    for n, words in ((having, "with"), (without, "without")):
        if n < FEWEST_OF_GROUP:
            return f"fewer than {FEWEST_OF_GROUP} {words} the event"
    return None


def describe_measures(
    y: Int, log_odds: Float, persons: Int | None, names: Sequence[str] = tuple(METRICS)
) -> list[MeasureRow]:
    """Return measures of predictions for patients outside the fit, with errors and intervals."""
    found = measure(y, np.clip(log_odds, -SURE, SURE))
    rows: list[MeasureRow] = []
    for name in names:
        value, influence = found[name]
        lower, upper = interval(name, value, found[name], y, persons, LEVEL)
        error = standard_error(influence, persons)
        rows.append(
            {"metric": name, "estimate": value, "lower": lower, "upper": upper, "error": error}
        )
    return rows


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
    dask: str | None = None,
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
    n_jobs, dask, progress
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
    with warnings.catch_warnings(action="ignore", category=ShortlistWarning):
        # `fit` has warned already
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
    phase = progress and "Leaving out centres"
    found = run_tasks(fit_elsewhere, tasks, n_jobs=n_jobs, dask=dask, progress=phase)
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
    with warnings.catch_warnings(action="ignore"), one_thread():
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
    rows: list[CentreRow] = []
    for place in np.unique(places):
        inside = places == place
        other = None
        if facts is not None and place not in facts:
            other = "the other centres have one outcome only"
        measured = describe_group(inside, y, log_odds, persons, other)
        row: Any = {"centre": str(place), **measured}
        rows.append(row | (facts or {}).get(place, {}))
    return Centres(is_internal=facts is not None, rows=rows, pooled=summarise(rows))


def summarise(rows: Sequence[CentreRow]) -> list[PooledRow]:
    """Return the random-effects summary of each measure over the centres that have it."""
    found: list[Any] = []
    for metric in SHOWN:
        there, slope, back = SCALES[metric]
        measured: list[Any] = [
            each for row in rows for each in row["measures"] if each["metric"] == metric
        ]
        usable = [each for each in measured if np.isfinite(each["lower"]) and each["error"] > 0]
        values = [there(each["estimate"]) for each in usable]
        errors = [each["error"] * slope(each["estimate"]) for each in usable]
        summary = random_effects(values, errors, LEVEL)._asdict()
        ends = ("estimate", "lower", "upper", "prediction_lower", "prediction_upper")
        found.append(
            {"metric": metric} | summary | {name: float(back(summary[name])) for name in ends}
        )
    return found
