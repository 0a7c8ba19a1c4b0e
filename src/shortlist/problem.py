"""The problem, which is to say: which predictors should a logistic regression buy.

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
from copy import copy
from functools import cached_property
from hashlib import sha256
from math import inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .constraints import Constraints, Fee
from .errors import InvalidProblemError, ShortlistWarning

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Predictor = int | str
_SMALLEST = 1e-140


class SubsetProblem:
    """Data, prices and limits of one best-subset selection.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_columns)
        Features: an array, a DataFrame (its column names are then used) or a sparse matrix.
        An array of float64 is not copied: do not change it while the problem is in use.
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
        self.ridge = _in_range("ridge", _positive("ridge", ridge))
        self.column_predictor, self.predictor_names = _predictors(groups, column_names, n_columns)
        self.has_groups = groups is not None
        self.n_predictors = (
            n_columns if groups is None else int(self.column_predictor.max(initial=-1)) + 1
        )
        included = self.support_of("include", include)
        excluded = self.support_of("exclude", exclude)
        self._check_disjoint(included, excluded)
        self.constraints = Constraints.build(
            costs=self._costs(costs),
            budget=inf if budget is None else _budget(budget),
            max_features=self._max_features(max_features),
            fees=self._fees(fees),
            include=included,
            exclude=excluded,
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
        """Return the same data with other limits; what is None stays as it is.

        X is shared, not copied. A budget of `inf` is none. A budget below every price is no reason
        for a warning here: who asks what another budget buys wants to know.

        Examples
        --------
        >>> import shortlist as sl
        >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]
        >>> problem = sl.SubsetProblem(X, [0, 0, 1, 1], ridge=0.1, max_features=2)
        >>> problem.with_limits(max_features=1).constraints.max_features
        1
        """
        old = self.constraints
        other = copy(self)
        other.__dict__.pop("digest", None)
        included = old.include if include is None else self.support_of("include", include)
        excluded = old.exclude if exclude is None else self.support_of("exclude", exclude)
        self._check_disjoint(included, excluded)
        other.constraints = Constraints.build(
            costs=old.costs if costs is None else self._costs(costs),
            budget=old.budget if budget is None else _budget(budget),
            max_features=self._max_features(
                old.max_features if max_features is None else max_features
            ),
            fees=old.fees,
            include=included,
            exclude=excluded,
        )
        return other

    @property
    def n_rows(self) -> int:
        """Number of rows of X."""
        return len(self.X)

    @property
    def n_columns(self) -> int:
        """Number of columns of X."""
        return len(self.column_predictor)

    def columns_of(self, support: Iterable[int]) -> Int:
        """Return the sorted indices of the columns that belong to the predictors in `support`."""
        chosen = np.zeros(self.n_predictors, dtype=bool)
        chosen[list(support)] = True
        return np.flatnonzero(chosen[self.column_predictor])

    def decision_function(self, coef: Float, intercept: float) -> Float:
        """Return x_m' theta + theta_0 for every row."""
        margin = np.full(self.n_rows, intercept)
        for column in np.flatnonzero(coef):
            margin += coef[column] * self.X[:, column]
        return margin

    def objective(self, coef: Float, intercept: float) -> float:
        """Return the penalised loss of a model: the one definition that scores every solution."""
        margins = self.signs * self.decision_function(coef, intercept)
        loss = self.weights @ np.logaddexp(0.0, -margins)
        return float(loss + 0.5 * self.ridge * (coef @ coef))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything that defines the problem, in hexadecimal.

        Names do not count, and neither does the layout of X in memory.
        """
        limits = self.constraints
        parts = (
            *np.array_split(self.X, max(1, self.X.size // 2**20)),
            self.signs, self.weights, self.column_predictor, limits.costs,
        )  # fmt: skip
        summary = (
            self.X.shape, self.n_predictors, self.ridge.hex(), float(limits.budget).hex(),
            limits.max_features, [(float(fee.amount).hex(), fee.members) for fee in limits.fees],
            limits.include, limits.exclude,
        )  # fmt: skip
        digest = sha256(repr(summary).encode())
        for part in parts:
            little_endian = part.astype(part.dtype.newbyteorder("<"), order="C", copy=False)
            digest.update(np.ascontiguousarray(little_endian).data)
        return digest.hexdigest()

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
            if predictor not in self._name_positions:
                raise InvalidProblemError(
                    f"{argument}: there is no predictor {predictor!r}; use one of {_some(names)}."
                )
            return self._name_positions[predictor]
        if not isinstance(predictor, int | np.integer) or isinstance(predictor, bool):
            raise InvalidProblemError(
                f"{argument}: {predictor!r} is neither a predictor's name nor its index; use one."
            )
        if not 0 <= predictor < self.n_predictors:
            raise InvalidProblemError(
                f"{argument}: index {predictor} is out of range; "
                f"there are {self.n_predictors} predictors, numbered from 0."
            )
        return int(predictor)

    def support_of(self, argument: str, predictors: Sequence[Predictor]) -> tuple[int, ...]:
        """Return the sorted indices of predictors given by names or indices."""
        if isinstance(predictors, str) or not isinstance(predictors, Iterable):
            raise InvalidProblemError(
                f"{argument}: expected a list of predictors, such as [{predictors!r}], "
                f"not {predictors!r}."
            )
        return tuple(sorted({self.index_of(argument, predictor) for predictor in predictors}))

    @cached_property
    def _name_positions(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.predictor_names or ())}

    def _costs(self, costs: ArrayLike | Mapping[str, float] | None) -> Float:
        if costs is None:
            return np.ones(self.n_predictors)
        if hasattr(costs, "to_dict"):  # a Series goes by its labels, whatever their order
            costs = costs.to_dict()
        if isinstance(costs, Mapping):
            values = np.full(self.n_predictors, np.nan)
            for name, cost in costs.items():
                values[self.index_of("costs", name)] = _non_negative(f"costs of {name!r}", cost)
            missing = [self.name_of(int(g)) for g in np.flatnonzero(np.isnan(values))]
            if missing:
                raise InvalidProblemError(
                    f"costs: no cost for {_some(missing)}; give every predictor one."
                )
        else:
            values = _floats("costs", costs)
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
                f"max_features: must be an integer of at least 0 or None, not {max_features!r}."
            )
        return min(int(max_features), self.n_predictors)

    def _fees(self, fees: Sequence[tuple[float, Sequence[Predictor]]] | None) -> tuple[Fee, ...]:
        if fees is None:
            return ()
        if not isinstance(fees, Iterable):
            raise InvalidProblemError(
                f"fees: expected a list of pairs (amount, members), not {fees!r}."
            )
        parsed = []
        for entry in fees:
            try:
                amount, members = entry
            except (TypeError, ValueError):
                raise InvalidProblemError(
                    f"fees: each fee is a pair (amount, members), not {entry!r}."
                ) from None
            fee = Fee(_non_negative("fees", amount), self.support_of("fees", members))
            if fee.members:
                parsed.append(fee)
        return tuple(parsed)

    def _check_disjoint(self, include: tuple[int, ...], exclude: tuple[int, ...]) -> None:
        both = set(include).intersection(exclude)
        if both:
            raise InvalidProblemError(
                f"include and exclude: {self.name_of(min(both))} is in both; remove it from one."
            )

    def _warn_if_nothing_is_affordable(self) -> None:
        constraints = self.constraints
        if constraints.budget == inf or constraints.include or constraints.max_features == 0:
            return
        nothing_to_buy = True
        for g in range(self.n_predictors):
            if g not in constraints.exclude:
                if constraints.is_affordable((g,)):
                    return
                nothing_to_buy = False
        if not nothing_to_buy:
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
    if getattr(getattr(X, "dtype", None), "kind", None) == "c":
        raise InvalidProblemError("X: contains complex numbers; pass their parts as columns.")
    try:
        array = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidProblemError(
            "X: every value must be a number; encode text and categories first, "
            "for example with OneHotEncoder."
        ) from None
    if array.ndim != 2:
        raise InvalidProblemError(
            "X: expected a table with rows and columns, but got "
            f"{array.ndim} dimension(s); reshape it to 2."
        )
    # One sum of squares finds any NaN or infinity, and values that cannot be squared.
    flat = (array.T if array.flags.f_contiguous else array).reshape(-1)
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(flat @ flat)
    if not isfinite(total):
        finite = np.isfinite(array).all(axis=0)
        if not finite.all():
            raise InvalidProblemError(
                f"X: column {int(np.argmin(finite))} contains NaN or infinity; "
                "impute or remove those rows."
            )
        column = int(np.argmax(np.abs(array).max(axis=0)))
        raise InvalidProblemError(
            f"X: column {column} has values too large to be squared; rescale it."
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
    if labels.dtype.kind in "biuf" and n_rows > 0:
        # Two reductions instead of the sort of np.unique: this is on the path of every fit.
        low, high = labels.min(), labels.max()
        if not isfinite(low) or not isfinite(high):
            raise InvalidProblemError("y: contains NaN or infinity; remove those rows.")
        positive = labels == high
        n_known = np.count_nonzero(positive) + np.count_nonzero(labels == low)
        if low != high and n_known == n_rows:
            return np.array([low, high], dtype=labels.dtype), np.where(positive, 1.0, -1.0)
    try:
        classes = np.unique(labels)
    except TypeError:
        raise InvalidProblemError(
            "y: labels must all be of one type and none missing; convert or remove those rows."
        ) from None
    if len(classes) != 2:
        count = "only 1 class" if len(classes) == 1 else f"{len(classes)} classes"
        raise InvalidProblemError(
            f"y: has {count} but exactly 2 are needed; select or merge classes."
        )
    return classes, np.where(labels == classes[1], 1.0, -1.0)


def _weights(sample_weight: ArrayLike | None, signs: Float) -> Float:
    if sample_weight is None:
        return np.ones(len(signs))
    weights = _floats("sample_weight", sample_weight)
    if weights.shape != signs.shape:
        raise InvalidProblemError(
            f"sample_weight: expected {len(signs)} weights, one per row, "
            f"but got shape {weights.shape}."
        )
    if not weights.min(initial=0.0) >= 0 or not np.isfinite(weights.sum()):
        raise InvalidProblemError("sample_weight: weights must be finite and at least 0.")
    signed = weights * signs
    if not (signed.max(initial=0.0) > 0 and signed.min(initial=0.0) < 0):
        raise InvalidProblemError(
            "sample_weight: the weights of one class are all zero; "
            "give both classes rows of weight > 0."
        )
    _in_range("sample_weight", float(weights.max()))
    return weights


def _predictors(
    groups: Sequence[Predictor] | ArrayLike | None,
    column_names: list[str] | None,
    n_columns: int,
) -> tuple[Int, list[str] | None]:
    """Return the predictor of each column, and the predictors' names if they have any."""
    if groups is None:
        return np.arange(n_columns, dtype=np.int64), column_names
    if not isinstance(groups, Iterable):
        raise InvalidProblemError(
            f"groups: expected {n_columns} labels, one per column, not {groups!r}."
        )
    labels: list[Any] = list(groups)
    if len(labels) != n_columns:
        raise InvalidProblemError(
            f"groups: expected {n_columns} labels, one per column, but got {len(labels)}."
        )
    if all(isinstance(label, str) for label in labels):
        position = {name: index for index, name in enumerate(dict.fromkeys(labels))}
        return np.array([position[label] for label in labels], dtype=np.int64), list(position)
    if not all(isinstance(label, int | np.integer) for label in labels) or (
        set(labels) != set(range(max(labels) + 1))
    ):
        raise InvalidProblemError(
            "groups: labels must be all names, or integers 0, 1, ... without a gap."
        )
    return np.array(labels, dtype=np.int64), None


def _positive(argument: str, value: float) -> float:
    number = _number(argument, value)
    if not number > 0:
        raise InvalidProblemError(f"{argument}: must be greater than 0, not {value!r}.")
    return number


def _budget(budget: float) -> float:
    return inf if budget == inf else _non_negative("budget", budget)


def _in_range(argument: str, value: float) -> float:
    """Refuse what cannot be squared and summed without leaving the range of a double."""
    if not _SMALLEST <= value <= 1 / _SMALLEST:
        raise InvalidProblemError(
            f"{argument}: {value:g} is beyond {_SMALLEST:g} to {1 / _SMALLEST:g}; "
            "multiply ridge and all weights by the same number."
        )
    return value


def _non_negative(argument: str, value: float) -> float:
    number = _number(argument, value)
    if not number >= 0:
        raise InvalidProblemError(f"{argument}: must be at least 0, not {value!r}.")
    return number


def _number(argument: str, value: float) -> float:
    try:
        if isinstance(value, str | bool):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError):
        raise InvalidProblemError(f"{argument}: must be a number, not {value!r}.") from None
    if not isfinite(number):
        raise InvalidProblemError(f"{argument}: must be finite, not {value!r}.")
    return number


def _floats(argument: str, values: ArrayLike) -> Float:
    """Return a copy as float64, so that later changes of the argument change no problem."""
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidProblemError(f"{argument}: every value must be a number.") from None


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"
