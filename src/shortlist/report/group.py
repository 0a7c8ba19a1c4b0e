"""Performance by groups of patients: of subgroups that a user names, or of centres."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..arguments import Float, Int
from ..errors import InvalidProblemError, shown
from ..evaluation import interval, measure
from ..evaluation.metric import METRICS, standard_error
from ..patients import ModelCard
from ..patients.column import as_levels, as_numbers
from ..patients.table import PlainTable, as_table, mended
from .content import FEWEST_OF_GROUP, LEVEL, Rows

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
        The patients; columns that are no predictors count too.
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
) -> Rows:
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
) -> dict[str, Any]:
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
    for label, words in ((1, "with"), (0, "without")):
        n = int((y == label).sum()) if persons is None else len(np.unique(persons[y == label]))
        if n < FEWEST_OF_GROUP:
            return f"fewer than {FEWEST_OF_GROUP} {words} the event"
    return None


def describe_measures(
    y: Int, log_odds: Float, persons: Int | None, names: Sequence[str] = tuple(METRICS)
) -> Rows:
    """Return measures of predictions for patients outside the fit, with errors and intervals."""
    found = measure(y, np.clip(log_odds, -SURE, SURE))
    rows = []
    for name in names:
        value, influence = found[name]
        lower, upper = interval(name, value, found[name], y, persons, LEVEL)
        error = standard_error(influence, persons)
        rows.append(
            {"metric": name, "estimate": value, "lower": lower, "upper": upper, "error": error}
        )
    return rows
