"""The search for the ridge that scores best over the folds, whatever is fitted in them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from numbers import Real
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.parallel import Parallel, delayed

from ..arguments import Int
from ..errors import InvalidProblemError
from ..solution import Solution, Status
from .folds import Fold

Fitted = TypeVar("Fitted")


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
    n_models : int
        How many models there are.
    """

    ridges: list[float]
    results: dict[str, NDArray[Any]]
    n_unproven: int
    n_models: int

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
    """
    from ..solver.compilation import ready_kernels

    paths = []
    ready_kernels()  # or else every process would compile them
    announce(f"Choosing the ridge: fold 1 of {len(folds)}")
    for path in Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(score_fold)(*fold) for fold in folds
    ):
        paths.append(path)
        announce(f"Choosing the ridge: fold {min(len(paths) + 1, len(folds))} of {len(folds)}")
    n_unproven = sum(entry.is_cut_short for path in paths for entry in path)
    return RidgeSearch(ridges, _tabulate(ridges, paths), n_unproven, len(folds) * len(ridges))


def score_ridges(
    ridges: Sequence[float],
    fit: Callable[[float, tuple[int, ...] | None], tuple[Fitted, Solution]],
    score: Callable[[Fitted], float],
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
    """Whether a search that proves ended before its proof; a heuristic does not even try."""
    return solution.status not in (Status.OPTIMAL, Status.HEURISTIC)


def warn_of_limits(solution: Solution, search: RidgeSearch | None) -> None:
    """Warn the caller of `fit` of models that are not proven optimal."""
    advice = "raise time_limit, node_limit or gap."
    if search is not None and search.n_unproven:
        warnings.warn(
            f"{search.n_unproven} of the {search.n_models} cross-validated models are not "
            f"proven optimal; {advice}",
            ConvergenceWarning,
            stacklevel=3,
        )
    if is_cut_short(solution):
        warnings.warn(
            f"The search ended with status {solution.status.value!r} and a gap of "
            f"{solution.gap:.2g}, so a better selection may exist; {advice}",
            ConvergenceWarning,
            stacklevel=3,
        )


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
