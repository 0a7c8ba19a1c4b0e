"""The saved tables of a study: figures, the comparison and the page are made from these alone."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path

import pandas as pd

from ..errors import InvalidFileError
from .plan import Run
from .results import ROLES, STABILISED

KEYS = (*(field.name for field in fields(Run)), "epv")  # what identifies a run in the tables
# What the figures and the page call the methods.
METHOD_NAMES = {
    "optimal": "optimal",
    "univariable": "greedy",
    "forward": "forward",
    "lasso": "lasso",
    STABILISED: "most frequent optimum",
}


def read_summary(folder: str | os.PathLike[str]) -> pd.DataFrame:
    """Return the summary of a study: a row per data set, run and method.

    Parameters
    ----------
    folder : path-like
        The folder of the study.

    Returns
    -------
    DataFrame
        As in `summary.csv`.
    """
    needed = ("auc", "auc_lower", "auc_upper", "stability", "n_resamples", *ROLES)
    return _read(Path(folder), "summary.csv", (*KEYS, *needed))


def read_features(folder: str | os.PathLike[str]) -> pd.DataFrame:
    """Return how often each feature is selected, by data set, run and method.

    Parameters
    ----------
    folder : path-like
        The folder of the study.

    Returns
    -------
    DataFrame
        As in `features.csv`.
    """
    needed = ("feature", "role", "cost", "separation", "frequency", "lower", "upper")
    return _read(Path(folder), "features.csv", (*KEYS, *needed))


def read_parkinson(folder: str | os.PathLike[str]) -> pd.DataFrame | None:
    """Return the summary of the Parkinson experiment; None if it is not in the folder.

    Parameters
    ----------
    folder : path-like
        The folder of the study.

    Returns
    -------
    DataFrame or None
        As in `parkinson_summary.csv`.
    """
    path = Path(folder) / "parkinson_summary.csv"
    needed = ("variant", "accuracy", "accuracy_lower", "accuracy_upper", "measures")
    return _read(Path(folder), path.name, needed) if path.is_file() else None


def rows_of(summary: pd.DataFrame, seed: int = 0, protocol: str = "paper") -> pd.DataFrame:
    """Return the rows of a seed under a protocol; by default the runs that the paper reports."""
    return summary[(summary["seed"] == seed) & (summary["protocol"] == protocol)]


def _read(folder: Path, name: str, needed: tuple[str, ...]) -> pd.DataFrame:
    path = next((p for p in (folder / name, folder / f"{name}.gz") if p.is_file()), None)
    if path is None:
        raise InvalidFileError(
            f"{folder}: has no {name}; give the folder of a study that has finished."
        )
    try:
        frame = pd.read_csv(path)
    except (ValueError, OSError, EOFError) as error:
        raise InvalidFileError(f"{path}: is not a table that can be read ({error}).") from None
    missing = [column for column in needed if column not in frame]
    if missing:
        raise InvalidFileError(f"{path}: has no column {missing[0]!r}; make the study again.")
    return frame
