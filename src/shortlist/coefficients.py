"""Limits on coefficients: at most so large, and of one sign.

Both leave each coefficient an interval that contains 0. A limit of a predictor holds for each of
its columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .arguments import Float, Int, Predictor, positive
from .errors import InvalidProblemError

MaxCoefficient = float | ArrayLike | Mapping[str, float] | None
Signs = str | Iterable[str | None] | Mapping[str, str | None] | None


@dataclass(frozen=True)
class CoefficientLimits:
    """The interval of each column's coefficient, infinite where there is no limit.

    Attributes
    ----------
    lower : ndarray of shape (n_columns,)
        At most 0.
    upper : ndarray of shape (n_columns,)
        At least 0.
    are_given : bool
        Whether any coefficient is limited.
    """

    lower: Float
    upper: Float
    are_given: bool

    @classmethod
    def build(
        cls,
        max_coefficient: MaxCoefficient,
        signs: Signs,
        column_predictor: Int,
        n_predictors: int,
        name_of: Callable[[int], str],
        index_of: Callable[[str, Predictor], int],
    ) -> CoefficientLimits:
        """Return the intervals that the arguments of a problem leave.

        `name_of` names a predictor, and `index_of` finds the one that an argument names.
        """
        upper = np.full(n_predictors, inf)
        for g, value in _by_predictor("max_coefficient", max_coefficient, n_predictors, index_of):
            if value is not None and not _is_infinite(value):
                upper[g] = positive(f"max_coefficient of {name_of(g)}", value)
        lower = -upper
        for g, sign in _by_predictor("signs", signs, n_predictors, index_of):
            if sign == "positive":
                lower[g] = 0.0
            elif sign == "negative":
                upper[g] = 0.0
            elif sign is not None:
                raise InvalidProblemError(
                    f"signs: the sign of {name_of(g)} must be 'positive', 'negative' or None, "
                    f"not {sign!r}."
                )
        are_given = bool(np.isfinite(lower).any() or np.isfinite(upper).any())
        return cls(lower[column_predictor], upper[column_predictor], are_given)


def _by_predictor(
    argument: str, given: Any, n_predictors: int, index_of: Callable[[str, Predictor], int]
) -> list[tuple[int, Any]]:
    """Return predictors with their values: one for all, one for each in order, or by name."""
    if given is None:
        return []
    if hasattr(given, "to_dict"):  # a Series goes by its labels, whatever their order
        given = given.to_dict()
    if isinstance(given, Mapping):
        return [(index_of(argument, name), value) for name, value in given.items()]
    if isinstance(given, str) or not isinstance(given, Iterable):
        return [(g, given) for g in range(n_predictors)]
    values = list(given)
    if len(values) != n_predictors:
        raise InvalidProblemError(
            f"{argument}: expected {n_predictors} values, one per predictor, but got {len(values)}."
        )
    return list(enumerate(values))


def _is_infinite(value: Any) -> bool:
    return isinstance(value, float | np.floating) and value == inf
