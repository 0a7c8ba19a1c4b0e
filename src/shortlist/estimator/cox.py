"""The estimator of survival that buys the best predictors: its functions of time, and its score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import nan
from numbers import Integral
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import check_cv
from sklearn.utils import check_consistent_length

from ..arguments import Booleans, Float, Int, floats
from ..cross_validation import Fold
from ..errors import InvalidProblemError
from ..event_times import PartialLikelihood, Survival, survival, times_and_events
from ..problem import SubsetProblem
from ..solution import Solution
from .best_subset import BestSubsetEstimator


@dataclass(frozen=True, eq=False)
class StepFunction:
    """A step function, called like scikit-survival's: each value holds until the next time.

    Attributes
    ----------
    x : ndarray of shape (n_times,)
        Times, ascending.
    y : ndarray of shape (n_times,)
        The value from each time on.
    start : float
        The value from 0 to the first time.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.estimator import StepFunction
    >>> survival = StepFunction(np.array([1.0, 3.0]), np.array([0.8, 0.5]), start=1.0)
    >>> survival(2), survival([0.5, 3.0]).tolist()
    (0.8, [1.0, 0.5])
    """

    x: Float
    y: Float
    start: float

    @property
    def domain(self) -> tuple[float, float]:
        """The times that the function knows: from 0 to the last one."""
        return 0.0, float(self.x[-1])

    def __call__(self, t: ArrayLike) -> Any:
        """Return the value at a time, or at each of several.

        Parameters
        ----------
        t : float or array-like
            Times from 0 to the last of `x`: nothing is known beyond.

        Returns
        -------
        float or ndarray
            One value per time.
        """
        times = floats("t", t)
        first, last = self.domain
        known = (times >= first) & (times <= last)
        if not known.all():
            raise InvalidProblemError(
                f"t: {times[~known][0]:g} is not from 0 to {last:g}, the last time of the fit; "
                "ask within."
            )
        values = np.append(self.start, self.y)[np.searchsorted(self.x, times, side="right")]
        return float(values) if times.ndim == 0 else values


@dataclass(eq=False, repr=False)
class BestSubsetCox(BestSubsetEstimator):
    """Cox regression of times to an event on the best affordable predictors.

    Of all selections within `budget` and `max_features` it takes the one with the lowest

        -log partial likelihood(theta)  +  ridge/2 ||theta||^2,

    and says by `gap_` how far from the best it can be at most. The likelihood is a *sum* over
    events, so a given ridge matters less the more events there are; without limits the model is
    scikit-survival's `CoxPHSurvivalAnalysis(alpha=ridge, ties=ties)`, or of lifelines'
    `CoxPHFitter(penalizer=ridge / n_rows)` for columns of standard deviation 1. The penalty depends
    on the units of the columns: bring them to a common scale first.

    It has the interface of scikit-survival and works with its scorers, and with pipelines and
    searches of scikit-learn. Strata are left to `SubsetProblem`, as each has a baseline of its own:
    a prediction would need the stratum of a row beside its columns, which neither interface has.

    Parameters
    ----------
    max_features : int, optional
        Upper limit on the number of predictors.
    budget : float, optional
        Upper limit on the total cost. Without `costs` every predictor costs 1.
    costs : array-like of shape (n_predictors,) or mapping from name, optional
        Price of each predictor, at least 0.
    fees : sequence of (amount, members), optional
        Prices paid once if any member is bought, members being names or indices.
    groups : sequence of shape (n_columns,), optional
        The predictor each column belongs to: integers 0 to n_predictors - 1, or names.
        By default every column is a predictor.
    include, exclude : sequence of names or indices
        Predictors that must, or must not, be bought.
    ridge : float, optional
        Strength of the L2 penalty, greater than 0; None chooses one of `ridges` by
        cross-validation.
    backend : str
        The name of a backend, as `shortlist.available_backends` lists them.
    gap : float
        The gap between objective and lower bound at which a model counts as optimal, relative to
        the weight of the events.
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
        several do. The likelihood is a sum over events, so the same ridge matters a little more in
        a fold.
    cv : int, cross-validation splitter or iterable of (train, test) indices
        The folds. For a number, rows with an event are dealt out to the folds in the order of their
        times, and then the other rows, so that the order of the rows does not matter. A splitter is
        told who has the event as its y: `StratifiedKFold` has them in proportion.
    scoring : str, callable or None
        What the folds maximise. "auto" is the cross-validated partial likelihood of Verweij and van
        Houwelingen (1993): the log partial likelihood of all rows of a fold less the one of its
        training rows. A test row is so compared with all who are at risk beside it, where the
        partial likelihood of the test rows alone has small risk sets, and none for the event of a
        single row. None is the concordance; a callable has the arguments (model, X, y) and, with
        sample weights, `sample_weight`.
    n_jobs : int, optional
        Number of processes over the folds, as in scikit-learn; it changes no result.
    ties : {"efron", "breslow"}
        How the likelihood treats events at the same time.

    Attributes
    ----------
    support_ : ndarray of int
        Sorted indices of the predictors bought.
    selected_features_ : list of str
        Their names: from a DataFrame's columns or `groups`, else `x0`, `x1`, ...
    cost_ : float
        Their cost, fees included.
    coef_ : ndarray of shape (n_columns,)
        Logarithms of hazard ratios per unit of the columns of X, zero outside the support.
    unique_times_ : ndarray of shape (n_times,)
        The times of y, of rows of weight above 0.
    baseline_cumulative_hazard_, baseline_survival_ : StepFunction
        For a row whose columns are all 0, by Breslow's estimator.
    objective_ : float
        The negative log partial likelihood of this model, plus the penalty.
    lower_bound_ : float
        No affordable model has a lower one.
    gap_ : float
        Distance of the two, relative to the weight of the events.
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
    >>> import numpy as np
    >>> import shortlist as sl
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 6))
    >>> death = rng.exponential(np.exp(-X[:, 1] - X[:, 4]))
    >>> end = rng.exponential(2.0, size=200)  # of observation
    >>> y = sl.survival(np.minimum(death, end), death <= end)
    >>> model = sl.BestSubsetCox(max_features=2).fit(X, y)
    >>> model.selected_features_, model.gap_ <= 1e-6
    (['x1', 'x4'], True)
    >>> round(model.score(X, y), 2)  # Harrell's concordance
    0.78

    The chance to be alive at time 0.5, for three rows:

    >>> [round(alive(0.5), 2) for alive in model.predict_survival_function(X[:3])]
    [0.74, 0.46, 0.76]

    Within a budget, and with a ridge chosen by cross-validation:

    >>> model = sl.BestSubsetCox(budget=4, costs=[1, 3, 1, 1, 2, 1], ridge=None).fit(X, y)
    >>> model.selected_features_, model.ridge_
    (['x0', 'x1'], 10.0)
    """

    ridge: float | None = 1.0
    ridges: Sequence[float] = (100.0, 10.0, 1.0, 0.1)
    loss: str = field(default="cox", init=False)
    ties: str = "efron"

    def predict(self, X: Any) -> Float:
        """Return the linear predictor of each row: the larger, the higher the risk.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_columns)
            All columns, in the order of `fit`; only those bought are used.

        Returns
        -------
        ndarray of shape (n_rows,)
            Logarithms of hazard ratios, compared with a row whose columns are all 0.
        """
        return self._linear_predictor(X)

    def predict_cumulative_hazard_function(
        self, X: Any, return_array: bool = False
    ) -> NDArray[Any]:
        """Return the cumulative hazard of each row over time.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_columns)
            All columns, as for `predict`.
        return_array : bool
            Whether to return the values at `unique_times_` instead of functions.

        Returns
        -------
        ndarray of StepFunction, shape (n_rows,), or of float, shape (n_rows, n_times)
            The cumulative hazards, which are 0 before the first time.
        """
        hazards = self._cumulative_hazards(self.predict(X))
        return hazards if return_array else self._functions(hazards, 0.0)

    def predict_survival_function(self, X: Any, return_array: bool = False) -> NDArray[Any]:
        """Return the probability of each row to be without the event over time.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_columns)
            All columns, as for `predict`.
        return_array : bool
            Whether to return the values at `unique_times_` instead of functions.

        Returns
        -------
        ndarray of StepFunction, shape (n_rows,), or of float, shape (n_rows, n_times)
            The probabilities, which are 1 before the first time.
        """
        survivals = np.exp(-self._cumulative_hazards(self.predict(X)))
        return survivals if return_array else self._functions(survivals, 1.0)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return Harrell's concordance of the risks with the times.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_columns)
            All columns, as for `predict`.
        y : array-like of shape (n_rows,) or (n_rows, 2)
            Times and events, as for `fit`.
        sample_weight : array-like of shape (n_rows,), optional
            Weights; a pair of rows counts their product.

        Returns
        -------
        float
            The share of pairs of rows in which the one with the earlier event has the higher risk,
            equal risks counting a half; NaN if no two rows can be compared.
        """
        risks = self.predict(X)
        times, events = times_and_events(y)
        given = np.ones(len(times)) if sample_weight is None else sample_weight
        weights = floats("sample_weight", given)
        check_consistent_length(risks, times, weights)
        return harrell_concordance(times, events, risks, weights)

    def _checked(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        times, events = times_and_events(y)
        X, times = super()._checked(X, times)
        return X, survival(times, events)

    def _loss_parameters(self) -> dict[str, Any]:
        return {"loss": self.loss, "ties": self.ties}

    def _folds(self, X: Any, y: NDArray[Any]) -> list[Fold]:
        if not isinstance(self.cv, Integral):
            return list(check_cv(self.cv).split(X, y["event"]))
        n_folds, n_events = int(self.cv), np.count_nonzero(y["event"])
        if not 2 <= n_folds <= n_events:
            raise InvalidProblemError(
                f"cv: must be at least 2 and at most the number of events, {n_events} "
                f"(n_samples={len(y)}), not {n_folds}; use other folds or give a ridge."
            )
        dealt = np.empty(len(y), dtype=np.int64)
        dealt[np.lexsort((y["time"], ~y["event"]))] = np.arange(len(y)) % n_folds
        return [(np.flatnonzero(dealt != k), np.flatnonzero(dealt == k)) for k in range(n_folds)]

    def _score_of_fold(
        self, X: Any, y: NDArray[Any], weights: NDArray[Any] | None
    ) -> Callable[[Any, Int, Int], float]:
        if self.scoring != "auto":
            return super()._score_of_fold(X, y, weights)
        of_all = self._problem(X, y, weights, 1.0)

        def score(model: BestSubsetCox, train: Int, test: Int) -> float:
            is_used = np.zeros(len(y))
            is_used[train] = is_used[test] = 1.0
            both = of_all.with_weights(of_all.weights * is_used).with_ridge(model.ridge_)
            # Both objectives have the same penalty.
            return float(model.objective_ - both.objective(model.coef_, 0.0))

        return score

    def _set_solution(self, problem: SubsetProblem, solution: Solution) -> None:
        super()._set_solution(problem, solution)
        self.coef_ = solution.coef.copy()
        response = cast(Survival, problem.response)
        rows = response.at_risk(problem.weights)
        likelihood = PartialLikelihood(response.rows(rows), problem.weights[rows])
        u = problem.decision_function(solution.coef, 0.0)
        times, log_hazard = likelihood.log_cumulative_hazard(u[rows])
        self.unique_times_ = np.unique(response.values[problem.weights > 0])
        known = np.searchsorted(times, self.unique_times_, side="right")
        # A logarithm, as the hazard at 0 may be beyond a double where the hazards of the rows are
        # not.
        self._log_hazard = np.append(-np.inf, log_hazard)[known]
        hazard = self._cumulative_hazards(np.zeros(1))
        self.baseline_cumulative_hazard_ = self._functions(hazard, 0.0)[0]
        self.baseline_survival_ = self._functions(np.exp(-hazard), 1.0)[0]

    def _cumulative_hazards(self, u: Float) -> Float:
        """Return the hazard of each row at each of the times; infinite where it overflows."""
        with np.errstate(over="ignore"):
            return np.exp(self._log_hazard + u[:, np.newaxis])

    def _functions(self, values: Float, start: float) -> NDArray[Any]:
        """Return a step function for each row of values."""
        functions = np.empty(len(values), dtype=object)
        functions[:] = [StepFunction(self.unique_times_, row, start) for row in values]
        return functions

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def harrell_concordance(times: Float, events: Booleans, risks: Float, weights: Float) -> float:
    """Return Harrell's concordance: the share of pairs whose risks are in the order of the times.

    Two rows make a pair if one has the event and the other is longer at risk: a row that is
    censored at the time of an event is. Equal risks count a half, and a pair the product of its
    weights. It takes O(n log(n)^2) operations.

    Parameters
    ----------
    times, risks, weights : ndarray of shape (n_rows,)
        Times, risks in any unit, and weights of at least 0.
    events : ndarray of bool, shape (n_rows,)
        Whether the event was observed.

    Returns
    -------
    float
        From 0 to 1; NaN if there is no pair.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.estimator.cox import harrell_concordance
    >>> times, events = np.array([1.0, 2.0, 3.0]), np.array([True, True, False])
    >>> round(harrell_concordance(times, events, np.array([3.0, 1.0, 2.0]), np.ones(3)), 3)
    0.667
    """
    order = np.lexsort((~events, times))  # at one time the events come first
    times, events, weights = times[order], events[order], weights[order]
    rank = np.unique(risks[order], return_inverse=True)[1]
    of_event = times[events]
    n_alike = np.searchsorted(of_event, of_event, "right") - np.searchsorted(of_event, of_event)
    first = np.searchsorted(times, of_event) + n_alike  # who is longer at risk
    longer = np.append(np.cumsum(weights[::-1])[::-1], 0.0)[first]
    pairs = weights[events] @ longer
    concordant = weights[events] @ _lower(rank, weights, first, rank[events])
    return float(concordant / pairs) if pairs > 0 else nan


def _lower(rank: Int, weights: Float, first: Int, below: Int) -> Float:
    """Return the weight of rows from `first` on with a rank below `below`, and half of the equal.

    Rows from a place on are blocks of 1, 2, 4, ... rows, at most one of each size, each of which
    begins at a multiple of its size. Where blocks are sorted by rank, a bisection finds a sum.
    """
    n_rows = len(rank)
    sums = np.zeros(len(first))
    by_rank = np.argsort(rank, kind="stable")
    for bit in range(n_rows.bit_length()):
        order = by_rank[np.argsort(by_rank >> bit, kind="stable")]
        keys = (order >> bit) * n_rows + rank[order]
        cumulated = np.append(0.0, np.cumsum(weights[order]))
        is_one = (first >> bit) % 2 == 1
        block = first[is_one] >> bit
        key = block * n_rows + below[is_one]
        least, most = np.searchsorted(keys, key), np.searchsorted(keys, key, "right")
        before = cumulated[np.minimum(block << bit, n_rows)]
        sums[is_one] += 0.5 * (cumulated[least] + cumulated[most]) - before
        first = first + (is_one.astype(np.int64) << bit)
    return sums
