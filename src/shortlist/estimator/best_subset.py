"""What the scikit-learn estimators of best subsets share: the fit, for a given or a tuned ridge."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone, is_classifier
from sklearn.feature_selection import SelectorMixin
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, check_X_y
from sklearn.utils.validation import check_is_fitted, validate_data

from ..arguments import Float, Int, check_column_names
from ..cross_validation import (
    Fold,
    RidgeSearch,
    check_ridges,
    end_of,
    search_ridges,
    warn_of_limits,
)
from ..errors import InvalidProblemError, ShortlistWarning, shown
from ..families import family_of
from ..limits import MaxCoefficient, Signs, given_limits
from ..problem import Predictor, SubsetProblem
from ..solution import Solution
from .selection import SelectionEstimator

_OTHER_SCALE = 100.0  # times the range of another column
_MOST_ROWS = 1_000_000  # in which ranges are looked for


@dataclass(eq=False, repr=False)
class BestSubsetEstimator(SelectorMixin, SelectionEstimator):  # type: ignore[misc]
    """A linear model on the best affordable predictors of numeric columns."""

    max_features: int | None = None
    budget: float | None = None
    costs: ArrayLike | Mapping[str, float] | None = None
    fees: Sequence[tuple[float, Sequence[Predictor]]] | None = None
    groups: Sequence[Predictor] | ArrayLike | None = None
    include: Sequence[Predictor] = ()
    exclude: Sequence[Predictor] = ()
    ridge: float | None = 1.0
    # A parameter of classifiers alone; it stands here because they take it in this place.
    class_weight: Mapping[Any, float] | str | None = field(default=None, init=False)
    backend: str = "native"
    gap: float = 1e-6
    time_limit: float | None = None
    node_limit: int | None = None
    max_coefficient: MaxCoefficient = None
    signs: Signs = None
    threads: int | None = None
    ridges: Sequence[float] = (1.0,)
    cv: Any = 3
    scoring: str | Callable[..., float] | None = "auto"
    n_jobs: int | None = None
    loss: str = "logistic"

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Choose the ridge, unless it is given, and find the best affordable predictors.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_columns)
            Features; the names of a DataFrame's columns can be used in the parameters. A sparse
            matrix is made dense.
        y : array-like of shape (n_rows,)
            Outcomes, as `SubsetProblem` takes them for the loss: labels of any two values, numbers,
            counts, or times and events.
        sample_weight : array-like of shape (n_rows,), optional
            Weights, at least 0; a weight of 2 counts as two equal rows.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        check_column_names(X)
        features, y = self._checked(X, y)
        search = None
        ridge = self.ridge
        if ridge is None:
            search = self._search_ridge(features, y, sample_weight)
            ridge = search.ridge
        problem = self._problem(features, y, sample_weight, ridge)
        solution = self._solve(problem, self.time_limit).detached()
        self._set_fitted(X, problem, solution, search)
        warn_of_limits(solution, search)
        for text in (*self._warnings(problem), *_about_ridge(search)):
            warnings.warn(text, ShortlistWarning, stacklevel=2)
        return self

    def problem(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> SubsetProblem:
        """Return the problem that `fit` solves for these data, with the ridge that it chose.

        It is what `near_optimal`, `solve_path`, `substitutes`, `price_ranges` and `verify` take.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_columns)
            Features, as for `fit`.
        y : array-like of shape (n_rows,)
            Outcomes, as for `fit`.
        sample_weight : array-like of shape (n_rows,), optional
            Weights, as for `fit`.

        Returns
        -------
        SubsetProblem
            The data, with the prices, limits and ridge of this estimator.

        Examples
        --------
        >>> import shortlist as sl
        >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]
        >>> model = sl.BestSubsetClassifier(max_features=1).fit(X, [0, 0, 1, 1])
        >>> sl.verify(model.problem(X, [0, 0, 1, 1]), model.certificate_).valid
        True
        """
        ridge = getattr(self, "ridge_", None) if self.ridge is None else self.ridge
        if ridge is None:
            check_is_fitted(self)
        return self._problem(*self._checked(X, y), sample_weight, ridge)

    def _linear_predictor(self, X: Any) -> Float:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", reset=False)
        u: Float = X @ self.solution_.coef + self.solution_.intercept
        return u

    def _checked(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """Return the features, a DataFrame (for its names) or a dense array, and the outcomes.

        No attribute of the estimator is set, so that a fit that fails later leaves it as it was.
        """
        options = {"accept_sparse": "csr", "dtype": np.float64, "estimator": self}
        try:
            table, outcomes = check_X_y(X, y, y_numeric=not is_classifier(self), **options)
        except ValueError as error:
            raise _with_column(X, error) from error
        if hasattr(X, "columns"):
            return X, outcomes
        return table.toarray() if hasattr(table, "toarray") else table, outcomes

    def _weighted(self, y: NDArray[Any], sample_weight: ArrayLike | None) -> ArrayLike | None:
        """Return the weights of the rows."""
        return sample_weight

    def _warnings(self, problem: SubsetProblem) -> Iterator[str]:
        """Yield what may mislead the user of a fitted problem."""
        yield from _about_scales(problem)

    def _problem(
        self, X: Any, y: NDArray[Any], sample_weight: ArrayLike | None, ridge: Any
    ) -> SubsetProblem:
        """Return the problem for checked inputs."""
        return SubsetProblem(
            X,
            y,
            ridge=ridge,
            groups=self.groups,
            sample_weight=self._weighted(y, sample_weight),
            **self._loss_parameters(),
            **given_limits(self),
        )

    def _loss_parameters(self) -> dict[str, Any]:
        """Return the parameters of the problem that define its loss."""
        return {"loss": self.loss}

    def _search_ridge(
        self, X: Any, y: NDArray[Any], sample_weight: ArrayLike | None
    ) -> RidgeSearch:
        ridges = check_ridges(self.ridges)
        weights = None if sample_weight is None else np.asarray(sample_weight)
        score = self._score_of_fold(X, y, weights)

        def fit(train: Int, ridges: list[float]) -> Iterator[_Tried]:
            rows = _safe_indexing(X, train)
            own = None if weights is None else weights[train]
            problem = self._problem(rows, y[train], own, ridges[0])
            for at_ridge, solution in self._solve_along(problem, ridges, self.time_limit):
                model = clone(self)
                model._set_fitted(rows, at_ridge, solution)
                yield _Tried(model, train)

        def score_tried(tried: _Tried, test: Int) -> float:
            return score(*tried, test)

        return search_ridges(ridges, self._folds(X, y), fit, score_tried, self.n_jobs)

    def _folds(self, X: Any, y: NDArray[Any]) -> list[Fold]:
        """Return the folds in which ridges are tried."""
        return list(check_cv(self.cv, y, classifier=is_classifier(self)).split(X, y))

    def _score_of_fold(
        self, X: Any, y: NDArray[Any], weights: NDArray[Any] | None
    ) -> Callable[[Any, Int, Int], float]:
        """Return the score of a model, given the rows that it was fitted to, and the test rows."""
        scoring = self.scoring
        if scoring == "auto":
            scoring = family_of(self.loss).scoring
        scorer = check_scoring(self, scoring=scoring)

        def score(model: Self, train: Int, test: Int) -> float:
            if scoring == "neg_log_loss" and len(np.unique(y[test])) < 2:
                return nan  # scikit-learn raises
            # Not every scorer knows weights.
            weighted = {} if weights is None else {"sample_weight": weights[test]}
            return float(scorer(model, _safe_indexing(X, test), y[test], **weighted))

        return score

    def _set_fitted(
        self, X: Any, problem: SubsetProblem, solution: Solution, search: RidgeSearch | None = None
    ) -> None:
        """Set the attributes of a fit, which keep no data; nothing can fail any more."""
        validate_data(self, X, skip_check_array=True)  # n_features_in_ and feature_names_in_
        self._set_solution(problem, solution)
        self.support_ = np.array(solution.support, dtype=np.int64)
        self.ridge_ = problem.ridge
        self.cv_results_ = None if search is None else search.results
        self.best_score_ = None if search is None else search.score
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


class _Tried(NamedTuple):
    """A model that is tried in a fold, and the rows that it was fitted to."""

    model: BestSubsetEstimator
    train: Int

    @property
    def solution_(self) -> Solution:
        return self.model.solution_


def _with_column(X: Any, error: ValueError) -> ValueError:
    """Return a refusal that names the first column of a table that has no numbers, or the error."""
    import pandas as pd

    for name, column in X.items() if isinstance(X, pd.DataFrame) else ():
        if pd.to_numeric(column, errors="coerce").isna().any():
            what = "missing values" if column.isna().any() else "text"
            return InvalidProblemError(
                f"X: column {shown(name)} has {what}; PrognosticModel takes such columns."
            )
    return error


def _about_scales(problem: SubsetProblem) -> Iterator[str]:
    """Yield a sentence if the columns are on so different scales that one ridge is unfair."""
    if problem.n_rows > _MOST_ROWS:
        return
    ranges = np.ptp(problem.X, axis=0)
    varying = np.flatnonzero(ranges > 0)
    if len(varying) == 0:
        return
    narrow, wide = (int(varying[pick(ranges[varying])]) for pick in (np.argmin, np.argmax))
    if ranges[wide] > _OTHER_SCALE * ranges[narrow]:
        names = [problem.name_of(int(problem.column_predictor[n])) for n in (wide, narrow)]
        yield (
            f"X: the values of {names[0]} spread over {ranges[wide]:.3g} and those of {names[1]} "
            f"over {ranges[narrow]:.3g}, so that the ridge weighs on the latter far more; scale "
            "the columns first, for example with StandardScaler."
        )


def _about_ridge(search: RidgeSearch | None) -> Iterator[str]:
    end = None if search is None else end_of(search.ridges, search.results["mean_test_score"])
    if search is not None and end is not None:
        yield (
            f"ridge: {search.ridge:g} is the {end} of those tried, so a {end[:-3]}er one may be "
            "better; extend ridges."
        )
