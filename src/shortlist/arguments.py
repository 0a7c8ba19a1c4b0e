"""Checks of the arguments of a problem; each error is one sentence that names the argument."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .blocks import is_on_disk, row_blocks
from .errors import InvalidProblemError

Float = NDArray[np.float64]
Int = NDArray[np.int64]
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
    if hasattr(X, "toarray"):
        X = X.toarray()
    if getattr(getattr(X, "dtype", None), "kind", None) == "c":
        raise InvalidProblemError("X: contains complex numbers; pass their parts as columns.")
    if isinstance(X, np.ndarray) and X.dtype in (np.float32, np.float64):
        # A field of packed records may lie at addresses that no double has.
        array = X if is_on_disk(X) else np.require(np.asarray(X), requirements="A")
    else:
        try:
            array = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError):
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


def labels_of(y: ArrayLike, n_rows: int) -> tuple[NDArray[Any], Float]:
    """Return the two classes, smaller first, and the labels as -1 and 1."""
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1 or len(labels) != n_rows:
        raise InvalidProblemError(
            f"y: expected {n_rows} labels, one per row of X, but got shape {labels.shape}."
        )
    if labels.dtype.kind in "biuf" and n_rows > 0:
        # Two reductions instead of the sort of np.unique: this is on the path of every fit.
        low, high = labels.min(), labels.max()
        if not isfinite(low) or not isfinite(high):
            raise InvalidProblemError("y: contains NaN or infinity; remove those rows.")
        positive = labels == high
        n_known = np.count_nonzero(positive) + np.count_nonzero(labels == low)
        if low != high and n_known == n_rows:
            return np.array([low, high], dtype=labels.dtype), np.where(positive, 1.0, -1.0)
    try:
        classes = np.unique(labels)
    except TypeError:
        raise InvalidProblemError(
            "y: labels must all be of one type and none missing; convert or remove those rows."
        ) from None
    if len(classes) != 2:
        count = "only 1 class" if len(classes) == 1 else f"{len(classes)} classes"
        raise InvalidProblemError(
            f"y: has {count} but exactly 2 are needed; select or merge classes."
        )
    return classes, np.where(labels == classes[1], 1.0, -1.0)


def weights_of(sample_weight: ArrayLike | None, signs: Float) -> Float:
    """Return the weights, 1 by default."""
    if sample_weight is None:
        return np.ones(len(signs))
    weights = floats("sample_weight", sample_weight)
    if weights.shape != signs.shape:
        raise InvalidProblemError(
            f"sample_weight: expected {len(signs)} weights, one per row, "
            f"but got shape {weights.shape}."
        )
    if not weights.min(initial=0.0) >= 0 or not np.isfinite(weights.sum()):
        raise InvalidProblemError("sample_weight: weights must be finite and at least 0.")
    signed = weights * signs
    if not (signed.max(initial=0.0) > 0 and signed.min(initial=0.0) < 0):
        raise InvalidProblemError(
            "sample_weight: the weights of one class are all zero; "
            "give both classes rows of weight > 0."
        )
    in_range("sample_weight", float(weights.max()))
    return weights


def predictors_of(
    groups: Sequence[Predictor] | ArrayLike | None,
    column_names: list[str] | None,
    n_columns: int,
) -> tuple[Int, list[str] | None]:
    """Return the predictor of each column, and the predictors' names if they have any."""
    if groups is None:
        return np.arange(n_columns, dtype=np.int64), column_names
    if not isinstance(groups, Iterable):
        raise InvalidProblemError(
            f"groups: expected {n_columns} labels, one per column, not {groups!r}."
        )
    labels: list[Any] = list(groups)
    if len(labels) != n_columns:
        raise InvalidProblemError(
            f"groups: expected {n_columns} labels, one per column, but got {len(labels)}."
        )
    if all(isinstance(label, str) for label in labels):
        position = {name: index for index, name in enumerate(dict.fromkeys(labels))}
        return np.array([position[label] for label in labels], dtype=np.int64), list(position)
    if not all(isinstance(label, int | np.integer) for label in labels) or (
        set(labels) != set(range(max(labels) + 1))
    ):
        raise InvalidProblemError(
            "groups: labels must be all names, or integers 0, 1, ... without a gap."
        )
    return np.array(labels, dtype=np.int64), None


def is_integer(value: Any, least: float) -> bool:
    """Whether a value is an integer, and no bool, of at least so much."""
    is_one = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return is_one and bool(value >= least)


def positive(argument: str, value: float) -> float:
    """Return a number greater than 0."""
    number = _number(argument, value)
    if not number > 0:
        raise InvalidProblemError(f"{argument}: must be greater than 0, not {value!r}.")
    return number


def in_range(argument: str, value: float) -> float:
    """Refuse a number whose squares would leave the range of a double when summed."""
    if not _SMALLEST <= value <= 1 / _SMALLEST:
        raise InvalidProblemError(
            f"{argument}: {value:g} is beyond {_SMALLEST:g} to {1 / _SMALLEST:g}; "
            "multiply ridge and all weights by the same number."
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
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidProblemError(f"{argument}: every value must be a number.") from None


def some_of(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    shown = ", ".join(repr(name) for name in names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"
