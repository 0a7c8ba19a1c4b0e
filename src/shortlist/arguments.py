"""Checks of the arguments of a problem; each error is one sentence that names the argument."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .blocks import is_on_disk, row_blocks
from .errors import InvalidProblemError, shown

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Predictor = int | str
Support = tuple[int, ...]
_SMALLEST = 1e-140


def is_share(value: Any) -> bool:
    """Whether a value is a number from 0 to below 1."""
    return isinstance(value, Real) and not isinstance(value, bool) and 0 <= float(value) < 1


def column_names_of(X: Any) -> list[str] | None:
    """Return the names of a DataFrame's columns if all are strings, as scikit-learn does."""
    columns = getattr(X, "columns", None)
    if columns is None:
        return None
    names = list(columns)
    if not all(isinstance(name, str) for name in names):
        return None
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidProblemError(f"X: two columns are named {twice!r}; rename one of them.")
    return names


def features_of(X: Any) -> NDArray[Any]:
    """Return X as a matrix of finite numbers: float64, or as it is if float32 or on disk."""
    X = X.toarray() if hasattr(X, "toarray") else unmasked("X", X)
    if getattr(getattr(X, "dtype", None), "kind", None) == "c":
        raise InvalidProblemError("X: contains complex numbers; pass their parts as columns.")
    if isinstance(X, np.ndarray) and X.dtype in (np.float32, np.float64):
        # A field of packed records may lie at addresses that no double has.
        array = X if is_on_disk(X) else np.require(np.asarray(X), requirements="A")
    else:
        try:
            array = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise InvalidProblemError(
                "X: every value must be a number; encode text and categories first, "
                "for example with OneHotEncoder."
            ) from None
    if array.ndim != 2:
        raise InvalidProblemError(
            "X: expected a table with rows and columns, but got "
            f"{array.ndim} as its ndim; reshape it to 2."
        )
    _check_finite(array)
    return array


def _check_finite(array: NDArray[Any]) -> None:
    """Refuse NaN, infinity and values that cannot be squared; one sum of squares finds any."""
    with np.errstate(over="ignore", invalid="ignore"):
        if array.dtype == np.float64 and not is_on_disk(array):
            flat = (array.T if array.flags.f_contiguous else array).reshape(-1)
            total = float(flat @ flat)
        else:
            total = sum(float(np.vdot(block, block)) for _, block in row_blocks(array))
        if isfinite(total):
            return
        # The largest magnitude of each column; np.maximum passes NaN on.
        largest = np.zeros(array.shape[1])
        for _, block in row_blocks(array):
            largest = np.maximum(largest, np.abs(block).max(axis=0))
    finite = np.isfinite(largest)
    if not finite.all():
        raise InvalidProblemError(
            f"X: column {int(np.argmin(finite))} contains NaN or infinity; "
            "impute or remove those rows."
        )
    raise InvalidProblemError(
        f"X: column {int(np.argmax(largest))} has values too large to be squared; rescale it."
    )


def is_integer(value: Any, least: float) -> bool:
    """Whether a value is an integer of at least `least`, and not a bool."""
    is_one = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return is_one and bool(value >= least)


def check_integer(argument: str, value: Any, least: int, *, or_none: bool = False) -> None:
    """Refuse what is neither an integer of at least `least` nor, where allowed, None."""
    if not (is_integer(value, least) or (or_none and value is None)):
        kind = f"an integer of at least {least}{' or None' if or_none else ''}"
        raise InvalidProblemError(f"{argument}: must be {kind}, not {value!r}.")


def check_choice(argument: str, value: Any, choices: Sequence[Any]) -> None:
    """Refuse what is none of some values."""
    if value not in choices:
        known = " or ".join(map(repr, choices))
        raise InvalidProblemError(f"{argument}: must be {known}, not {value!r}.")


def positive(argument: str, value: float) -> float:
    """Return a number greater than 0."""
    number = _number(argument, value)
    if not number > 0:
        raise InvalidProblemError(f"{argument}: must be greater than 0, not {value!r}.")
    return number


def in_range(
    argument: str,
    value: float,
    remedy: str = "multiply ridge and all weights by the same number",
) -> float:
    """Refuse a number whose squares would leave the range of a double when summed."""
    if not _SMALLEST <= value <= 1 / _SMALLEST:
        raise InvalidProblemError(
            f"{argument}: {value:g} is beyond {_SMALLEST:g} to {1 / _SMALLEST:g}; {remedy}."
        )
    return value


def non_negative(argument: str, value: float) -> float:
    """Return a number of at least 0."""
    number = _number(argument, value)
    if not number >= 0:
        raise InvalidProblemError(f"{argument}: must be at least 0, not {value!r}.")
    return number


def _number(argument: str, value: float) -> float:
    """Return a finite float."""
    try:
        if isinstance(value, str | bool):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError):
        raise InvalidProblemError(f"{argument}: must be a number, not {value!r}.") from None
    if not isfinite(number):
        raise InvalidProblemError(f"{argument}: must be finite, not {value!r}.")
    return number


def by_label(values: Any) -> Any:
    """Return a Series as a mapping from its labels."""
    return values.to_dict() if hasattr(values, "to_dict") else values


def floats(argument: str, values: ArrayLike) -> Float:
    """Return a copy as float64, so that later changes of the argument change no problem."""
    try:
        given = np.asarray(unmasked(argument, values))
        if given.dtype.kind in "cmM":  # complex numbers, times and dates
            raise TypeError
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidProblemError(f"{argument}: every value must be a number.") from None


def unmasked(argument: str, values: Any) -> Any:
    """Refuse masked values, which would count as what lies below the mask."""
    if np.ma.is_masked(values):
        raise InvalidProblemError(f"{argument}: some values are masked; impute or remove them.")
    return values


def some_of(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    shown = ", ".join(repr(name) for name in names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"


def check_column_names(X: Any) -> None:
    """Raise if two columns of a table have the same name."""
    names = list(getattr(X, "columns", ()))
    twice = [name for name in names if names.count(name) > 1] if len({*names}) < len(names) else []
    if twice:
        raise InvalidProblemError(
            f"X: two columns are named {shown(twice[0])}; rename one of them."
        )
