"""The evaluation of a prognostic model: its selection, repeated on resamples of its patients."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from ..cross_validation import Tuning
from ..errors import InvalidProblemError, ShortlistWarning
from ..evaluation import Evaluation, Experiment, evaluate
from ..patients import PrognosticModel
from ..problem import SubsetProblem
from ..sample_size import persons_by_outcome
from ..solution import Status
from .content import TUNING_FOLDS
from .equation import make_probes

N_RESAMPLES = 199  # the ends of a 95 % percentile interval are then the fifth values
FEWEST_FOLDS, MOST_FOLDS = 3, 10
MOST_FOLLOWED = 1000  # patients whose individual risks are followed over resamples


def validate_model(
    model: PrognosticModel,
    X: Any,
    y: ArrayLike,
    *,
    persons: ArrayLike | None = None,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
    n_jobs: int | Literal["auto"] | None = None,
    dask: str | None = None,
    progress: bool = False,
) -> Evaluation:
    """Repeat the fit of a model on bootstrap resamples and in cross-validation.

    Imputation, scaling, levels, the choice of the ridge unless it was given, selection and fit are
    repeated from the start each time. A ridge is chosen in three folds, of those tried that are
    next to the model's and, while an end of them scores best, beyond it. If the model's search ran
    out of time, the others end after as many nodes as it had.

    Parameters
    ----------
    model : PrognosticModel
        Fitted.
    X, y, persons
        The data of the fit.
    n_resamples : int
        Number of bootstrap resamples; 999 for a paper, 0 for cross-validation alone.
    seed : int
        Seed of the resamples and the folds.
    n_jobs : int, optional
        Number of processes, -1 for one per core, "auto" for that if it pays; it changes no result.
    dask : str, optional
        Address of the scheduler of a Dask cluster to run on instead; needs `shortlist[dask]`.
    progress : bool
        Whether to show a bar with the time left; without a terminal, a line now and then.

    Returns
    -------
    Evaluation
        As `shortlist.evaluate` gives it.

    Examples
    --------
    >>> import shortlist as sl
    >>> from shortlist.report import validate_model
    >>> data = sl.datasets.make_prognostic(n_samples=82, random_state=1)
    >>> model = sl.PrognosticModel(max_features=2, ridge=1.0).fit(data.X, data.y)
    >>> evaluation = validate_model(model, data.X, data.y, n_resamples=2)
    >>> list(evaluation.selected) == model.selected_features_
    True
    """
    experiment = make_experiment(model, X, y, persons, seed)
    return evaluate(
        experiment,
        n_resamples,
        n_jobs=n_jobs,
        dask=dask,
        progress=progress and "Repeating the selection",
        cross_validate_resamples=False,
    )


def make_experiment(
    model: PrognosticModel, X: Any, y: ArrayLike, persons: ArrayLike | None, seed: int
) -> Experiment:
    """Return the experiment that repeats the fit of a model."""
    node_limit = model.node_limit
    if node_limit is None and model.status_ is Status.TIME_LIMIT:
        node_limit = max(1, model.solution_.nodes)
    with warnings.catch_warnings(action="ignore", category=ShortlistWarning):
        # `fit` has warned already
        plain = model.check(X, y)
        check_enough(plain.labels, persons)
        preprocessor = model.unfitted_design(plain)
        design = clone(preprocessor).fit(plain.frame, plain.labels)
        asked = str((model.tuning or Tuning()).scoring)
        scoring: Any = asked if asked == "roc_auc" else "neg_log_loss"
        problem = SubsetProblem(
            design.transform(plain.frame),
            plain.labels,
            ridge=model.ridge_,
            groups=design.predictors_,
            **model.limits_of(plain),
        )
        return Experiment(
            problem,
            backend=model.backend,
            ridges=_near(model),
            own_ridge=model.ridge_,
            is_open=model.ridge is None and (model.tuning or Tuning()).ridges is None,
            scoring=scoring,
            persons=persons,
            n_folds=choose_folds(plain.labels, persons),
            tuning_folds=TUNING_FOLDS,
            seed=seed,
            gap=model.gap,
            node_limit=node_limit,
            preprocessor=preprocessor,
            table=plain.frame,
            stable=model.random_state if model.stable else None,
            probes=make_probes(model.card_, plain),
            followed=choose_followed(len(plain.labels)),
        )


def _near(model: PrognosticModel) -> tuple[float, ...]:
    """Return the ridge of a model, and those tried that are next to it."""
    tried = sorted(model.card_.search.tried, reverse=True)
    if not tried:
        return (model.ridge_,)
    place = tried.index(model.ridge_)
    return tuple(tried[max(0, place - 1) : place + 2])


def choose_followed(n_rows: int) -> list[int]:
    """Return the rows whose risks are followed: all, or as many as suffice, evenly spaced."""
    rows = np.linspace(0, n_rows - 1, min(n_rows, MOST_FOLLOWED)).round().astype(np.int64)
    return [int(row) for row in rows]


def choose_folds(y: ArrayLike, persons: ArrayLike | None = None) -> int:
    """Return the number of folds: ten, or fewer, so that each has five of the rarer outcome."""
    return int(np.clip(min(persons_by_outcome(y, persons)) // 5, FEWEST_FOLDS, MOST_FOLDS))


def check_enough(y: ArrayLike, persons: ArrayLike | None = None) -> None:
    """Raise if there are too few patients of an outcome to validate a model of it."""
    counts = persons_by_outcome(y, persons)
    if min(counts) < FEWEST_FOLDS:
        raise InvalidProblemError(
            f"report: repeats the selection in {FEWEST_FOLDS} folds, so it needs {FEWEST_FOLDS} "
            f"patients of each outcome, but there are fewer with {counts.index(min(counts))}; fit "
            "without a report."
        )
