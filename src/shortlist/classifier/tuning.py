"""The ridge that scores best over the folds of a cross-validation, and these folds."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedGroupKFold, check_cv
from sklearn.utils.parallel import Parallel, delayed

from ..arguments import Int
from ..errors import InvalidProblemError, shown
from ..solution import Solution, Status

Estimator = TypeVar("Estimator")
Fold = tuple[Int, Int]


class FoldScore(NamedTuple):
    """The score of a ridge on the test rows of a fold, and the search on the other rows."""

    score: float
    gap: float
    is_cut_short: bool


@dataclass(frozen=True)
class RidgeSearch:
    """Ridges from the strongest to the weakest, and their scores over the folds.

    Attributes
    ----------
    ridges : list of float
        The ridges.
    results : dict of ndarray
        One entry per ridge, as `cv_results_` documents them.
    n_unproven : int
        How many of the models should have been proven optimal and are not.
    n_folds : int
        How many folds there are, over all repeats.
    n_repeats : int
        How often the rows were split into folds.
    """

    ridges: list[float]
    results: dict[str, NDArray[Any]]
    n_unproven: int
    n_folds: int
    n_repeats: int

    @property
    def best(self) -> int:
        """The position of the ridge chosen; of several that score the same, the strongest."""
        return int(self.results["rank_test_score"].argmin())

    @property
    def ridge(self) -> float:
        """The ridge chosen."""
        return self.ridges[self.best]

    @property
    def score(self) -> float:
        """Its mean score."""
        return float(self.results["mean_test_score"][self.best])


def search_ridges(
    ridges: list[float],
    folds: Sequence[Fold],
    score_fold: Callable[[Int, Int], list[FoldScore]],
    n_jobs: int | None,
    announce: Callable[[str], None] = lambda text: None,
    n_repeats: int = 1,
) -> RidgeSearch:
    """Solve every fold for every ridge.

    Parameters
    ----------
    ridges : list of float
        From the strongest to the weakest.
    folds : sequence of (train, test)
        Indices of rows.
    score_fold : callable
        Given the indices of a fold, the score of every ridge.
    n_jobs : int, optional
        Number of processes, as in scikit-learn; it changes no result.
    announce : callable
        Called with a sentence on the progress of the search.
    n_repeats : int
        How often the folds go through all rows.
    """
    paths = []
    announce(f"Choosing the ridge: fold 1 of {len(folds)}")
    for path in Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(score_fold)(*fold) for fold in folds
    ):
        paths.append(path)
        announce(f"Choosing the ridge: fold {min(len(paths) + 1, len(folds))} of {len(folds)}")
    n_unproven = sum(entry.is_cut_short for path in paths for entry in path)
    return RidgeSearch(ridges, _tabulate(ridges, paths), n_unproven, len(folds), n_repeats)


def score_ridges(
    ridges: Sequence[float],
    fit: Callable[[float, tuple[int, ...] | None], tuple[Estimator, Solution]],
    score: Callable[[Estimator], float],
) -> list[FoldScore]:
    """Fit and score every ridge in a fold, each starting from the selection before it."""
    scores: list[FoldScore] = []
    support = None
    for ridge in ridges:
        model, solution = fit(ridge, support)
        support = solution.support
        scores.append(FoldScore(score(model), solution.gap, is_cut_short(solution)))
    return scores


def is_cut_short(solution: Solution) -> bool:
    """Whether an exact search ended before its proof; a heuristic has none to finish."""
    return solution.status not in (Status.OPTIMAL, Status.HEURISTIC)


def warn_of_limits(solution: Solution, search: RidgeSearch | None) -> None:
    """Warn the caller of `fit` of models that are not proven optimal."""
    messages = []
    if search is not None and search.n_unproven:
        n_models = search.n_folds * len(search.ridges)
        models = f"{search.n_unproven} of the {n_models} cross-validated models"
        messages.append(f"{models} are not proven optimal")
    if is_cut_short(solution):
        end = f"status {solution.status.value!r} and a gap of {solution.gap:.2g}"
        messages.append(f"The search ended with {end}, so a better selection may exist")
    for message in messages:
        advice = "raise time_limit, node_limit or gap."
        warnings.warn(f"{message}; {advice}", ConvergenceWarning, stacklevel=3)


def _tabulate(ridges: list[float], paths: list[list[FoldScore]]) -> dict[str, NDArray[Any]]:
    scores = np.array([[entry.score for entry in path] for path in paths])
    means = scores.mean(axis=0)
    if np.isnan(means).all():
        raise InvalidProblemError(
            "scoring: no ridge has a score in every fold; use fewer folds, so that each has rows "
            "of both classes."
        )
    results: dict[str, NDArray[Any]] = {"ridge": np.array(ridges)}
    results |= {f"split{fold}_test_score": row for fold, row in enumerate(scores)}
    results["mean_test_score"] = means
    results["std_test_score"] = scores.std(axis=0)
    # 1 is best, and equal means share a rank; without a score a ridge comes last.
    comparable = np.where(np.isnan(means), -inf, means)
    results["rank_test_score"] = 1 + (comparable[:, np.newaxis] < comparable).sum(axis=1)
    results["max_gap"] = np.array([[entry.gap for entry in path] for path in paths]).max(axis=0)
    return results


def check_ridges(ridges: Sequence[float]) -> list[float]:
    """Return the ridges from the strongest to the weakest."""
    values = list(ridges) if isinstance(ridges, Iterable) else []
    if not values or not all(isinstance(value, Real) and 0 < value < inf for value in values):
        raise InvalidProblemError(
            f"ridges: must be a sequence of numbers greater than 0, not {ridges!r}."
        )
    return sorted((float(value) for value in values), reverse=True)


def make_folds(
    cv: Any,
    X: Any,
    labels: NDArray[Any],
    persons: NDArray[Any] | None = None,
    seed: int | None = None,
    n_repeats: int = 1,
) -> list[Fold]:
    """Return the (train, test) rows that a parameter `cv` stands for.

    Parameters
    ----------
    cv : int, cross-validation splitter or iterable of (train, test) indices
        A number means stratified folds. With a seed these are shuffled, and no more than there are
        rows of the rarer outcome.
    X, labels
        The rows to split.
    persons : ndarray of shape (n_rows,), optional
        Whom each row belongs to; needs a seed.
    seed : int, optional
        Seed of the shuffle; without one, folds are in the order of the rows, and scikit-learn's
        errors are raised as they are.
    n_repeats : int
        How often the rows are shuffled and split, if `cv` is a number and there is a seed.
    """
    if seed is None:
        return list(check_cv(cv, labels, classifier=True).split(X, labels))
    if isinstance(cv, Integral):
        rarest = int(np.unique(labels, return_counts=True)[1].min())
        n_folds = min(int(cv), rarest)
        if n_folds < 2:
            raise InvalidProblemError(
                "ridge: cannot be chosen by cross-validation, because folds must be two or more "
                f"and have both outcomes; cv is {cv}, rows of the rarer outcome are {rarest}; "
                "give a ridge."
            )
        seeds = range(seed, seed + n_repeats)
        return [fold for s in seeds for fold in shuffled_folds(labels, n_folds, s, persons)]
    try:
        return list(check_cv(cv).split(X, labels, persons))
    except ValueError:
        raise InvalidProblemError(
            f"cv: {shown(cv)} cannot split the rows into folds with both outcomes"
            f"{'' if persons is None else ' and each person in one of them'}; use fewer folds or "
            "give a ridge."
        ) from None


def shuffled_folds(
    labels: NDArray[Any], n_folds: int, seed: int, persons: NDArray[Any] | None = None
) -> list[Fold]:
    """Return the positions of training and test part of each shuffled stratified fold.

    Without persons they are those of scikit-learn's `StratifiedKFold`, with which the tests
    compare: there the checks of the input take as long as a solve.
    """
    if persons is not None:
        splitter = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
        with warnings.catch_warnings():
            # Of a small training part a class may have fewer rows than there are folds; some folds
            # then lack it and cannot be scored.
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            return list(splitter.split(labels, labels, persons))
    random = np.random.RandomState(seed)
    # Folds take turns in getting a row, those of the class that comes first at first.
    ordered = np.sort(labels != labels[0])
    fold = np.empty(len(labels), dtype=np.int64)
    for other in (False, True):
        sizes = [np.count_nonzero(ordered[i::n_folds] == other) for i in range(n_folds)]
        folds = np.repeat(np.arange(n_folds), sizes)
        random.shuffle(folds)
        fold[(labels != labels[0]) == other] = folds
    return [((fold != i).nonzero()[0], (fold == i).nonzero()[0]) for i in range(n_folds)]
