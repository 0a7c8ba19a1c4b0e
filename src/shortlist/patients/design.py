"""Preprocessing: from columns in plain form to the matrix of a problem, and back to terms.

Numbers are imputed by their median, bent by splines if asked, centred and divided by two standard
deviations; knots, means and deviations are those of the observed values. Truth values and factors
are imputed by their most frequent value; a factor of more than two levels has one column per level,
and none of them is special to the penalty. A change by two standard deviations is then penalised
like the change of a truth value (Gelman 2008), and the penalty depends neither on units nor on the
order of the levels.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import StandardScaler

from ..arguments import Float
from .column import ColumnKind
from .term import BooleanTerm, CategoricalTerm, NumericTerm, Term, place_knots, spline_curves


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
    """

    name: str
    kind: ColumnKind
    fill: Any
    knots: tuple[float, ...]
    levels: tuple[str, ...]
    has_indicator: bool

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
        levels = tuple(sorted(set(known))) if kind == "categorical" else ()
        return cls(name, kind, pd.Series(known).mode().tolist()[0], (), levels, has_indicator)

    def columns(self, values: NDArray[Any]) -> list[Float]:
        """Return the columns of the matrix; a level that is not known counts as missing."""
        if self.kind == "categorical":
            positions = pd.Index(self.levels, dtype=object).get_indexer(pd.Index(values))
            missing = positions < 0
            positions[missing] = self.levels.index(self.fill)
            first = 1 if len(self.levels) == 2 else 0
            columns = [*np.eye(len(self.levels))[first:, positions]]
        else:
            missing = np.isnan(values)
            filled = np.where(missing, self.fill, values)
            columns = [filled, *spline_curves(filled, self.knots)]
        return [*columns, missing.astype(np.float64)] if self.has_indicator else columns

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
        if self.has_indicator:
            *coef, about["missing_coefficient"] = coef
        if self.kind == "boolean":
            return BooleanTerm(fill=self.fill == 1, coefficient=coef[0], **about), 0.0
        if self.kind == "numeric":
            known = values[~np.isnan(values)]
            known = known if len(known) else np.zeros(1)
            low, q1, q3, high = np.quantile(known, [0, 0.25, 0.75, 1]).tolist()
            term = NumericTerm(
                fill=self.fill,
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

    Attributes
    ----------
    encodings : dict from str to Encoding
        How each predictor is encoded, in the order of the table.
    predictors_ : list of str
        The predictor of each column of the matrix; those of one predictor stand together. This
        name is the one that `Experiment` asks a preprocessor for.
    means, scales : ndarray of shape (n_columns,)
        The centre and the scale of each column.
    matrix : ndarray of shape (n_rows, n_columns)
        The rows that it was fitted to.
    """

    def __init__(
        self,
        kinds: Mapping[str, ColumnKind],
        n_knots: int | None = None,
        missing_indicator: bool = False,
    ) -> None:
        self.kinds = kinds
        self.n_knots = n_knots
        self.missing_indicator = missing_indicator

    def fit(self, X: pd.DataFrame, y: Any = None, weights: Float | None = None) -> Design:
        """Measure medians, levels and scales; the latter count rows by their weights."""
        self.encodings: dict[str, Encoding] = {}
        self.predictors_: list[str] = []
        columns, is_scaled, missing = [], [], []
        for name in X.columns:
            values = X[name].to_numpy()
            encoding = Encoding.fit(
                name, self.kinds[name], values, self.n_knots, self.missing_indicator
            )
            self.encodings[name] = encoding
            own = encoding.columns(values)
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
            # Scales are those of the observed values; the scaler passes over the others.
            numbers = np.where(np.column_stack(missing), np.nan, matrix)[:, is_scaled]
            scaler = StandardScaler().fit(numbers, sample_weight=weights)
            self.means[is_scaled], self.scales[is_scaled] = scaler.mean_, 2.0 * scaler.scale_
        self.matrix: Float = (matrix - self.means) / self.scales
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The predictors, in the order of the table."""
        return tuple(self.encodings)

    def transform(self, X: pd.DataFrame) -> Float:
        """Return the matrix of other rows; a level that the fit has not seen counts as missing."""
        columns = [
            column
            for name, encoding in self.encodings.items()
            for column in encoding.columns(X[name].to_numpy())
        ]
        matrix: Float = (np.array(columns).T - self.means) / self.scales
        return matrix

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
        for name, encoding in self.encodings.items():
            if name in bought:
                own = [i for i, predictor in enumerate(self.predictors_) if predictor == name]
                term, base = encoding.term(table[name].to_numpy(), slopes[own].tolist())
                terms.append(term)
                intercept += base - float(slopes[own] @ self.means[own])
        return tuple(terms), intercept
