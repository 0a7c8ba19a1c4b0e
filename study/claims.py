"""The claims that the paper makes in words, as comparisons of averages over draws.

A comparison is a quantity of a draw that should be above 0. Its mean over draws has an interval
over draws. A claim asks for a least number of some comparisons, or of several such groups. It is

- said to hold on average if enough comparisons of every group have an interval above 0,
- not to hold on average if in some group too many have an interval below 0,
- and else not decided.

The paper describes its own draw, of which such a verdict says nothing. A single verdict is wrong
with a probability of about 2.5 % at most, whatever its number of comparisons: if k of J are needed,
a wrong "holds" takes an interval above 0 for one of at least J - k + 1 comparisons that do not
hold, and a wrong "does not hold" one below 0 for one of at least k that do, in one of the groups.
So the 5 % that the intervals leave are divided by J - k + 1, or by k times the number of groups.
Student's intervals of means are approximate, and nothing is corrected for the number of claims.

Words need thresholds, and all of them are ours; `Claim` has a lower and a higher one, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .draws import EPVS, LEVEL, Draws, Float, Mean, mean_of
from .plan import GREEDY, METHODS, NUMBERS, OPTIMAL

TRUE, FALSE, OPEN, FEW_DRAWS = "holds", "does not hold", "not decided", "few draws"
MIN_DRAWS = 10
ALMOST_ALWAYS = 0.9  # of the runs; of four EPVs, three
FEW = 0.02  # a very low fraction
STABLE = 0.75  # and more: excellent, in the words of Nogueira et al. (2018)
_TIE = 1e-9
_NOISE = ("no noise", "5 % noise")
_NAMES = {OPTIMAL: "optimal", GREEDY: "greedy"}


class Comparison(NamedTuple):
    """A quantity by draw that should be above 0, and what it is in words.

    With `within` the mean of the values should rather be nearer to 0 than that. `by_draw` are
    margins of single draws where they are not the values.
    """

    words: str
    values: Float
    within: float | None = None
    by_draw: Float | None = None

    def margin(self, level: float = LEVEL) -> Mean:
        """Return by how much the comparison holds on average."""
        mean = mean_of(self.values, level)
        if self.within is None:
            return mean
        nearest = max(0.0, mean.lower, -mean.upper)
        farthest = max(-mean.lower, mean.upper)
        return Mean(self.within - abs(mean.estimate), self.within - farthest, self.within - nearest)

    def margins(self) -> Float:
        """Return by how much it holds in every draw."""
        if self.by_draw is not None:
            return self.by_draw
        return self.values if self.within is None else self.within - np.abs(self.values)


class Group(NamedTuple):
    """Comparisons, and how many of them should hold at least."""

    comparisons: list[Comparison]
    at_least: int

    def is_true(self) -> bool:
        """Enough comparisons hold, beyond doubt."""
        level = 1 - (1 - LEVEL) / (len(self.comparisons) - self.at_least + 1)
        return sum(c.margin(level).lower > 0 for c in self.comparisons) >= self.at_least

    def is_false(self, n_groups: int) -> bool:
        """Too many comparisons do not hold, beyond doubt."""
        level = 1 - (1 - LEVEL) / (self.at_least * n_groups)
        failing = sum(c.margin(level).upper < 0 for c in self.comparisons)
        return failing > len(self.comparisons) - self.at_least

    def deciding(self) -> Comparison:
        """Return the last one of those that are needed, from the clearest to the least clear."""
        return sorted(self.comparisons, key=_clearness)[-self.at_least]

    def holds(self, floor: float) -> NDArray[np.bool_]:
        """Return in which draws enough margins are above a floor."""
        margins = np.array([comparison.margins() for comparison in self.comparisons])
        enough: NDArray[np.bool_] = (margins > floor).sum(axis=0) >= self.at_least
        return enough


class Claim(NamedTuple):
    """A function of draws and a threshold, with further arguments; and the word of the threshold.

    The thresholds are a lower one, ours, and a higher one.
    """

    function: Callable[..., list[Group]]
    arguments: tuple[Any, ...] = ()
    word: str = ""
    thresholds: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def groups(self, draws: Draws, threshold: float) -> list[Group]:
        """Return the groups of comparisons that the claim asks for."""
        return self.function(draws, threshold, *self.arguments)


class Judgement(NamedTuple):
    """A verdict, the mean that decides it, and in which part of the draws the claim holds."""

    verdict: str
    deciding: str
    estimate: float
    lower: float
    upper: float
    n_draws: int
    share: float
    share_with_ties: float


def judge(groups: list[Group]) -> Judgement:
    """Judge a claim on the average over draws, and on each of them."""
    n_draws = len(groups[0].comparisons[0].values)
    shares = [
        float(np.mean(np.all([group.holds(floor) for group in groups], axis=0)))
        if n_draws
        else np.nan
        for floor in (_TIE, -_TIE)
    ]
    if n_draws < 2:
        return Judgement(FEW_DRAWS, "", np.nan, np.nan, np.nan, n_draws, *shares)
    deciding = min((group.deciding() for group in groups), key=_clearness)
    if n_draws < MIN_DRAWS:
        verdict = FEW_DRAWS
    elif all(group.is_true() for group in groups):
        verdict = TRUE
    else:
        verdict = FALSE if any(group.is_false(len(groups)) for group in groups) else OPEN
    return Judgement(verdict, deciding.words, *deciding.margin(), n_draws, *shares)


def _clearness(comparison: Comparison) -> float:
    margin = comparison.margin()
    return margin.estimate / max(margin.upper - margin.lower, _TIE)


def _all(comparisons: list[Comparison]) -> Group:
    return Group(comparisons, len(comparisons))


def rises(draws: Draws, _: float, noises: tuple[int, ...]) -> list[Group]:
    """The informative fraction of the optimum rises from each EPV to the next."""
    steps = []
    for noise in noises:
        fraction = draws.cells(OPTIMAL, "informative", noise)
        for i, epv in enumerate(EPVS[1:]):
            words = f"EPV {epv} less {EPVS[i]}, {_NOISE[noise]}"
            steps.append(Comparison(words, fraction[:, i + 1] - fraction[:, i]))
    return [_all(steps)]


def largest_at(draws: Draws, _: float, epv: float, method: str, noise: int) -> list[Group]:
    """A method has its largest informative fraction at an EPV."""
    fraction = dict(zip(EPVS, draws.cells(method, "informative", noise).T, strict=True))
    own = fraction.pop(epv)
    return [_all([Comparison(f"EPV {epv} less {e}", own - f) for e, f in fraction.items()])]


def selects_less(
    draws: Draws,
    _: float,
    smaller: str,
    role: str,
    noises: tuple[int, ...],
    at_least: int,
    epvs: tuple[float, ...] = EPVS,
) -> list[Group]:
    """A method selects less of a role than the other at a least number of the EPVs."""
    larger, sign = (OPTIMAL, 1) if smaller == GREEDY else (GREEDY, -1)
    comparisons = [
        Comparison(
            f"{_NAMES[larger]} less {_NAMES[smaller]}, EPV {epv}, {_NOISE[noise]}",
            sign * draws.differences(role, noise)[:, EPVS.index(epv)],
        )
        for noise in noises
        for epv in epvs
    ]
    return [Group(comparisons, at_least)]


def equivocal(draws: Draws, _: float) -> list[Group]:
    """With noise each method has the smaller redundant fraction at some EPV."""
    return [
        group
        for method in METHODS
        for group in selects_less(draws, 0, method, "redundant", (1,), at_least=1)
    ]


def differ_by_less(
    draws: Draws, threshold: float, measure: str, noises: tuple[int, ...], at_least: int
) -> list[Group]:
    """The methods differ by less than the threshold in a least number of cells."""
    comparisons = [
        Comparison(
            f"{threshold:g} less the difference at EPV {epv}, {_NOISE[noise]}",
            draws.differences(measure, noise)[:, i],
            within=threshold,
        )
        for noise in noises
        for i, epv in enumerate(EPVS)
    ]
    return [Group(comparisons, at_least)]


def differ_most_at(draws: Draws, _: float, epv: float, role: str, noise: int) -> list[Group]:
    """The methods differ most in a role at an EPV, whichever selects more.

    Which one selects more is told to each draw by the others, so that no draw judges itself.
    """
    gaps = draws.differences(role, noise)
    signed = gaps * np.sign(gaps.sum(axis=0) - gaps)
    at = EPVS.index(epv)
    comparisons = [
        Comparison(
            f"difference at EPV {epv} less that at {other}",
            signed[:, at] - signed[:, i],
            by_draw=np.abs(gaps[:, at]) - np.abs(gaps[:, i]),
        )
        for i, other in enumerate(EPVS)
        if i != at
    ]
    return [_all(comparisons)]


def noise_changes_largest(draws: Draws, threshold: float, method: str, sign: int) -> list[Group]:
    """Noise lowers (-1) or raises (1) the largest informative fraction of a draw by a threshold."""
    largest = [draws.cells(method, "informative", noise).max(axis=1) for noise in (0, 1)]
    words = f"{'rise' if sign > 0 else 'fall'} of the largest fraction"
    words += f" less {threshold:g}" if threshold else ""
    return [_all([Comparison(words, sign * (largest[1] - largest[0]) - threshold)])]


def never_below(draws: Draws, threshold: float) -> list[Group]:
    """With noise no method has an uninformative fraction below a threshold."""
    comparisons = [
        Comparison(
            f"{_NAMES[method]} at EPV {epv} less {threshold:g}",
            draws.cells(method, "uninformative", 1)[:, i] - threshold,
        )
        for method in METHODS
        for i, epv in enumerate(EPVS)
    ]
    return [_all(comparisons)]


def stable_only_at(draws: Draws, threshold: float, epvs: tuple[float, ...]) -> list[Group]:
    """Only the optimum without noise at these EPVs is as stable as the threshold."""
    comparisons = []
    for method, noise, i, epv in _all_cells():
        above = draws.cells(method, "stability", noise)[:, i] - threshold
        words = f"{_NAMES[method]} at EPV {epv}, {_NOISE[noise]}"
        if (method, noise) == (OPTIMAL, 0) and epv in epvs:
            comparisons.append(Comparison(f"{words}, less {threshold:g}", above))
        else:
            comparisons.append(Comparison(f"{threshold:g} less {words}", -above))
    return [_all(comparisons)]


def interpretable_only_at_last(draws: Draws, threshold: float) -> list[Group]:
    """Stability and informative fraction reach a threshold, uninformative ones are few, only there.

    There: the optimum without noise at the largest EPV; elsewhere one of the three is missing. A
    higher threshold allows fewer uninformative features, half as many for 0.1 more.
    """
    groups, few = [], FEW * 2 ** ((STABLE - threshold) / 0.1)
    for method, noise, i, epv in _all_cells():
        margins = {
            f"stability less {threshold:g}": draws.cells(method, "stability", noise) - threshold,
            f"informative less {threshold:g}": draws.cells(method, "informative", noise)
            - threshold,
            f"{few:g} less uninformative": few - draws.cells(method, "uninformative", noise),
        }
        is_there = (method, noise, epv) == (OPTIMAL, 0, EPVS[-1])
        place = f"{_NAMES[method]} at EPV {epv}, {_NOISE[noise]}"
        comparisons = [
            Comparison(
                f"{place}: {words}" if is_there else f"{place}: not {words}",
                values[:, i] if is_there else -values[:, i],
            )
            for words, values in margins.items()
        ]
        groups.append(_all(comparisons) if is_there else Group(comparisons, 1))
    return groups


def _all_cells() -> list[tuple[str, int, int, float]]:
    return [
        (method, noise, i, epv)
        for method in METHODS
        for noise in (0, 1)
        for i, epv in enumerate(EPVS)
    ]


def noise_harms(draws: Draws, _: float) -> list[Group]:
    """With noise the optimum finds fewer informative features and is less stable at most EPVs."""
    return [
        Group(
            [
                Comparison(
                    f"{what}, EPV {epv}: no noise less 5 % noise",
                    (draws.cells(OPTIMAL, what, 0) - draws.cells(OPTIMAL, what, 1))[:, i],
                )
                for i, epv in enumerate(EPVS)
            ],
            at_least=3,
        )
        for what in ("informative", "stability")
    ]


def low_in_most_runs(draws: Draws, threshold: float) -> list[Group]:
    """In most runs the optimum's uninformative fraction is very low at the largest EPV."""
    share = (draws.runs(OPTIMAL, "uninformative", 0)[:, -1] < threshold).mean(axis=1)
    return [_all([Comparison("share of runs less one half", share - 0.5)])]


