"""The columns of a table: numbers, binary values, or levels of a factor.

`read_columns` turns predictors into one of three plain forms, for fitting and for predicting alike:
float64 with NaN, 0 and 1 with NaN, or text with None. `mend` comes before: it takes codes for
missing values and synonyms of levels out of a column.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
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
# Words for a missing value that may be a level too: they are missing in a column of numbers, and a
# level, of which `suspicion` has a note, in one of text.
_ABSENT = frozenset({"None", "null", "NULL", "Null", "N/A", "n/a"})
# Characters that levels may differ in and still be meant to be the same.
_FILLERS = re.compile(r"[\s_.-]+")


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
    """Return the kind of a column: 0 and 1 are binary, other numbers numbers, text levels."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return "categorical"
    if pd.api.types.is_bool_dtype(column.dtype):
        return "boolean"
    if pd.api.types.is_numeric_dtype(column.dtype):
        return "boolean" if _is_binary(column) else "numeric"
    known = column[~_is_missing(column)]
    _refuse_dates(column, known)
    is_said = ~_is_missing(column, _ABSENT)
    for value in known:
        if not isinstance(value, str | bool | int | float | np.number | np.bool_):
            raise InvalidProblemError(
                f"column {shown(column.name)}: holds values such as {shown(str(value))}, neither "
                "numbers nor text; convert it, or exclude it."
            )
    if all(isinstance(value, bool | np.bool_) for value in known):
        return "boolean"
    numbers = _parse(column[is_said])
    share = float(numbers.notna().mean())
    if share == 1:
        return "boolean" if _is_binary(numbers) else "numeric"
    if share >= _SHARE:
        _refuse(
            column,
            is_said & _parse(column).isna().to_numpy(),
            "is not a number but most values are; correct it, leave it empty, declare it with "
            '--missing-codes "{code}" (in Python missing_codes), or declare the column categorical',
        )
    return "categorical"


def words_for_missing(values: Iterable[Any]) -> list[str]:
    """Return the words among some values that may stand for missing ones, sorted."""
    return sorted({v.strip() for v in values if isinstance(v, str)} & _ABSENT)


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
    wrong = np.isnan(numbers) & ~_is_missing(column, _ABSENT)
    _refuse(
        column,
        wrong,
        'is not a number; correct it, leave it empty, or declare it with --missing-codes "{code}" '
        "(in Python missing_codes)",
    )
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


def mend(
    column: pd.Series[Any], codes: Collection[str], synonyms: Mapping[str, str]
) -> pd.Series[Any]:
    """Return a column with codes for missing values removed and synonyms of levels replaced.

    Values are compared as text, as `level_of` writes them: -9 and -9.0 are the code "-9".
    """
    if not codes and not synonyms:
        return column
    texts = column.map(level_of, na_action="ignore").astype(object)
    mended = column.mask(texts.isin(list(codes))) if codes else column
    if synonyms:
        known = texts.isin([text for text in synonyms if text not in codes])
        if known.any():
            mended = mended.astype(object).mask(known, texts.map(lambda t: synonyms.get(t, t)))
    return mended


def similar_levels(counts: Mapping[str, int]) -> dict[str, str]:
    """Return levels that are probably meant to be another one, with that one.

    Two levels are similar if they differ in upper and lower case, blanks, hyphens, points and
    underscores only, or, being words of at least four letters of which one is rare, in one letter.
    The more frequent one is meant.

    Examples
    --------
    >>> from shortlist.patients.column import similar_levels
    >>> similar_levels({"never": 80, "Never": 3, "current": 40, "curent": 1, "I": 9, "II": 9})
    {'Never': 'never', 'curent': 'current'}
    """
    found: dict[str, str] = {}
    ranked = sorted(counts, key=lambda level: (-counts[level], level))
    for position, level in enumerate(ranked):
        for other in ranked[:position]:
            is_rarer = 5 * counts[level] <= counts[other]
            if folded(level) == folded(other) or (is_rarer and is_misspelt(level, other)):
                found[level] = found.get(other, other)
                break
    return found


def folded(level: str) -> str:
    """Return a level without case and, if it has a letter, without blanks and the like."""
    text = level.casefold()
    return _FILLERS.sub("", text) if any(c.isalpha() for c in text) else text


def is_misspelt(level: str, other: str) -> bool:
    """Return whether two words of at least four letters differ in one: changed, added or left out.

    Two neighbours that changed places count as one.
    """
    first, second = sorted((level.casefold(), other.casefold()), key=len)
    if len(first) < 4 or len(second) > len(first) + 1 or not (first + second).isalpha():
        return False
    start = 0
    while start < len(first) and first[start] == second[start]:
        start += 1
    if len(first) < len(second):
        return first[start:] == second[start + 1 :]
    swapped = first[start : start + 2] == second[start : start + 2][::-1]
    return first[start + 1 :] == second[start + 1 :] or (
        swapped and first[start + 2 :] == second[start + 2 :]
    )


def _check_levels(name: str, levels: NDArray[Any]) -> None:
    """Raise if a factor has too many levels: it is probably text."""
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
        text = str(column.iloc[row])
        code = f"{column.name}={text.strip()}"
        raise InvalidProblemError(
            f"column {shown(column.name)}: {shown(text)} in row {row + 1} "
            f"{complaint.replace('{code}', code)}."
        )


def _is_missing(column: pd.Series[Any], words: Collection[str] = frozenset()) -> NDArray[np.bool_]:
    """Return where a value is missing or blank, or one of some words."""
    missing: NDArray[np.bool_] = column.isna().to_numpy(dtype=bool)
    if pd.api.types.is_numeric_dtype(column.dtype):
        return missing
    gone = {"", *words}
    blank = np.array([isinstance(v, str) and v.strip() in gone for v in column], dtype=bool)
    either: NDArray[np.bool_] = missing | blank
    return either


def _is_binary(numbers: pd.Series[Any]) -> bool:
    return bool(numbers.dropna().isin([0, 1]).all())


_READERS: dict[ColumnKind, Callable[[pd.Series[Any]], NDArray[Any]]] = {
    "numeric": as_numbers,
    "boolean": as_truth_values,
    "categorical": as_levels,
}
