"""The tables of a study: a row per resample, per run, and per feature of a run."""

from __future__ import annotations

import gzip
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import shortlist as sl
from shortlist.evaluation import inclusion_frequencies, percentile_interval, stability

from .plan import KEYS, Run

Outcome = dict[int, dict[str, Any]]  # results of a run by resample, 0 being the data
ROLES = ("informative", "redundant", "uninformative")
FILES = {"rows": "results.csv.gz", "summary": "summary.csv.gz", "features": "features.csv.gz"}


@dataclass(frozen=True, eq=False)
class Tables:
    """The results of a study.

    Parameters
    ----------
    rows : DataFrame
        One row per run and resample: the `arm`, what identifies the run, `resample` (0 is the data
        as they are), and `ridge`, `support`, `test_auc`, `solves` and `unproven` as
        `evaluate_resample` describes them.
    summary : DataFrame
        One row per run: `auc`, nested cross-validated, of the data as they are; `auc_mean` and the
        interval over resamples, where these are cross-validated; the mean share of the
        informative, redundant and uninformative features that is selected, over resamples or, if
        there are none, on the data as they are, and the variance of that mean, `*_variance`;
        `*_of_selected`, the mean share of the selected features that has the role; Nogueira's
        `stability`; the number of `solves`, and how many of
        them were `unproven`. `difference` with its interval is the AUC of the optimum less that of
        the greedy rule on the same resamples.
    features : DataFrame
        One row per run of the arm "paper" and feature: role, cost, and how often it is selected,
        with Wilson's interval.
    """

    rows: pd.DataFrame
    summary: pd.DataFrame
    features: pd.DataFrame

    def save(self, folder: Path) -> None:
        """Write the tables to a folder, compressed."""
        for part, name in FILES.items():
            text = getattr(self, part).to_csv(index=False, float_format="%.6g", lineterminator="\n")
            write_whole(folder / name, gzip.compress(text.encode(), mtime=0))


def tabulate(outcomes: Mapping[str, Mapping[Run, Outcome]]) -> Tables:
    """Return the tables of some arms, given the results of each run."""
    rows, summary, features = [], [], []
    for arm, runs in outcomes.items():
        for run, results in runs.items():
            keys = {"arm": arm} | run.keys() | {"epv": run.epv}
            rows += [
                keys | {"resample": i} | result | {"support": " ".join(map(str, result["support"]))}
                for i, result in results.items()
            ]
            chosen = _selected(run, results)
            greedy = runs.get(Run(**run.keys() | {"method": "univariable"}))
            summary.append(
                keys
                | _auc_and_interval(results)
                | _paired_difference(results, greedy if run.method == "optimal" else None)
                | _shares(run, chosen)
                | {"stability": stability(chosen).value if len(chosen) > 1 else np.nan}
                | {name: sum(r[name] for r in results.values()) for name in ("solves", "unproven")}
            )
            if arm == "paper":
                frequency = inclusion_frequencies(chosen).reset_index(drop=True)
                frequency.insert(0, "role", [_role(run, g) for g in range(run.n_features)])
                frequency.insert(1, "cost", run.costs() if run.study == "budget" else 1)
                frequency.insert(0, "feature", range(run.n_features))
                features.append(pd.DataFrame([keys] * len(frequency)).join(frequency))
    return Tables(
        pd.DataFrame(rows),
        pd.DataFrame(summary),
        pd.concat(features, ignore_index=True) if features else pd.DataFrame(columns=["study"]),
    )


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file beside its final place, then rename it, so that no half of it is ever seen."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content.encode() if isinstance(content, str) else content)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def read_summary(folder: str | os.PathLike[str]) -> pd.DataFrame:
    """Return the summary of a study, as `Tables` describes it."""
    needed = (*KEYS, "arm", "epv", "auc", "auc_lower", "auc_upper", "stability", *ROLES)
    return read_table(folder, FILES["summary"], needed)


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


def _selected(run: Run, results: Outcome) -> NDArray[np.bool_]:
    """Return the selection of each resample; if there is none, that on the data."""
    parts = [result for i, result in results.items() if i > 0] or list(results.values())
    chosen = np.zeros((len(parts), run.n_features), dtype=np.bool_)
    for row, result in zip(chosen, parts, strict=True):
        row[result["support"]] = True
    return chosen


def _role(run: Run, feature: int) -> str:
    """Return the role of a feature: the informative ones come first, then the redundant one."""
    return ROLES[int(feature >= run.n_informative) + int(feature > run.n_informative)]


def _shares(run: Run, chosen: NDArray[np.bool_]) -> dict[str, float]:
    ends = (0, run.n_informative, run.n_informative + 1, run.n_features)
    sizes = chosen.sum(axis=1)
    shares = {}
    for role, first, last in zip(ROLES, ends[:-1], ends[1:], strict=True):
        counts = chosen[:, first:last].sum(axis=1)
        shares[role] = float(counts.mean() / (last - first))
        if len(counts) > 1:
            variance = counts.var(ddof=1) / len(counts) / (last - first) ** 2
            shares[f"{role}_variance"] = float(variance)
        of_selected = counts[sizes > 0] / sizes[sizes > 0]
        shares[f"{role}_of_selected"] = float(of_selected.mean()) if len(of_selected) else np.nan
    return shares


def _auc_and_interval(results: Outcome) -> dict[str, float]:
    auc = _aucs(results)
    values = auc.drop(0, errors="ignore").dropna()
    lower, upper = percentile_interval(values)
    return {
        "auc": auc.get(0, np.nan),
        "auc_mean": values.mean(),
        "auc_lower": lower,
        "auc_upper": upper,
        "n_resamples": len(results) - (0 in results),
    }


def _paired_difference(own: Outcome, other: Outcome | None) -> dict[str, float]:
    differences = _aucs(own) - _aucs(other or {})
    lower, upper = percentile_interval(differences.drop(0, errors="ignore").dropna())
    return {
        "difference": differences.get(0, np.nan),
        "difference_lower": lower,
        "difference_upper": upper,
    }


def _aucs(results: Outcome) -> pd.Series[float]:
    """Return the cross-validated AUC by resample; NaN where it is not defined."""
    return pd.Series({i: result["test_auc"] for i, result in results.items()}, dtype=np.float64)
