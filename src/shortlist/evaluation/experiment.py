"""An experiment to evaluate: data, limits, a way to solve, and its resamples and their folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd
from joblib import hash as joblib_hash
from numpy.typing import NDArray
from sklearn.base import clone

from ..arguments import Int, check_choice, check_integer
from ..backends import available_backends
from ..choice.stable import draw_counts
from ..cross_validation import check_ridges, shuffled_folds
from ..errors import InvalidProblemError
from ..limits import stated_limits
from ..problem import SubsetProblem

_MAX_DRAWS = 10_000
Protocol = Literal["clean", "paper"]
Scoring = Literal["neg_log_loss", "roc_auc"]


class ModelMatrix(NamedTuple):
    """The columns of a model for all rows, and the predictor of each.

    `preprocessor` is the fitted one, if there is any.
    """

    X: Any
    groups: Int
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
    problem : SubsetProblem
        All rows, prices and limits, with the logistic loss and without weights; its ridge plays no
        part.
    backend : str
        The name of a backend, as `shortlist.available_backends` lists them.
    ridges : sequence of float
        Strengths of the L2 penalty to choose from. The strongest wins a tie.
    is_open : bool
        Whether ridges beyond the ends are tried, while an end scores best.
    own_ridge : float, optional
        The ridge of the model of the data as they are, if it was chosen before.
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
    tuning_folds : int, optional
        Number of folds of the inner loop, if it is another.
    seed : int
        Seed of the resamples and the folds, at least 0.
    gap, node_limit
        Limits of each solve, as in `shortlist.solve`. There is no time limit, because results must
        not depend on the speed of a machine.
    preprocessor : scikit-learn transformer, optional
        Makes the columns of the problem from `table`, and is fitted anew to the training rows of
        every fold. Its columns must always be as many; a transformer that has, once fitted,
        `predictors_`, the name of the predictor of each of its columns, may give others in every
        fold.
    table : DataFrame or array, optional
        What the preprocessor is given: a row per row of the problem.
    stable : int, optional
        Narrow every selection to the predictors that at least half of its own resamples select;
        this is the seed of those resamples. So does `PrognosticModel(stable=True)`, once the ridge
        is chosen; here every ridge is tried on the narrowed selection.
    probes : array-like of shape (n_probes, n_columns), optional
        Further rows in the form of the table, or else of X, without outcomes, whose log-odds every
        model predicts: their differences show how coefficients vary.
    followed : sequence of int
        Numbers of rows of X whose log-odds every model predicts, from which
        `Evaluation.individual_risks` comes.

    Attributes
    ----------
    problem, ridges, ...
        The parameters, checked; ridges go from the strongest to the weakest.
    X, y, names
        The table, or else the features; 1 for an event and else 0; and the predictors.

    Examples
    --------
    >>> import shortlist as sl
    >>> data = sl.datasets.make_prognostic(n_samples=82, random_state=1)
    >>> problem = sl.SubsetProblem(data.X, data.y, ridge=1.0, max_features=5)
    >>> experiment = sl.Experiment(problem)
    >>> experiment.ridges, experiment.names[0]
    ((0.1, 0.02, 0.004), 'informative_1')

    The same with fewer predictors, or with another way to select:

    >>> from dataclasses import replace
    >>> replace(experiment, problem=problem.with_limits(max_features=2), backend="forward").backend
    'forward'
    """

    problem: SubsetProblem
    _: KW_ONLY
    backend: str = "native"
    ridges: Sequence[float] = (0.1, 0.02, 0.004)
    is_open: bool = False
    own_ridge: float | None = None
    scoring: Scoring = "neg_log_loss"
    protocol: Protocol = "clean"
    persons: Any = None
    n_folds: int = 3
    tuning_folds: int | None = None
    seed: int = 0
    gap: float = 1e-6
    node_limit: int | None = None
    preprocessor: Any = None
    table: Any = None
    stable: int | None = None
    probes: Any = None
    followed: Sequence[int] = ()

    X: Any = field(init=False)
    y: Int = field(init=False)
    names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        problem = self.problem
        if not problem.family.gives_risks or (problem.weights != 1).any():
            raise InvalidProblemError(
                "problem: an experiment measures risks, and weighs rows itself; use the logistic "
                "loss and no weights."
            )
        if (self.preprocessor is None) != (self.table is None):
            raise InvalidProblemError("table: goes with a preprocessor; give both or neither.")
        own = problem.with_rows(
            np.array(problem.X, dtype=np.float64, order="C"), problem.response, problem.weights
        )
        normalised: dict[str, Any] = {
            "problem": own,
            "X": own.X if self.table is None else self.table,
            "y": (problem.response.values > 0).astype(np.int64),
            "names": tuple(problem.name_of(g) for g in range(problem.n_predictors)),
            "ridges": tuple(check_ridges(self.ridges)),
            "persons": _codes(self.persons, problem.n_rows),
        }
        for name, value in normalised.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)
        self._check_choices()

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def fingerprint(self) -> str:
        """A hash of everything that the results depend on."""
        own = vars(self) | {"problem": self.problem.digest, "X": self.table}
        digest: str = joblib_hash(tuple(own.items()), hash_name="sha1")
        return digest

    def problem_of(self, columns: ModelMatrix) -> SubsetProblem:
        """Return the problem of all rows, with the strongest ridge."""
        ridge = self.ridges[0]
        if self.preprocessor is None:
            return self.problem.with_ridge(ridge)
        return SubsetProblem(
            columns.X[: self.n_rows],  # without the probes
            self.y,
            ridge=ridge,
            groups=columns.groups,
            **stated_limits(self.problem.limits, self.problem.predictors),
        )

    def columns(self, copies: Int) -> ModelMatrix:
        """Return the columns of all rows and probes, with a preprocessor fitted to some rows.

        `copies` are the training rows, each as often as it counts. Without a preprocessor the
        columns are those of X.
        """
        owners = self.problem.column_predictor
        if self.preprocessor is None:
            return ModelMatrix(self._rows_and_probes(), owners)
        train = self.X.iloc[copies] if hasattr(self.X, "iloc") else np.asarray(self.X)[copies]
        fitted = clone(self.preprocessor).fit(train, self.y[copies])
        X = fitted.transform(self._rows_and_probes())
        X = X.toarray() if hasattr(X, "toarray") else X
        if hasattr(fitted, "predictors_"):
            position = {name: index for index, name in enumerate(self.names)}
            owners = np.array([position[name] for name in fitted.predictors_])
        return ModelMatrix(np.ascontiguousarray(X, dtype=np.float64), owners, fitted)

    def columns_for_predicting(self, columns: ModelMatrix, support: Sequence[int]) -> Any:
        """Return the columns by which a selection predicts all rows and probes.

        They differ from those of the fit if the preprocessor has `for_predicting`, which makes
        one that needs the predictors bought alone, as one that imputes them from each other does.
        """
        fitted = columns.preprocessor
        if not hasattr(fitted, "for_predicting"):
            return columns.X
        deployed = fitted.for_predicting([self.names[g] for g in support])
        if deployed is fitted:
            return columns.X
        return np.ascontiguousarray(deployed.transform(self._rows_and_probes()), dtype=np.float64)

    def _rows_and_probes(self) -> Any:
        if self.probes is None:
            return self.X
        if hasattr(self.X, "iloc"):
            return pd.concat([self.X, self.probes], ignore_index=True)
        return np.vstack([self.X, self.probes])

    def _check_choices(self) -> None:
        if self.backend not in list(available_backends()):
            known = ", ".join(map(repr, available_backends()))
            raise InvalidProblemError(f"backend: there is no {self.backend!r}; use one of {known}.")
        check_choice("protocol", self.protocol, get_args(Protocol))
        check_choice("scoring", self.scoring, get_args(Scoring))
        if self.persons is not None and self.protocol == "paper":
            raise InvalidProblemError(
                "persons: the paper protocol splits single rows; use protocol='clean'."
            )
        for row in self.followed:
            if not isinstance(row, int | np.integer) or not 0 <= row < len(self.y):
                raise InvalidProblemError(
                    f"followed: must be numbers of rows from 0 to {len(self.y) - 1}, not {row!r}."
                )
        check_integer("n_folds", self.n_folds, 2)
        check_integer("tuning_folds", self.tuning_folds, 2, or_none=True)
        check_integer("seed", self.seed, 0)
        check_integer("stable", self.stable, 0, or_none=True)


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


