"""The estimator that buys the best predictors for a given ridge."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from ..backends import solve, uninterrupted
from ..coefficients import MaxCoefficient, Signs
from ..problem import Predictor, SubsetProblem
from ..result import Solution, Status
from .inputs import check_inputs, weigh_classes
from .selected_model import SelectedModel


class BestSubsetClassifier(SelectedModel):
    """Logistic regression on the best affordable predictors.

    Of all selections within `budget` and `max_features` it takes the one with the lowest

        sum_m w_m log(1 + exp(-y_m (x_m' theta + theta_0)))  +  ridge/2 ||theta||^2,

    and says by `gap_` how far from the best it can be at most. The loss is a *sum* over rows, not
    a mean, so a given ridge matters less the more rows there are; without limits the model is
    that of scikit-learn's `LogisticRegression(C=1 / ridge)`. The penalty depends on the units of
    the columns: bring them to a common scale first.

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
    ridge : float
        Strength of the L2 penalty, greater than 0. The intercept is not penalised.
    class_weight : dict or "balanced", optional
        Factors on the weights of the rows of each class, by label; "balanced" gives both classes
        the same total weight.
    backend : str
        Who solves it: a name that `shortlist.available_backends` lists.
    gap : float
        The relative gap between objective and lower bound at which a model counts as optimal.
    time_limit : float, optional
        Seconds after which the search stops with the best model so far, and a warning.
    node_limit : int, optional
        Number of nodes after which it does.
    threads : int, optional
        Number of threads for a search that has shown to be long, by default one per core, and one
        in a worker process of joblib; it changes no result.
    max_coefficient : float, array-like of shape (n_predictors,) or mapping from name, optional
        The largest magnitude of a coefficient, for all predictors or one each; None is no limit.
    signs : str, sequence of shape (n_predictors,) or mapping from name, optional
        The sign of the coefficients, "positive", "negative" or None, for all predictors or one
        each. A coefficient may always be 0.

    Attributes
    ----------
    support_ : ndarray of int
        Sorted indices of the predictors bought.
    selected_features_ : list of str
        Their names: those of a DataFrame's columns or of `groups`, else `x0`, `x1`, ...
    cost_ : float
        What they cost, fees included.
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
        Everything the search returned.
    certificate_ : Certificate or None
        The proof of `lower_bound_`, for `shortlist.verify` with the problem that `problem` makes
        from the same data; None with a backend that proves nothing.
    classes_ : ndarray of shape (2,)
        The two labels; the second counts as positive.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_columns,)
        Their names, if X is a DataFrame whose column names are all strings.

    See Also
    --------
    BestSubsetClassifierCV : Chooses the ridge by cross-validation.

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
        ridge: float = 0.02,
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
        self.ridge = ridge
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
    ) -> BestSubsetClassifier:
        """Find the best affordable predictors and their coefficients.

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
        features, labels = check_inputs(self, X, y)
        problem, solution = self._solve(features, labels, sample_weight)
        self._set_fitted(X, problem, solution.detached())
        if is_cut_short(solution):
            warnings.warn(describe_limit(solution), ConvergenceWarning, stacklevel=2)
        return self

    def problem(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> SubsetProblem:
        """Return the problem that `fit` solves for these data.

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
        return self._problem(*check_inputs(self, X, y), sample_weight)

    def _problem(self, X: Any, y: NDArray[Any], sample_weight: ArrayLike | None) -> SubsetProblem:
        """Return the problem for checked inputs."""
        return SubsetProblem(
            X,
            y,
            ridge=self.ridge,
            budget=self.budget,
            costs=self.costs,
            max_features=self.max_features,
            groups=self.groups,
            fees=self.fees,
            include=self.include,
            exclude=self.exclude,
            sample_weight=weigh_classes(self.class_weight, y, sample_weight),
            max_coefficient=self.max_coefficient,
            signs=self.signs,
        )

    def _solve(
        self,
        X: Any,
        y: NDArray[Any],
        sample_weight: ArrayLike | None,
        warm_start: tuple[int, ...] | None = None,
    ) -> tuple[SubsetProblem, Solution]:
        """Solve for checked inputs, from a selection to try first; set nothing."""
        problem = self._problem(X, y, sample_weight)
        solution = solve(
            problem,
            self.backend,
            gap=self.gap,
            time_limit=self.time_limit,
            node_limit=self.node_limit,
            warm_start=warm_start,
            threads=self.threads,
        )
        return problem, uninterrupted(solution)


def is_cut_short(solution: Solution) -> bool:
    """Whether a search that proves ended before its proof; a heuristic does not even try."""
    return solution.status not in (Status.OPTIMAL, Status.HEURISTIC)


def describe_limit(solution: Solution) -> str:
    """Return what to tell the user about a model that is not proven optimal."""
    return (
        f"The search ended with status {solution.status.value!r} and a gap of {solution.gap:.2g}, "
        "so a better selection may exist; raise time_limit, node_limit or gap."
    )
