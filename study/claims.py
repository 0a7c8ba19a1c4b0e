"""Checks of the claims that the paper makes in words.

A check returns an array with an entry per draw: whether the claim holds, NaN if that is not known.
Words need thresholds, and those at the top of this file are ours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .draws import EPVS, Draws, Float
from .parkinson import Findings

ALMOST_ALWAYS, GENERALLY, MOSTLY = 0.9, 0.75, 0.5  # of the runs, or more than this of the EPVs
LARGE_OVERLAP = 0.5  # of the shorter interval is shared
COMPARABLE = {"informative": 0.05, "uninformative": 0.015}  # two mean fractions differ by less
DRASTIC = 0.1  # a change of a fraction
MANY, FEW = 0.75, 0.02  # a large and a very low fraction
STABLE = 0.75  # a relatively stable selection; excellent, in the words of Nogueira et al. (2018)

# Of Draws, or of the Findings of section 5.1: an array with an entry per draw.
Quantity = Callable[[Any], Any]
OPTIMAL, GREEDY = "optimal", "univariable"


def rises(*noises: int) -> Quantity:
    """The informative fraction of the optimum rises from each EPV to the next."""
    return lambda draws: _everywhere(
        *(np.diff(draws.fraction(OPTIMAL, "informative", noise)) > 0 for noise in noises)
    )


def selects_less(
    smaller: str, larger: str, role: str, noise: int, epvs: int = len(EPVS)
) -> Quantity:
    """A method selects less of a role than another at some of the EPVs, or at more."""

    def check(draws: Draws) -> Any:
        is_less = draws.fraction(smaller, role, noise) < draws.fraction(larger, role, noise)
        return is_less.sum(axis=1) >= epvs

    return check


def gaps(draws: Draws, role: str, *noises: int) -> Float:
    """Return the distances between the methods at each EPV, for all levels of noise."""
    gaps = [draws.fraction(OPTIMAL, role, i) - draws.fraction(GREEDY, role, i) for i in noises]
    return np.abs(np.hstack(gaps))


def comparable(role: str, *noises: int) -> Quantity:
    """The methods select about as much of a role at more than half of the EPVs."""
    return lambda draws: (gaps(draws, role, *noises) <= COMPARABLE[role]).mean(axis=1) > MOSTLY


def largest_at(epv: float, method: str, noise: int) -> Quantity:
    """A method has its largest informative fraction at an EPV."""
    return lambda draws: _is_at(epv, draws.fraction(method, "informative", noise))


def differ_most_at(epv: float, role: str, noise: int) -> Quantity:
    """The methods differ most in a role at an EPV."""
    return lambda draws: _is_at(epv, gaps(draws, role, noise))


def _is_at(epv: float, values: Float) -> Any:
    """Values are largest at an EPV."""
    return values.argmax(axis=1) == EPVS.index(epv)


def never_differ_by(limit: float, role: str, noise: int) -> Quantity:
    """The methods differ by less than a limit in a role, at every EPV."""
    return lambda draws: (gaps(draws, role, noise) < limit).all(axis=1)


def noise_adds(method: str, check: Callable[[Float], Any]) -> Quantity:
    """Label noise changes the largest informative fraction over EPVs, and a check accepts it."""

    def measure(draws: Draws) -> Any:
        largest = [draws.fraction(method, "informative", noise).max(axis=1) for noise in (0, 1)]
        return check(largest[1] - largest[0])

    return measure


def noise_harms(draws: Draws) -> Any:
    """With noise fewer informative features and less stability at more than half of the EPVs."""
    parts = [
        draws.fraction(OPTIMAL, what, 1) < draws.fraction(OPTIMAL, what, 0)
        for what in ("informative", "stability")
    ]
    holds = _everywhere(*((part.mean(axis=1) > MOSTLY)[:, np.newaxis] for part in parts))
    return _if_known(draws, holds)


def _good(draws: Draws, *, interpretable: bool) -> Any:
    """Return, by method, noise, draw and EPV, where selections are stable, or interpretable."""

    def good(method: str, noise: int) -> Any:
        is_good = draws.fraction(method, "stability", noise) >= STABLE
        if interpretable:
            is_good &= draws.fraction(method, "informative", noise) >= MANY
            is_good &= draws.fraction(method, "uninformative", noise) < FEW
        return is_good

    return np.stack([[good(method, noise) for noise in (0, 1)] for method in (OPTIMAL, GREEDY)])


def only_at(*epvs: float, interpretable: bool = False) -> Quantity:
    """Only the optimum without noise at these EPVs is stable, or interpretable."""
    expected = np.zeros((2, 2, 1, len(EPVS)), dtype=np.bool_)
    expected[0, 0, 0, [EPVS.index(epv) for epv in epvs]] = True

    def check(draws: Draws) -> Any:
        is_as_expected = _good(draws, interpretable=interpretable) == expected
        return _if_known(draws, is_as_expected.all(axis=(0, 1, 3)))

    return check


def _if_known(draws: Draws, holds: NDArray[np.bool_]) -> Float:
    """Return NaN for draws whose stability is not known."""
    known = ~np.isnan(draws.fraction(OPTIMAL, "stability", 0)).any(axis=1)
    return np.where(known, holds, np.nan)


def intervals_overlap(draws: Draws) -> Any:
    """Almost all pairs of AUC intervals share half of the shorter one."""
    ends = [
        [draws.all_runs(method, f"auc_{end}") for method in (OPTIMAL, GREEDY)]
        for end in ("lower", "upper")
    ]
    shared = np.minimum(*ends[1]) - np.maximum(*ends[0])
    width = np.minimum(ends[1][0] - ends[0][0], ends[1][1] - ends[0][1])
    return _in_most(shared >= LARGE_OVERLAP * width, ALMOST_ALWAYS, shared)


def no_difference(draws: Draws) -> Any:
    """In general the interval of the paired difference of the AUCs includes 0."""
    lower, upper = (draws.all_runs(OPTIMAL, f"difference_{end}") for end in ("lower", "upper"))
    return _in_most((lower <= 0) & (upper >= 0), GENERALLY, lower)


def _in_most(holds: NDArray[np.bool_], share: float, known: Float) -> Float:
    """Say whether something holds in a share of the runs; NaN where a run is not known."""
    is_known = ~np.isnan(known).any(axis=1)
    return np.where(is_known, holds.mean(axis=1) >= share, np.nan)


def _everywhere(*parts: NDArray[np.bool_]) -> Any:
    """All conditions hold, at all EPVs."""
    return np.hstack(parts).all(axis=1)


def less_at_most_events(draws: Draws) -> Any:
    """The optimum has the smaller uninformative fraction at the largest EPV, whatever the noise."""
    pairs = [
        [draws.fraction(method, "uninformative", noise)[:, -1] for method in (OPTIMAL, GREEDY)]
        for noise in (0, 1)
    ]
    return np.all([optimal < greedy for optimal, greedy in pairs], axis=0)


def larger_at_last(draws: Draws) -> Any:
    """The optimum's informative fraction is larger at the largest EPV than at the one before."""
    fraction = draws.fraction(OPTIMAL, "informative", 0)
    return fraction[:, -1] > fraction[:, -2]