def intervals_overlap(draws: Draws, threshold: float) -> list[Group]:
    """Almost all pairs of AUC intervals share a given part of the shorter one."""
    share = draws.overlaps(threshold) - ALMOST_ALWAYS
    return [_all([Comparison(f"share of runs less {ALMOST_ALWAYS:g}", share)])]


_LEVELS = (STABLE - 0.1, STABLE, STABLE + 0.1)
_FOUR, _MOST = 4, 3  # of four EPVs: always; almost always and mostly
_BOTH = {
    "overlap": Claim(intervals_overlap, (), "to a large extent", (0.25, 0.5, 0.75)),
    # Generally: in six of the eight cells.
    "no_difference": Claim(
        differ_by_less, ("auc", (0, 1), 6), "do not differ", (0.005, 0.01, 0.02)
    ),
    "interpretable_only_at": Claim(interpretable_only_at_last, (), "stable, many", _LEVELS),
    "noise_harms": Claim(noise_harms),
}
_COMPARABLE = Claim(
    differ_by_less, ("uninformative", (0, 1), 5), "comparable", (0.0075, 0.015, 0.03)
)
CLAIMS: dict[str, Claim] = {
    **{f"{study}.{key}": claim for study in NUMBERS for key, claim in _BOTH.items()},
    "cardinality.rises": Claim(rises, ((0,),)),
    "cardinality.greedy_largest_at": Claim(largest_at, (4.73, GREEDY, 0)),
    "cardinality.redundant_less": Claim(selects_less, (OPTIMAL, "redundant", (0,), _FOUR)),
    "cardinality.uninformative_comparable": _COMPARABLE._replace(
        arguments=("uninformative", (0,), _MOST)
    ),
    "cardinality.uninformative_differs_most_at": Claim(differ_most_at, (17.91, "uninformative", 0)),
    "cardinality.noise_lowers_optimal": Claim(
        noise_changes_largest, (OPTIMAL, -1), "drastically", (0.05, 0.1, 0.2)
    ),
    "cardinality.noise_raises_greedy": Claim(noise_changes_largest, (GREEDY, 1)),
    "cardinality.noisy_optimal_largest_at": Claim(largest_at, (1.35, OPTIMAL, 1)),
    "cardinality.noisy_greedy_largest_at": Claim(largest_at, (1.35, GREEDY, 1)),
    "cardinality.noisy_redundant_less": Claim(selects_less, (OPTIMAL, "redundant", (1,), _MOST)),
    # Up to 1.5 % is printed as 1 %, and from 1.5 % on as 2 %.
    "cardinality.noisy_uninformative_differ_by": Claim(
        differ_by_less, ("uninformative", (1,), _FOUR), "1 %", (0.01, 0.015, 0.03)
    ),
    "cardinality.noisy_uninformative_never_below": Claim(
        never_below, (), "2 %", (0.01, 0.015, 0.02)
    ),
    "cardinality.stable_only_at": Claim(stable_only_at, ((17.91,),), "relatively stable", _LEVELS),
    "budget.rises": Claim(rises, ((0, 1),)),
    # Mostly: in five of the eight cells.
    "budget.informative_comparable": Claim(
        differ_by_less, ("informative", (0, 1), 5), "comparable", (0.025, 0.05, 0.1)
    ),
    "budget.greedy_redundant_less": Claim(selects_less, (GREEDY, "redundant", (0,), _FOUR)),
    "budget.noisy_redundant_equivocal": Claim(equivocal),
    "budget.uninformative_comparable": _COMPARABLE,
    "budget.uninformative_less_at": Claim(
        selects_less, (OPTIMAL, "uninformative", (0, 1), 2, (17.91,))
    ),
    "budget.stable_only_at": Claim(stable_only_at, ((4.73, 17.91),), "relatively stable", _LEVELS),
    "budget.uninformative_low_in_most_runs": Claim(
        low_in_most_runs, (), "very few", (FEW / 2, FEW, 2 * FEW)
    ),
}
