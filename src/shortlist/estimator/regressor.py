"""The scikit-learn regressor that buys the best predictors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from ..arguments import Float
from ..errors import InvalidProblemError
from ..families import FAMILIES, family_of
from ..problem import SubsetProblem
from ..solution import Solution
from .best_subset import BestSubsetEstimator

_LOSSES = [name for name, family in FAMILIES.items() if family.outcome in ("numbers", "counts")]


@dataclass(eq=False, repr=False)
class BestSubsetRegressor(RegressorMixin, BestSubsetEstimator):  # type: ignore[misc]
    """Least squares or Poisson regression on the best affordable predictors.

    Of all selections within `budget` and `max_features` it takes the one with the lowest

        sum_m w_m loss(y_m, x_m' theta + theta_0)  +  ridge/2 ||theta||^2,

    and says by `gap_` how far from the best it can be at most. The loss is a *sum* over rows, so a
    given ridge matters less the more rows there are; without limits the model is that of
    scikit-learn's `Ridge(alpha=ridge)`, or with the Poisson loss of
    `PoissonRegressor(alpha=ridge / n_rows)`. The penalty depends on the units of the columns: bring
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
        The folds: a number means folds in the order of the rows.
    scoring : str, callable or None
        What the folds maximise, as in scikit-learn; None is R². "auto" is what belongs to the loss,
        "neg_mean_squared_error" or "neg_mean_poisson_deviance".
    n_jobs : int, optional
        Number of processes over the folds, as in scikit-learn; it changes no result.
    loss : {"squared_error", "poisson"}
        Half the squared error, or half the Poisson deviance of counts.

    Attributes
    ----------
    support_ : ndarray of int
        Sorted indices of the predictors bought.
    selected_features_ : list of str
        Their names: from a DataFrame's columns or `groups`, else `x0`, `x1`, ...
    cost_ : float
        Their cost, fees included.
    coef_ : ndarray of shape (n_columns,)
        Coefficients in the units of X, zero outside the support.
    intercept_ : float
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
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_columns,)
        Their names, if X is a DataFrame whose column names are all strings.

    Examples
    --------
    >>> import shortlist as sl
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> X = (X - X.mean()) / X.std()
    >>> model = sl.BestSubsetRegressor(max_features=3).fit(X, y)
    >>> model.selected_features_, round(model.score(X, y), 3)
    (['bmi', 'bp', 's5'], 0.48)
    >>> model.gap_ <= 1e-6
    True

    Counts, within a budget:

    >>> counts = (y / 25).round()
    >>> prices = dict.fromkeys(X.columns, 5) | {"age": 1, "sex": 1, "bmi": 1, "bp": 2}
    >>> model = sl.BestSubsetRegressor(budget=7, costs=prices, loss="poisson").fit(X, counts)
    >>> model.selected_features_, bool((model.predict(X) > 0).all())
    (['sex', 'bmi', 's5'], True)
    """

    ridge: float | None = 1.0
    ridges: Sequence[float] = (100.0, 10.0, 1.0, 0.1)
    loss: str = "squared_error"

    def predict(self, X: Any) -> Float:
        """Return the expected outcome of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_columns)
            All columns, in the order of `fit`; only those bought are used.

        Returns
        -------
        ndarray of shape (n_rows,)
            Numbers, or the means of counts.
        """
        return family_of(self.loss).mean_of(self._linear_predictor(X))

    def _checked(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        if self.loss not in _LOSSES:
            raise InvalidProblemError(
                f"loss: must be one of {', '.join(_LOSSES)}, not {self.loss!r}."
            )
        return super()._checked(X, y)

    def _set_solution(self, problem: SubsetProblem, solution: Solution) -> None:
        super()._set_solution(problem, solution)
        self.coef_, self.intercept_ = solution.coef.copy(), solution.intercept
