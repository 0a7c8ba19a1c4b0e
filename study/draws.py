"""The paper's quantities for many draws of its data sets, and their averages.

A seed is one draw. Arrays have an entry per draw first; NaN where something was not run.
"""

from __future__ import annotations

import os
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import t

from shortlist.evaluation import percentile_interval

from .plan import GREEDY, LABEL_NOISE, METHODS, NUMBERS, OPTIMAL, Run
from .tables import FILES, ROLES, Bool, read_runs, read_table, shares

Float = NDArray[np.float64]

EPVS = (0.36, 1.35, 4.73, 17.91)
MEASURES = (*ROLES, "stability", "auc")
LEVEL = 0.95
_CELL = ["seed", "method", "label_noise", "epv", "run"]


class Mean(NamedTuple):
    """A mean over draws with its interval."""

    estimate: float
    lower: float
    upper: float


def mean_of(values: Float, level: float = LEVEL) -> Mean:
    """Return a mean over draws, which are independent, with Student's interval."""
    n = len(values)
    mean = float(np.mean(values)) if n else np.nan
    if n < 2:
        return Mean(mean, np.nan, np.nan)
    half = float(t.isf((1 - level) / 2, n - 1) * np.std(values, ddof=1) / np.sqrt(n))
    return Mean(mean, mean - half, mean + half)


class Draws:
    """The draws of one study: the seeds whose selections and AUCs on all data sets are known.

    Parameters
    ----------
    runs, intervals : DataFrame
        As `Tables` describes them.
    study : {"cardinality", "budget"}
        Which constraint.
    of_selected : bool
        Whether fractions are shares of the selected features instead of those with the role, which
        is another way to read the paper.
    """

    def __init__(
        self, runs: pd.DataFrame, intervals: pd.DataFrame, study: str, of_selected: bool = False
    ) -> None:
        rows = runs[(runs["study"] == study) & runs["method"].isin(METHODS)]
        if of_selected:
            rows = rows.assign(**{role: rows[f"{role}_of_selected"] for role in ROLES})
        cells = [sorted(rows["seed"].unique()), METHODS, LABEL_NOISE, EPVS, NUMBERS[study]]
        index = pd.MultiIndex.from_product(cells, names=_CELL)
        table = rows.set_index(_CELL)[list(MEASURES)].reindex(index).to_numpy(dtype=np.float64)
        values = np.moveaxis(table.reshape([*map(len, cells), len(MEASURES)]), -1, 0)
        is_complete = ~np.isnan(values).any(axis=(0, 2, 3, 4, 5))
        self.seeds = [seed for seed, kept in zip(cells[0], is_complete, strict=True) if kept]
        self.every = f"{len(self.seeds)} draws"
        self._values = dict(zip(MEASURES, values[:, is_complete], strict=True))
        own = intervals[intervals["study"] == study]
        aucs = [np.array(text.split(), dtype=np.float64) for text in own["aucs"]]
        ends = [percentile_interval(values[1:]) for values in aucs]
        shifts = [np.nanmean(values[1:]) - values[0] for values in aucs]
        self.intervals = own.assign(
            auc=[values[0] for values in aucs],
            lower=[end[0] for end in ends],
            upper=[end[1] for end in ends],
            shift=shifts,
        )

    def runs(self, method: str, measure: str, noise: int) -> Float:
        """Return a measure by EPV and run; `noise` is 0 without and 1 with label noise."""
        values: Float = self._values[measure][:, METHODS.index(method), noise]
        return values

    def cells(self, method: str, measure: str, noise: int) -> Float:
        """Return a measure by EPV: the mean over the runs of a data set."""
        means: Float = self.runs(method, measure, noise).mean(axis=-1)
        return means

    def grid(self, method: str, measure: str) -> Float:
        """Return a measure by label noise and EPV."""
        return np.stack([self.cells(method, measure, noise) for noise in (0, 1)], axis=1)

    def differences(self, measure: str, noise: int) -> Float:
        """Return optimal less greedy selection by EPV."""
        return self.cells(OPTIMAL, measure, noise) - self.cells(GREEDY, measure, noise)

    def extreme_aucs(self, method: str, which: str) -> Float:
        """Return the lowest or highest AUC of all runs of a draw."""
        every = self._values["auc"][:, METHODS.index(method)]
        extreme = np.max if which == "highest" else np.min
        return np.asarray(extreme(every, axis=(1, 2, 3)))

    def extreme_ends(self, method: str, which: str, end: str) -> Float:
        """Return an end of the interval of that AUC, for the draws that have it."""
        rows = self.intervals.query("arm != 'intervals' and method == @method")
        by_seed = rows.sort_values(["seed", "auc"], kind="stable").groupby("seed")
        extremes = by_seed.tail(1) if which == "highest" else by_seed.head(1)
        return extremes[end].to_numpy(dtype=np.float64)

    def overlaps(self, share: float) -> Float:
        """Return in which part of the runs AUC intervals share this much of the shorter one."""
        rows = self.intervals.query("arm != 'extremes'")
        if rows.empty:
            return np.empty(0)
        ends: Any = rows.pivot(
            index=["seed", "n_samples", "n_features", "label_noise", "run"],
            columns="method",
            values=["lower", "upper"],
        )
        shared = ends["upper"].min(axis=1) - ends["lower"].max(axis=1)
        width = (ends["upper"] - ends["lower"]).min(axis=1)
        known = ~ends.isna().any(axis=1)
        holds: Float = (shared >= share * width)[known].groupby("seed").mean().to_numpy()
        return holds


