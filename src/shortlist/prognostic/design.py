"""Preprocessing: the matrix of a problem, made from columns in plain form.

Numbers are imputed by their median, bent by splines if asked, centred and divided by two standard
deviations; truth values and factors are imputed by their most frequent value; a factor of more than
two levels has one column per level, and none of them is special to the penalty. A change by
two standard deviations is then penalised like the change of a truth value (Gelman 2008), and the
penalty depends neither on units nor on the order of the levels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from .columns import Kind
from .spline import NaturalSpline

Float = NDArray[np.float64]


class TwoDeviationScaler(StandardScaler):  # type: ignore[misc]
    """Centre each column and divide it by two standard deviations, those of the weighted rows."""

    def __init__(self, weights: Float | None = None) -> None:
        super().__init__()
        self.weights = weights

    def fit(self, X: Float, y: Any = None) -> TwoDeviationScaler:
        """Measure means and deviations."""
        super().fit(X, sample_weight=self.weights)
        self.scale_: Float = 2.0 * np.asarray(self.scale_)
        return self


@dataclass(frozen=True)
class Design:
    """Preprocessing fitted to some rows, one predictor per original column.

    Attributes
    ----------
    transformer : ColumnTransformer
        What makes the matrix.
    names : tuple of str
        The predictors, in the order of the table.
    predictors : list of str
        The predictor of each column of the matrix; those of one predictor stand together.
    order : ndarray of shape (n_columns,)
        The position of each column of the matrix in what the transformer returns.
    matrix : ndarray of shape (n_rows, n_columns)
        The rows that it was fitted to.
    """

    transformer: ColumnTransformer
    names: tuple[str, ...]
    predictors: list[str]
    order: NDArray[np.int64]
    matrix: Float

    @classmethod
    def fit(
        cls,
        table: pd.DataFrame,
        kinds: Mapping[str, Kind],
        n_knots: int | None,
        missing_indicator: bool,
        weights: Float | None = None,
    ) -> Design:
        """Fit the preprocessing to a table in plain form, whose rows may have weights."""
        of_kind = {
            kind: [name for name in table.columns if kinds[name] == kind]
            for kind in ("numeric", "boolean", "categorical")
        }
        blocks: list[tuple[str, Any, list[str]]] = [
            (kind, _block(kind, n_knots, weights), names)
            for kind, names in of_kind.items()
            if names
        ]
        if missing_indicator:
            indicator = MissingIndicator(features="missing-only", error_on_new=False)
            blocks.append(("missing", indicator, list(table.columns)))
        transformer = ColumnTransformer(blocks, sparse_threshold=0.0)
        unordered_matrix = transformer.fit_transform(table)
        unordered = list(_predictors(transformer))
        position = {name: index for index, name in enumerate(table.columns)}
        order = np.argsort([position[name] for name in unordered], kind="stable")
        matrix = np.ascontiguousarray(unordered_matrix[:, order], dtype=np.float64)
        return cls(transformer, tuple(table.columns), [unordered[i] for i in order], order, matrix)

    def transform(self, table: pd.DataFrame) -> Float:
        """Return the matrix of other rows; a level that the fit has not seen counts as missing."""
        known = table.copy()
        for block, fitted, names in self.transformer.transformers_:
            if block == "categorical":
                for name, levels in zip(
                    names, fitted.named_steps["encode"].categories_, strict=True
                ):
                    known[name] = known[name].where(known[name].isin(levels), np.nan)
        matrix: Float = self.transformer.transform(known)[:, self.order]
        return matrix

    def entries_of(self, block: str, coef: Float) -> Float:
        """Return the entries of `coef` (one per column of the matrix) that belong to a block."""
        unordered = np.empty_like(coef)
        unordered[self.order] = coef
        part: Float = unordered[self.transformer.output_indices_[block]]
        return part


class DesignTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Makes the columns of the problem from patients in plain form, as `PrognosticModel` does.

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
    predictors_ : list of str
        The predictor of each column that `transform` returns.
    """

    def __init__(
        self,
        kinds: Mapping[str, Kind],
        n_knots: int | None = None,
        missing_indicator: bool = False,
    ) -> None:
        self.kinds = kinds
        self.n_knots = n_knots
        self.missing_indicator = missing_indicator

    def fit(self, X: pd.DataFrame, y: Any = None) -> DesignTransformer:
        """Measure medians, scales and levels."""
        self.design_ = Design.fit(X, self.kinds, self.n_knots, self.missing_indicator)
        self.predictors_ = self.design_.predictors
        return self

    def transform(self, X: pd.DataFrame) -> Float:
        """Return the columns of the problem; a level that `fit` has not seen counts as missing."""
        return self.design_.transform(X)


def _block(kind: str, n_knots: int | None, weights: Float | None) -> Any:
    if kind == "numeric":
        return Pipeline(
            [
                ("impute", SimpleImputer(strategy="median", keep_empty_features=True)),
                ("spline", NaturalSpline(n_knots)),
                ("scale", TwoDeviationScaler(weights)),
            ]
        )
    impute = SimpleImputer(
        strategy="most_frequent", missing_values=np.nan, keep_empty_features=True
    )
    if kind == "boolean":
        return impute
    encode = OneHotEncoder(drop="if_binary", sparse_output=False)
    return Pipeline([("impute", impute), ("encode", encode)])


def _predictors(transformer: ColumnTransformer) -> Iterator[str]:
    """Yield the predictor of each column that the transformer returns."""
    for block, fitted, names in transformer.transformers_:
        if block == "numeric":
            for name, knots in zip(names, fitted.named_steps["spline"].knots_, strict=True):
                yield from [name] * n_spline_columns(knots)
        elif block == "boolean":
            yield from names
        elif block == "categorical":
            for name, levels in zip(names, fitted.named_steps["encode"].categories_, strict=True):
                yield from [name] * n_dummy_columns(levels)
        elif block == "missing":
            yield from (names[position] for position in fitted.features_)


def n_spline_columns(knots: Sequence[float]) -> int:
    """Return the number of columns that a number takes: itself and its curves."""
    return max(1, len(knots) - 1)


def n_dummy_columns(levels: Sequence[str]) -> int:
    """Return the number of columns that a factor takes: one per level, one for two levels."""
    return 1 if len(levels) == 2 else len(levels)
