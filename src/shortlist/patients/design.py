"""Preprocessing: from columns in plain form to the matrix of a problem, and back to terms.

Numbers and binary values are imputed by equations of the other columns, or by median and most
frequent value, factors by the most frequent one; for the rows of the fit, draws can take the place
of all that is missing. Numbers are bent by splines if asked, centred and divided by two standard
deviations; knots, means and deviations are computed from the observed values. A factor of more than
two levels has one column per level, and none of them is special to the penalty. A change by two
standard deviations is then penalised like the change of a binary value (Gelman 2008), and the
penalty depends neither on units nor on the order of the levels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import StandardScaler

from ..arguments import Float, Int
from .column import ColumnKind
from .imputation import draw_missing, fit_equation
from .term import (
    BooleanTerm,
    CategoricalTerm,
    Imputation,
    ImputationKind,
    InputValues,
    NumericTerm,
    Term,
    place_knots,
    spline_curves,
)

_FEW_VALUES = 10  # of a number, all of which the model names


@dataclass(frozen=True)
class Encoding:
    """How a column of the table becomes columns of the matrix, numbers not yet scaled.

    Attributes
    ----------
    name, kind
        The column and its kind.
    fill : float or str
        The value that replaces a missing one.
    knots : tuple of float
        The knots of a number, none if it is linear.
    levels : tuple of str
        The levels of a factor, sorted. The first of two has no column.
    has_indicator : bool
        Whether the last column is an indicator of missing values.
    imputation : Imputation or None
        The equation that replaces a missing value; None is `fill`.
    """

    name: str
    kind: ColumnKind
    fill: Any
    knots: tuple[float, ...]
    levels: tuple[str, ...]
    has_indicator: bool
    imputation: Imputation | None = None

    @classmethod
    def fit(
        cls, name: str, kind: ColumnKind, values: NDArray[Any], n_knots: int | None, indicate: bool
    ) -> Encoding:
        """Measure the median and knots of a number, the most frequent value and levels of others.

        A column without any value, as a fold may have it, counts as one of zeros. `indicate` asks
        for an indicator of missing values, if there are any.
        """
        missing = pd.isna(values)
        known = values[~missing]
        if missing.all():
            known = np.array(["0" if kind == "categorical" else 0.0], dtype=values.dtype)
        has_indicator = indicate and bool(missing.any())
        if kind == "numeric":
            fill = float(np.median(known))
            return cls(name, kind, fill, place_knots(known, n_knots), (), has_indicator)
        counts = Counter(known.tolist())
        values_in_order = sorted(counts)
        fill = max(values_in_order, key=counts.__getitem__)  # of several, the first
        levels = tuple(values_in_order) if kind == "categorical" else ()
        return cls(name, kind, fill, (), levels, has_indicator)

    def inputs(self, values: NDArray[Any]) -> InputValues:
        """Return a column in numbers for the equations of others, `fill` where missing."""
        if self.kind == "categorical":
            known = np.where(np.isin(values, self.levels), values, self.fill)
            return {level: (known == level).astype(np.float64) for level in self.levels}
        return {None: np.where(np.isnan(values), self.fill, values)}

    def columns(
        self,
        values: NDArray[Any],
        inputs: Mapping[str, InputValues],
        drawn: NDArray[Any] | None = None,
    ) -> list[Float]:
        """Return the columns of the matrix; a level that is not known counts as missing.

        `inputs` are the predictors that `imputation` uses, in numbers; `drawn` has values to take
        where one is missing instead.
        """
        if self.kind == "categorical":
            positions = self._positions(values)
            missing = positions < 0
            positions[missing] = self.levels.index(self.fill)
            if drawn is not None:
                positions = self._positions(drawn)
            first = 1 if len(self.levels) == 2 else 0
            columns = [*np.eye(len(self.levels))[first:, positions]]
        else:
            missing = np.isnan(values)
            equation = self.imputation
            stand_in = self.fill if equation is None else equation.values(inputs)
            filled = np.where(missing, stand_in, values) if drawn is None else drawn
            columns = [filled, *spline_curves(filled, self.knots)]
        return [*columns, missing.astype(np.float64)] if self.has_indicator else columns

    def _positions(self, values: NDArray[Any]) -> Int:
        """Return the number of each value's level, -1 for one that is not known."""
        number = {level: position for position, level in enumerate(self.levels)}
        return np.array([number.get(value, -1) for value in values.tolist()], dtype=np.int64)

    def term(self, values: NDArray[Any], coef: list[float]) -> tuple[Term, float]:
        """Return the term of some coefficients, and its share of the intercept.

        Parameters
        ----------
        values : ndarray of shape (n_rows,)
            The values that this was fitted to.
        coef : list of float
            One coefficient per column, in the units of the table.
        """
        about: dict[str, Any] = {"name": self.name, "missing_coefficient": None}
        if self.imputation is not None:
            about["imputation"] = self.imputation
        if self.has_indicator:
            *coef, about["missing_coefficient"] = coef
        if self.kind == "boolean":
            return BooleanTerm(fill=self.fill == 1, coefficient=coef[0], **about), 0.0
        if self.kind == "numeric":
            known = values[~np.isnan(values)]
            known = known if len(known) else np.zeros(1)
            low, q1, q3, high = np.quantile(known, [0, 0.25, 0.75, 1]).tolist()
            different = np.unique(known).tolist()
            term = NumericTerm(
                fill=self.fill,
                values=tuple(different) if len(different) <= _FEW_VALUES else (),
                quartiles=(q1, q3),
                range=(low, high),
                knots=self.knots,
                coefficients=tuple(coef),
                **about,
            )
            return term, 0.0
        if len(self.levels) == 2:
            coef = [0.0, *coef]
        effects = dict(zip(self.levels, coef, strict=True))
        base = effects[self.fill]
        differences = {level: effect - base for level, effect in effects.items()}
        return CategoricalTerm(reference=self.fill, coefficients=differences, **about), base


