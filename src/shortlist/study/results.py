"""The tables of a study: a row per resample, per run, and per feature of a run."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
# What a summary has of runs with two resamples or more, under both protocols, or by both methods.
OPTIONAL = (
    *(f"stability{part}" for part in ("", "_lower", "_upper")),
    *(f"matched_{part}" for part in ("mean", "lower", "upper", "resamples")),
    *(f"auc_difference{part}" for part in ("", "_lower", "_upper")),
)
_SIGNIFICANT = "%.7g"


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
        the interval over the `auc_resamples` resamples that define it), the mean share of
        informative, redundant and uninformative features that are selected, Nogueira's stability
        with its interval, and the work done. Where the same run has both protocols,
        `matched_mean`, `matched_lower` and `matched_upper` are over the first `matched_resamples`,
        which both have. `auc_difference` with its interval is the optimum's AUC less that of the
        greedy rule on the same resamples. The method "stabilised" is the most frequent selection
        of the optimum, or all that are equally frequent; it has shares alone.
    features : DataFrame
        One row per run and feature: its role and cost, its separation of the classes (how far
        their means lie apart, in standard deviations), and how often it is selected, with Wilson's
        interval.
    """

    rows: pd.DataFrame
    summary: pd.DataFrame
    features: pd.DataFrame

    def save(self, folder: Path) -> None:
        """Write the tables to a folder, the long ones compressed."""
        for name, table in (
            ("results.csv.gz", self.rows),
            ("summary.csv", self.summary),
            ("features.csv.gz", self.features),
        ):
            text = table.to_csv(index=False, float_format=_SIGNIFICANT, lineterminator="\n")
            is_long = name.endswith(".gz")
            content = gzip.compress(text.encode(), mtime=0) if is_long else text
            write_whole(folder / name, content)


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
            | _matched(run, evaluations)
            | _difference(run, evaluations)
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
            summary.append(
                keys
                | {"method": STABILISED, "n_resamples": len(selection)}
                | _shares(most_frequent(selection), roles)
            )
    lines = pd.DataFrame(summary)
    return Results(
        pd.concat(rows, ignore_index=True),
        lines.reindex(columns=[*lines, *(name for name in OPTIONAL if name not in lines)]),
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
        "auc_resamples": auc["n_resamples"],
        "n_resamples": len(evaluation.resamples),
    }


def _matched(run: Run, evaluations: Mapping[Run, Evaluation]) -> dict[str, Any]:
    """Return the AUC over the first resamples, as many as the run has under either protocol."""
    other = evaluations.get(replace(run, protocol="clean" if run.protocol == "paper" else "paper"))
    if other is None:
        return {}
    own = evaluations[run]
    n_resamples = min(len(own.resamples), len(other.resamples))
    auc = Evaluation(own.rows[own.rows["resample"] <= n_resamples], own.names).summary().loc["auc"]
    return {
        "matched_mean": auc["mean"],
        "matched_lower": auc["lower"],
        "matched_upper": auc["upper"],
        "matched_resamples": n_resamples,
    }


def _difference(run: Run, evaluations: Mapping[Run, Evaluation]) -> dict[str, Any]:
    """Return the AUC of the optimum less that of the greedy rule on the same resamples."""
    other = evaluations.get(replace(run, method="univariable"))
    own = evaluations[run]
    if run.method != "optimal" or other is None or len(own.rows) != len(other.rows):
        return {}
    auc = own.difference(other).loc["auc"]
    return {
        "auc_difference": auc["estimate"],
        "auc_difference_lower": auc["lower"],
        "auc_difference_upper": auc["upper"],
    }


def most_frequent(selection: pd.DataFrame) -> pd.DataFrame:
    """Return the most frequent selection, a row; if several are equally frequent, one for each."""
    models = model_frequencies(selection)
    tied = models.loc[models["count"] == models["count"].max(), "model"]
    return pd.DataFrame([[name in model for name in selection.columns] for model in tied])


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