def low_in_most_runs(draws: Draws) -> Any:
    """In most runs the optimum's uninformative fraction is very low at the largest EPV."""
    values = draws.runs(OPTIMAL, "uninformative", 0)[:, -1]
    return (values < FEW).mean(axis=1) > MOSTLY


def never_below_2(draws: Draws) -> Any:
    """No method has an uninformative fraction that would be printed as less than 2 %."""
    return _everywhere(
        *(draws.fraction(method, "uninformative", 1) >= 0.015 for method in (OPTIMAL, GREEDY))
    )


def equivocal(draws: Draws) -> Any:
    """With noise neither method has the smaller redundant fraction at every EPV."""
    is_less = draws.fraction(OPTIMAL, "redundant", 1) < draws.fraction(GREEDY, "redundant", 1)
    return is_less.any(axis=1) & ~is_less.all(axis=1)


def accuracy_overlaps(other: tuple[float, float, float]) -> Quantity:
    """The interval of the accuracy overlaps to a large extent with another."""

    def check(findings: Findings) -> Any:
        _, lower, upper = findings.own
        shared = min(upper, other[2]) - max(lower, other[1])
        width = min(upper - lower, other[2] - other[1])
        return np.array([shared >= LARGE_OVERLAP * width])

    return check


def optimum(check: Callable[[frozenset[str]], bool]) -> Quantity:
    """Check the measures of the optimum, at each of the ridges."""
    return lambda findings: np.array([all(map(check, findings.optima))])
