"""The estimator that also chooses the ridge, by cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from ..coefficients import MaxCoefficient, Signs
from ..problem import Predictor, SubsetProblem
from .classifier import BestSubsetClassifier, describe_limit, is_cut_short
from .inputs import check_inputs
from .ridge_search import Outcome, check_ridges, search_ridges
from .selected_model import SelectedModel

Int = NDArray[np.int64]


class BestSubsetClassifierCV(SelectedModel):
    """Logistic regression on the best affordable predictors, with a cross-validated ridge.

    Every fold solves the problem for every ridge, from the strongest to the weakest, each starting
    from the selection before it. The ridge with the best mean score over the folds wins, the
    strongest one if several do, and the model is then fitted to all rows with it. The result is
    the same whatever `n_jobs`.

    Parameters
    ----------
    max_features, budget, costs, fees, groups, include, exclude, class_weight
        As in `BestSubsetClassifier`.
    max_coefficient, signs
        As in `BestSubsetClassifier`.
    ridges : sequence of float
        Strengths of the L2 penalty to choose from, each greater than 0. The loss is a sum over
        rows, not a mean: the same ridge matters a little more in a fold than in all rows.
    cv : int, cross-validation splitter or iterable of (train, test) indices
        The folds: a number means stratified folds in the order of the rows.
    scoring : str, callable or None
        What the folds maximise, as in scikit-learn; None is the accuracy.
    n_jobs : int, optional
        Number of processes over the folds, as in scikit-learn.
    backend, gap, time_limit, node_limit, threads
        As in `BestSubsetClassifier`; the limits are those of each solve.

    Attributes
    ----------
    ridge_ : float
        The ridge chosen.
    best_score_ : float
        Its mean score over the folds.
    cv_results_ : dict of ndarray
        One entry per ridge, from the strongest to the weakest: `ridge`, `split0_test_score` and so
        on, `mean_test_score`, `std_test_score`, `rank_test_score`, and `max_gap`, the largest gap
        of a fold. Made for `pandas.DataFrame`.
    support_, selected_features_, cost_, coef_, intercept_, objective_, lower_bound_, gap_
        The model of all rows, as in `BestSubsetClassifier`.
    status_, solution_, certificate_, classes_, n_features_in_, feature_names_in_
        As in `BestSubsetClassifier`.

    See Also
    --------
    BestSubsetClassifier : Takes one ridge.

    Examples
    --------
    >>> import shortlist as sl
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> X = MinMaxScaler().set_output(transform="pandas").fit_transform(X.iloc[:, :10])
    >>> model = sl.BestSubsetClassifierCV(max_features=2, ridges=(0.1, 0.02, 0.004)).fit(X, y)
    >>> model.ridge_, model.selected_features_
    (0.02, ['mean texture', 'mean concave points'])
    >>> model.cv_results_["mean_test_score"].round(3)
    array([0.976, 0.976, 0.973])
    """

    def __init__(
        self,
        max_features: int | None = None,
        budget: float | None = None,
        costs: ArrayLike | Mapping[str, float] | None = None,
        fees: Sequence[tuple[float, Sequence[Predictor]]] | None = None,
        groups: Sequence[Predictor] | ArrayLike | None = None,
        include: Sequence[Predictor] = (),
        exclude: Sequence[Predictor] = (),
        ridges: Sequence[float] = (0.1, 0.02, 0.004),
        cv: Any = 3,
        scoring: str | Callable[..., float] | None = "roc_auc",
        n_jobs: int | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        backend: str = "native",
        gap: float = 1e-6,
        time_limit: float | None = None,
        node_limit: int | None = None,
        max_coefficient: MaxCoefficient = None,
        signs: Signs = None,
        threads: int | None = None,
    ) -> None:
        self.max_features = max_features
        self.budget = budget
        self.costs = costs
        self.fees = fees
        self.groups = groups
        self.include = include
        self.exclude = exclude
        self.ridges = ridges
        self.cv = cv
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.class_weight = class_weight
        self.backend = backend
        self.gap = gap
        self.time_limit = time_limit
        self.node_limit = node_limit
        self.max_coefficient = max_coefficient
        self.signs = signs
        self.threads = threads

    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> BestSubsetClassifierCV:
        """Choose the ridge, then find the best affordable predictors of all rows with it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_columns)
            Features; the names of a DataFrame's columns can be used in the parameters. A sparse
            matrix is made dense.
        y : array-like of shape (n_rows,)
            Labels of any two values.
        sample_weight : array-like of shape (n_rows,), optional
            Weights, at least 0, of the rows in the fits and in the scores: a `scoring` of your own
            must then accept `sample_weight`.

        Returns
        -------
        self : BestSubsetClassifierCV
            The fitted estimator.
        """
        features, labels = check_inputs(self, X, y)
        weights = None if sample_weight is None else np.asarray(sample_weight)
        ridges = check_ridges(self.ridges)
        folds = list(check_cv(self.cv, labels, classifier=True).split(features, labels))
        scorer = check_scoring(BestSubsetClassifier(), scoring=self.scoring)
        solve_fold = partial(_solve_fold, self._models(ridges), scorer, features, labels, weights)
        search = search_ridges(ridges, folds, solve_fold, self.n_jobs)
        problem, solution = self._models(ridges)[search.best]._solve(
            features, labels, sample_weight
        )

        self._set_fitted(X, problem, solution.detached())
        self.ridge_ = search.ridge
        self.best_score_ = search.score
        self.cv_results_ = search.results
        if search.n_unproven:
            warnings.warn(search.describe_unproven(), ConvergenceWarning, stacklevel=2)
        if is_cut_short(solution):
            warnings.warn(describe_limit(solution), ConvergenceWarning, stacklevel=2)
        return self

    def problem(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> SubsetProblem:
        """Return the problem of these data with the ridge that `fit` has chosen.

        For the data of `fit` it is the problem that the fitted model solves.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_columns)
            Features, as for `fit`.
        y : array-like of shape (n_rows,)
            Labels, as for `fit`.
        sample_weight : array-like of shape (n_rows,), optional
            Weights, as for `fit`.

        Returns
        -------
        SubsetProblem
            The data, with the prices and limits of this estimator and `ridge_`.
        """
        check_is_fitted(self)
        return self._models([self.ridge_])[0].problem(X, y, sample_weight)

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the score that `scoring` gives the predictions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_columns)
            All columns, in the order of `fit`; only those bought are used.
        y : array-like of shape (n_rows,)
            True labels.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows.

        Returns
        -------
        float
            The higher, the better.
        """
        if self.scoring is None:
            accuracy: float = super().score(X, y, sample_weight)
            return accuracy
        scorer = check_scoring(self, scoring=self.scoring)
        return _score(scorer, self, X, y, sample_weight)

    def _models(self, ridges: Sequence[float]) -> list[BestSubsetClassifier]:
        own = self.get_params(deep=False)
        shared = {name: own[name] for name in BestSubsetClassifier().get_params() if name in own}
        return [BestSubsetClassifier(ridge=ridge, **shared) for ridge in ridges]


def _solve_fold(
    models: list[BestSubsetClassifier],
    scorer: Callable[..., float],
    X: Any,
    y: NDArray[Any],
    sample_weight: NDArray[Any] | None,
    train: Int,
    test: Int,
) -> list[Outcome]:
    """Fit and score the models of one fold, each starting from the support of the one before."""
    X_train, X_test = _safe_indexing(X, train), _safe_indexing(X, test)
    weights_train = None if sample_weight is None else sample_weight[train]
    weights_test = None if sample_weight is None else sample_weight[test]
    outcomes, support = [], None
    for model in models:
        problem, solution = model._solve(X_train, y[train], weights_train, warm_start=support)
        model._set_fitted(X_train, problem, solution)
        support = solution.support
        score = _score(scorer, model, X_test, y[test], weights_test)
        outcomes.append(Outcome(score, solution.gap, is_cut_short(solution)))
    return outcomes


def _score(
    scorer: Callable[..., float],
    model: SelectedModel,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
) -> float:
    # Without weights the argument is left out: not every scorer knows it.
    weighted = {} if sample_weight is None else {"sample_weight": sample_weight}
    return float(scorer(model, X, y, **weighted))
