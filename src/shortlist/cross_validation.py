"""Cross-validation: its folds, its loop, and the ridge that scores best."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import inf, log10, sqrt
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedGroupKFold, check_cv
from sklearn.utils.parallel import Parallel, delayed

from .arguments import Int
from .errors import InvalidProblemError, shown
from .solution import Solution, Status

_FEWEST_FOLDS = 3  # for an error of their differences

Part = TypeVar("Part")
Model = TypeVar("Model")
Score = TypeVar("Score")
Fold = tuple[Int, Int]


GRID = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01)  # of ridges, where a search starts
_WEAKEST = 1e-5  # where it ends
# The strongest ridge per row: there a coefficient of standardised columns, about which rows tell a
# sixteenth each at most, is a ninth of what the data say, or less.
_STRONGEST = 0.5
_GAIN = 1e-4  # of a score, that is worth another ridge


class Tuning(BaseEstimator):  # type: ignore[misc]
    """How a ridge is chosen by cross-validation.

    The ridges are tried from the strongest to the weakest, each search starting from the selection
    of the ridge before. The first round of folds stops where the score has fallen clearly: twice in
    a row by more than a standard error of its paired differences to the best score so far, or at
    all where most searches were cut short. The searches of weaker ridges take longest.

    Parameters
    ----------
    ridges : sequence of float, optional
        Strengths of the L2 penalty to choose from; these alone. By default 10, 3, 1, ... 0.01, and
        further ones beyond an end as long as that scores best.
    cv : int, cross-validation splitter or iterable of (train, test) indices
        The folds; a number means stratified and shuffled ones, with each person in one of them,
        and no more of them than there are rows of the rarer outcome.
    n_repeats : int
        How often the patients are split into folds, if `cv` is a number; the mean score over all
        folds counts, so that the ridge depends less on one split.
    scoring : str or callable
        The score to maximise, as in scikit-learn; outcomes are 1 for the event and 0 otherwise.
    n_jobs : int, optional
        Number of processes over the folds; it changes no result.

    Examples
    --------
    >>> import shortlist as sl
    >>> data = sl.datasets.make_prognostic(n_samples=82, random_state=1)
    >>> tuning = sl.Tuning(ridges=(1.0, 0.1), n_repeats=1)
    >>> sl.PrognosticModel(max_features=2, tuning=tuning).fit(data.X, data.y).ridge_
    0.1
    """

    def __init__(
        self,
        ridges: Sequence[float] | None = None,
        cv: Any = 5,
        n_repeats: int = 5,
        scoring: str | Callable[..., float] = "neg_log_loss",
        n_jobs: int | None = None,
    ) -> None:
        self.ridges = ridges
        self.cv = cv
        self.n_repeats = n_repeats
        self.scoring = scoring
        self.n_jobs = n_jobs


def end_of(ridges: Sequence[float], means: ArrayLike) -> str | None:
    """Return whether the "strongest" or "weakest" ridge scores best, and better than its neighbour.

    Where an end scores as well as the ridge beside it, others beyond it would not be better either.

    Parameters
    ----------
    ridges : sequence of float
        From the strongest to the weakest.
    means : array-like
        Their mean scores, the higher the better; NaN where there is none.
    """
    scores = np.nan_to_num(np.asarray(means, dtype=np.float64), nan=-inf)
    if len(scores) < 2:
        return None
    best = int(scores.argmax())
    for end, place, beside in (("strongest", 0, 1), ("weakest", len(scores) - 1, -2)):
        if best == place:
            gain = scores[place] - scores[beside]
            return end if gain > _GAIN * abs(scores[place]) else None
    return None


def widen(
    ridges: Sequence[float],
    paths: list[list[Score]],
    run: Callable[[list[float]], list[list[Score]]],
    value: Callable[[Score], float],
    n_rows: int,
    to_weaker: bool = True,
) -> tuple[list[float], list[list[Score]]]:
    """Try further ridges, about three times as strong or as weak, while an end scores best.

    The search ends where the data have hardly a say.

    Parameters
    ----------
    ridges : sequence of float
        Those tried, from the strongest to the weakest.
    paths : list of list
        Their scores, a list per fold.
    run : callable
        Given some ridges, the score of each in every fold.
    value : callable
        A score as a number.
    n_rows : int
        Of how many rows the models are.
    to_weaker : bool
        Whether weaker ones are tried too.

    Returns
    -------
    ridges, paths
        All that were tried, from the strongest to the weakest, and their scores.
    """
    tried = list(ridges)
    while True:
        end = end_of(tried, np.mean([[value(each) for each in path] for path in paths], axis=0))
        if end is None or (end == "weakest" and not to_weaker):
            return tried, paths
        further = _beyond(tried[0 if end == "strongest" else -1], end)
        if not _WEAKEST <= further <= _STRONGEST * n_rows:
            return tried, paths
        found = run([further])
        if end == "strongest":
            tried, paths = [further, *tried], [n + p for n, p in zip(found, paths, strict=True)]
        else:
            tried, paths = [*tried, further], [p + n for n, p in zip(found, paths, strict=True)]


def _beyond(ridge: float, end: str) -> float:
    """Return the next of ..., 1, 3, 10, 30, ... beyond a ridge."""
    step = round(2 * log10(ridge)) + (1 if end == "strongest" else -1)
    return float(f"{3 if step % 2 else 1}e{step // 2}")


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
        The ridges that were tried.
    untried : list of float
        Weaker ones, before which the search stopped because the score had fallen clearly.
    share : float or None
        Seconds that a single search could take.
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
    untried: list[float] = field(default_factory=list)
    share: float | None = None

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


def cross_validate(
    folds: Sequence[tuple[Part, Part]],
    fit: Callable[[Part], Iterable[Model]],
    score: Callable[[Model, Part], Score],
    *,
    n_jobs: int | None = 1,
    announce: Callable[[str], None] = lambda text: None,
    n_before: int = 0,
) -> list[list[Score]]:
    """Return the score of every candidate in every fold.

    Parameters
    ----------
    folds : sequence of (train, test)
        The parts of the rows.
    fit : callable
        Given the training part, the models of all candidates, one after the other.
    score : callable
        Given one of them and the test part, its score.
    n_jobs : int, optional
        Number of processes, as in scikit-learn; it changes no result.
    announce : callable
        Called with the fold that comes next, in words.
    n_before : int
        How many folds came before these.
    """

    def score_fold(train: Part, test: Part) -> list[Score]:
        return [score(model, test) for model in fit(train)]

    scores: list[list[Score]] = []
    if folds:
        announce(f"fold {n_before + 1} of {n_before + len(folds)}")
    done: Iterable[list[Score]] = (score_fold(*fold) for fold in folds)
    if n_jobs != 1:
        jobs = (delayed(score_fold)(*fold) for fold in folds)
        done = Parallel(n_jobs=n_jobs, return_as="generator")(jobs)
    n_folds = n_before + len(folds)
    for found in done:
        scores.append(found)
        announce(f"fold {min(n_before + len(scores) + 1, n_folds)} of {n_folds}")
    return scores


def search_ridges(
    ridges: list[float],
    folds: Sequence[Fold],
    fit: Callable[[Int, list[float]], Iterable[Any]],
    score: Callable[[Any, Int], float],
    n_jobs: int | None,
    announce: Callable[[str], None] = lambda text: None,
    n_repeats: int = 1,
    share: float | None = None,
    n_rows: int | None = None,
) -> RidgeSearch:
    """Score the classifier of every ridge in every fold.

    Parameters
    ----------
    ridges : list of float
        From the strongest to the weakest.
    folds, n_jobs
        As in `cross_validate`; rows are indices.
    fit, score : callable
        As there; `fit` is given the ridges too, and the models are classifiers that have a
        `solution_`.
    announce : callable
        Called with a sentence on the progress of the search.
    n_repeats : int
        How often the folds go through all rows.
    share : float, optional
        Seconds that a single search can take. If they are given, the first round of folds decides
        whether weaker ridges are tried.
    n_rows : int, optional
        As in `widen`, if ridges beyond the ends are to be tried.
    """

    def score_and_search(model: Any, test: Int) -> FoldScore:
        solution = model.solution_
        return FoldScore(score(model, test), solution.gap, is_cut_short(solution))

    def tell(fold: str) -> None:
        announce(f"Choosing the ridge: {fold}")

    n_first = 0 if share is None else len(folds) // n_repeats
    paths: list[list[FoldScore]] = [[] for _ in range(n_first)]
    models = [iter(fit(train, ridges)) for train, _ in folds[:n_first]]
    n_tried = 0 if n_first else len(ridges)
    while n_tried < len(ridges) and not _has_fallen(paths):
        for number, (path, (_, test)) in enumerate(zip(paths, folds, strict=False), start=1):
            tell(f"fold {number} of {len(folds)}")
            path.append(score_and_search(next(models[number - 1]), test))
        n_tried += 1
        if _is_in_vain(paths):
            paths, n_tried = [path[:-1] for path in paths], n_tried - 1
            break

    def run(some: list[float], n_before: int = 0) -> list[list[FoldScore]]:
        return cross_validate(
            folds[n_before:],
            lambda train: fit(train, some),
            score_and_search,
            n_jobs=n_jobs,
            announce=tell,
            n_before=n_before,
        )

    tried, untried = ridges[:n_tried], ridges[n_tried:]
    paths += run(tried, n_first)
    if n_rows is not None:
        tried, paths = widen(tried, paths, run, lambda entry: entry.score, n_rows, not untried)
    n_unproven = sum(entry.is_cut_short for path in paths for entry in path)
    results = _tabulate(tried, paths)
    return RidgeSearch(tried, results, n_unproven, len(folds), n_repeats, untried, share)


def _is_in_vain(paths: Sequence[Sequence[FoldScore]]) -> bool:
    """Return whether most searches of the last ridge were cut short, and it scores no better."""
    scores = np.array([[entry.score for entry in path] for path in paths]).mean(axis=0)
    is_slow = 2 * sum(path[-1].is_cut_short for path in paths) > len(paths)
    return is_slow and len(scores) > 1 and bool(scores[-1] <= scores[:-1].max())


def _has_fallen(paths: Sequence[Sequence[FoldScore]]) -> bool:
    """Return whether the last two ridges score clearly worse than the best one before them."""
    scores = np.array([[entry.score for entry in path] for path in paths])
    if len(scores) < _FEWEST_FOLDS or scores.shape[1] < 3:
        return False
    best = scores[:, scores.mean(axis=0).argmax()]
    fall = best[:, np.newaxis] - scores[:, -2:]
    error = fall.std(axis=0, ddof=1) / sqrt(len(fall))
    return bool((fall.mean(axis=0) > np.maximum(error, 1e-12)).all())


def is_cut_short(solution: Solution) -> bool:
    """Whether an exact search ended before its proof; a heuristic has none to finish."""
    return solution.status not in (Status.OPTIMAL, Status.HEURISTIC)


def warn_of_limits(solution: Solution, search: RidgeSearch | None) -> None:
    """Warn the caller of `fit` of models that are not proven optimal."""
    messages = []
    if search is not None and search.n_unproven:
        n_models = search.n_folds * len(search.ridges)
        models = f"{search.n_unproven} of the {n_models} cross-validated models"
        share = "" if search.share is None else f"; each search had {search.share:.3g} s"
        messages.append(f"{models} are not proven optimal{share}")
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
    persons: NDArray[Any] | None,
    seed: int,
    n_repeats: int = 1,
) -> list[Fold]:
    """Return the (train, test) rows that a parameter `cv` stands for.

    Parameters
    ----------
    cv : int, cross-validation splitter or iterable of (train, test) indices
        A number means stratified and shuffled folds, no more than there are rows of the rarer
        outcome.
    X, labels
        The rows to split.
    persons : ndarray of shape (n_rows,), optional
        Whom each row belongs to.
    seed : int
        Seed of the shuffle.
    n_repeats : int
        How often the rows are shuffled and split, if `cv` is a number.
    """
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

    Without persons they equal the folds of scikit-learn's `StratifiedKFold`, with which the tests
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
    # Folds take turns in getting a row, rows of the class that comes first at first.
    ordered = np.sort(labels != labels[0])
    fold = np.empty(len(labels), dtype=np.int64)
    for other in (False, True):
        sizes = [np.count_nonzero(ordered[i::n_folds] == other) for i in range(n_folds)]
        folds = np.repeat(np.arange(n_folds), sizes)
        random.shuffle(folds)
        fold[(labels != labels[0]) == other] = folds
    return [((fold != i).nonzero()[0], (fold == i).nonzero()[0]) for i in range(n_folds)]
