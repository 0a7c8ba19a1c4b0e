"""The paper's quantities for many draws of its data sets, in several readings of its text.

A seed is one draw. Every method here returns an array with an entry per draw; NaN
where it was not run.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .plan import COST_DRAWS, FLIP_Y_NOISE, LABEL_NOISE, MAIN_SEED, METHODS, SIZES
from .tables import ROLES

Float = NDArray[np.float64]

EPVS = (0.36, 1.35, 4.73, 17.91)
NUMBERS = {"cardinality": SIZES, "budget": COST_DRAWS}  # of the runs of each study
OURS = "ours"
# How else the paper can be read.
READINGS = {
    "flip_y": "labels flipped as by scikit-learn's flip_y = 0.05, half as many",
    "redrawn": "data drawn anew for every run",
    "of_selected": "fractions are shares of the selected features, not of those with the role",
}
_KEYS_OF_CELL = ["seed", "method", "label_noise", "epv", "run"]
# Which arms have which measures, beside the arm "paper", which has all.
_MEASURES_OF_ARMS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("aucs",): ("auc",),
    ("extremes",): ("auc_lower", "auc_upper"),
    ("selections", "flip"): (*ROLES, *(f"{role}_variance" for role in ROLES)),
    (): ("stability", "difference_lower", "difference_upper"),  # take many resamples
}


class Extreme(NamedTuple):
    """The lowest or highest AUC of all runs of each draw, with the ends of its interval."""

    estimate: Float
    lower: Float
    upper: Float


class Draws:
    """The draws of one study for which selections on all eight data sets are known.

    Parameters
    ----------
    summary : DataFrame
        As `read_summary` returns it.
    study : {"cardinality", "budget"}
        Which constraint.
    reading : str
        "ours" or one of `READINGS`.
    """

    def __init__(self, summary: pd.DataFrame, study: str, reading: str = OURS) -> None:
        noisy = FLIP_Y_NOISE if reading == "flip_y" else LABEL_NOISE[1]
        rows = summary[
            (summary["study"] == study)
            & summary["method"].isin(METHODS)
            & (summary["protocol"] == "paper")
        ]
        if reading == "of_selected":
            rows = rows.assign(**{role: rows[f"{role}_of_selected"] for role in ROLES})
        main = [] if reading in ("flip_y", "redrawn") else ["paper"]
        self.seeds = sorted(rows.loc[rows["arm"].isin(["selections", *main]), "seed"].unique())
        cells = [self.seeds, METHODS, (LABEL_NOISE[0], noisy), EPVS, NUMBERS[study]]
        index = pd.MultiIndex.from_product(cells, names=_KEYS_OF_CELL)
        self._values = {}
        for arms, measures in _MEASURES_OF_ARMS.items():
            part = rows[rows["arm"].isin([*arms, *main])].set_index(_KEYS_OF_CELL)[list(measures)]
            table = part.reindex(index).to_numpy(dtype=np.float64)
            for name, values in zip(measures, table.T, strict=True):
                self._values[name] = values.reshape([len(part) for part in cells])
        is_complete = ~np.isnan(self._values["informative"]).any(axis=(1, 2, 3, 4))
        self._values = {name: values[is_complete] for name, values in self._values.items()}
        self.seeds = [s for s, kept in zip(self.seeds, is_complete, strict=True) if kept]
        if reading == "redrawn":  # each run from the data of another seed
            self._values = {name: _redrawn(values) for name, values in self._values.items()}

    @property
    def main(self) -> int | None:
        """Position of the draw with the paper's number of resamples."""
        return self.seeds.index(MAIN_SEED) if MAIN_SEED in self.seeds else None

    def fraction(self, method: str, role: str, noise: int) -> Float:
        """Return the mean over runs of the fraction with a role that is selected, by EPV."""
        means: Float = self.runs(method, role, noise).mean(axis=-1)
        return means

    def noise_share(self, role: str) -> float:
        """Return which part of the variance of a fraction over draws is due to few resamples."""
        shares = []
        for method, noise in product(METHODS, (0, 1)):
            own = self.runs(method, f"{role}_variance", noise)
            spread = self.fraction(method, role, noise).var(axis=0, ddof=1)
            shares.append(own.mean(axis=(0, 2)) / own.shape[2] / spread)
        return float(np.mean(shares))

    def runs(self, method: str, measure: str, noise: int) -> Float:
        """Return a measure by EPV and run; `noise` is 0 without and 1 with label noise."""
        values: Float = self._values[measure][:, METHODS.index(method), noise]
        return values

    def extreme(self, method: str, highest: bool) -> Extreme:
        """Return the lowest or highest AUC; of several, the one that `arm_runs` takes."""
        step = -1 if highest else 1
        # From much to little noise, as `rank_of` has it; the first of equal values is taken.
        arrays = [
            self.all_runs(method, name, from_noise=True)[:, ::step]
            for name in ("auc", "auc_lower", "auc_upper")
        ]
        at = arrays[0].argmax(axis=1) if highest else arrays[0].argmin(axis=1)
        return Extreme(*(array[np.arange(len(at)), at] for array in arrays))

    def all_runs(self, method: str, measure: str, from_noise: bool = False) -> Float:
        """Return a measure for every data set and run, of shape (n_draws, n_runs)."""
        parts = [self.runs(method, measure, noise) for noise in (0, 1)]
        flat = [part.reshape(len(part), part.shape[1] * part.shape[2]) for part in parts]
        return np.hstack(flat[::-1] if from_noise else flat)


def _redrawn(values: Float) -> Float:
    """Take run i of each draw from the draw that is i further on."""
    return np.stack([np.roll(values[..., i], -i, axis=0) for i in range(values.shape[-1])], -1)
