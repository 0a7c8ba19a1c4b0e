"""The scikit-learn classifier that buys the best predictors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight

from ..arguments import Float
from ..errors import InvalidProblemError
from ..problem import SubsetProblem
from ..response import obvious_event
from ..solution import Solution
from .best_subset import BestSubsetEstimator
from .selection import LogOddsClassifier


@dataclass(eq=False, repr=False)
class BestSubsetClassifier(BestSubsetEstimator, LogOddsClassifier):
    """Logistic regression or support vector machine on the best affordable predictors.

    Of all selections within `budget` and `max_features` it takes the one with the lowest

        sum_m w_m loss(y_m (x_m' theta + theta_0))  +  ridge/2 ||theta||^2,

    and says by `gap_` how far from the best it can be at most. The loss is a *sum* over rows, not
    a mean, so a given ridge matters less the more rows there are; without limits the model is
    scikit-learn's `LogisticRegression(C=1 / ridge)`, or with the hinge
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
        The largest magnitude of a coefficient, for all predictors or one each; None: unlimited.
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
        Their names: from a DataFrame's columns or `groups`, else `x0`, `x1`, ...
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

    ridge: float | None = 0.02
    class_weight: Mapping[Any, float] | str | None = None
    ridges: Sequence[float] = (0.1, 0.02, 0.004)
    loss: str = "logistic"

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
        return self._linear_predictor(X)

    def _checked(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        X, labels = super()._checked(X, y)
        if type_of_target(labels, input_name="y") != "binary":
            check_classification_targets(labels)  # refuses continuous numbers
            raise InvalidProblemError(
                "Only binary classification is supported, but y has "
                f"{len(np.unique(labels))} classes; select or merge classes."
            )
        return X, labels

    def _weighted(self, y: NDArray[Any], sample_weight: ArrayLike | None) -> ArrayLike | None:
        return _weigh_classes(self.class_weight, y, sample_weight)

    def _warnings(self, problem: SubsetProblem) -> Iterator[str]:
        yield from super()._warnings(problem)
        first, second = (str(label) for label in problem.response.classes)
        if obvious_event([first, second]) == first:
            yield (
                f"y: {second!r} comes last in sorted order, so predict_proba has its probability, "
                f"not that of {first!r}, in the second column."
            )

    def _set_solution(self, problem: SubsetProblem, solution: Solution) -> None:
        super()._set_solution(problem, solution)
        # scikit-learn's classifiers have a row of coefficients per class.
        self.coef_ = solution.coef[np.newaxis].copy()
        self.intercept_ = np.array([solution.intercept])


def _weigh_classes(
    class_weight: Mapping[Any, float] | str | None,
    labels: NDArray[Any],
    sample_weight: ArrayLike | None,
) -> ArrayLike | None:
    """Return the weights of the rows, times the weights of their classes."""
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
