"""What Knauer and Rodner (2023) state in sections 5.1 to 5.3, written down once.

`VALUES` are its numbers, `CLAIMS` what it says in words about its results, both with the place and
the meaning in our words. `PARKINSON` and `LITTLE` are the figures of section 5.1, which has other
data. The numbers of its set-up are in `settings.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import nan
from typing import Any, NamedTuple

from . import claims, variant
from .claims import Check
from .draw import Draw, Interval


class Value(NamedTuple):
    """A number of the paper.

    `low` and `high` are the numbers that would be printed like it, and `measure` gives ours. An end
    of an interval needs draws with many resamples (`needs_resamples`). `reason` says what may be
    behind a difference, as far as anything is known.
    """

    key: str
    place: str
    study: str
    meaning: str
    stated: str
    low: float
    high: float
    measure: Callable[[Any], float]
    needs_resamples: bool = False
    reason: str = "no reason known"

    @property
    def number(self) -> float:
        """The number as printed; NaN if it is a bound."""
        return nan if self.stated.startswith("<") else (self.low + self.high) / 2


class Claim(NamedTuple):
    """A statement of the paper without a number to compare, and its check."""

    key: str
    place: str
    study: str
    meaning: str
    check: Check
    needs_resamples: bool = False


class Selection(NamedTuple):
    """A result on the Parkinson data: accuracy, its interval, and the measures selected."""

    accuracy: Interval
    measures: frozenset[str]


# The names of the measures are those of the data file: the paper's 5-point and 11-point amplitude
# perturbation quotients are Shimmer:APQ5 and MDVP:APQ, its correlation dimension is D2.
PARKINSON = Selection(
    Interval(0.87, 0.84, 0.90), frozenset({"PPE", "Shimmer:APQ5", "MDVP:APQ", "D2"})
)
LITTLE = Selection(Interval(0.91, 0.87, 0.96), frozenset({"HNR", "RPDE", "DFA", "PPE"}))

_NAMES = {"optimal": "optimal selection", "univariable": "greedy selection"}
_PART = {"parkinson": "5.1", "cardinality": "5.2", "budget": "5.3"}
_N_RUNS = {"cardinality": 32, "budget": 40}  # of a method
_SEEDS = "the paper's seeds are unknown"


def _aucs(study: str, method: str, lowest: Interval, highest: Interval) -> list[Value]:
    values = []
    for end, interval in (("lowest", lowest), ("highest", highest)):
        for part, number in interval._asdict().items():

            def measure(draw: Draw, end: str = end, part: str = part) -> float:
                of_draw = draw.lowest_auc if end == "lowest" else draw.highest_auc
                return float(getattr(of_draw(method), part))

            values.append(
                Value(
                    f"{study}.{method}.{end}_auc.{part}",
                    _PART[study],
                    study,
                    f"{_NAMES[method]}, {end} mean test AUC of all data sets and runs"
                    f"{_part_of_interval(part)}",
                    f"{number:.2f}",
                    number - 0.005,
                    number + 0.005,
                    measure,
                    needs_resamples=part != "estimate",
                    reason=f"{_SEEDS}, and this is one extreme of {_N_RUNS[study]} runs",
                )
            )
    return values


def _fraction(
    method: str,
    role: str,
    noise: float,
    epv: float | None,
    stated: str,
    low: float,
    high: float,
) -> Value:
    """Return a fraction of the cardinality study at an EPV, or its largest over all EPVs."""

    def measure(draw: Draw) -> float:
        series = draw.fraction(method, role, noise)
        return float(series.max() if epv is None else series[epv])

    what = f"fraction of {role} features selected"
    return Value(
        f"cardinality.{method}.{role}.noise{noise:g}.{'largest' if epv is None else f'epv{epv}'}",
        _PART["cardinality"],
        "cardinality",
        f"{_NAMES[method]}, "
        + (f"largest {what} at any EPV" if epv is None else f"{what} at EPV {epv}")
        + (", 5 % label noise" if noise else ", no label noise"),
        stated,
        low,
        high,
        measure,
        reason=f"{_SEEDS}, and how many informative features separate the classes depends on them"
        if role == "informative"
        else "since a number of features is selected, it follows from the informative fraction",
    )


def _accuracies() -> list[Value]:
    return [
        Value(
            f"parkinson.accuracy.{part}",
            _PART["parkinson"],
            "parkinson",
            f"Parkinson data, mean test accuracy{_part_of_interval(part)}",
            f"{number:.2f}",
            number - 0.005,
            number + 0.005,
            partial(_accuracy, part=part),
            reason="the paper's folds and resamples are unknown, and its knots may be others",
        )
        for part, number in PARKINSON.accuracy._asdict().items()
    ]


def _accuracy(draw: variant.Variant, part: str) -> float:
    return float(getattr(draw.accuracy, part))


def _part_of_interval(part: str) -> str:
    return "" if part == "estimate" else f", {part} end of its 95 % interval"


VALUES: tuple[Value, ...] = (
    *_accuracies(),
    *_aucs("cardinality", "optimal", Interval(0.80, 0.79, 0.98), Interval(1.0, 1.0, 1.0)),
    *_aucs("cardinality", "univariable", Interval(0.65, 0.62, 0.99), Interval(1.0, 1.0, 1.0)),
    _fraction("optimal", "informative", 0.0, 0.36, "42 %", 0.415, 0.425),
    _fraction("optimal", "informative", 0.0, 17.91, "91 %", 0.905, 0.915),
    _fraction("univariable", "informative", 0.0, None, "58 %", 0.575, 0.585),
    _fraction("univariable", "informative", 0.0, 4.73, "58 %", 0.575, 0.585),
    _fraction("optimal", "uninformative", 0.0, 17.91, "< 1 %", 0.0, 0.01),
    _fraction("univariable", "uninformative", 0.0, 17.91, "11 %", 0.105, 0.115),
    _fraction("optimal", "informative", 0.05, None, "76 %", 0.755, 0.765),
    _fraction("optimal", "informative", 0.05, 1.35, "76 %", 0.755, 0.765),
    _fraction("univariable", "informative", 0.05, None, "70 %", 0.695, 0.705),
    _fraction("univariable", "informative", 0.05, 1.35, "70 %", 0.695, 0.705),
    *_aucs("budget", "optimal", Interval(0.75, 0.71, 1.0), Interval(1.0, 0.99, 1.0)),
    *_aucs("budget", "univariable", Interval(0.76, 0.61, 0.94), Interval(1.0, 0.98, 1.0)),
)


def _claims(study: str, *items: tuple[str, str, Check]) -> list[Claim]:
    return [
        Claim(f"{study}.{key}", _PART[study], study, meaning, check, check in _ON_INTERVALS)
        for key, meaning, check in items
    ]


_DISCRIMINATION: tuple[tuple[str, str, Check], ...] = (
    (
        "intervals_overlap",
        "the AUC intervals of both methods almost always overlap to a large extent",
        claims.intervals_overlap,
    ),
    (
        "no_significant_difference",
        "the AUCs of both methods generally do not differ significantly",
        claims.no_significant_difference,
    ),
)
_ON_INTERVALS = tuple(check for _, _, check in _DISCRIMINATION)
_NOISE_HARMS = (
    "noise_harms",
    "5 % label noise harms interpretability: at most EPVs optimal selection finds fewer "
    "informative features and is less stable",
    claims.noise_harms("optimal"),
)
CLAIMS: tuple[Claim, ...] = (
    *_claims(
        "parkinson",
        (
            "selected",
            "Parkinson data: the pitch period entropy (PPE), the 5-point and 11-point amplitude "
            "perturbation quotients (Shimmer:APQ5, MDVP:APQ) and the correlation dimension (D2) "
            "are selected",
            variant.selects(PARKINSON.measures),
        ),
        (
            "other_than_little",
            "Parkinson data: the measures selected are not those of Little et al., HNR, RPDE, DFA "
            "and PPE",
            variant.selects_other_than(LITTLE.measures),
        ),
        (
            "pitch_period_entropy",
            "Parkinson data: the pitch period entropy is selected, as by Little et al.",
            variant.includes("PPE"),
        ),
        (
            "overlaps_little",
            "Parkinson data: the interval overlaps to a large extent with that of Little et al., "
            "0.91 [0.87, 0.96] with 4 of 17 measures",
            variant.overlaps(LITTLE.accuracy),
        ),
    ),
    *_claims(
        "cardinality",
        *_DISCRIMINATION,
        (
            "informative_increases",
            "no label noise: with optimal selection the informative fraction rises with the EPV",
            claims.increases("optimal", "informative", 0.0),
        ),
        (
            "greedy_largest_at",
            "no label noise: greedy selection has its largest informative fraction at EPV 4.73",
            claims.largest_at(4.73, "univariable", "informative", 0.0),
        ),
        (
            "redundant_less",
            "no label noise: the redundant fraction is always less with optimal selection",
            claims.less("optimal", "univariable", "redundant", 0.0),
        ),
        (
            "uninformative_comparable",
            "no label noise: the uninformative fractions are mostly comparable",
            claims.comparable("uninformative", 0.0),
        ),
        (
            "uninformative_differs_most_at",
            "no label noise: the uninformative fractions differ most at EPV 17.91",
            claims.differs_most_at(17.91, "uninformative", 0.0),
        ),
        (
            "noise_lowers_optimal",
            "5 % label noise drastically lowers the largest informative fraction of optimal "
            "selection",
            claims.noise_changes_largest("optimal", "informative", -1, claims.DRASTIC),
        ),
        (
            "noise_raises_greedy",
            "5 % label noise raises the largest informative fraction of greedy selection",
            claims.noise_changes_largest("univariable", "informative", 1),
        ),
        (
            "noisy_optimal_largest_at",
            "5 % label noise: optimal selection has its largest informative fraction at EPV 1.35",
            claims.largest_at(1.35, "optimal", "informative", 0.05),
        ),
        (
            "noisy_greedy_largest_at",
            "5 % label noise: greedy selection has its largest informative fraction at EPV 1.35",
            claims.largest_at(1.35, "univariable", "informative", 0.05),
        ),
        (
            "noisy_redundant_less",
            "5 % label noise: the redundant fraction is almost always less with optimal selection",
            claims.less("optimal", "univariable", "redundant", 0.05, claims.ALMOST_ALL_EPVS),
        ),
        (
            "noisy_uninformative_differs_at_most",
            "5 % label noise: the uninformative fractions never differ by more than 1 %",
            claims.differs_at_most(claims.PRINTED_AS_1, "uninformative", 0.05),
        ),
        (
            "noisy_uninformative_never_below",
            "5 % label noise: the uninformative fraction is never below 2 %",
            claims.never_below(claims.PRINTED_AS_2, "uninformative", 0.05),
        ),
        (
            "stable_only_at",
            "only optimal selection without label noise at EPV 17.91 is relatively stable",
            claims.stable_only_at(17.91),
        ),
        (
            "interpretable_only_at",
            "many informative and very few uninformative features and a stable selection come "
            "together only with optimal selection, no label noise, EPV 17.91",
            claims.interpretable_only_at(17.91),
        ),
        _NOISE_HARMS,
    ),
    *_claims(
        "budget",
        *_DISCRIMINATION,
        (
            "informative_increases",
            "with optimal selection the informative fraction rises with the EPV",
            claims.increases("optimal", "informative", 0.0, 0.05),
        ),
        (
            "informative_comparable",
            "the informative fractions are mostly comparable",
            claims.comparable("informative", 0.0, 0.05),
        ),
        (
            "greedy_redundant_less",
            "no label noise: the redundant fraction is always less with greedy selection",
            claims.less("univariable", "optimal", "redundant", 0.0),
        ),
        (
            "noisy_redundant_equivocal",
            "5 % label noise: neither method always selects fewer redundant features",
            claims.equivocal("redundant", 0.05),
        ),
        (
            "uninformative_comparable",
            "the uninformative fractions are mostly comparable",
            claims.comparable("uninformative", 0.0, 0.05),
        ),
        (
            "uninformative_less_at",
            "optimal selection has the smaller uninformative fraction at EPV 17.91",
            claims.less_at(17.91, "optimal", "univariable", "uninformative", 0.0, 0.05),
        ),
        (
            "stable_only_at",
            "only optimal selection without label noise at EPV 4.73 and 17.91 is relatively stable",
            claims.stable_only_at(4.73, 17.91),
        ),
        (
            "informative_larger_at",
            "no label noise: optimal selection chooses more informative features at EPV 17.91 than "
            "at EPV 4.73",
            claims.larger_at(17.91, 4.73, "optimal", "informative", 0.0),
        ),
        (
            "uninformative_low_in_most_runs",
            "no label noise: in most runs optimal selection chooses very few uninformative "
            "features at EPV 17.91",
            claims.low_in_most_runs(claims.FEW, 17.91, "optimal", "uninformative", 0.0),
        ),
        (
            "interpretable_only_at",
            "many informative and very few uninformative features and a stable selection come "
            "together only with optimal selection, no label noise, EPV 17.91",
            claims.interpretable_only_at(17.91),
        ),
        _NOISE_HARMS,
    ),
)
