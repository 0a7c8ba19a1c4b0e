"""The terms of a model, which add to the log-odds: plain numbers that a file can hold.

A fitted model and one read from a file predict by the same terms, so they agree to the bit.

A number may be bent by a natural cubic spline, as clinical prediction models write them. With knots
t_1 < ... < t_k it enters the log-odds as itself and as k - 2 curves, j = 1 to k - 2:

    [ (x - t_j)_+^3  -  (x - t_{k-1})_+^3 (t_k - t_j) / (t_k - t_{k-1})
      + (x - t_k)_+^3 (t_{k-1} - t_j) / (t_k - t_{k-1}) ] / (t_k - t_1)^2

Each is 0 below t_1 and a straight line above t_k, so nothing bends where there are no data.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from math import floor, log10
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ..arguments import Float
from .column import as_levels, as_numbers, as_truth_values, folded

Bool = NDArray[np.bool_]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1)]
ImputationKind = Literal["conditional", "median"]

_WORDS = {"missing": "is missing", "extra_forbidden": "is unknown", "json_invalid": "is not JSON"}
# Where Harrell (Regression Modeling Strategies, 2015) puts 3, 4 and 5 knots.
KNOT_QUANTILES = {
    3: (0.10, 0.50, 0.90),
    4: (0.05, 0.35, 0.65, 0.95),
    5: (0.05, 0.275, 0.50, 0.725, 0.95),
}


class Effect(NamedTuple):
    """A difference between patients, and the difference of the log-odds that it makes."""

    predictor: str
    contrast: str
    coefficient: float

    @property
    def odds_ratio(self) -> float:
        """The factor on the odds; infinite if it is too large for a number."""
        with np.errstate(over="ignore"):
            return float(np.exp(self.coefficient))


class Contrast(NamedTuple):
    """Two values of a predictor whose odds are compared; a missing value is None."""

    text: str
    value: float | str | None
    reference: float | str


class Part(NamedTuple):
    """A summand of the log-odds: a coefficient, and what it belongs to.

    `what` is "times" (the number), "curve" (of the spline, `level` being its number), "is" (a
    level; "1" of a truth value), "reference" (the level of the others' comparison) or "missing".
    """

    coefficient: float
    what: str
    level: str | None = None


class Contribution(NamedTuple):
    """The contribution of a predictor to the log-odds of each row.

    `imputed` marks rows whose value is missing or, in `unknown`, a level that the model has not
    seen; `outside` marks numbers below or above all that it has seen.
    """

    log_odds: Float
    imputed: Bool
    outside: Bool
    unknown: frozenset[str] = frozenset()


class StrictModel(BaseModel):
    """Part of a file or a request: no unknown fields, nothing converted, frozen."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def describe_error(error: ValidationError) -> str:
    """Return the place and the kind of the first error in a file or a request."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or "the content"
    if first["type"] == "value_error":
        return f"{place}: {first['msg'].removeprefix('Value error, ')}"
    return f"{place}: {_WORDS.get(first['type'], 'has an invalid value')}"


# A predictor in numbers, by level; the only level of a number or a binary value is None.
InputValues = Mapping[str | None, Float]


class Weight(StrictModel):
    """What an equation multiplies a predictor by, or the indicator of one of its levels."""

    predictor: Name
    level: str | None
    weight: Finite


class Imputation(StrictModel):
    """The equation of a missing value, linear in other predictors, within the observed range."""

    intercept: Finite
    weights: tuple[Weight, ...]
    range: tuple[Finite, Finite]

    def values(self, inputs: Mapping[str, InputValues]) -> Float:
        """Return the values for some rows, from the other predictors in numbers."""
        total: Float = np.full(1, self.intercept)
        for part in self.weights:
            total = total + part.weight * inputs[part.predictor][part.level]
        return np.minimum(np.maximum(total, self.range[0]), self.range[1])


class TermBase(StrictModel, ABC):
    """A predictor that was bought; its effects are differences of contributions."""

    name: Name
    missing_coefficient: Finite | None
    imputation: Imputation | None = None

    @property
    @abstractmethod
    def typical(self) -> float | str:
        """The value that replaces a missing one: the median, or the most frequent one."""

    @abstractmethod
    def _contribution_of_values(
        self, column: pd.Series[Any], stand_in: Float | None
    ) -> Contribution:
        """Return the contribution of a column, without the indicator of missing values."""

    @abstractmethod
    def inputs(self, column: pd.Series[Any]) -> InputValues:
        """Return a column in numbers for the equations of others, plain stand-ins where missing."""

    @abstractmethod
    def _contrasts_of_values(self, unit: str, reference: str | None) -> list[Contrast]:
        """Return the differences between known values that are worth a line."""

    @abstractmethod
    def _parts_of_values(self) -> list[Part]:
        """Return the summands for known values."""

    def parts(self) -> list[Part]:
        """Return the summands of the log-odds, and the condition of each."""
        missing = self.missing_coefficient
        found = self._parts_of_values()
        return found if missing is None else [*found, Part(missing, "missing")]

    def contribution(self, column: pd.Series[Any], stand_in: Float | None = None) -> Contribution:
        """Return the contribution of a column to the log-odds.

        `stand_in` has the values of `imputation`; without it a missing value is the typical one.
        """
        found = self._contribution_of_values(column, stand_in)
        if self.missing_coefficient is None:
            return found
        return found._replace(log_odds=found.log_odds + self.missing_coefficient * found.imputed)

    def contrasts(self, unit: str = "", reference: str | None = None) -> list[Contrast]:
        """Return the differences between patients that are worth a line.

        Numbers have a unit, and levels are compared with a reference, by default the term's.
        """
        contrasts = self._contrasts_of_values(unit, reference)
        if self.missing_coefficient is not None:
            contrasts.append(Contrast("missing", None, self.typical))
        return contrasts

    def effects(self, contrasts: Sequence[Contrast]) -> list[Effect]:
        """Return the effect of each contrast."""
        pairs = [end for contrast in contrasts for end in (contrast.value, contrast.reference)]
        added = self.contribution(pd.Series(pairs, dtype=object)).log_odds.reshape(-1, 2)
        return [
            Effect(self.name, contrast.text, float(value - reference))
            for contrast, (value, reference) in zip(contrasts, added, strict=True)
        ]


class NumericTerm(TermBase):
    """A number: linear, or a natural cubic spline.

    `coefficients` multiply the number and then the curves of the spline with these `knots`;
    `fill` stands in for a missing value; `quartiles` and `range` are those of the data, and so are
    `values`, if there are at most ten different ones.
    """

    kind: Literal["numeric"] = "numeric"
    fill: Finite
    quartiles: tuple[Finite, Finite]
    range: tuple[Finite, Finite]
    values: tuple[Finite, ...] = ()
    knots: tuple[Finite, ...]
    coefficients: tuple[Finite, ...]

    @model_validator(mode="after")
    def _check(self) -> NumericTerm:
        if len(self.knots) in (1, 2) or list(self.knots) != sorted(set(self.knots)):
            raise ValueError("knots must be none, or at least three in increasing order")
        if len(self.coefficients) != max(1, len(self.knots) - 1):
            raise ValueError("coefficients must be one, and one more per knot but the last two")
        low, high = self.range
        if not low <= self.quartiles[0] <= self.quartiles[1] <= high:
            raise ValueError("quartiles must lie in the range")
        return self

    def inputs(self, column: pd.Series[Any]) -> InputValues:
        """Return the numbers."""
        values = as_numbers(column)
        return {None: np.where(np.isnan(values), self.fill, values)}

    def _contribution_of_values(
        self, column: pd.Series[Any], stand_in: Float | None
    ) -> Contribution:
        values = as_numbers(column)
        missing = np.isnan(values)
        x = np.where(missing, self.fill if stand_in is None else stand_in, values)
        log_odds = self.coefficients[0] * x
        for slope, curve in zip(self.coefficients[1:], spline_curves(x, self.knots), strict=True):
            log_odds = log_odds + slope * curve
        outside = (values < self.range[0]) | (values > self.range[1])
        return Contribution(log_odds, missing, outside)

    @property
    def typical(self) -> float:
        """The median."""
        return self.fill

    def _contrasts_of_values(self, unit: str, reference: str | None) -> list[Contrast]:
        """Return a step of a round size, if the term is linear, and the quartiles."""
        low, high = self.quartiles if self.quartiles[0] < self.quartiles[1] else self.range
        named = f" {unit}" if unit else ""
        contrasts = [Contrast(f"{_short(high)} vs {_short(low)}{named}", high, low)]
        if not self.knots:
            step = _round_step(high - low)
            text = "per unit" if step == 1 else f"per {_short(step)} units"
            text = f"per {_short(step)}{named}" if unit else text
            contrasts.insert(0, Contrast(text, self.fill + step, self.fill))
        return contrasts

    def _parts_of_values(self) -> list[Part]:
        first, *curves = self.coefficients
        numbered = enumerate(curves, start=1)
        return [Part(first, "times"), *(Part(c, "curve", str(j)) for j, c in numbered)]


class BooleanTerm(TermBase):
    """A binary value; `fill` stands in for a missing one."""

    kind: Literal["boolean"] = "boolean"
    fill: bool
    coefficient: Finite

    def inputs(self, column: pd.Series[Any]) -> InputValues:
        """Return 0 and 1."""
        values = as_truth_values(column)
        return {None: np.where(np.isnan(values), float(self.fill), values)}

    def _contribution_of_values(
        self, column: pd.Series[Any], stand_in: Float | None
    ) -> Contribution:
        values = as_truth_values(column)
        missing = np.isnan(values)
        filled = float(self.fill) if stand_in is None else stand_in
        log_odds = self.coefficient * np.where(missing, filled, values)
        return Contribution(log_odds, missing, outside=np.zeros_like(missing))

    @property
    def typical(self) -> float:
        """The most frequent value."""
        return float(self.fill)

    def _contrasts_of_values(self, unit: str, reference: str | None) -> list[Contrast]:
        """Return 1, which is true, compared with 0."""
        return [Contrast("1 vs 0", 1.0, 0.0)]

    def _parts_of_values(self) -> list[Part]:
        return [Part(self.coefficient, "is", "1")]


class CategoricalTerm(TermBase):
    """A factor: differences of its levels to the reference, which stands in for a missing one."""

    kind: Literal["categorical"] = "categorical"
    reference: str
    coefficients: dict[str, Finite]

    @model_validator(mode="after")
    def _check(self) -> CategoricalTerm:
        if self.coefficients.get(self.reference) != 0:
            raise ValueError("the reference must be a level with coefficient 0")
        if self.imputation is not None:
            raise ValueError("the levels of a factor have no equation")
        return self

    def _levels_of(self, column: pd.Series[Any]) -> NDArray[Any]:
        # A level that differs in case or blanks from one that the model knows is that one.
        known = {folded(level): level for level in self.levels}
        return np.array(
            [
                level
                if level is None or level in self.coefficients
                else known.get(folded(level), level)
                for level in as_levels(column)
            ],
            dtype=object,
        )

    def position_of(self, level: str) -> int | None:
        """Return the position of a level among `levels`, None if it is unknown."""
        found = self._levels_of(pd.Series([level], dtype=object))[0]
        return self.levels.index(found) if found in self.coefficients else None

    def inputs(self, column: pd.Series[Any]) -> InputValues:
        """Return an indicator of each level; a missing value is the reference."""
        levels = self._levels_of(column)
        known = np.array([v if v in self.coefficients else self.reference for v in levels])
        return {level: (known == level).astype(np.float64) for level in self.levels}

    def _contribution_of_values(
        self, column: pd.Series[Any], stand_in: Float | None
    ) -> Contribution:
        levels = self._levels_of(column)
        missing = np.array([level not in self.coefficients for level in levels], dtype=bool)
        log_odds = np.array([self.coefficients.get(level, 0.0) for level in levels], dtype=float)
        unknown = frozenset(levels[missing]) - {None}
        return Contribution(log_odds, missing, np.zeros_like(missing), unknown)

    @property
    def typical(self) -> str:
        """The reference, which is the most frequent level."""
        return self.reference

    @property
    def levels(self) -> list[str]:
        """The levels in their natural order: 2 before 10."""
        return sorted(self.coefficients, key=_natural)

    def _contrasts_of_values(self, unit: str, reference: str | None) -> list[Contrast]:
        """Return each level compared with the reference."""
        base = reference or self.reference
        return [
            Contrast(f"{level} vs {base}", level, base) for level in self.levels if level != base
        ]

    def _parts_of_values(self) -> list[Part]:
        return [
            Part(self.coefficients[level], "reference" if level == self.reference else "is", level)
            for level in self.levels
        ]


Term = NumericTerm | BooleanTerm | CategoricalTerm


def _natural(level: str) -> list[tuple[int, float, str]]:
    """Return a key that sorts numbers inside texts as numbers."""
    parts = re.split(r"(\d+(?:\.\d+)?)", level)  # every other part is a number
    return [
        (0, float(part), "") if i % 2 else (1, 0.0, part) for i, part in enumerate(parts) if part
    ]


def _round_step(spread: float) -> float:
    """Return the largest power of ten within a spread: a step that patients can differ by."""
    return float(f"1e{floor(log10(spread) + 1e-9)}") if spread > 0 else 1.0


def _short(number: float) -> str:
    """Return a number to four digits, and whole ones as they are."""
    return f"{number:.0f}" if 1e3 <= abs(number) < 1e9 else f"{number:.4g}"


def spline_curves(x: Float, knots: Sequence[float]) -> list[Float]:
    """Return the curves of a natural cubic spline at x, none for fewer than three knots."""
    if len(knots) < 3:
        return []
    last, before = knots[-1], knots[-2]
    inside = np.minimum(x, last)
    beyond = np.maximum(x - last, 0.0)
    late = np.maximum(inside - before, 0.0) ** 3 / (last - before)
    curves = []
    for knot in knots[:-2]:
        cubic = np.maximum(inside - knot, 0.0) ** 3 - (last - knot) * late
        # Above the last knot the cubes cancel to this line; computed as cubes they lose digits.
        line = 3.0 * (last - knot) * (before - knot) * beyond
        curves.append((cubic + line) / (last - knots[0]) ** 2)
    return curves


def place_knots(x: Float, n_knots: int | None) -> tuple[float, ...]:
    """Return 3, 4 or 5 knots at fixed quantiles of observed values; none for None, for linear.

    Where some of these coincide there are fewer, and none if fewer than three remain.
    """
    if n_knots is None:
        return ()
    knots = np.unique(np.quantile(x, KNOT_QUANTILES[n_knots], method="nearest"))
    spread = float(x.max() - x.min())
    apart = knots[np.concatenate([[True], np.diff(knots) > 1e-6 * spread])]
    return tuple(apart.tolist()) if len(apart) >= 3 else ()
