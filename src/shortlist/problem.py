"""The problem: which predictors should a logistic regression buy?

Rows m have features x_m, labels y_m in {-1, 1} and weights w_m >= 0. Columns are bundled into
predictors g, and z_g says whether predictor g is bought:

    minimise   sum_m w_m log(1 + exp(-y_m (x_m' theta + theta_0)))  +  ridge/2 ||theta||^2
    over       theta, theta_0, z in Z,   with theta_n = 0 unless z_{g(n)} = 1

Z is defined in `constraints`. The intercept theta_0 is never penalised. This module owns the
objective: every model, whoever found it, is scored by `SubsetProblem.objective`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from math import inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .constraints import Constraints, Fee
from .errors import InvalidProblemError, ShortlistWarning

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Predictor = int | str


class SubsetProblem:
    """Data, prices and limits of one best-subset selection.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_columns)
        Features: an array, a DataFrame (its column names are then used) or a sparse matrix.
    y : array-like of shape (n_rows,)
        Labels of any two values; the larger one (in sorted order) counts as positive.
    ridge : float
        Strength of the L2 penalty, greater than 0.
    budget : float, optional
        Upper limit on the total cost. Without `costs` every predictor costs 1.
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

    Examples
    --------
    >>> import shortlist as sl
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]
    >>> problem = sl.SubsetProblem(X, ["well", "well", "ill", "ill"], ridge=0.1, max_features=1)
    >>> sl.solve(problem).support
    (0,)
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
    ) -> None:
        column_names = _column_names(X)
        self.X = _features(X)
        n_rows, n_columns = self.X.shape
        self.classes, self.signs = _labels(y, n_rows)
        self.weights = _weights(sample_weight, self.signs)
        self.ridge = _positive("ridge", ridge)
        self.column_predictor, self.predictor_names = _predictors(groups, column_names, n_columns)
        self.n_predictors = (
            n_columns if groups is None else int(self.column_predictor.max(initial=-1)) + 1
        )
        self.constraints = Constraints.build(
            costs=self._costs(costs, budget),
            budget=inf if budget is None or budget == inf else _non_negative("budget", budget),
            max_features=self._max_features(max_features),
            fees=self._fees(fees),
            include=self._indices("include", include),
            exclude=self._indices("exclude", exclude),
        )
        self._check_constraints()

    @property
    def n_rows(self) -> int:
        """Number of rows of X."""
        return self.X.shape[0]

    @property
    def n_columns(self) -> int:
        """Number of columns of X."""
        return self.X.shape[1]

    def columns_of(self, support: Iterable[int]) -> Int:
        """Return the sorted indices of the columns that belong to the predictors in `support`."""
        chosen = np.zeros(self.n_predictors, dtype=bool)
        chosen[list(support)] = True
        return np.flatnonzero(chosen[self.column_predictor])

    def decision_function(self, coef: Float, intercept: float) -> Float:
        """Return x_m' theta + theta_0 for every row."""
        used = np.flatnonzero(coef)
        margin: Float = self.X[:, used] @ coef[used] + intercept
        return margin

    def objective(self, coef: Float, intercept: float) -> float:
        """Return the penalised loss of a model: the one definition that scores every solution."""
        margins = self.signs * self.decision_function(coef, intercept)
        loss = self.weights @ np.logaddexp(0.0, -margins)
        return float(loss + 0.5 * self.ridge * (coef @ coef))

    def name_of(self, predictor: int) -> str:
        """Return the name of a predictor, `x3` for the fourth of a nameless problem."""
        return f"x{predictor}" if self.predictor_names is None else self.predictor_names[predictor]

    def index_of(self, argument: str, predictor: Predictor) -> int:
        """Return the index of a predictor given by name or index."""
        if isinstance(predictor, str):
            names = self.predictor_names
            if names is None:
                raise InvalidProblemError(
                    f"{argument}: {predictor!r} is a name but the predictors have none; "
                    "pass X as a DataFrame or use indices."
                )
            if predictor not in names:
                raise InvalidProblemError(
                    f"{argument}: there is no predictor {predictor!r}; use one of {_some(names)}."
                )
            return names.index(predictor)
        if not isinstance(predictor, int | np.integer) or isinstance(predictor, bool):
            raise InvalidProblemError(
                f"{argument}: {predictor!r} is neither a predictor's name nor its index."
            )
        if not 0 <= predictor < self.n_predictors:
            raise InvalidProblemError(
                f"{argument}: index {predictor} is out of range; "
                f"there are {self.n_predictors} predictors, numbered from 0."
            )
        return int(predictor)

    def _indices(self, argument: str, predictors: Sequence[Predictor]) -> tuple[int, ...]:
        if isinstance(predictors, str):
            raise InvalidProblemError(
                f"{argument}: pass a list of predictors, [{predictors!r}], not a string."
            )
        return tuple(sorted({self.index_of(argument, predictor) for predictor in predictors}))

    def _costs(
        self, costs: ArrayLike | Mapping[str, float] | None, budget: float | None
    ) -> Float:
        if costs is None:
            return np.ones(self.n_predictors)
        if isinstance(costs, Mapping):
            values = np.full(self.n_predictors, np.nan)
            for name, cost in costs.items():
                values[self.index_of("costs", name)] = cost
            missing = [self.name_of(g) for g in np.flatnonzero(np.isnan(values))]
            if missing:
                raise InvalidProblemError(
                    f"costs: no valid cost for {_some(missing)}; give every predictor one."
                )
        else:
            values = np.array(costs, dtype=np.float64)
            if values.shape != (self.n_predictors,):
                raise InvalidProblemError(
                    f"costs: expected {self.n_predictors} values, one per predictor, "
                    f"but got shape {values.shape}."
                )
        if not values.min(initial=0.0) >= 0 or not values.max(initial=0.0) < inf:
            bad = self.name_of(int(np.flatnonzero(~((values >= 0) & (values < inf)))[0]))
            raise InvalidProblemError(
                f"costs: the cost of {bad} must be a finite number of at least 0."
            )
        return values

    def _max_features(self, max_features: int | None) -> int:
        if max_features is None:
            return self.n_predictors
        if (
            not isinstance(max_features, int | np.integer)
            or isinstance(max_features, bool)
            or max_features < 0
        ):
            raise InvalidProblemError(
                f"max_features: must be an integer of at least 0, not {max_features!r}."
            )
        return min(int(max_features), self.n_predictors)

    def _fees(
        self, fees: Sequence[tuple[float, Sequence[Predictor]]] | None
    ) -> tuple[Fee, ...]:
        parsed = []
        for entry in fees or ():
            try:
                amount, members = entry
            except (TypeError, ValueError):
                raise InvalidProblemError(
                    f"fees: each fee is a pair (amount, members), not {entry!r}."
                ) from None
            indices = self._indices("fees", members)
            if indices:
                parsed.append(Fee(_non_negative("fees", amount), indices))
        return tuple(parsed)

    def _check_constraints(self) -> None:
        constraints = self.constraints
        both = sorted(set(constraints.include) & set(constraints.exclude))
        if both:
            raise InvalidProblemError(
                f"include and exclude: {self.name_of(both[0])} is in both; remove it from one."
            )
        if constraints.budget < inf and not constraints.include:
            open_to_buy = (g for g in range(self.n_predictors) if g not in constraints.exclude)
            if self.n_predictors and not any(
                constraints.unit_costs[g] <= constraints.unit_budget
                and constraints.is_affordable((g,))
                for g in open_to_buy
            ):
                warnings.warn(
                    f"budget: {constraints.budget:g} is below the price of the cheapest predictor, "
                    "so the best model is the intercept alone.",
                    ShortlistWarning,
                    stacklevel=3,
                )


