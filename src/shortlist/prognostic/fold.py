"""The folds that choose the ridge."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv

from ..errors import InvalidProblemError, shown
from .study import Study

Int = NDArray[np.int64]


def check_persons(persons: ArrayLike | None, n_rows: int) -> NDArray[Any] | None:
    """Return whom each row belongs to, if that is known."""
    if persons is None:
        return None
    owners: NDArray[Any] = np.asarray(persons)
    if owners.shape != (n_rows,):
        raise InvalidProblemError(
            f"persons: expected {n_rows} values, one per row, but got shape {owners.shape}."
        )
    return owners


def make_folds(
    cv: Any, study: Study, owners: NDArray[Any] | None, random_state: int
) -> list[tuple[Int, Int]]:
    """Return (train, test) indices, each with rows of both outcomes.

    A number of folds larger than that of the rarer outcome is lowered to it.
    """
    if isinstance(cv, Integral):
        rarest = int(np.unique(study.labels, return_counts=True)[1].min())
        n_folds = min(int(cv), rarest)
        if n_folds < 2:
            raise InvalidProblemError(
                f"ridge: cannot be chosen with {cv} fold(s) and {rarest} row(s) of the rarer "
                "outcome; give one."
            )
        splitter = StratifiedKFold if owners is None else StratifiedGroupKFold
        cv = splitter(n_folds, shuffle=True, random_state=random_state)
    try:
        folds = list(check_cv(cv).split(study.table, study.labels, owners))
    except ValueError:
        raise InvalidProblemError(
            f"cv: {shown(cv)} cannot split {len(study.labels)} row(s) into folds with both outcomes"
            f"{'' if owners is None else ' and each person in one of them'}; use fewer folds or "
            "give a ridge."
        ) from None
    for fold in folds:
        for rows in fold:
            if len(np.unique(study.labels[rows])) < 2:
                raise InvalidProblemError(
                    "cv: a fold has rows of one outcome only; use fewer folds or give a ridge."
                )
    return folds
