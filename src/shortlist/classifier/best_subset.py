"""The scikit-learn classifier that buys the best predictors, for a given or a tuned ridge."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf, nan
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.feature_selection import SelectorMixin
from sklearn.metrics import check_scoring
from sklearn.utils import _safe_indexing, check_X_y
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..arguments import Float, Int
from ..errors import InvalidProblemError, ShortlistWarning, shown
from ..limits import MaxCoefficient, Signs, given_limits
from ..losses import loss_of
from ..problem import Predictor, SubsetProblem
from ..solution import Solution
from .event import obvious_event
from .log_odds import LogOddsClassifier
from .tuning import (
    FoldScore,
    RidgeSearch,
    check_ridges,
    make_folds,
    score_ridges,
    search_ridges,
    warn_of_limits,
)

_OTHER_SCALE = 100.0  # times the range of another column
_MOST_ROWS = 1_000_000  # in which ranges are looked for


class BestSubsetClassifier(SelectorMixin, LogOddsClassifier):  # type: ignore[misc]
    """Logistic regression or support vector machine on the best affordable predictors.

    Of all selections within `budget` and `max_features` it takes the one with the lowest

        sum_m w_m loss(y_m (x_m' theta + theta_0))  +  ridge/2 ||theta||^2,

    and says by `gap_` how far from the best it can be at most. The loss is a *sum* over rows, not
    a mean, so a given ridge matters less the more rows there are; without limits the model is
    that of scikit-learn's `LogisticRegression(C=1 / ridge)`, or with the hinge that of
    `SVC(kernel="linear", C=1 / ridge)`. The penalty depends on the units of the columns: bring
    them to a common scale first.

    Parameters
    ----------
    max_features : int, optional
        Upper limit on the number of predictors.
    budget : float, optional
        Upper limit on the total cost. Without `costs` every predictor costs 1.
    costs : array-like of shape (n_predictors,) or mapping from name to cost, optional
        Price of each predictor, at least 0.
    fees : sequence of (amount, members), optional
        Prices paid once if any member is bought, members being names or indices.
    groups : sequence of shape (n_columns,), optional
        The predictor each column belongs to: integers 0 to n_predictors - 1, or names.
        By default every column is a predictor.
    include, exclude : sequence of names or indices
        Predictors that must, or must not, be bought.
    ridge : float, optional
        Strength of the L2 penalty, greater than 0, which spares the intercept; None chooses one of
        `ridges` by cross-validation.
    class_weight : dict or "balanced", optional
        Factors on the weights of the rows of each class, by label; "balanced" gives both classes
        the same total weight.
    backend : str
        The name of a backend, as `shortlist.available_backends` lists them.
    gap : float
        The relative gap between objective and lower bound at which a model counts as optimal.
    time_limit : float, optional
        Seconds after which the search stops with the best model so far, and a warning.
    node_limit : int, optional
        Number of nodes after which it does.
    threads : int, optional
        Number of threads for a search that has proved to be long, by default one per core, and one
        in a worker process of joblib; it changes no result.
    max_coefficient : float, array-like of shape (n_predictors,) or mapping from name, optional
        The largest magnitude of a coefficient, for all predictors or one each; None is no limit.
    signs : str, sequence of shape (n_predictors,) or mapping from name, optional
        The sign of the coefficients, "positive", "negative" or None, for all predictors or one
        each. A coefficient may always be 0.
    ridges : sequence of float
        Strengths to choose from if `ridge` is None. Every fold solves the problem for each, from
        the strongest to the weakest. The one with the best mean score wins, the strongest if
        several do. The loss is a sum over rows, so the same ridge matters a little more in a fold.
    cv : int, cross-validation splitter or iterable of (train, test) indices
        The folds: a number means stratified folds in the order of the rows.
    scoring : str, callable or None
        What the folds maximise, as in scikit-learn; None is the accuracy. "auto" is "neg_log_loss",
        which sees discrimination and calibration, or "roc_auc" for a loss without probabilities.
        With sample weights a callable must accept `sample_weight`.
    n_jobs : int, optional
        Number of processes over the folds, as in scikit-learn; it changes no result.
    loss : {"logistic", "squared_hinge", "hinge"}
        The loss per row: log(1 + exp(-t)), max(0, 1 - t)^2 or max(0, 1 - t). Only the first has
        probabilities, and so `predict_proba`; `sklearn.calibration.CalibratedClassifierCV` makes
        some of the others' scores. The hinge goes without limits on coefficients.

    Attributes
    ----------
    support_ : ndarray of int
        Sorted indices of the predictors bought.
    selected_features_ : list of str
        Their names: those of a DataFrame's columns or of `groups`, else `x0`, `x1`, ...
    cost_ : float
        Their cost, fees included.
    coef_ : ndarray of shape (1, n_columns)
        Coefficients in the units of X, zero outside the support.
    intercept_ : ndarray of shape (1,)
        The intercept.
    objective_ : float
        The penalised loss of this model.
    lower_bound_ : float
        No affordable model has a lower one.
    gap_ : float
        Relative distance of the two.
    status_ : Status
        Why the search ended.
    solution_ : Solution
        The solution, with nodes and seconds.
    certificate_ : Certificate or None
        The proof of `lower_bound_`, for `shortlist.verify` with the problem that `problem` makes
        from the same data; None with a backend that proves nothing.
    ridge_ : float
        The ridge, given or chosen.
    cv_results_ : dict of ndarray or None
        If the ridge was chosen, one entry per ridge, from the strongest to the weakest: `ridge`,
        `split0_test_score` and so on, `mean_test_score`, `std_test_score`, `rank_test_score`, and
        `max_gap`, the largest gap of a fold. Made for `pandas.DataFrame`.
    best_score_ : float or None
        If the ridge was chosen, its mean score over the folds.
    classes_ : ndarray of shape (2,)
        The two labels; the second counts as positive.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_columns,)
        Their names, if X is a DataFrame whose column names are all strings.

    Examples
    --------
    >>> import shortlist as sl
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> X = MinMaxScaler().set_output(transform="pandas").fit_transform(X.iloc[:, :10])
    >>> model = sl.BestSubsetClassifier(max_features=3).fit(X, y)
    >>> model.selected_features_
    ['mean texture', 'mean area', 'mean concave points']
    >>> model.gap_ <= 1e-6
    True

    With a price of 1 each, and a fee of 3 for a device that measures concavity:

    >>> fees = [(3.0, ["mean concavity", "mean concave points"])]
    >>> model = sl.BestSubsetClassifier(budget=3, fees=fees).fit(X, y)
    >>> model.selected_features_, model.cost_
    (['mean texture', 'mean perimeter', 'mean smoothness'], 3.0)

    With a ridge chosen by cross-validation:

    >>> model = sl.BestSubsetClassifier(max_features=2, ridge=None).fit(X, y)
    >>> model.ridge_, model.cv_results_["mean_test_score"].round(3).tolist()
    (0.02, [-0.219, -0.213, -0.24])

    A support vector machine:

    >>> model = sl.BestSubsetClassifier(max_features=2, ridge=0.1, loss="hinge").fit(X, y)
    >>> model.selected_features_, hasattr(model, "predict_proba")
    (['mean area', 'mean concave points'], False)
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
        ridge: float | None = 0.02,
        class_weight: Mapping[Any, float] | str | None = None,
        backend: str = "native",
        gap: float = 1e-6,
        time_limit: float | None = None,
        node_limit: int | None = None,
        max_coefficient: MaxCoefficient = None,
        signs: Signs = None,
        threads: int | None = None,
        ridges: Sequence[float] = (0.1, 0.02, 0.004),
        cv: Any = 3,
        scoring: str | Callable[..., float] | None = "auto",
        n_jobs: int | None = None,
        loss: str = "logistic",
    ) -> None:
        self.max_features = max_features
        self.budget = budget
        self.costs = costs
        self.fees = fees
        self.groups = groups
        self.include = include
        self.exclude = exclude
        self.ridge = ridge
        self.class_weight = class_weight
        self.backend = backend
        self.gap = gap
        self.time_limit = time_limit
        self.node_limit = node_limit
        self.max_coefficient = max_coefficient
        self.signs = signs
        self.threads = threads
        self.ridges = ridges
        self.cv = cv
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.loss = loss

    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> BestSubsetClassifier:
        """Choose the ridge, unless it is given, and find the best affordable predictors.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_columns)
            Features; the names of a DataFrame's columns can be used in the parameters. A sparse
            matrix is made dense.
        y : array-like of shape (n_rows,)
            Labels of any two values.
        sample_weight : array-like of shape (n_rows,), optional
            Weights, at least 0; a weight of 2 counts as two equal rows.

        Returns
        -------
        self : BestSubsetClassifier
            The fitted estimator.
        """
        features, labels = _check_inputs(self, X, y)
        search = None
        ridge = self.ridge
        if ridge is None:
            search = self._search_ridge(features, labels, sample_weight)
            ridge = search.ridge
        problem = self._problem(features, labels, sample_weight, ridge)
        solution = self._solve(problem, self.time_limit).detached()
        self._set_fitted(X, problem, solution, search)
        warn_of_limits(solution, search)
        for text in (*_about_scales(problem), *_about_classes(problem), *_about_ridge(search)):
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
            Labels, as for `fit`.
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
        return self._problem(*_check_inputs(self, X, y), sample_weight, ridge)

    def decision_function(self, X: Any) -> Float:
        """Return the score of each row: with the logistic loss, the log-odds of the second class.

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
        scores: Float = X @ self.coef_[0] + self.intercept_[0]
        return scores

    def _problem(
        self, X: Any, y: NDArray[Any], sample_weight: ArrayLike | None, ridge: Any
    ) -> SubsetProblem:
        """Return the problem for checked inputs."""
        return SubsetProblem(
            X,
            y,
            ridge=ridge,
            groups=self.groups,
            sample_weight=_weigh_classes(self.class_weight, y, sample_weight),
            loss=self.loss,
            **given_limits(self),
        )

    def _search_ridge(
        self, X: Any, y: NDArray[Any], sample_weight: ArrayLike | None
    ) -> RidgeSearch:
        ridges = check_ridges(self.ridges)
        scoring = self.scoring
        if scoring == "auto":
            scoring = "neg_log_loss" if loss_of(self.loss).gives_risks else "roc_auc"
        scorer = check_scoring(self, scoring=scoring)

        def score_fold(train: Int, test: Int) -> list[FoldScore]:
            X_train, X_test = _safe_indexing(X, train), _safe_indexing(X, test)
            weights_train, weighted = None, {}  # not every scorer knows weights
            if sample_weight is not None:
                weights = np.asarray(sample_weight)
                weights_train, weighted = weights[train], {"sample_weight": weights[test]}
            problem = self._problem(X_train, y[train], weights_train, ridges[0])

            def fit(
                ridge: float, warm_start: tuple[int, ...] | None
            ) -> tuple[BestSubsetClassifier, Solution]:
                at_ridge = problem.with_ridge(ridge)
                model, solution = clone(self), self._solve(at_ridge, self.time_limit, warm_start)
                model._set_fitted(X_train, at_ridge, solution)
                return model, solution

            def score(model: BestSubsetClassifier) -> float:
                if scoring == "neg_log_loss" and len(np.unique(y[test])) < 2:
                    return nan  # scikit-learn raises
                return float(scorer(model, X_test, y[test], **weighted))

            return score_ridges(ridges, fit, score)

        return search_ridges(ridges, make_folds(self.cv, X, y), score_fold, self.n_jobs)

    def _set_fitted(
        self, X: Any, problem: SubsetProblem, solution: Solution, search: RidgeSearch | None = None
    ) -> None:
        """Set the attributes of a fit, which keep no data; nothing can fail any more."""
        validate_data(self, X, skip_check_array=True)  # n_features_in_ and feature_names_in_
        self._set_solution(problem, solution)
        self.coef_ = solution.coef[np.newaxis, :].copy()
        self.intercept_ = np.array([solution.intercept])
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


def _check_inputs(estimator: BestSubsetClassifier, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
    """Return the features, a DataFrame (for its names) or a dense array, and the labels.

    No attribute of the estimator is set, so that a fit that fails later leaves it as it was.
    """
    try:
        table, labels = check_X_y(
            X, y, accept_sparse="csr", dtype=np.float64, y_numeric=False, estimator=estimator
        )
    except ValueError as error:
        raise _with_column(X, error) from error
    if type_of_target(labels, input_name="y") != "binary":
        check_classification_targets(labels)  # refuses continuous numbers
        raise InvalidProblemError(
            f"Only binary classification is supported, but y has {len(np.unique(labels))} classes; "
            "select or merge classes."
        )
    if hasattr(X, "columns"):
        return X, labels
    return table.toarray() if hasattr(table, "toarray") else table, labels


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


def _weigh_classes(
    class_weight: Mapping[Any, float] | str | None,
    labels: NDArray[Any],
    sample_weight: ArrayLike | None,
) -> ArrayLike | None:
    """Return the weights of the rows, times those of their classes."""
    if class_weight is None:
        return sample_weight
    weights: Float = _check_sample_weight(sample_weight, labels, dtype=np.float64)
    classes = np.unique(labels).tolist()
    if isinstance(class_weight, Mapping):
        factors = dict.fromkeys(classes, 1.0)
        for label, factor in class_weight.items():
            if label not in factors:
                raise InvalidProblemError(
                    f"class_weight: there is no class {label!r} in y; use {classes!r}."
                )
            if not isinstance(factor, Real) or not 0 < factor < inf:
                raise InvalidProblemError(
                    f"class_weight: the weight of {label!r} must be a number greater than 0, "
                    f"not {factor!r}."
                )
            factors[label] = float(factor)
    elif class_weight == "balanced":
        totals = {label: weights[labels == label].sum() for label in classes}
        # A class without weight is an error, but the problem's to report.
        factors = {
            label: weights.sum() / (len(classes) * total) if total > 0 else 1.0
            for label, total in totals.items()
        }
    else:
        raise InvalidProblemError(
            f"class_weight: must be 'balanced', a dict or None, not {class_weight!r}."
        )
    row_factors: Float = np.array([factors[label] for label in labels.tolist()])
    return weights * row_factors


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


def _about_classes(problem: SubsetProblem) -> Iterator[str]:
    first, second = (str(label) for label in problem.classes)
    if obvious_event([first, second]) == first:
        yield (
            f"y: {second!r} comes last in sorted order, so predict_proba has its probability, not "
            f"that of {first!r}, in the second column."
        )


def _about_ridge(search: RidgeSearch | None) -> Iterator[str]:
    if search is not None and len(search.ridges) > 1:
        weakest, strongest = min(search.ridges), max(search.ridges)
        if search.ridge in (weakest, strongest):
            end = "weakest" if search.ridge == weakest else "strongest"
            yield (
                f"ridge: {search.ridge:g} is the {end} of those tried, so a {end[:-3]}er one may "
                "be better; extend ridges."
            )