def _column_names(X: Any) -> list[str] | None:
    """Names of a DataFrame's columns when all are strings, as scikit-learn has it."""
    columns = getattr(X, "columns", None)
    if columns is None:
        return None
    names = list(columns)
    if not all(isinstance(name, str) for name in names):
        return None
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidProblemError(f"X: two columns are named {twice!r}; rename one of them.")
    return names


def _features(X: Any) -> Float:
    if hasattr(X, "toarray"):
        X = X.toarray()
    try:
        array = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidProblemError(
            "X: every value must be a number; encode text and categories first, "
            "for example with OneHotEncoder."
        ) from None
    if array.ndim != 2:
        raise InvalidProblemError(
            f"X: expected a table with rows and columns, but got {array.ndim} dimension(s)."
        )
    if not np.isfinite(array.sum()) and not np.isfinite(array).all():
        column = int(np.flatnonzero(~np.isfinite(array).all(axis=0))[0])
        raise InvalidProblemError(
            f"X: column {column} contains NaN or infinity; impute or remove those rows."
        )
    return array


def _labels(y: ArrayLike, n_rows: int) -> tuple[NDArray[Any], Float]:
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1 or len(labels) != n_rows:
        raise InvalidProblemError(
            f"y: expected {n_rows} labels, one per row of X, but got shape {labels.shape}."
        )
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise InvalidProblemError("y: contains NaN or infinity; remove those rows.")
    try:
        classes = np.unique(labels)
    except TypeError:
        raise InvalidProblemError("y: labels must all be of one type; convert them.") from None
    if len(classes) != 2:
        count = "only 1 class" if len(classes) == 1 else f"{len(classes)} classes"
        raise InvalidProblemError(f"y: has {count}; exactly 2 classes are needed.")
    return classes, np.where(labels == classes[1], 1.0, -1.0)


