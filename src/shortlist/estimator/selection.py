"""The bases of estimators that have a selection.

They say how an estimator solves and what every fit sets, and how a classifier predicts by log-odds.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..arguments import Float
from ..backends import solve, uninterrupted
from ..certificate import Certificate
from ..families import LOGISTIC, risk_of
from ..problem import SubsetProblem
from ..solution import Progress, Solution


class SelectionEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator with the parameters of a solve, and the attributes of a solution."""

    @property
    def certificate_(self) -> Certificate | None:
        """The proof of `lower_bound_`; documented with the other attributes of a fit."""
        check_is_fitted(self)
        return self.solution_.certificate

    def _solve(
        self,
        problem: SubsetProblem,
        time_limit: float | None,
        warm_start: tuple[int, ...] | None = None,
        callback: Callable[[Progress], None] | None = None,
        verbose: bool = False,
    ) -> Solution:
        solution = solve(
            problem,
            self.backend,
            gap=self.gap,
            time_limit=time_limit,
            node_limit=self.node_limit,
            callback=callback,
            warm_start=warm_start,
            threads=self.threads,
            verbose=verbose,
        )
        return uninterrupted(solution)

    def _solve_along(
        self,
        problem: SubsetProblem,
        ridges: Sequence[float],
        time_limit: float | None,
        callback: Callable[[Progress], None] | None = None,
    ) -> Iterator[tuple[SubsetProblem, Solution]]:
        """Solve a problem with each ridge, from the selection before it."""
        support = None
        for ridge in ridges:
            at_ridge = problem.with_ridge(ridge)
            solution = self._solve(at_ridge, time_limit, support, callback)
            support = solution.support
            yield at_ridge, solution

    def _set_solution(self, problem: SubsetProblem, solution: Solution) -> None:
        self.selected_features_ = [problem.name_of(g) for g in solution.support]
        self.cost_ = solution.cost
        self.objective_ = solution.objective
        self.lower_bound_ = solution.lower_bound
        self.gap_ = solution.gap
        self.status_ = solution.status
        self.solution_ = solution


def _gives_log_odds(classifier: Any) -> bool:
    """Whether its scores are log-odds, as they are unless a parameter names another loss."""
    loss = getattr(classifier, "loss", LOGISTIC.name)
    if loss != LOGISTIC.name:
        raise AttributeError(
            f"loss: {loss!r} leads to scores that are not probabilities; calibrate them with "
            "sklearn.calibration.CalibratedClassifierCV, or use loss='logistic'."
        )
    return True


class LogOddsClassifier(ClassifierMixin, SelectionEstimator):  # type: ignore[misc]
    """Labels and probabilities from log-odds."""

    @abstractmethod
    def decision_function(self, X: Any) -> Float:
        """Return the log-odds of the second class."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likelier class of each row.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            What `decision_function` takes.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels, as they were given to `fit`.
        """
        positive = self.decision_function(X) > 0
        labels: NDArray[Any] = self.classes_[positive.astype(int)]
        return labels

    @available_if(_gives_log_odds)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Float:
        """Return the probability of each class.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            What `decision_function` takes.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Probabilities in the order of `classes_`.
        """
        log_odds = self.decision_function(X)
        return np.column_stack([risk_of(-log_odds), risk_of(log_odds)])

    @available_if(_gives_log_odds)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Float:
        """Return the logarithm of the probability of each class, finite however small that is.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            What `decision_function` takes.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Log-probabilities in the order of `classes_`.
        """
        log_odds = self.decision_function(X)
        return np.column_stack([log_expit(-log_odds), log_expit(log_odds)])

    def _set_solution(self, problem: SubsetProblem, solution: Solution) -> None:
        super()._set_solution(problem, solution)
        self.classes_ = problem.response.classes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
