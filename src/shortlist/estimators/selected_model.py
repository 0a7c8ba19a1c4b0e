"""What both estimators share once fitted: a linear model on the columns of a few predictors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..problem import SubsetProblem
from ..result import Solution
from .log_odds_classifier import LogOddsClassifier

Float = NDArray[np.float64]


class SelectedModel(SelectorMixin, LogOddsClassifier):  # type: ignore[misc]
    """A fitted selection that predicts, and that selects columns as scikit-learn's selectors do."""

    def decision_function(self, X: Any) -> Float:
        """Return the log-odds of the second class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_columns)
            All columns, in the order of `fit`; only those bought are used.

        Returns
        -------
        ndarray of shape (n_rows,)
            Positive where the second of `classes_` is predicted.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", reset=False)
        log_odds: Float = X @ self.coef_[0] + self.intercept_[0]
        return log_odds

    def _set_fitted(self, X: Any, problem: SubsetProblem, solution: Solution) -> None:
        """Set what a fit leaves behind, but no data; the only place that does.

        Nothing can fail any more when this is called.
        """
        validate_data(self, X, skip_check_array=True)  # n_features_in_ and feature_names_in_
        self._set_solution(problem, solution)
        self.coef_ = solution.coef[np.newaxis, :].copy()
        self.intercept_ = np.array([solution.intercept])
        self.support_ = np.array(solution.support, dtype=np.int64)
        self._selected_columns = problem.columns_of(solution.support)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self._selected_columns] = True
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
