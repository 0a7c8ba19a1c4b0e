"""The Oxford Parkinson's disease detection data (Little et al. 2008), read or downloaded.

195 voice recordings of 32 people, 24 of them with Parkinson's disease; 22 measures each.
"""

from __future__ import annotations

import hashlib
import os
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple
from urllib.error import URLError
from urllib.request import urlopen

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import shortlist as sl

from .tables import write_whole

SOURCE = "https://archive.ics.uci.edu/ml/machine-learning-databases/parkinsons/parkinsons.data"
SHA256 = "a148d3c47503f4f5b3842d3f995548da333eb2b4401f6bb8a65832d008aca5d5"
_TIMEOUT_SECONDS = 60  # to wait for the server
# Little et al. chose from the 17 of the 22 that are not fundamental frequencies or spreads of it.
_NOT_LITTLES = ("MDVP:Fo(Hz)", "MDVP:Fhi(Hz)", "MDVP:Flo(Hz)", "spread1", "spread2")


class Recordings(NamedTuple):
    """Voice recordings: the measures, 1 for Parkinson's disease, and the person of each."""

    measures: pd.DataFrame
    status: NDArray[np.int64]
    persons: NDArray[np.str_]

    def of_little(self) -> Recordings:
        """Return the recordings with the 17 measures that Little et al. chose from."""
        return self._replace(measures=self.measures.drop(columns=list(_NOT_LITTLES)))


def read_recordings(path: str | os.PathLike[str]) -> Recordings:
    """Read `parkinsons.data`, as the UCI Machine Learning Repository has it.

    Parameters
    ----------
    path : path-like
        The file: `name` (phon_R01_S01_1 is recording 1 of person S01), `status` and the measures.

    Returns
    -------
    Recordings
        Measures, status and persons.
    """
    try:
        frame = pd.read_csv(path)
    except (ValueError, OSError) as error:
        raise sl.InvalidFileError(f"{path}: cannot be read as CSV ({error}).") from None
    missing = [name for name in ("name", "status", *_NOT_LITTLES) if name not in frame]
    if missing:
        raise sl.InvalidFileError(
            f"{path}: has no column {missing[0]!r}; give the file parkinsons.data of the UCI "
            "repository."
        )
    measures = frame.drop(columns=["name", "status"])
    is_number = measures.dtypes.map(pd.api.types.is_numeric_dtype)
    if not is_number.all() or not np.isfinite(measures.to_numpy(dtype=np.float64)).all():
        raise sl.InvalidFileError(
            f"{path}: a measure is missing or not a number; get the file again."
        )
    if not frame["status"].isin([0, 1]).all():
        raise sl.InvalidFileError(
            f"{path}: status must be 0 or 1 in every row (1 is Parkinson's disease); get the file "
            "again."
        )
    return Recordings(
        measures.astype(np.float64),
        frame["status"].to_numpy(dtype=np.int64),
        frame["name"].astype(str).str.rsplit("_", n=1).str[0].to_numpy(dtype=np.str_),
    )


def download_recordings(path: str | os.PathLike[str], source: str = SOURCE) -> Path:
    """Download `parkinsons.data` and check that it is the file that the study was made with.

    Parameters
    ----------
    path : path-like
        Where the file goes; one that is there already is kept if it is the right one.
    source : str
        Address of the file.

    Returns
    -------
    Path
        The file.
    """
    place = Path(path)
    if place.is_file() and _digest(place.read_bytes()) == SHA256:
        return place
    try:
        with urlopen(source, timeout=_TIMEOUT_SECONDS) as answer:
            content = answer.read()
    except (URLError, HTTPException, OSError) as error:
        raise sl.InvalidFileError(
            f"{source}: cannot be downloaded ({error}); get the file and pass it with --data."
        ) from None
    if _digest(content) != SHA256:
        raise sl.InvalidFileError(
            f"{source}: is not the file that is expected (its SHA-256 differs); get it elsewhere "
            "and pass it with --data."
        )
    place.parent.mkdir(parents=True, exist_ok=True)
    write_whole(place, content)
    return place


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
