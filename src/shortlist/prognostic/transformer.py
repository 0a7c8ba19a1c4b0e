"""The preprocessing of a prognostic model as a scikit-learn transformer, for resampling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from .columns import Kind
from .design import Design

Float = NDArray[np.float64]


class DesignTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Makes the columns of the problem from patients in plain form, as `PrognosticModel` does.

    Parameters
    ----------
    kinds : mapping from column to kind
        What the columns are.
    n_knots : int, optional
        Knots of a natural cubic spline for every number.
    missing_indicator : bool
        Whether a missing value also tells by being missing.

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
