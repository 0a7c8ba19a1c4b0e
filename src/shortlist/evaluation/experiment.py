"""An experiment to evaluate: data, prices and limits, a way to solve, and a way to split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from math import inf
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd
from joblib import hash as joblib_hash
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from ..arguments import Int
from ..backends import available_backends
from ..classifier.tuning import check_ridges
from ..errors import InvalidProblemError
from ..limits import given_limits
from ..problem import Predictor, SubsetProblem

Protocol = Literal["clean", "paper"]
Scoring = Literal["neg_log_loss", "roc_auc"]


class ModelMatrix(NamedTuple):
    """The columns of a model for all rows; `groups` is None if every column is a predictor.

    `preprocessor` is the fitted one, if there is any.
    """

    X: Any
    groups: Any
    preprocessor: Any = None


@dataclass(frozen=True, eq=False)
class Experiment:
    """A selection procedure on some data, and how its performance is to be measured.

    The procedure is: choose the ridge by its mean score over `n_folds` stratified folds, then
    select and fit with it on all rows. It is repeated, as a whole, on every bootstrap resample
    and on every outer fold of it. A resample is a vector of whole-number weights. It and its
    folds depend on nothing but the data, the protocol and the seed, so two experiments that
    differ in the backend or the limits are compared on the same resamples and folds.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_columns)
        Features; the names of a DataFrame's columns can be used in the other parameters.
    y : array-like of shape (n_rows,)
        Labels of any two values; the larger one counts as the event.
    budget, costs, max_features, groups, fees, include, exclude, max_coefficient, signs
        Prices and limits, as in `SubsetProblem`.
    backend : str
        The name of a backend, as `shortlist.available_backends` lists them.
    ridges : sequence of float
        Strengths of the L2 penalty to choose from. The strongest wins a tie.
    scoring : {"neg_log_loss", "roc_auc"}
        What chooses among them: the log loss of the validation folds, or their AUC, as in Knauer
        and Rodner (2023), which does not see whether risks are calibrated.
    protocol : {"clean", "paper"}
        What the folds of a resample keep together. "clean": all copies of a row, and all rows of
        a person, are on one side of every split. "paper": the resample counts as a data set of
        its own, as in Knauer and Rodner (2023), so copies of a row can be on both sides, which
        makes results optimistic.
    persons : sequence of shape (n_rows,), optional
        The person each row belongs to. Resamples then draw persons with all their rows, and splits
        keep them together; needs the clean protocol.
    n_folds : int
        Number of folds, of the outer and of the inner loop.
    seed : int
        Seed of the resamples and the folds, at least 0.
    gap, node_limit
        Limits of each solve, as in `shortlist.solve`. There is no time limit, because results must
        not depend on the speed of a machine.
    preprocessor : scikit-learn transformer, optional
        Makes the columns of the model from X, which then need not be numbers. It is fitted anew to
        the training rows of every fold. `groups` refers to its columns, which must always be as
        many; a transformer that has, once fitted, `predictors_`, the name of the predictor of
        each of its columns, may give others in every fold.
    names : sequence of str, optional
        Names of the predictors; by default those of `groups` or of the columns.
    stable : int, optional
        Narrow every selection to the predictors that at least half of its own resamples select;
        this is the seed of those resamples. So does `PrognosticModel(stable=True)`, once the ridge
        is chosen; here every ridge is tried on the narrowed selection.
    probes : array-like of shape (n_probes, n_columns), optional
        Further rows in the form of X, without outcomes, whose log-odds every model predicts: their
        differences show how coefficients vary.
    followed : sequence of int
        Numbers of rows of X whose log-odds every model predicts, from which
        `Evaluation.individual_risks` comes.

    Attributes
    ----------
    X, y, costs, ...
        The parameters, checked and normalised: y is 1 for an event and else 0, ridges go from the
        strongest to the weakest, prices are arrays, and predictors are indices.

    Examples
    --------
    >>> import shortlist as sl
    >>> data = sl.datasets.make_prognostic(n_samples=82, random_state=1)
    >>> experiment = sl.Experiment(data.X, data.y, max_features=5)
    >>> experiment.ridges, experiment.names[0]
    ((0.1, 0.02, 0.004), 'informative_1')

    The same with prices, or with another way to select:

    >>> from dataclasses import replace
    >>> replace(experiment, max_features=None, costs=data.costs, budget=10).budget
    10.0
    """

    X: Any
    y: Any
    _: KW_ONLY
    budget: float | None = None
    costs: ArrayLike | Mapping[str, float] | None = None
    max_features: int | None = None
    groups: Sequence[Predictor] | ArrayLike | None = None
    fees: Sequence[tuple[float, Sequence[Predictor]]] | None = None
    include: Sequence[Predictor] = ()
    exclude: Sequence[Predictor] = ()
    max_coefficient: Any = None
    signs: Any = None
    backend: str = "native"
    ridges: Sequence[float] = (0.1, 0.02, 0.004)
    scoring: Scoring = "neg_log_loss"
    protocol: Protocol = "clean"
    persons: Any = None
    n_folds: int = 3
    seed: int = 0
    gap: float = 1e-6
    node_limit: int | None = None
    preprocessor: Any = None
    names: Sequence[str] = ()
    stable: int | None = None
    probes: Any = None
    followed: Sequence[int] = ()

    def __post_init__(self) -> None:
        self._check_choices()
        ridges = tuple(check_ridges(self.ridges))
        columns = ModelMatrix(self.X, self.groups)
        if self.preprocessor is not None:
            columns = self._preprocessed(np.arange(len(self.X)), np.asarray(self.y))
            columns = columns._replace(X=columns.X[: len(self.X)])
        problem = self._problem(columns, self.y, ridges[0])
        limits = problem.limits
        normalised: dict[str, Any] = {
            "X": np.array(problem.X, order="C") if self.preprocessor is None else self.X,
            "y": (problem.signs > 0).astype(np.int64),
            "budget": None if limits.budget == inf else limits.budget,
            "costs": limits.costs,
            "max_features": limits.max_features,
            "groups": None if self.groups is None else problem.column_predictor,
            "fees": limits.fees,
            "include": limits.include,
            "exclude": limits.exclude,
            "ridges": ridges,
            "persons": _codes(self.persons, problem.n_rows),
            "names": _names(self.names, problem),
        }
        for name in ("max_coefficient", "signs"):
            value = getattr(self, name)
            if isinstance(value, Mapping):  # columns of folds know predictors by number
                normalised[name] = tuple(value.get(each) for each in normalised["names"])
        for name, value in normalised.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def fingerprint(self) -> str:
        """A hash of everything that the results depend on."""
        digest: str = joblib_hash(tuple(vars(self).items()), hash_name="sha1")
        return digest

    def problem(self, columns: ModelMatrix) -> SubsetProblem:
        """Return the problem of all rows, with the strongest ridge."""
        rows = columns._replace(X=columns.X[: len(self.y)])  # without the probes
        return self._problem(rows, self.y, self.ridges[0])

    def columns(self, copies: Int) -> ModelMatrix:
        """Return the columns of all rows and probes, with a preprocessor fitted to some rows.

        `copies` are the training rows, each as often as it counts. Without a preprocessor the
        columns are those of X.
        """
        if self.preprocessor is None:
            return ModelMatrix(self._rows_and_probes(), self.groups)
        X, groups, fitted = self._preprocessed(copies, self.y)
        X = X.toarray() if hasattr(X, "toarray") else X
        if groups is not self.groups:
            position = {name: index for index, name in enumerate(self.names)}
            groups = [position[name] for name in groups]
        return ModelMatrix(np.ascontiguousarray(X, dtype=np.float64), groups, fitted)

    def columns_for_predicting(self, columns: ModelMatrix, support: Sequence[int]) -> Any:
        """Return the columns by which a selection predicts all rows and probes.

        They are others than those of the fit if the preprocessor has `for_predicting`, which makes
        one that needs the predictors bought alone, as one that imputes them from each other does.
        """
        fitted = columns.preprocessor
        if not hasattr(fitted, "for_predicting"):
            return columns.X
        deployed = fitted.for_predicting([self.names[g] for g in support])
        if deployed is fitted:
            return columns.X
        return np.ascontiguousarray(deployed.transform(self._rows_and_probes()), dtype=np.float64)

    def _preprocessed(self, copies: Int, y: NDArray[Any]) -> ModelMatrix:
        train = self.X.iloc[copies] if hasattr(self.X, "iloc") else np.asarray(self.X)[copies]
        fitted = clone(self.preprocessor).fit(train, y[copies])
        columns = fitted.transform(self._rows_and_probes())
        return ModelMatrix(columns, getattr(fitted, "predictors_", self.groups), fitted)

    def _rows_and_probes(self) -> Any:
        if self.probes is None:
            return self.X
        if hasattr(self.X, "iloc"):
            return pd.concat([self.X, self.probes], ignore_index=True)
        return np.vstack([self.X, self.probes])

    def _problem(self, columns: ModelMatrix, y: ArrayLike, ridge: float) -> SubsetProblem:
        return SubsetProblem(columns.X, y, ridge=ridge, groups=columns.groups, **given_limits(self))

    def _check_choices(self) -> None:
        if self.backend not in list(available_backends()):
            known = ", ".join(map(repr, available_backends()))
            raise InvalidProblemError(f"backend: there is no {self.backend!r}; use one of {known}.")
        if self.protocol not in get_args(Protocol):
            raise InvalidProblemError(
                f"protocol: must be 'clean' or 'paper', not {self.protocol!r}."
            )
        if self.scoring not in get_args(Scoring):
            raise InvalidProblemError(
                f"scoring: must be 'neg_log_loss' or 'roc_auc', not {self.scoring!r}."
            )
        if self.persons is not None and self.protocol == "paper":
            raise InvalidProblemError(
                "persons: the paper protocol splits single rows; use protocol='clean'."
            )
        for row in self.followed:
            if not isinstance(row, int | np.integer) or not 0 <= row < len(self.y):
                raise InvalidProblemError(
                    f"followed: must be numbers of rows from 0 to {len(self.y) - 1}, not {row!r}."
                )
        for argument, smallest in (("n_folds", 2), ("seed", 0), ("stable", 0)):
            value = getattr(self, argument)
            if value is None and argument == "stable":
                continue
            if not isinstance(value, int | np.integer) or isinstance(value, bool):
                raise InvalidProblemError(f"{argument}: must be an integer, not {value!r}.")
            if value < smallest:
                raise InvalidProblemError(f"{argument}: must be at least {smallest}, not {value}.")


def _codes(persons: Any, n_rows: int) -> Int | None:
    """Number the persons from 0."""
    if persons is None:
        return None
    labels = np.asarray(persons)
    if labels.shape != (n_rows,):
        raise InvalidProblemError(
            f"persons: expected {n_rows} labels, one per row of X, but got shape {labels.shape}."
        )
    codes: Int = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    return codes


def _names(names: Sequence[str], problem: SubsetProblem) -> tuple[str, ...]:
    if len(names) == 0:
        return tuple(problem.name_of(g) for g in range(problem.n_predictors))
    if len(names) != problem.n_predictors or not all(isinstance(name, str) for name in names):
        raise InvalidProblemError(
            f"names: expected {problem.n_predictors} names, one per predictor, not {names!r}."
        )
    return tuple(names)
