"""The tables of a study: a row per resample, per run, and per feature of a run."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ..datasets import PrognosticData
from ..evaluation import (
    Evaluation,
    inclusion_frequencies,
    model_frequencies,
    role_shares,
    stability,
)
from ..files import write_whole
from .plan import Run

ROLES = ("informative", "redundant", "uninformative")
STABILISED = "stabilised"  # the most frequent selection over the resamples of the optimum
_SIGNIFICANT = "%.9g"


@dataclass(frozen=True, eq=False)
class Results:
    """What came out of a study.

    Parameters
    ----------
    rows : DataFrame
        One row per run and resample: what identifies the run, `resample` (0 is the data as they
        are), and the columns that `evaluate_resample` describes.
    summary : DataFrame
        One row per run: nested cross-validated AUC (`auc` on the data as they are, `auc_mean` and
        the interval over resamples), the mean share of informative, redundant and uninformative
        features that are selected, Nogueira's stability with its interval, and the work done.
        The method "stabilised" is the most frequent selection of the optimum; it has shares alone.
    features : DataFrame
        One row per run and feature: its role and cost, its separation of the classes (how far
        their means lie apart, in standard deviations), and how often it is selected, with Wilson's
        interval.
    """

    rows: pd.DataFrame
    summary: pd.DataFrame
    features: pd.DataFrame

    def save(self, folder: Path) -> None:
        """Write the tables to a folder."""
        text = self.rows.to_csv(index=False, float_format=_SIGNIFICANT, lineterminator="\n")
        write_whole(folder / "results.csv.gz", gzip.compress(text.encode(), mtime=0))
        for name in ("summary", "features"):
            table: pd.DataFrame = getattr(self, name)
            text = table.to_csv(index=False, float_format=_SIGNIFICANT, lineterminator="\n")
            write_whole(folder / f"{name}.csv", text)


def tabulate(evaluations: Mapping[Run, Evaluation]) -> Results:
    """Return the tables of some runs.

    Parameters
    ----------
    evaluations : mapping
        What each run gave.
    """
    rows, summary, features = [], [], []
    for run, evaluation in evaluations.items():
        data = run.data()
        roles = data.roles.tolist()
        keys = run.keys() | {"epv": data.epv}
        rows.append(_identified(keys, evaluation.rows))
        selection = evaluation.selection
        summary.append(
            keys
            | _performance(evaluation)
            | _shares(selection, roles)
            | _stability(selection)
            | {name: evaluation.rows[name].sum() for name in ("solves", "nodes", "unproven")}
        )
        frequencies = inclusion_frequencies(selection).reset_index(names="feature")
        frequencies.insert(1, "role", roles)
        frequencies.insert(2, "cost", data.costs)
        frequencies.insert(3, "separation", _separation(data))
        features.append(_identified(keys, frequencies))
        if run.method == "optimal":
            most_frequent = set(model_frequencies(selection)["model"].iloc[0])
            chosen = pd.DataFrame([[name in most_frequent for name in selection.columns]])
            summary.append(
                keys
                | {"method": STABILISED, "n_resamples": len(selection)}
                | _shares(chosen, roles)
            )
    return Results(
        pd.concat(rows, ignore_index=True),
        pd.DataFrame(summary),
        pd.concat(features, ignore_index=True),
    )


def _identified(keys: dict[str, Any], table: pd.DataFrame) -> pd.DataFrame:
    """Put the columns that identify a run before those of a table."""
    return pd.concat([pd.DataFrame([keys] * len(table)), table], axis=1)


def _performance(evaluation: Evaluation) -> dict[str, Any]:
    auc = evaluation.summary().loc["auc"]
    return {
        "auc": auc["estimate"],
        "auc_mean": auc["mean"],
        "auc_lower": auc["lower"],
        "auc_upper": auc["upper"],
        "n_resamples": len(evaluation.resamples),
    }


def _separation(data: PrognosticData) -> list[float]:
    difference = data.X[data.y == 1].mean() - data.X[data.y == 0].mean()
    return [float(value) for value in (difference / data.X.std()).abs()]


def _shares(selection: pd.DataFrame, roles: Sequence[str]) -> dict[str, float]:
    shares = role_shares(selection, roles)["of_role"]
    return {role: shares[role] for role in ROLES}


def _stability(selection: pd.DataFrame) -> dict[str, float]:
    if len(selection) < 2:
        return {}
    value, lower, upper = stability(selection)
    return {"stability": value, "stability_lower": lower, "stability_upper": upper}