class Resamples:
    """The resamples of a single draw, whose fractions are read as those of `Draws`.

    Parameters
    ----------
    selections : mapping from Run to ndarray of bool, shape (n_resamples, n_features)
        What each resample selects.
    study : {"cardinality", "budget"}
        Which constraint.
    """

    def __init__(self, selections: dict[Run, Bool], study: str) -> None:
        self._shares = {run: shares(run, m) for run, m in selections.items() if run.study == study}
        self.every = f"{len(next(iter(selections.values())))} resamples"

    def cells(self, method: str, measure: str, noise: int) -> Float:
        """Return a fraction by resample and EPV: the mean over the runs of a data set."""
        values: dict[float, list[Float]] = {epv: [] for epv in EPVS}
        for run, found in self._shares.items():
            if (run.method, run.label_noise) == (method, LABEL_NOISE[noise]):
                values[run.epv].append(found[measure])
        return np.stack([np.mean(values[epv], axis=0) for epv in EPVS], axis=1)


def read_draws(folder: str | os.PathLike[str], of_selected: bool = False) -> dict[str, Draws]:
    """Return the draws of both studies in a folder."""
    runs, intervals = read_runs(folder), read_table(folder, FILES["intervals"])
    return {study: Draws(runs, intervals, study, of_selected) for study in NUMBERS}


def averages(draws: dict[str, Draws]) -> pd.DataFrame:
    """Return the mean over draws of every measure in every cell, with its interval.

    `method` is also "difference", optimal less greedy selection on the same data; `epv` and
    `label_noise` are also "all": a draw then counts with its mean.
    """
    lines = []
    for study, own in draws.items():
        for measure in MEASURES:
            by_method = {method: own.grid(method, measure) for method in METHODS}
            by_method["difference"] = by_method[OPTIMAL] - by_method[GREEDY]
            for method, values in by_method.items():
                cells = {
                    (noise, epv): values[:, i, j]
                    for i, noise in enumerate(LABEL_NOISE)
                    for j, epv in enumerate(EPVS)
                } | {("all", "all"): values.mean(axis=(1, 2))}
                for (noise, epv), of_draws in cells.items():
                    known = of_draws[~np.isnan(of_draws)]
                    lines.append(
                        {"study": study, "measure": measure, "method": method}
                        | {"label_noise": noise, "epv": epv}
                        | mean_of(known)._asdict()
                        | {"n_draws": len(known)}
                    )
    return pd.DataFrame(lines)


def effects(draws: dict[str, Draws]) -> pd.DataFrame:
    """Return what label noise, more rows and fewer candidates change on average.

    `effect` is "noise" (5 % less none) in the mean over the data, "rows" (1090 less 82, in the mean
    over 14 and 53 candidates) or "candidates" (14 less 53, in the mean over both numbers of rows),
    the latter two with 0 or 5 % label noise.
    """
    by_epv = {"rows": np.array([-1, -1, 1, 1]) / 2, "candidates": np.array([-1, 1, -1, 1]) / 2}
    contrasts = {"noise": np.outer([-1, 1], np.ones(4)) / 4} | {  # by label noise and EPV
        f"{effect}, noise {noise:g}": np.outer(np.equal(LABEL_NOISE, noise), weights)
        for effect, weights in by_epv.items()
        for noise in LABEL_NOISE
    }
    lines = []
    for study, own in draws.items():
        for measure, method in product(MEASURES, METHODS):
            values = own.grid(method, measure)
            for effect, weights in contrasts.items():
                mean = mean_of((values * weights).sum(axis=(1, 2)))
                keys = {"study": study, "measure": measure, "method": method, "effect": effect}
                lines.append(keys | mean._asdict() | {"n_draws": len(values)})
    return pd.DataFrame(lines)