class Sample(NamedTuple):
    """Rows that count, in ascending order, and how often each of them does."""

    rows: Int
    weights: Int

    @property
    def copies(self) -> Int:
        """The rows, each repeated as often as it counts."""
        return np.repeat(self.rows, self.weights)

    def units(self, persons: Int | None) -> Int | None:
        """The unit that each copy belongs to, drawn as a whole, if rows belong to persons."""
        if persons is None:
            return None
        starts = np.cumsum(self.weights) - self.weights
        numbers = np.arange(self.weights.sum()) - np.repeat(starts, self.weights)
        pairs = np.column_stack([persons[self.copies], numbers])  # a person drawn twice is two
        return np.unique(pairs, axis=0, return_inverse=True)[1].ravel()

    def counts(self, n_rows: int) -> Int:
        """How often each of all rows counts."""
        counts = np.zeros(n_rows, dtype=np.int64)
        counts[self.rows] = self.weights
        return counts

    def part(self, positions: Int | NDArray[np.bool_]) -> Sample:
        """Return some of the rows with all their copies."""
        return Sample(self.rows[positions], self.weights[positions])

    @classmethod
    def of_counts(cls, counts: Int) -> Sample:
        """Keep the rows that count."""
        rows = np.flatnonzero(counts)
        return cls(rows, counts[rows])

    @classmethod
    def of_copies(cls, copies: Int) -> Sample:
        """Count repeated rows."""
        return cls(*np.unique(copies, return_counts=True))