def _weights(sample_weight: ArrayLike | None, signs: Float) -> Float:
    if sample_weight is None:
        return np.ones(len(signs))
    weights = np.array(sample_weight, dtype=np.float64)
    if weights.shape != signs.shape:
        raise InvalidProblemError(
            f"sample_weight: expected {len(signs)} weights, one per row, "
            f"but got shape {weights.shape}."
        )
    if not weights.min(initial=0.0) >= 0 or not np.isfinite(weights.sum()):
        raise InvalidProblemError("sample_weight: weights must be finite and at least 0.")
    if not (weights[signs > 0].sum() > 0 and weights[signs < 0].sum() > 0):
        raise InvalidProblemError(
            "sample_weight: one class has no weight left; give both classes rows of weight > 0."
        )
    return weights


def _predictors(
    groups: Sequence[Predictor] | ArrayLike | None,
    column_names: list[str] | None,
    n_columns: int,
) -> tuple[Int, list[str] | None]:
    """Return the predictor of each column, and the predictors' names if they have any."""
    if groups is None:
        return np.arange(n_columns), column_names
    labels = list(groups)  # type: ignore[arg-type]
    if len(labels) != n_columns:
        raise InvalidProblemError(
            f"groups: expected {n_columns} labels, one per column, but got {len(labels)}."
        )
    if all(isinstance(label, str) for label in labels):
        names = list(dict.fromkeys(labels))
        position = {name: index for index, name in enumerate(names)}
        return np.array([position[label] for label in labels], dtype=np.int64), names
    try:
        indices = np.array(labels)
    except ValueError:
        indices = np.array([], dtype=object)
    if indices.dtype.kind not in "iu" or set(indices.tolist()) != set(range(int(indices.max()) + 1)):
        raise InvalidProblemError(
            "groups: labels must be all names, or integers 0, 1, ... without a gap."
        )
    return indices.astype(np.int64), None


def _positive(argument: str, value: float) -> float:
    number = _number(argument, value)
    if not number > 0:
        raise InvalidProblemError(f"{argument}: must be greater than 0, not {value!r}.")
    return number


def _non_negative(argument: str, value: float) -> float:
    number = _number(argument, value)
    if not number >= 0:
        raise InvalidProblemError(f"{argument}: must be at least 0, not {value!r}.")
    return number


def _number(argument: str, value: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InvalidProblemError(f"{argument}: must be a number, not {value!r}.") from None
    if not isfinite(number):
        raise InvalidProblemError(f"{argument}: must be finite, not {value!r}.")
    return number


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"
