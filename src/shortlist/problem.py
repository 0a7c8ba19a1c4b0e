"""The problem: which predictors a linear model, such as a logistic regression, should buy.

Rows m have features x_m, outcomes y_m and weights w_m >= 0. Columns are bundled into predictors g,
and z_g says whether predictor g is bought:

    minimise   sum_m w_m loss(y_m, x_m' theta + theta_0)  +  ridge/2 ||theta||^2
    over       theta, theta_0, z in Z,   with theta_n = 0 unless z_{g(n)} = 1
    and        lower_n <= theta_n <= upper_n

The loss, log(1 + exp(-y u)) unless another is chosen, is defined in `families`. The affordable
selections Z and the intervals of the coefficients are defined in `limits`. The intervals contain 0
and are infinite unless limits are given: |theta_n| <= max_coefficient, and a sign. The intercept
theta_0 is never penalised. This module owns the objective: `SubsetProblem.objective` scores the
models of all backends.

Lower bounds come from the other side. For every a with sum_m w_m a_m = 0 that the loss allows, and
the concave H that belongs to it (`families`), a model that buys the predictors S has an objective
of at least

    sum_m w_m H(a_m)  -  sum_{g in S} v_g,    v_g = sum_{n of g} max { s_n t - ridge/2 t^2 },

s_n = -sum_m w_m a_m x_mn being the slope of a column, and the maximum that over
lower_n <= t <= upper_n. Without limits it is s_n^2 / (2 ridge). With |theta_n| <= B it is
B |s_n| - ridge B^2 / 2 where |s_n| > ridge B, and a sign makes it 0 where s_n has the other one.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property
from hashlib import sha256
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .arguments import (
    Float,
    Int,
    Predictor,
    column_names_of,
    features_of,
    in_range,
    positive,
)
from .blocks import row_blocks
from .errors import InvalidProblemError, ShortlistWarning
from .event_times import Survival
from .families import family_of
from .limits import Limits, MaxCoefficient, Signs
from .predictors import Predictors
from .response import Response

__all__ = ["Predictor", "SubsetProblem"]


class Packed:
    """The rows of a problem as a solver has prepared them: shared by all problems that have them.

    A problem made by `with_ridge`, `with_limits` or `with_weights` shares it with its origin, so
    that the rows are prepared once. A copy in another process starts empty.
    """

    def __init__(self) -> None:
        self.table: Any = None  # of the features, outcomes and groups
        self.weighted: tuple[Any, Any] = (None, None)  # the last weights, and the table with them

    def __reduce__(self) -> tuple[type[Packed], tuple[()]]:
        return Packed, ()


class SubsetProblem:
    """Data, prices and limits of one best-subset selection.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_columns)
        Features: an array, a DataFrame (its column names are then used) or a sparse matrix.
        An array of float64 or float32 is not copied: do not change it while the problem is in use.
        The first solve packs it; the packed rows live as long as problems that share them.
        A file that numpy has mapped, as by `np.load(path, mmap_mode="r")`, is read in blocks.
    y : array-like of shape (n_rows,)
        Labels of any two values, of which the larger one (in sorted order) counts as positive;
        numbers for the squared error, and counts for the Poisson loss. For Cox's partial likelihood
        times and event indicators: `sl.survival(time, event)`, which is a structured array as
        scikit-survival takes it, an array of two columns (time, event) or a frame of two columns.
    ridge : float
        Strength of the L2 penalty, greater than 0.
    budget : float, optional
        Upper limit on the total cost. Without `costs` every predictor costs 1. Prices and budget
        are taken as the decimals that were given (0.1 is one tenth), and a selection is affordable
        if its exact total is at most the budget times 1 + 1e-9: 3 times 100 / 3 are within 100.
    costs : array-like of shape (n_predictors,) or mapping from name to cost, optional
        Price of each predictor, at least 0.
    max_features : int, optional
        Upper limit on the number of predictors.
    groups : sequence of shape (n_columns,), optional
        The predictor each column belongs to: integers 0 to n_predictors - 1, or names.
        By default every column is a predictor.
    fees : sequence of (amount, members), optional
        Prices paid once if any member is bought, members being names or indices.
    include, exclude : sequence of names or indices
        Predictors that must, or must not, be bought.
    sample_weight : array-like of shape (n_rows,), optional
        Weights, at least 0.
    max_coefficient : float, array-like of shape (n_predictors,) or mapping from name, optional
        The largest magnitude of a coefficient, greater than 0, in the units of the columns of X:
        one for all predictors or one each. None and infinity are no limit, and neither is a name
        that a mapping lacks.
    signs : str, sequence of shape (n_predictors,) or mapping from name, optional
        The sign of the coefficients, "positive", "negative" or None, for all predictors or one
        each. A coefficient may always be 0.
    loss : {"logistic", "squared_hinge", "hinge", "squared_error", "poisson", "cox"}
        The loss of a row: of a logistic regression, of a support vector machine, half the
        squared error, or half the Poisson deviance; or the negative log partial likelihood of Cox,
        which has no intercept.
    ties : {"efron", "breslow"}
        How Cox's partial likelihood treats events at the same time.
    strata : array-like of shape (n_rows,), optional
        With the loss "cox": rows are at risk within their stratum only.

    Examples
    --------
    >>> import shortlist as sl
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]
    >>> problem = sl.SubsetProblem(X, ["well", "well", "ill", "ill"], ridge=0.1, max_features=1)
    >>> sl.solve(problem).support
    (0,)

    With a coefficient of at most 1 for the first column, and none above 0 for the second:

    >>> limits = {"max_coefficient": [1.0, None], "signs": [None, "negative"]}
    >>> problem = sl.SubsetProblem(X, [0, 0, 1, 1], ridge=0.1, **limits)
    >>> sl.solve(problem, "enumeration").coef.tolist()
    [1.0, 0.0]
    """

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        *,
        ridge: float,
        budget: float | None = None,
        costs: ArrayLike | Mapping[str, float] | None = None,
        max_features: int | None = None,
        groups: Sequence[Predictor] | ArrayLike | None = None,
        fees: Sequence[tuple[float, Sequence[Predictor]]] | None = None,
        include: Sequence[Predictor] = (),
        exclude: Sequence[Predictor] = (),
        sample_weight: ArrayLike | None = None,
        max_coefficient: MaxCoefficient = None,
        signs: Signs = None,
        loss: str = "logistic",
        ties: str = "efron",
        strata: ArrayLike | None = None,
    ) -> None:
        column_names = column_names_of(X)
        self.X = features_of(X)
        n_columns = self.X.shape[1]
        self.family = family_of(loss)
        self.response = self._response_of(y, ties, strata)
        self.weights = self.response.weights(sample_weight)
        #: What gaps, tolerances and other shares of an objective are shares of.
        self.scale = self.family.scale(self.response, self.weights)
        self.ridge = in_range("ridge", positive("ridge", ridge))
        self.predictors = Predictors.of(groups, column_names, n_columns)
        self.has_groups = groups is not None
        self.packed = Packed()
        self.limits = Limits.of(
            self.predictors, max_coefficient, signs, include=include, exclude=exclude,
            max_features=max_features, costs=costs, budget=budget, fees=fees,
        )  # fmt: skip
        if self.limits.has_intervals and not self.family.takes_intervals:
            raise InvalidProblemError(
                f"loss: {self.family.name!r} does not go with max_coefficient and signs; "
                "use 'squared_hinge'."
            )
        self._warn_if_nothing_is_affordable()

    def with_limits(
        self,
        *,
        budget: float | None = None,
        max_features: int | None = None,
        costs: ArrayLike | Mapping[str, float] | None = None,
        include: Sequence[Predictor] | None = None,
        exclude: Sequence[Predictor] | None = None,
    ) -> SubsetProblem:
        """Return the same data with other limits; None leaves a limit as it is.

        X is shared, not copied. A budget of `inf` is none. A budget below every price leads to no
        warning here.

        Examples
        --------
        >>> import shortlist as sl
        >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]
        >>> problem = sl.SubsetProblem(X, [0, 0, 1, 1], ridge=0.1, max_features=2)
        >>> problem.with_limits(max_features=1).limits.max_features
        1
        """
        given = {
            "include": include, "exclude": exclude,
            "max_features": max_features, "costs": costs, "budget": budget,
        }  # fmt: skip
        changes = {name: value for name, value in given.items() if value is not None}
        return self._with(limits=self.limits.changed(self.predictors, **changes))

    def with_ridge(self, ridge: float) -> SubsetProblem:
        """Return the same data and limits with another ridge; X is shared, not copied.

        Examples
        --------
        >>> import shortlist as sl
        >>> problem = sl.SubsetProblem([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], ridge=0.1)
        >>> problem.with_ridge(0.02).ridge
        0.02
        """
        return self._with(ridge=in_range("ridge", positive("ridge", ridge)))

    def with_weights(self, sample_weight: ArrayLike) -> SubsetProblem:
        """Return the same problem with other weights of the rows; X is shared, not copied.

        A resample is such a vector of weights, how often each row was drawn.

        Examples
        --------
        >>> import shortlist as sl
        >>> problem = sl.SubsetProblem([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], ridge=0.1)
        >>> problem.with_weights([0, 1, 2, 1]).weights.tolist()
        [0.0, 1.0, 2.0, 1.0]
        """
        weights = self.response.weights(sample_weight)
        return self._with(weights=weights, scale=self.family.scale(self.response, weights))

    def _response_of(self, y: Any, ties: str, strata: ArrayLike | None) -> Response:
        if self.family.outcome == "times":
            response = Survival.of_times(y, self.n_rows, ties=ties, strata=strata)
            without = response.without_events(np.ones(self.n_rows))
            if without and response.events.any():
                warnings.warn(
                    f"strata: {without} of {response.stratum.max() + 1} have no event; their rows "
                    "say nothing and are left out.",
                    ShortlistWarning,
                    stacklevel=3,
                )
            return response
        if strata is not None or ties != "efron":
            raise InvalidProblemError(
                f"{'ties' if strata is None else 'strata'}: goes with loss='cox' only."
            )
        return Response.of(y, self.n_rows, self.family.outcome)

    def _with(self, **changes: Any) -> SubsetProblem:
        other = copy(self)
        other.__dict__.pop("digest", None)
        other.__dict__.update(changes)
        return other

    def with_rows(self, X: Float, response: Response, weights: Float) -> SubsetProblem:
        """Return the same limits, ridge and loss with other rows.

        They are taken as they are: finite features, and outcomes that differ where weights are
        above 0.
        """
        return self._with(X=X, response=response, weights=weights, packed=Packed())

    @property
    def n_rows(self) -> int:
        """Number of rows of X."""
        return len(self.X)

    @property
    def n_columns(self) -> int:
        """Number of columns of X."""
        return len(self.predictors.owner)

    @property
    def n_predictors(self) -> int:
        """Number of predictors that can be bought."""
        return self.predictors.number

    @property
    def column_predictor(self) -> Int:
        """The predictor of each column."""
        return self.predictors.owner

    def name_of(self, predictor: int) -> str:
        """Return the name of a predictor, `x3` for the fourth of a nameless problem."""
        return self.predictors.name_of(predictor)

    def columns_of(self, support: Iterable[int]) -> Int:
        """Return the sorted indices of the columns that belong to the predictors in `support`."""
        return self.predictors.columns_of(support)

    def decision_function(self, coef: Float, intercept: float) -> Float:
        """Return x_m' theta + theta_0 for every row."""
        blocks = (_linear_predictor(block, coef, intercept) for _, block in row_blocks(self.X))
        return np.concatenate([np.empty(0), *blocks])

    def objective(self, coef: Float, intercept: float) -> float:
        """Return the penalised loss of a model: the one definition that scores every solution.

        Rows of weight 0 are left out, so that no rounding depends on whether they are there.
        Numbers are taken from the intercept, so that their distance from zero takes no digits.
        """
        penalty = 0.5 * self.ridge * (coef @ coef)
        if self.family.is_coupled:
            at_risk = self.response.at_risk(self.weights)
            of_rows = self.family.of_rows(self.response.rows(at_risk), self.weights[at_risk])
            return float(of_rows.loss(self.decision_function(coef, intercept)[at_risk]) + penalty)
        loss, start = 0.0, intercept if self.response.kind == "numbers" else 0.0
        for rows, block in row_blocks(self.X):
            u = _linear_predictor(block, coef, intercept - start)
            y, weights = self.response.values[rows] - start, self.weights[rows]
            counts = weights > 0
            if not counts.all():
                u, y, weights = u[counts], y[counts], weights[counts]
            loss += float(weights @ self.family.value(y, u))
        return float(loss + penalty)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything that defines the problem, in hexadecimal.

        Names do not count, and neither does the layout of X in memory.
        """
        limits = self.limits
        parts = (
            *self.response.arrays, self.weights, self.column_predictor,
            limits.costs, limits.lower, limits.upper,
        )  # fmt: skip
        summary = (
            self.X.shape, self.n_predictors, self.ridge.hex(), float(limits.budget).hex(),
            limits.max_features, [(float(fee.amount).hex(), fee.members) for fee in limits.fees],
            limits.include, limits.exclude, self.family.name,
        )  # fmt: skip
        digest = sha256(repr(summary).encode())
        for _, block in row_blocks(self.X):
            digest.update(np.ascontiguousarray(block, dtype="<f8").data)
        for part in parts:
            little_endian = part.astype(part.dtype.newbyteorder("<"), order="C", copy=False)
            digest.update(np.ascontiguousarray(little_endian).data)
        return digest.hexdigest()

    def _warn_if_nothing_is_affordable(self) -> None:
        limits, has_intercept = self.limits, self.family.has_intercept
        if limits.budget == inf or limits.include or limits.max_features == 0:
            return
        offered = [g for g in range(self.n_predictors) if g not in limits.exclude]
        if offered and not any(limits.is_affordable((g,)) for g in offered):
            warnings.warn(
                f"budget: {limits.budget:g} is below the price of the cheapest predictor, "
                f"so the best model is {'the intercept alone' if has_intercept else 'empty'}.",
                ShortlistWarning,
                stacklevel=3,
            )


def _linear_predictor(block: Float, coef: Float, intercept: float) -> Float:
    """Return x_m' theta + theta_0 for some rows."""
    u = np.full(len(block), intercept)
    for column in coef.nonzero()[0]:
        u += coef[column] * block[:, column]
    return u
