"""The columns of a table: numbers, truth values, levels of a factor, or an outcome.

`read_columns` turns predictors into one of three plain forms, for fitting and for predicting alike:
float64 with NaN, 0 and 1 with NaN, or text with None. `obvious_event` knows pairs of values of an
outcome of which one is the event.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, time
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..arguments import Float
from ..errors import InvalidProblemError, shown

ColumnKind = Literal["numeric", "boolean", "categorical"]
KINDS: tuple[str, ...] = get_args(ColumnKind)

_LARGEST = 1e100  # so that cubes, as splines have them, stay finite
_MAX_LEVELS = 50
_SHARE = 0.5  # text columns with more numbers than this are numbers with mistakes; so with dates
_DATE = re.compile(
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})"
    r"|\d{1,2}[- .]*[A-Za-z]{3,9}[- .,]*(\d{4}|\d{2}))([ T]+\d{1,2}:\d{2}.*)?"
)
_MOST_COMPLAINTS = 10
# Pairs of words, the event second, in lower case.
_OBVIOUS = frozenset(
    [
        *[("0", "1"), ("-1", "1"), ("false", "true"), ("f", "t"), ("n", "y"), ("n", "j")],
        *[("no", "yes"), ("nein", "ja"), ("nee", "ja"), ("nej", "ja"), ("nei", "ja")],
        *[("non", "oui"), ("no", "si"), ("no", "sí"), ("no", "sì"), ("nao", "sim"), ("não", "sim")],
        *[("nie", "tak"), ("ne", "ano"), ("ei", "kyllä"), ("nem", "igen")],
        *[("negative", "positive"), ("negativ", "positiv"), ("neg", "pos"), ("-", "+")],
        *[("absent", "present"), ("absence", "presence"), ("control", "case")],
        *[("alive", "dead"), ("alive", "died"), ("live", "die"), ("living", "dead")],
        *[("lived", "died"), ("survived", "died"), ("survivor", "dead"), ("survival", "death")],
        *[("lebend", "tot"), ("lebt", "tot"), ("lebend", "verstorben"), ("überlebt", "verstorben")],
        *[("well", "ill"), ("healthy", "ill"), ("healthy", "sick"), ("healthy", "diseased")],
        *[("gesund", "krank"), ("benign", "malignant"), ("benigne", "maligne")],
    ]
)


def read_columns(
    table: pd.DataFrame, kinds: Mapping[str, Any]
) -> tuple[dict[str, ColumnKind], dict[str, NDArray[Any]]]:
    """Return the kind of every column, as given or else as its values suggest, and its plain form.

    One message names all columns that cannot be used.
    """
    for name, kind in kinds.items():
        if kind not in KINDS:
            known = ", ".join(map(repr, KINDS))
            raise InvalidProblemError(f"kinds: {shown(name)} must be one of {known}, not {kind!r}.")
    found: dict[str, ColumnKind] = {}
    columns: dict[str, NDArray[Any]] = {}
    complaints: dict[str, str] = {}
    for name in table.columns:
        try:
            kind = kinds.get(name) or infer_kind(table[name])
            values = _READERS[kind](table[name])
            if kind == "categorical":
                _check_levels(name, values)
        except InvalidProblemError as error:
            complaints[name] = str(error)
        else:
            found[name], columns[name] = kind, values
    if len(complaints) == 1:
        raise InvalidProblemError(*complaints.values())
    if complaints:
        some = [text.removesuffix(".") for text in complaints.values()][:_MOST_COMPLAINTS]
        raise InvalidProblemError(
            f"{len(complaints)} columns cannot be used as they are; {'; '.join(some)}; "
            f"to leave all of them out, exclude {','.join(complaints)}."
        )
    return found, columns


def infer_kind(column: pd.Series[Any]) -> ColumnKind:
    """Return the kind of a column: 0 and 1 are truth values, other numbers numbers, text levels."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return "categorical"
    if pd.api.types.is_bool_dtype(column.dtype):
        return "boolean"
    if pd.api.types.is_numeric_dtype(column.dtype):
        return "boolean" if _is_binary(column) else "numeric"
    known = column[~_is_missing(column)]
    _refuse_dates(column, known)
    for value in known:
        if not isinstance(value, str | bool | int | float | np.number | np.bool_):
            raise InvalidProblemError(
                f"column {shown(column.name)}: holds values such as {shown(str(value))}, neither "
                "numbers nor text; convert it, or exclude it."
            )
    if all(isinstance(value, bool | np.bool_) for value in known):
        return "boolean"
    numbers = _parse(known)
    share = float(numbers.notna().mean())
    if share == 1:
        return "boolean" if _is_binary(numbers) else "numeric"
    if share >= _SHARE:
        wrong = _parse(column).isna().to_numpy() & ~_is_missing(column)
        _refuse(
            column,
            wrong,
            "is not a number but most values are; correct it, leave it empty, or declare the "
            "column categorical",
        )
    return "categorical"


def may_be_codes(column: pd.Series[Any]) -> bool:
    """Return whether a column of numbers has three to ten different ones, all of them whole."""
    try:
        numbers = as_numbers(column) if infer_kind(column) == "numeric" else np.empty(0)
    except InvalidProblemError:
        return False
    different = np.unique(numbers[~np.isnan(numbers)])
    return 3 <= len(different) <= 10 and bool((different == np.floor(different)).all())


