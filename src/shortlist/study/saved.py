"""The saved tables of a study: figures, the comparison and the page are made from these alone."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd

from ..errors import InvalidFileError
from .plan import Run
from .results import OPTIONAL, ROLES, STABILISED

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
    needed = ("auc", "auc_lower", "auc_upper", "n_resamples", *ROLES, *OPTIONAL)
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
        As in `features.csv.gz`.
    """
    needed = ("feature", "role", "cost", "separation", "frequency", "lower", "upper")
    return _read(Path(folder), "features.csv.gz", (*KEYS, *needed))


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
    needed = ("variant", "accuracy", "accuracy_lower", "accuracy_upper", "n_resamples", "measures")
    return _read(Path(folder), path.name, needed) if path.is_file() else None


def rows_of(summary: pd.DataFrame, seed: int = 0, protocol: str = "paper") -> pd.DataFrame:
    """Return the rows of a seed under a protocol; by default the runs that the paper reports."""
    return summary[(summary["seed"] == seed) & (summary["protocol"] == protocol)]


def data_set_name(row: pd.Series[Any]) -> str:
    """Return what files about a data set of a study are called."""
    noise = round(100 * row["label_noise"])
    return f"{row['study']}-{row['n_samples']}x{row['n_features']}-noise{noise}"


def matched_rows(summary: pd.DataFrame) -> pd.DataFrame:
    """Return the optimum's rows over the resamples that both protocols have, if both ran."""
    rows = summary[(summary["method"] == "optimal") & summary["matched_resamples"].notna()]
    return rows if rows["protocol"].nunique() == 2 else rows.iloc[:0]


def mean_over_runs(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the mean shares and stability over runs, by study, label noise, EPV and method."""
    keys = ["study", "label_noise", "epv", "method"]
    return rows.groupby(keys)[[*ROLES, "stability"]].mean()


def _read(folder: Path, name: str, needed: tuple[str, ...]) -> pd.DataFrame:
    path = folder / name
    if not path.is_file():
        raise InvalidFileError(
            f"{folder}: has no {name}; give the folder of a study that has finished."
        )
    try:
        frame = pd.read_csv(path)
    except (ValueError, OSError, EOFError) as error:
        raise InvalidFileError(f"{path}: is not a table that can be read ({error}).") from None
    missing = [column for column in needed if column not in frame]
    if missing:
        raise InvalidFileError(
            f"{path}: has no column {missing[0]!r}; run it again, which keeps what is finished."
        )
    return frame
