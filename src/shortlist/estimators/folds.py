"""Folds of cross-validation: stratified, shuffled on request, with each person in one fold."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, check_cv

from ..arguments import Int
from ..errors import InvalidProblemError, shown

Fold = tuple[Int, Int]


def make_folds(
    cv: Any,
    X: Any,
    labels: NDArray[Any],
    persons: NDArray[Any] | None = None,
    seed: int | None = None,
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
    """
    if seed is None:
        return list(check_cv(cv, labels, classifier=True).split(X, labels))
    if isinstance(cv, Integral):
        rarest = int(np.unique(labels, return_counts=True)[1].min())
        n_folds = min(int(cv), rarest)
        if n_folds < 2:
            raise InvalidProblemError(
                f"ridge: cannot be chosen with {cv} fold(s) and {rarest} row(s) of the rarer "
                "outcome; give one."
            )
        return shuffled_folds(labels, n_folds, seed, persons)
    try:
        return list(check_cv(cv).split(X, labels, persons))
    except ValueError:
        raise InvalidProblemError(
            f"cv: {shown(cv)} cannot split {len(labels)} row(s) into folds with both outcomes"
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