@dataclass(eq=False, repr=False)
class Design(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The columns of a problem, made from patients in plain form, one predictor per column.

    Parameters
    ----------
    kinds : mapping from column to kind
        What the columns are.
    n_knots : int, optional
        Knots of a natural cubic spline for every number.
    missing_indicator : bool
        Whether missing values of a column get an indicator, which may itself predict.
    imputation : {"conditional", "median"}
        How missing numbers and binary values are imputed: by an equation of all other columns, or
        by the median or most frequent value, as levels of factors always are.
    imputations : int, optional
        How often missing values of all kinds are drawn for the rows of the fit.
    seed : int
        Seed of the draws.

    Attributes
    ----------
    encodings : dict from str to Encoding
        How each predictor is encoded, in the order of the table.
    predictors_ : list of str
        The predictor of each column of the matrix; columns of one predictor stand together. This
        name is the one that `Experiment` asks a preprocessor for.
    incomplete, inputs, weights
        The columns that have equations, all columns in numbers, and the weights of the rows, from
        which `for_predicting` fits equations of fewer columns.
    means, scales : ndarray of shape (n_columns,)
        The centre and the scale of each column.
    n_imputations_ : int
        The number of imputations drawn: none where nothing is missing.
    matrix : ndarray of shape (n_rows, n_columns)
        The rows that it was fitted to; with imputations, all of them once for each.
    """

    kinds: Mapping[str, ColumnKind]
    n_knots: int | None = None
    missing_indicator: bool = False
    imputation: ImputationKind = "conditional"
    imputations: int | None = None
    seed: int = 0

    def fit(self, X: pd.DataFrame, y: Any = None, weights: Float | None = None) -> Design:
        """Measure medians, levels and scales; the latter count rows by their weights.

        The outcomes are needed for imputations alone.
        """
        values_of = {name: X[name].to_numpy() for name in X.columns}
        self.encodings: dict[str, Encoding] = {
            name: Encoding.fit(name, self.kinds[name], values, self.n_knots, self.missing_indicator)
            for name, values in values_of.items()
        }
        self.incomplete: dict[str, Float] = {
            name: values
            for name, values in values_of.items()
            if self.imputation == "conditional"
            and self.kinds[name] != "categorical"
            and np.isnan(values).any()
        }
        self.weights, self.inputs = weights, self._inputs(values_of)
        self.encodings |= self._with_equations(self.names)
        self.predictors_: list[str] = []
        columns, is_scaled, missing = [], [], []
        for name, encoding in self.encodings.items():
            values = values_of[name]
            own = encoding.columns(values, self.inputs)
            columns += own
            self.predictors_ += [name] * len(own)
            is_scaled += [encoding.kind == "numeric"] * len(own)
            if encoding.has_indicator:
                is_scaled[-1] = False
            gaps = pd.isna(values)
            missing += [gaps & (not gaps.all())] * len(own)  # a column without values is of zeros
        matrix = np.column_stack(columns)
        self.means, self.scales = np.zeros(len(columns)), np.ones(len(columns))
        if any(is_scaled):
            # Scales come from the observed values; the scaler passes over the others.
            numbers = np.where(np.column_stack(missing), np.nan, matrix)[:, is_scaled]
            scaler = StandardScaler().fit(numbers, sample_weight=weights)
            self.means[is_scaled], self.scales[is_scaled] = scaler.mean_, 2.0 * scaler.scale_
        gappy = [n for n, values in values_of.items() if 0 < pd.isna(values).sum() < len(values)]
        self.n_imputations_ = int(self.imputations or 0) if gappy else 0
        if self.n_imputations_:
            inputs = self._inputs(values_of, always=True)
            blocks = [
                self._columns(values_of, self.inputs, drawn)
                for drawn in draw_missing(
                    {name: values_of[name] for name in gappy},
                    inputs,
                    np.asarray(y, dtype=np.float64),
                    weights,
                    self.n_imputations_,
                    self.seed,
                )
            ]
            matrix = np.vstack(blocks)
        self.matrix: Float = (matrix - self.means) / self.scales
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The predictors, in the order of the table."""
        return tuple(self.encodings)

    def _inputs(
        self, values_of: Mapping[str, NDArray[Any]], always: bool = False
    ) -> dict[str, InputValues]:
        """Return the columns in numbers, for equations; none if there is nothing to impute."""
        if not self.incomplete and not always:
            return {}
        return {name: item.inputs(values_of[name]) for name, item in self.encodings.items()}

    def _with_equations(self, known: Collection[str]) -> dict[str, Encoding]:
        """Return the encodings of incomplete columns, with equations of some columns only."""
        inputs = {name: values for name, values in self.inputs.items() if name in known}
        return {
            name: replace(
                self.encodings[name], imputation=fit_equation(name, values, inputs, self.weights)
            )
            for name, values in self.incomplete.items()
            if name in known
        }

    def for_predicting(self, bought: Collection[str]) -> Design:
        """Return this with equations that use nothing but the predictors bought."""
        if self.incomplete.keys().isdisjoint(bought):
            return self
        deployed = copy(self)
        deployed.encodings = self.encodings | self._with_equations(bought)
        return deployed

    def transform(self, X: pd.DataFrame) -> Float:
        """Return the matrix of other rows; a level that the fit has not seen counts as missing."""
        values_of = {name: X[name].to_numpy() for name in self.encodings}
        columns = self._columns(values_of, self._inputs(values_of), {})
        matrix: Float = (columns - self.means) / self.scales
        return matrix

    def _columns(
        self,
        values_of: Mapping[str, NDArray[Any]],
        inputs: Mapping[str, InputValues],
        drawn: Mapping[str, NDArray[Any]],
    ) -> Float:
        """Return the columns of some rows, not yet scaled."""
        columns = [
            column
            for name, encoding in self.encodings.items()
            for column in encoding.columns(values_of[name], inputs, drawn.get(name))
        ]
        return np.array(columns).T

    def equation(
        self, table: pd.DataFrame, coef: Float, intercept: float, bought: Collection[str]
    ) -> tuple[tuple[Term, ...], float]:
        """Return the terms of the predictors bought, in the units of the table, and the intercept.

        Parameters
        ----------
        table : DataFrame
            The rows that this was fitted to, in plain form.
        coef : ndarray of shape (n_columns,)
            One coefficient per column of the matrix.
        intercept : float
            The intercept for the matrix.
        bought : collection of str
            The predictors that get a term.
        """
        slopes = coef / self.scales
        terms = []
        for name, encoding in self.for_predicting(bought).encodings.items():
            if name in bought:
                own = [i for i, predictor in enumerate(self.predictors_) if predictor == name]
                term, base = encoding.term(table[name].to_numpy(), slopes[own].tolist())
                terms.append(term)
                intercept += base - float(slopes[own] @ self.means[own])
        return tuple(terms), intercept
