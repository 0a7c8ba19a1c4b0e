"""The predictors of a problem: what is bought, its name, and the columns that belong to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .arguments import Int, Predictor, is_integer, some_of
from .errors import InvalidProblemError


@dataclass(frozen=True, eq=False)
class Predictors:
    """Predictors, numbered from 0.

    Attributes
    ----------
    owner : ndarray of shape (n_columns,)
        The predictor of each column.
    names : list of str, optional
        One per predictor, if they have any.
    """

    owner: Int
    names: list[str] | None

    @classmethod
    def of(
        cls,
        groups: Sequence[Predictor] | ArrayLike | None,
        column_names: list[str] | None,
        n_columns: int,
    ) -> Predictors:
        """Return the predictors that columns are grouped to; without groups each column is one.

        Examples
        --------
        >>> from shortlist.predictors import Predictors
        >>> Predictors.of(["age", "sex", "age"], None, 3).owner.tolist()
        [0, 1, 0]
        """
        if groups is None:
            return cls(np.arange(n_columns, dtype=np.int64), column_names)
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
            owner = np.array([position[label] for label in labels], dtype=np.int64)
            return cls(owner, list(position))
        if not all(isinstance(label, int | np.integer) for label in labels) or (
            set(labels) != set(range(max(labels) + 1))
        ):
            raise InvalidProblemError(
                "groups: labels must be all names, or integers 0, 1, ... without a gap."
            )
        return cls(np.array(labels, dtype=np.int64), None)

    @cached_property
    def number(self) -> int:
        """How many there are."""
        return int(self.owner.max(initial=-1)) + 1

    def name_of(self, predictor: int) -> str:
        """Return the name of a predictor, `x3` for the fourth of a nameless problem."""
        return f"x{predictor}" if self.names is None else self.names[predictor]

    def index_of(self, argument: str, predictor: Predictor) -> int:
        """Return the index of a predictor given by name or index."""
        if isinstance(predictor, str):
            if self.names is None:
                raise InvalidProblemError(
                    f"{argument}: {predictor!r} is a name but the predictors have none; "
                    "pass X as a DataFrame or use indices."
                )
            if predictor not in self._positions:
                raise InvalidProblemError(
                    f"{argument}: there is no predictor {predictor!r}; "
                    f"use one of {some_of(self.names)}."
                )
            return self._positions[predictor]
        if not is_integer(predictor, -inf):
            raise InvalidProblemError(
                f"{argument}: {predictor!r} is neither a predictor's name nor its index; use one."
            )
        if not 0 <= predictor < self.number:
            raise InvalidProblemError(
                f"{argument}: index {predictor} is out of range; "
                f"there are {self.number} predictors, numbered from 0."
            )
        return int(predictor)

    def support_of(self, argument: str, predictors: Sequence[Predictor]) -> tuple[int, ...]:
        """Return the sorted indices of predictors given by names or indices."""
        if isinstance(predictors, str) or not isinstance(predictors, Iterable):
            raise InvalidProblemError(
                f"{argument}: expected a list of predictors, such as [{predictors!r}], "
                f"not {predictors!r}."
            )
        return tuple(sorted({self.index_of(argument, predictor) for predictor in predictors}))

    def columns_of(self, support: Iterable[int]) -> Int:
        """Return the sorted indices of the columns that belong to the predictors in `support`."""
        chosen = np.zeros(self.number, dtype=bool)
        chosen[list(support)] = True
        return np.flatnonzero(chosen[self.owner])

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.names or ())}