def as_numbers(column: pd.Series[Any]) -> Float:
    """Return a column as float64, NaN where a value is missing."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
    numbers: Float = _parse(column).to_numpy(np.float64, na_value=np.nan)
    wrong = np.isnan(numbers) & ~_is_missing(column)
    _refuse(column, wrong, "is not a number; correct it or leave it empty")
    _refuse(
        column,
        np.abs(numbers) > _LARGEST,
        "is infinite or too large to compute with; correct it or leave it empty",
    )
    return numbers


def as_truth_values(column: pd.Series[Any]) -> Float:
    """Return a column as 1 for true, 0 for false, NaN where a value is missing."""
    words = {"true": 1.0, "false": 0.0}
    numbers = as_numbers(
        column.map(lambda v: words.get(v.strip().lower(), v) if isinstance(v, str) else v)
    )
    wrong = ~np.isnan(numbers) & (numbers != 0) & (numbers != 1)
    _refuse(column, wrong, "is neither 0 nor 1, true nor false; correct it or leave it empty")
    return numbers


def as_levels(column: pd.Series[Any]) -> NDArray[Any]:
    """Return a column as text, None where a value is missing; 3.0 and 3 are the same level."""
    missing = _is_missing(column)
    values = zip(column.array, missing, strict=True)  # iterating the array keeps a float32 one
    return np.array([None if gone else level_of(value) for value, gone in values], dtype=object)


def level_of(value: Any) -> str:
    """Return the text of a level."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value).strip()


def _check_levels(name: str, levels: NDArray[Any]) -> None:
    """Raise if a factor has so many levels that it is probably text."""
    distinct = set(levels) - {None}
    if len(distinct) > _MAX_LEVELS:
        some = ", ".join(shown(level) for level in sorted(distinct)[:3])
        raise InvalidProblemError(
            f"column {shown(name)}: has {len(distinct)} different texts such as {some}, and more "
            f"than {_MAX_LEVELS} are too many; exclude it if it identifies rows, or merge levels."
        )


def _refuse_dates(column: pd.Series[Any], known: pd.Series[Any]) -> None:
    """Raise if most values are dates, which are neither amounts nor levels."""
    are_dates = [
        isinstance(value, date | time | np.datetime64)
        or (isinstance(value, str) and _DATE.fullmatch(value.strip()) is not None)
        for value in known
    ]
    if sum(are_dates) > _SHARE * len(are_dates):
        example = str(known.iloc[are_dates.index(True)]).removesuffix(" 00:00:00")
        raise InvalidProblemError(
            f"column {shown(column.name)}: holds dates such as {shown(example)}; make numbers of "
            "them, such as days since a start or years of age, or exclude it."
        )


def is_constant(values: NDArray[Any], kind: ColumnKind) -> bool:
    """Return whether a column in plain form has one value at most, missing ones aside."""
    if kind == "categorical":
        return len(set(values) - {None}) < 2
    known = values[~np.isnan(values)]
    if len(known) == 0:
        return True
    low, high = float(known.min()), float(known.max())
    return high - low <= max(1e-100, 1e-13 * max(abs(low), abs(high)))


def _parse(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return the numbers of a column, NaN for other values; too large an integer is infinite."""
    try:
        return pd.to_numeric(column, errors="coerce")
    except OverflowError:
        bounded = column.map(
            lambda value: np.inf if isinstance(value, int) and abs(value) > _LARGEST else value
        )
        return pd.to_numeric(bounded, errors="coerce")


def _refuse(column: pd.Series[Any], wrong: NDArray[np.bool_], complaint: str) -> None:
    """Raise if any value is wrong, and name the first."""
    if wrong.any():
        row = int(wrong.argmax())
        raise InvalidProblemError(
            f"column {shown(column.name)}: {shown(str(column.iloc[row]))} in row {row + 1} "
            f"{complaint}."
        )


def _is_missing(column: pd.Series[Any]) -> NDArray[np.bool_]:
    """Return where a value is missing or blank."""
    missing: NDArray[np.bool_] = column.isna().to_numpy(dtype=bool)
    if pd.api.types.is_numeric_dtype(column.dtype):
        return missing
    blank = np.array([isinstance(v, str) and not v.strip() for v in column], dtype=bool)
    either: NDArray[np.bool_] = missing | blank
    return either


def _is_binary(numbers: pd.Series[Any]) -> bool:
    return bool(numbers.dropna().isin([0, 1]).all())


_READERS: dict[ColumnKind, Callable[[pd.Series[Any]], NDArray[Any]]] = {
    "numeric": as_numbers,
    "boolean": as_truth_values,
    "categorical": as_levels,
}


def obvious_event(values: Sequence[str]) -> str | None:
    """Return the event of a pair such as 0 and 1, no and yes or alive and dead; else None.

    Examples
    --------
    >>> from shortlist.patients.column import obvious_event
    >>> obvious_event(["ja", "nein"]), obvious_event(["die", "live"]), obvious_event(["1", "2"])
    ('ja', 'die', None)
    """
    if len(values) != 2:
        return None
    for other, event in (tuple(values), tuple(reversed(values))):
        if (other.strip().lower(), event.strip().lower()) in _OBVIOUS:
            return event
    return None