def draw(experiment: Experiment, resample: int) -> tuple[Sample, np.random.Generator]:
    """Return a resample, and the generator that its folds continue with.

    Resample 0 is the data as they are. A resample that has too few rows (clean protocol: too few
    different ones, or persons) of a class for every fold to get one is drawn again.
    """
    rng = np.random.default_rng((experiment.seed, resample))
    if resample == 0:
        sample = Sample.of_copies(np.arange(experiment.n_rows))
        if not _has_enough(experiment, sample):
            raise InvalidProblemError(
                f"n_folds: a class has fewer than {experiment.n_folds} rows or persons; "
                "use fewer folds."
            )
        return sample, rng
    for _ in range(_MAX_DRAWS):
        sample = Sample.of_counts(draw_counts(rng, experiment.n_rows, experiment.persons))
        if _has_enough(experiment, sample):
            return sample, rng
    raise InvalidProblemError(
        f"n_folds: hardly any resample has {experiment.n_folds} rows or persons of each class; "
        "use fewer folds."
    )


def split(
    experiment: Experiment,
    sample: Sample,
    rng: np.random.Generator,
    n_folds: int | None = None,
) -> list[tuple[Sample, Sample]]:
    """Return training and test part of each stratified fold; `n_folds` if not the experiment's.

    Paper protocol: the copies of rows are distributed, each class evenly. Clean protocol:
    the different rows are, so that the folds' total weights are equal on average only; or the
    persons are, the classes being as even as whole persons allow.
    """
    seed, n_folds = int(rng.integers(2**31)), n_folds or experiment.n_folds
    keeps_persons = experiment.persons is not None
    keeps_copies = experiment.protocol == "clean" and not keeps_persons
    units = sample.rows if keeps_copies else sample.copies
    labels = experiment.y[units]
    if np.bincount(labels).max() < n_folds:
        return []  # a handful of rows
    persons = experiment.persons[units] if keeps_persons else None
    parts = shuffled_folds(labels, n_folds, seed, persons)
    if keeps_copies:
        return [(sample.part(train), sample.part(test)) for train, test in parts]
    return [
        (Sample.of_copies(units[train]), Sample.of_copies(units[test])) for train, test in parts
    ]


def scorable_folds(
    experiment: Experiment,
    sample: Sample,
    rng: np.random.Generator,
    n_folds: int | None = None,
) -> list[tuple[Sample, Sample]]:
    """Return those folds, `n_folds` of them, whose two parts have rows of both classes."""

    def has_both_classes(part: Sample) -> bool:
        labels = experiment.y[part.rows]
        return bool(labels.min(initial=1) < labels.max(initial=0))

    folds = split(experiment, sample, rng, n_folds)
    return [fold for fold in folds if all(map(has_both_classes, fold))]


def _has_enough(experiment: Experiment, sample: Sample) -> bool:
    """Whether every fold can get something of each class."""
    for label in (0, 1):
        of_class = sample.part(experiment.y[sample.rows] == label)
        units = of_class.copies if experiment.protocol == "paper" else of_class.rows
        if experiment.persons is not None:
            units = np.unique(experiment.persons[units])
        if len(units) < experiment.n_folds:
            return False
    return True
