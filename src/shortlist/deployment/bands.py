"""Bands: every predictor as a few classes of values, each of which can have points of its own.

A number is cut at round values near its quantiles, and its columns say which cuts it reaches, so
that a coefficient is the step from one band to the next. A factor has a column per level but the
most frequent one. All columns are 0 or 1, so that points times a scale are coefficients.
"""

from __future__ import annotations

from itertools import pairwise
from math import floor, log10
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..arguments import Float, Int
from ..patients.column import as_levels, as_numbers, as_truth_values
from ..patients.table import PlainTable
from ..patients.term import CategoricalTerm, Finite, Name, StrictModel

_SMALLEST_BAND = 0.05  # share of the patients
_STEPS = (1.0, 2.0, 5.0)


class Banded(StrictModel):
    """A predictor in bands.

    A number is in band k if it reaches k of the `cuts`; the bands of others are their `levels`.
    `typical` is the band of a missing value, which has a column of its own if it `is_indicated`.
    """

    name: Name
    kind: str
    cuts: tuple[Finite, ...]
    levels: tuple[str, ...]
    typical: int
    is_indicated: bool

    @property
    def labels(self) -> list[str]:
        """The bands in words, the band of missing values last if it has points of its own."""
        if self.kind == "numeric":
            ends = [f"{cut:.10g}" for cut in self.cuts]
            inner = [f"{a} to <{b}" for a, b in pairwise(ends)]
            labels = [f"<{ends[0]}", *inner, f"\N{GREATER-THAN OR EQUAL TO}{ends[-1]}"]
        else:
            labels = ["no", "yes"] if self.kind == "boolean" else list(self.levels)
        return [*labels, "not measured"] if self.is_indicated else labels

    @property
    def effects(self) -> Int:
        """What a unit of each column adds to each band: bands by columns."""
        n = len(self.cuts) + 1 if self.kind == "numeric" else max(2, len(self.levels))
        if self.kind == "categorical":
            matrix = np.delete(np.eye(n, dtype=np.int64), self.typical, axis=1)
        else:
            matrix = np.tri(n, n - 1, -1, dtype=np.int64)
        if not self.is_indicated:
            return matrix
        last = np.append(matrix[self.typical], 1)
        return np.vstack([np.pad(matrix, ((0, 0), (0, 1))), last])

    def band_of(self, column: pd.Series[Any]) -> tuple[Int, NDArray[np.bool_]]:
        """Return the band of each value, and where it was missing or an unknown level."""
        if self.kind == "categorical":
            band = pd.Index(self.levels, dtype=object).get_indexer(pd.Index(as_levels(column)))
            missing = band < 0
        else:
            read = as_numbers if self.kind == "numeric" else as_truth_values
            values = read(column)
            missing = np.isnan(values)
            cuts = self.cuts if self.kind == "numeric" else (0.5,)
            band = np.searchsorted(np.array(cuts), values, side="right")
        stand_in = len(self.labels) - 1 if self.is_indicated else self.typical
        return np.where(missing, stand_in, band), missing


def make_bands(plain: PlainTable, n_bands: int, is_indicated: bool) -> list[Banded]:
    """Return the bands of all candidates of a table; a number without a usable cut has none."""
    banded = []
    for name, kind in plain.kinds.items():
        values = plain.frame[name]
        about: dict[str, Any] = {
            "name": name,
            "kind": kind,
            "is_indicated": is_indicated and bool(values.isna().any()),
        }
        known = values.dropna()
        if kind == "numeric":
            numbers = known.to_numpy(dtype=float)
            cuts = choose_cuts(numbers, n_bands)
            middle = int(np.searchsorted(np.array(cuts), np.median(numbers), side="right"))
            if cuts:
                banded.append(Banded(cuts=cuts, levels=(), typical=middle, **about))
            continue
        if kind == "boolean":
            frequent = int(known.mode().iloc[0])
            banded.append(Banded(cuts=(), levels=(), typical=frequent, **about))
            continue
        fill = str(known.mode().iloc[0])
        effects = dict.fromkeys(set(known), 0.0)
        term = CategoricalTerm(
            name=name, missing_coefficient=None, reference=fill, coefficients=effects
        )
        levels = tuple(term.levels)
        banded.append(Banded(cuts=(), levels=levels, typical=levels.index(fill), **about))
    return banded


def choose_cuts(values: Float, n_bands: int) -> tuple[float, ...]:
    """Return at most `n_bands - 1` round cuts near the quantiles, with enough values in each band.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.deployment.bands import choose_cuts
    >>> choose_cuts(np.linspace(28.7, 77.3, 200), 4)
    (41.0, 53.0, 65.0)
    >>> choose_cuts(np.array([0, 0, 1, 1, 2, 3] * 10), 4)
    (1.0, 2.0, 3.0)
    """
    distinct = np.unique(values)
    if len(distinct) <= n_bands:
        wanted = distinct[1:].tolist()
    else:
        low, high = np.quantile(values, [0.05, 0.95])
        if low == high:
            low, high = distinct[0], distinct[-1]
        quantiles = np.quantile(values, np.linspace(0, 1, n_bands + 1)[1:-1])
        step = _round_step((high - low) / 25)
        wanted = [round(round(q / step) * step, 12) for q in quantiles.tolist()]
    cuts: list[float] = []
    smallest = _SMALLEST_BAND * len(values)
    for cut in sorted(set(wanted)):
        since = values >= cuts[-1] if cuts else np.full(len(values), True)
        if (since & (values < cut)).sum() >= smallest <= (values >= cut).sum():
            cuts.append(float(cut))
    return tuple(cuts)


def _round_step(step: float) -> float:
    """Return the largest of 1, 2 and 5 times a power of ten that is not above a step."""
    power = 10.0 ** floor(log10(step))
    return max(factor * power for factor in _STEPS if factor * power <= step * (1 + 1e-9))
