"""Prices and limits of a selection as they are given: one object, handed down whole."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from numpy.typing import ArrayLike

from .arguments import Predictor, by_label
from .coefficients import MaxCoefficient, Signs


@dataclass(frozen=True)
class Limits:
    """The parameters of `SubsetProblem` that say what is affordable and which models are allowed.

    `SubsetProblem(X, y, ridge=ridge, **vars(limits))` checks them against the predictors of X, and
    keeps them in one form, as `Constraints` and `CoefficientLimits`.
    """

    budget: float | None = None
    costs: ArrayLike | Mapping[str, float] | None = None
    max_features: int | None = None
    fees: Sequence[tuple[float, Sequence[Predictor]]] | None = None
    include: Sequence[Predictor] = ()
    exclude: Sequence[Predictor] = ()
    max_coefficient: MaxCoefficient = None
    signs: Signs = None

    @classmethod
    def of(cls, owner: object) -> Limits:
        """Return the limits among the parameters of an estimator or an experiment."""
        return cls(**{field.name: getattr(owner, field.name) for field in fields(cls)})

    def without(self, absent: Collection[str]) -> Limits:
        """Return the limits that remain when some predictors are not offered.

        What is not of the documented form is left as it is, for `SubsetProblem` to refuse.
        """
        return replace(
            self,
            costs=_entries_without(self.costs, absent),
            fees=_fees_without(self.fees, absent),
            exclude=[name for name in self.exclude if name not in absent],
            max_coefficient=_entries_without(self.max_coefficient, absent),
            signs=_entries_without(self.signs, absent),
        )


def _entries_without(values: Any, absent: Collection[str]) -> Any:
    values = by_label(values)
    if not isinstance(values, Mapping):
        return values
    return {name: value for name, value in values.items() if name not in absent}


def _fees_without(fees: Any, absent: Collection[str]) -> Any:
    if not isinstance(fees, list | tuple):
        return fees
    return [
        (fee[0], [name for name in fee[1] if name not in absent])
        if isinstance(fee, list | tuple) and len(fee) == 2 and isinstance(fee[1], list | tuple)
        else fee
        for fee in fees
    ]
