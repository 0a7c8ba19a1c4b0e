"""The tables of a study: what each run selects, its measures, and the AUCs of resamples."""

from __future__ import annotations

import gzip
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import shortlist as sl
from shortlist.evaluation import stability

from .plan import KEYS, Run

# Of a run: `supports` of its resamples, their `aucs` if nested, and numbers of solves.
Outcome = dict[str, Any]
Bool = NDArray[np.bool_]
ROLES = ("informative", "redundant", "uninformative")
FILES = {name: f"{name}.csv.gz" for name in ("selections", "runs", "intervals")}


@dataclass(frozen=True, eq=False)
class Tables:
    """The results of a study.

    Parameters
    ----------
    selections : DataFrame
        One row per run whose resamples say what they select: what identifies the run, and
        `selected`, the numbers of the features by resample; a comma is between resamples.
    runs : DataFrame
        One row per run. Over its resamples in `selections`: the mean share of the informative,
        redundant and uninformative features that is selected, `*_of_selected`, the mean share of
        the selected features that has the role, and Nogueira's `stability`. On the data as they
        are: `auc`, nested cross-validated, and the share of each role that is selected, `*_data`.
    intervals : DataFrame
        One row per run and arm that cross-validates resamples: `aucs` of the data as they are and
        of each resample.
    """

    selections: pd.DataFrame
    runs: pd.DataFrame
    intervals: pd.DataFrame

    def save(self, folder: Path) -> None:
        """Write the tables to a folder, compressed."""
        for part, name in FILES.items():
            text = getattr(self, part).to_csv(index=False, float_format="%.6g", lineterminator="\n")
            write_whole(folder / name, gzip.compress(text.encode(), mtime=0))


def tabulate(outcomes: Mapping[str, Mapping[Run, Outcome]]) -> Tables:
    """Return the tables of some arms, given the results of each run.

    An arm that cross-validates begins with the data as they are; other arms have resamples alone.
    """
    selections, intervals = [], []
    runs: dict[Run, dict[str, Any]] = {}
    for arm, results in outcomes.items():
        for run, outcome in results.items():
            matrix, aucs = chosen(outcome["supports"], run.n_features), outcome["aucs"]
            resamples = matrix[1:] if aucs else matrix
            if len(resamples):
                texts = [" ".join(map(str, row.nonzero()[0])) for row in resamples]
                selections.append(vars(run) | {"selected": ",".join(texts)})
                runs.setdefault(run, {}).update(measures(run, resamples))
            if len(resamples) < len(matrix):
                of_role = shares(run, matrix[:1])
                line = {f"{role}_data": float(of_role[role][0]) for role in ROLES}
                runs.setdefault(run, {}).update(line | {"auc": aucs[0]})
            if len(aucs) > 1:
                text = " ".join(f"{np.nan if auc is None else auc:.6g}" for auc in aucs)
                intervals.append({"arm": arm} | vars(run) | {"aucs": text})
    of_selected = (f"{role}_of_selected" for role in ROLES)
    on_data = (f"{role}_data" for role in ROLES)
    columns = [*KEYS, "epv", *ROLES, *of_selected, "stability", "auc", *on_data]
    rows = [vars(run) | {"epv": run.epv} | line for run, line in runs.items()]
    return Tables(
        pd.DataFrame(selections, columns=[*KEYS, "selected"]),
        pd.DataFrame(rows, columns=columns),
        pd.DataFrame(intervals, columns=["arm", *KEYS, "aucs"]),
    )


def chosen(supports: list[list[int]], n_features: int) -> Bool:
    """Return selections as a matrix, a row per resample and a column per feature."""
    matrix = np.zeros((len(supports), n_features), dtype=np.bool_)
    for row, support in zip(matrix, supports, strict=True):
        row[support] = True
    return matrix


def shares(run: Run, matrix: Bool) -> dict[str, NDArray[np.float64]]:
    """Return, by resample, the share of the features of each role that is selected.

    The informative features come first, then the redundant one. `*_of_selected` are shares of the
    selected features; NaN where none is.
    """
    ends = (0, run.n_informative, run.n_informative + 1, run.n_features)
    sizes = np.where(matrix.any(axis=1), matrix.sum(axis=1), np.nan)
    found: dict[str, NDArray[np.float64]] = {}
    for role, first, last in zip(ROLES, ends[:-1], ends[1:], strict=True):
        counts = matrix[:, first:last].sum(axis=1)
        found |= {role: counts / (last - first), f"{role}_of_selected": counts / sizes}
    return found


def measures(run: Run, matrix: Bool) -> dict[str, float]:
    """Return mean shares and stability over the resamples of a run."""
    means = {name: float(np.nanmean(values)) for name, values in shares(run, matrix).items()}
    return means | {"stability": stability(matrix).value}


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file beside its final place, then rename it, so that no half of it is ever seen."""
    with TemporaryDirectory(prefix=".shortlist-", dir=path.parent) as folder:
        part = Path(folder) / path.name
        part.write_bytes(content.encode() if isinstance(content, str) else content)
        part.replace(path)


def read_runs(folder: str | os.PathLike[str]) -> pd.DataFrame:
    """Return the runs of a study, as `Tables` describes them."""
    return read_table(folder, FILES["runs"], (*KEYS, "epv", *ROLES, "stability", "auc"))


def read_selections(folder: str | os.PathLike[str]) -> dict[Run, Bool]:
    """Return what the resamples of each run select, a row per resample and a column per feature."""
    lines = read_table(folder, FILES["selections"], (*KEYS, "selected"))
    found = {}
    for *keys, selected in lines[[*KEYS, "selected"]].itertuples(index=False):
        run = Run(*keys)
        supports = [[int(number) for number in text.split()] for text in selected.split(",")]
        found[run] = chosen(supports, run.n_features)
    return found


def read_table(
    folder: str | os.PathLike[str], name: str, needed: tuple[str, ...] = ()
) -> pd.DataFrame:
    """Return a table of a study's folder, which must have some columns."""
    path = Path(folder) / name
    if not path.is_file():
        raise sl.InvalidFileError(
            f"{folder}: has no {name}; give the folder of a study that has finished."
        )
    try:
        frame = pd.read_csv(path)
    except (ValueError, OSError, EOFError) as error:
        raise sl.InvalidFileError(f"{path}: is not a table that can be read ({error}).") from None
    missing = [column for column in needed if column not in frame]
    if missing:
        raise sl.InvalidFileError(
            f"{path}: has no column {missing[0]!r}; run it again, which keeps finished runs."
        )
    return frame
