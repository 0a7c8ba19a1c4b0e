"""Limits on coefficients: at most so large, and of one sign.

Both leave each coefficient an interval that contains 0. A limit of a predictor holds for each of
its columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .arguments import Float, by_label, positive
from .errors import InvalidProblemError

if TYPE_CHECKING:
    from .problem import SubsetProblem

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
        cls, problem: SubsetProblem, max_coefficient: MaxCoefficient, signs: Signs
    ) -> CoefficientLimits:
        """Return the intervals that the arguments of a problem leave."""
        upper = np.full(problem.n_predictors, inf)
        for g, value in _by_predictor(problem, "max_coefficient", max_coefficient):
            is_infinite = isinstance(value, float | np.floating) and value == inf
            if value is not None and not is_infinite:
                upper[g] = positive(f"max_coefficient of {problem.name_of(g)}", value)
        lower = -upper
        for g, sign in _by_predictor(problem, "signs", signs):
            if sign == "positive":
                lower[g] = 0.0
            elif sign == "negative":
                upper[g] = 0.0
            elif sign is not None:
                raise InvalidProblemError(
                    f"signs: the sign of {problem.name_of(g)} must be 'positive', 'negative' "
                    f"or None, not {sign!r}."
                )
        are_given = bool(np.isfinite(lower).any() or np.isfinite(upper).any())
        owner = problem.column_predictor
        return cls(lower[owner], upper[owner], are_given)


def _by_predictor(problem: SubsetProblem, argument: str, given: Any) -> list[tuple[int, Any]]:
    """Return predictors with their values: one for all, one for each in order, or by name."""
    if given is None:
        return []
    given, n_predictors = by_label(given), problem.n_predictors
    if isinstance(given, Mapping):
        return [(problem.index_of(argument, name), value) for name, value in given.items()]
    if isinstance(given, str) or not isinstance(given, Iterable):
        return [(g, given) for g in range(n_predictors)]
    values = list(given)
    if len(values) != n_predictors:
        raise InvalidProblemError(
            f"{argument}: expected {n_predictors} values, one per predictor, but got {len(values)}."
        )
    return list(enumerate(values))
