"""What the paper says in words, as checks of one draw of its data sets.

Words need a threshold to be checked, and these are ours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .draw import EPVS, Draw, Interval
from .plan import LABEL_NOISE, METHODS
from .saved import METHOD_NAMES

ALMOST_ALWAYS = 0.9  # of many runs
ALMOST_ALL_EPVS = 0.75  # 3 of the 4
MOSTLY = 0.5  # more than half
LARGE_OVERLAP = 0.5  # of the shorter interval is shared
# Two mean fractions are comparable; the uninformative ones are all small.
COMPARABLE = {"informative": 0.05, "redundant": 0.05, "uninformative": 0.015}
PRINTED_AS_1 = 0.015  # what is less is printed as 1 % or 0 %
PRINTED_AS_2 = 0.015  # what is not less is printed as 2 % or more
DRASTIC = 0.1  # a change of a fraction
MANY = 0.75  # a large fraction
FEW = 0.02  # a very low fraction
STABLE = 0.75  # a relatively stable selection; excellent, in the words of Nogueira et al. (2018)
LESS_STABLE = 0.6  # shown beside it


class Finding(NamedTuple):
    """Whether a claim holds, and the figures that say so."""

    holds: bool
    figures: str


Check = Callable[[Any], Finding]


def intervals_overlap(draw: Draw) -> Finding:
    """Almost all pairs of AUC intervals overlap to a large extent."""
    shared = np.array([overlap(*pair) for pair in draw.pairs()])
    count = int((shared >= LARGE_OVERLAP).sum())
    return Finding(
        count >= ALMOST_ALWAYS * len(shared),
        f"{count} of {len(shared)} pairs share half or more, {(shared < 0).sum()} apart",
    )


def no_significant_difference(draw: Draw) -> Finding:
    """Almost all intervals of the difference of the AUCs, resample by resample, include 0."""
    differences = draw.differences()
    higher = sum(interval.lower > 0 for interval in differences)
    lower = sum(interval.upper < 0 for interval in differences)
    total = len(differences)
    return Finding(
        total > 0 and higher + lower <= (1 - ALMOST_ALWAYS) * total,
        f"the interval of the paired difference excludes 0 in {higher + lower} of {total} runs: "
        f"optimal is better in {higher}, greedy in {lower}",
    )


def overlap(first: Interval, second: Interval) -> float:
    """Return which part of the shorter interval both share; negative if they are apart."""
    shared = min(first.upper, second.upper) - max(first.lower, second.lower)
    width = min(first.upper - first.lower, second.upper - second.lower)
    if width == 0:  # a point, such as an AUC of 1 in every resample
        return 1.0 if shared >= 0 else -1.0
    return shared / width


def increases(method: str, role: str, *noises: float) -> Check:
    """The fraction rises from each EPV to the next."""

    def check(draw: Draw) -> Finding:
        fractions = [draw.fraction(method, role, noise) for noise in noises]
        return Finding(
            all(bool((np.diff(series) > 0).all()) for series in fractions),
            "; ".join(
                f"{_noise(noise)}: {_percents(series)}"
                for noise, series in zip(noises, fractions, strict=True)
            ),
        )

    return check


def less(smaller: str, larger: str, role: str, noise: float, share: float = 1.0) -> Check:
    """A method selects less of a role than another, at a share of the EPVs or more."""

    def check(draw: Draw) -> Finding:
        small, large = (draw.fraction(method, role, noise) for method in (smaller, larger))
        count = int((small < large).sum())
        return Finding(
            count >= share * len(EPVS),
            f"at {count} of {len(EPVS)} EPVs: {METHOD_NAMES[smaller]} {_percents(small)}, "
            f"{METHOD_NAMES[larger]} {_percents(large)}",
        )

    return check


def less_at(epv: float, smaller: str, larger: str, role: str, *noises: float) -> Check:
    """A method selects less of a role than another at an EPV, whatever the noise."""

    def check(draw: Draw) -> Finding:
        values = [
            [float(draw.fraction(method, role, noise)[epv]) for method in (smaller, larger)]
            for noise in noises
        ]
        return Finding(
            all(small < large for small, large in values),
            "; ".join(
                f"{_noise(noise)}: {small:.1%} against {large:.1%}"
                for noise, (small, large) in zip(noises, values, strict=True)
            ),
        )

    return check


def equivocal(role: str, noise: float) -> Check:
    """Neither method selects less of a role at every EPV."""

    def check(draw: Draw) -> Finding:
        optimal, greedy = (draw.fraction(m, role, noise) for m in METHODS)
        count = int((optimal < greedy).sum())
        return Finding(
            0 < count < len(EPVS),
            f"optimal selects less at {count} of {len(EPVS)} EPVs: {_percents(optimal)}, greedy "
            f"{_percents(greedy)}",
        )

    return check


def comparable(role: str, *noises: float) -> Check:
    """The methods select about as much of a role at more than half of the EPVs."""

    def check(draw: Draw) -> Finding:
        gaps = pd.concat([_difference(draw, role, noise).abs() for noise in noises])
        limit = COMPARABLE[role]
        count = int((gaps <= limit).sum())
        return Finding(
            count > MOSTLY * len(gaps),
            f"within {limit:.1%} at {count} of {len(gaps)}; largest difference {gaps.max():.1%}",
        )

    return check


def differs_most_at(epv: float, role: str, noise: float) -> Check:
    """The methods differ most at an EPV."""

    def check(draw: Draw) -> Finding:
        gaps = _difference(draw, role, noise).abs()
        return Finding(gaps.idxmax() == epv, f"at {gaps.idxmax()}: {gaps.max():.1%}")

    return check


def largest_at(epv: float, method: str, role: str, noise: float) -> Check:
    """A method selects most of a role at an EPV."""

    def check(draw: Draw) -> Finding:
        series = draw.fraction(method, role, noise)
        return Finding(series.idxmax() == epv, f"at {series.idxmax()}: {_percents(series)}")

    return check


def differs_at_most(limit: float, role: str, noise: float) -> Check:
    """The methods never differ by as much as a limit."""

    def check(draw: Draw) -> Finding:
        gaps = _difference(draw, role, noise).abs()
        return Finding(bool(gaps.max() < limit), f"differences {_percents(gaps, 1)}")

    return check


def never_below(limit: float, role: str, noise: float) -> Check:
    """No method selects less than a limit of a role."""

    def check(draw: Draw) -> Finding:
        parts = {m: draw.fraction(m, role, noise) for m in METHODS}
        return Finding(
            all(bool((series >= limit).all()) for series in parts.values()),
            f"optimal {_percents(parts['optimal'], 1)}, greedy "
            f"{_percents(parts['univariable'], 1)}",
        )

    return check


def noise_changes_largest(method: str, role: str, sign: int, least: float = 0.0) -> Check:
    """Label noise lowers (-1) or raises (1) the largest fraction over EPVs, by some points."""

    def check(draw: Draw) -> Finding:
        clean, noisy = (float(draw.fraction(method, role, noise).max()) for noise in LABEL_NOISE)
        change = sign * (noisy - clean)
        return Finding(
            change > 0 and change >= least, f"{clean:.0%} without, {noisy:.0%} with noise"
        )

    return check


def noise_harms(method: str) -> Check:
    """With label noise fewer informative features are found and selections are less stable."""

    def check(draw: Draw) -> Finding:
        fewer, less_stable = (
            int((draw.fraction(method, what, noisy) < draw.fraction(method, what, clean)).sum())
            for clean, noisy in [LABEL_NOISE]
            for what in ("informative", "stability")
        )
        return Finding(
            min(fewer, less_stable) > MOSTLY * len(EPVS),
            f"fewer informative features at {fewer} of {len(EPVS)} EPVs, less stable at "
            f"{less_stable}",
        )

    return check


def stable_only_at(*epvs: float) -> Check:
    """Of all cases only the optimal selection without noise at some EPVs is relatively stable."""

    def check(draw: Draw) -> Finding:
        expected = {("optimal", 0.0, epv) for epv in epvs}
        stable, less_stable = (_stable(draw, limit) for limit in (STABLE, LESS_STABLE))
        return Finding(
            set(stable) == expected,
            f"stability of {STABLE} or more: {_cases(stable)}; {LESS_STABLE} or more in "
            f"{len(less_stable)} cases, for which the claim would be "
            f"{str(set(less_stable) == expected).lower()}",
        )

    return check


def larger_at(epv: float, than: float, method: str, role: str, noise: float) -> Check:
    """A fraction is larger at one EPV than at another."""

    def check(draw: Draw) -> Finding:
        series = draw.fraction(method, role, noise)
        return Finding(series[epv] > series[than], f"{series[epv]:.0%} against {series[than]:.0%}")

    return check


def low_in_most_runs(limit: float, epv: float, method: str, role: str, noise: float) -> Check:
    """In more than half of the runs at an EPV a fraction is below a limit."""

    def check(draw: Draw) -> Finding:
        rows = draw.rows
        at = (rows["method"] == method) & (rows["label_noise"] == noise) & (rows["epv"] == epv)
        values = rows.loc[at].sort_values("run")[role]
        return Finding(
            bool((values < limit).mean() > MOSTLY),
            f"runs: {', '.join(f'{value:.1%}' for value in values)}",
        )

    return check


def interpretable_only_at(epv: float) -> Check:
    """Much informative, hardly anything uninformative and stability come together only there."""

    def check(draw: Draw) -> Finding:
        found = [
            (method, noise, at)
            for method, noise, at in _stable(draw, STABLE)
            if draw.fraction(method, "informative", noise)[at] >= MANY
            and draw.fraction(method, "uninformative", noise)[at] < FEW
        ]
        return Finding(found == [("optimal", 0.0, epv)], _cases(found))

    return check


def _stable(draw: Draw, limit: float) -> list[tuple[str, float, float]]:
    """Return methods, label noise and EPVs with a mean stability from a limit on."""
    return [
        (method, noise, epv)
        for method in METHODS
        for noise in LABEL_NOISE
        for epv in EPVS
        if draw.stability(method, noise)[epv] >= limit
    ]


def _cases(cases: list[tuple[str, float, float]]) -> str:
    texts = (f"{METHOD_NAMES[method]}, {_noise(noise)}, EPV {at}" for method, noise, at in cases)
    return " / ".join(texts) or "nowhere"


def _difference(draw: Draw, role: str, noise: float) -> pd.Series[float]:
    return draw.fraction("optimal", role, noise) - draw.fraction("univariable", role, noise)


def _percents(series: pd.Series[float], digits: int = 0) -> str:
    return ", ".join(f"{value:.{digits}%}" for value in series)


def _noise(noise: float) -> str:
    return f"{noise:.0%} noise"
