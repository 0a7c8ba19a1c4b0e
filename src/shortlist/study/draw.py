"""The paper's quantities for one draw of its data sets, that is, for one seed."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import pandas as pd

from .plan import LABEL_NOISE, METHODS
from .saved import mean_over_runs, rows_of

EPVS = (0.36, 1.35, 4.73, 17.91)
MIN_RESAMPLES = 39  # from which on the ends of a 95 % interval are values that were seen
_AUC = ["auc", "auc_lower", "auc_upper"]


class Interval(NamedTuple):
    """An estimate of performance and its bootstrap interval."""

    estimate: float
    lower: float
    upper: float


class Draw:
    """The eight data sets of one seed, evaluated with both methods of the paper.

    Fractions are means over resamples, then over runs, as in the paper's Fig. 1.

    Parameters
    ----------
    summary : DataFrame
        As in `summary.csv`.
    seed : int
        Which draw.
    study : {"cardinality", "budget"}
        Which constraint.
    """

    def __init__(self, summary: pd.DataFrame, seed: int, study: str) -> None:
        rows = rows_of(summary, seed)
        rows = rows[(rows["study"] == study) & rows["method"].isin(METHODS)]
        self.name = f"seed {seed}"
        self.rows = rows.assign(epv=rows["epv"].round(2))
        means = mean_over_runs(self.rows).droplevel("study").swaplevel("epv", "method")
        self._means = {case: part.droplevel([0, 1]) for case, part in means.groupby(level=[0, 1])}

    @property
    def is_complete(self) -> bool:
        """Whether both methods were run on all eight data sets."""
        return all(
            case in self._means and set(EPVS) <= set(self._means[case].index)
            for case in product(LABEL_NOISE, METHODS)
        )

    @property
    def has_intervals(self) -> bool:
        """Whether there are enough resamples for the ends of intervals."""
        return bool(self.rows["n_resamples"].min() >= MIN_RESAMPLES)

    def fraction(self, method: str, role: str, noise: float) -> pd.Series[float]:
        """Return the fraction of the features with a role that is selected, by EPV."""
        return self._means[noise, method][role].loc[list(EPVS)]

    def stability(self, method: str, noise: float) -> pd.Series[float]:
        """Return Nogueira's stability over resamples, mean over runs, by EPV."""
        return self.fraction(method, "stability", noise)

    def lowest_auc(self, method: str) -> Interval:
        """Return the smallest mean test AUC of all data sets and runs, with its interval.

        Of equal ones that with the lowest interval.
        """
        return self._auc(method, first=True)

    def highest_auc(self, method: str) -> Interval:
        """Return the largest mean test AUC of all data sets and runs, with its interval.

        Of equal ones, such as several of 1, that with the highest interval.
        """
        return self._auc(method, first=False)

    def differences(self) -> list[Interval]:
        """Return the AUC of optimal less that of greedy selection for each run that has it."""
        columns = ["auc_difference", "auc_difference_lower", "auc_difference_upper"]
        return [Interval(*row) for row in self.rows[columns].dropna().to_numpy().tolist()]

    def pairs(self) -> list[tuple[Interval, Interval]]:
        """Return the AUC of both methods for each data set and run."""
        keys = ["label_noise", "epv", "run"]
        parts = [
            self.rows[self.rows["method"] == method].set_index(keys)[_AUC].sort_index()
            for method in METHODS
        ]
        both = parts[0].index.intersection(parts[1].index)
        optimal, greedy = ([Interval(*row) for row in part.loc[both].values] for part in parts)
        return list(zip(optimal, greedy, strict=True))

    def _auc(self, method: str, first: bool) -> Interval:
        ranked = self.rows.loc[self.rows["method"] == method, _AUC].sort_values(_AUC)
        return Interval(*ranked.iloc[0 if first else -1])


def complete_draws(summary: pd.DataFrame, study: str) -> list[Draw]:
    """Return the draws of all seeds for which the whole study was run."""
    draws = (Draw(summary, int(seed), study) for seed in sorted(summary["seed"].unique()))
    return [draw for draw in draws if draw.is_complete]
