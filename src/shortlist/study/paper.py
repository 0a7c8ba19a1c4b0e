"""The statements of Knauer and Rodner (2023), sections 5.1 to 5.3: numbers and claims.

Each entry has its place, its meaning in our words, and how it is measured on our draws.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from . import claims
from .claims import DRASTIC, GREEDY, OPTIMAL, Measure
from .draws import EPVS, Draws
from .methods import METHOD_NAMES

_SECTIONS = {"parkinson": "5.1", "cardinality": "5.2", "budget": "5.3"}


# The names of the measures are those of the data file: the paper's 5-point and 11-point amplitude
# perturbation quotients are Shimmer:APQ5 and MDVP:APQ, its correlation dimension is D2.
MEASURES = frozenset({"PPE", "Shimmer:APQ5", "MDVP:APQ", "D2"})
ACCURACY = (0.87, 0.84, 0.90)
LITTLE_MEASURES = frozenset({"HNR", "RPDE", "DFA", "PPE"})
LITTLE_ACCURACY = (0.91, 0.87, 0.96)


class Statement(NamedTuple):
    """A number or a claim of the paper.

    `measure` gives, for each draw, our number, or whether the claim holds. What would be printed
    like the number lies from `low` to `high`; a claim has 1 for both.
    """

    kind: str
    study: str
    key: str
    meaning: str
    stated: str
    low: float
    high: float
    measure: Measure

    @property
    def place(self) -> str:
        """The section."""
        return _SECTIONS[self.study]


def _intervals(
    study: str, what: str, key: str, measure: Measure, *stated: float
) -> list[Statement]:
    """Return an estimate and both ends of its interval; `measure` gives all three."""
    ends = ("", ", lower end of its 95 % interval", ", upper end of its 95 % interval")
    return [
        Statement(
            "number",
            study,
            f"{study}.{key}.{('estimate', 'lower', 'upper')[i]}",
            what + ends[i],
            f"{number:.2f}",
            number - 0.005,
            number + 0.005,
            _entry(measure, i),
        )
        for i, number in enumerate(stated)
    ]


def _entry(measure: Measure, i: int) -> Measure:
    return lambda draws: measure(draws)[i]


def _auc(study: str, method: str, highest: bool, *stated: float) -> list[Statement]:
    end = "highest" if highest else "lowest"
    return _intervals(
        study,
        f"{METHOD_NAMES[method]}, {end} AUC of all runs",
        f"{method}.{end}_auc",
        lambda draws: draws.extreme(method, highest),
        *stated,
    )


def _fraction(
    method: str, role: str, noise: int, epv: float | None, stated: str, low: float, high: float
) -> Statement:
    """Return a fraction of section 5.2 at an EPV, or its largest over all EPVs."""

    def measure(draws: Draws) -> Any:
        values = draws.fraction(method, role, noise)
        return values.max(axis=1) if epv is None else values[:, EPVS.index(epv)]

    return Statement(
        "number",
        "cardinality",
        f"cardinality.{method}.{role}.noise{noise}.{'largest' if epv is None else epv}",
        f"{METHOD_NAMES[method]}, {'largest ' if epv is None else ''}{role} fraction"
        f"{'' if epv is None else f' at EPV {epv}'}, {'5 %' if noise else 'no'} label noise",
        stated,
        low,
        high,
        measure,
    )


def _claim(study: str, key: str, meaning: str, check: Measure) -> Statement:
    return Statement("claim", study, f"{study}.{key}", meaning, "true", 1.0, 1.0, check)


_CLAIMS_ABOUT_AUC: tuple[tuple[str, str, Measure], ...] = (
    (
        "overlap",
        "the AUC intervals of both methods almost always overlap to a large extent",
        claims.intervals_overlap,
    ),
    ("no_difference", "the AUCs of both methods generally do not differ", claims.no_difference),
)
_INTERPRETABLE_CLAIM = (
    "interpretable_only_at",
    "many informative and very few uninformative features and a stable selection come together "
    "only with optimal selection, no label noise, EPV 17.91",
    claims.only_at(17.91, interpretable=True),
)
_NOISE_CLAIM = (
    "noise_harms",
    "5 % label noise: at most EPVs optimal selection finds fewer informative features and is less "
    "stable",
    claims.noise_harms,
)
_CLAIMS: dict[str, tuple[tuple[str, str, Measure], ...]] = {
    "parkinson": (
        (
            "selected",
            "PPE, Shimmer:APQ5, MDVP:APQ and D2 are selected",
            claims.optimum(lambda measures: measures == MEASURES),
        ),
        (
            "other_than_little",
            "not the measures of Little et al. are selected, HNR, RPDE, DFA and PPE",
            claims.optimum(lambda measures: measures != LITTLE_MEASURES),
        ),
        (
            "ppe",
            "PPE is selected, as by Little et al.",
            claims.optimum(lambda measures: "PPE" in measures),
        ),
        (
            "overlaps_little",
            "the interval overlaps to a large extent with that of Little et al., "
            "0.91 [0.87, 0.96] with 4 of 17 measures",
            claims.accuracy_overlaps(LITTLE_ACCURACY),
        ),
    ),
    "cardinality": (
        *_CLAIMS_ABOUT_AUC,
        (
            "rises",
            "no noise: the informative fraction of optimal rises with the EPV",
            claims.rises(0),
        ),
        (
            "greedy_largest_at",
            "no noise: greedy has its largest informative fraction at EPV 4.73",
            claims.largest_at(4.73, GREEDY, 0),
        ),
        (
            "redundant_less",
            "no noise: the redundant fraction is always less with optimal",
            claims.selects_less(OPTIMAL, GREEDY, "redundant", 0),
        ),
        (
            "uninformative_comparable",
            "no noise: the uninformative fractions are mostly comparable",
            claims.comparable("uninformative", 0),
        ),
        (
            "uninformative_differs_most_at",
            "no noise: the uninformative fractions differ most at EPV 17.91",
            lambda draws: claims.is_at(17.91, claims.gaps(draws, "uninformative", 0)),
        ),
        (
            "noise_lowers_optimal",
            "5 % noise drastically lowers the largest informative fraction of optimal",
            lambda draws: claims.largest_change(draws, OPTIMAL) <= -DRASTIC,
        ),
        (
            "noise_raises_greedy",
            "5 % noise raises the largest informative fraction of greedy",
            lambda draws: claims.largest_change(draws, GREEDY) > 0,
        ),
        (
            "noisy_optimal_largest_at",
            "5 % noise: optimal has its largest informative fraction at EPV 1.35",
            claims.largest_at(1.35, OPTIMAL, 1),
        ),
        (
            "noisy_greedy_largest_at",
            "5 % noise: greedy has its largest informative fraction at EPV 1.35",
            claims.largest_at(1.35, GREEDY, 1),
        ),
        (
            "noisy_redundant_less",
            "5 % noise: the redundant fraction is almost always less with optimal",
            claims.selects_less(OPTIMAL, GREEDY, "redundant", 1, epvs=3),
        ),
        (
            "noisy_uninformative_differ_by",
            "5 % noise: the uninformative fractions never differ by more than 1 %",
            lambda draws: claims.everywhere(claims.gaps(draws, "uninformative", 1) < 0.015),
        ),
        (
            "noisy_uninformative_never_below",
            "5 % noise: the uninformative fraction is never below 2 %",
            claims.never_below_2,
        ),
        (
            "stable_only_at",
            "only optimal without noise at EPV 17.91 is relatively stable",
            claims.only_at(17.91),
        ),
        _INTERPRETABLE_CLAIM,
        _NOISE_CLAIM,
    ),
    "budget": (
        *_CLAIMS_ABOUT_AUC,
        ("rises", "the informative fraction of optimal rises with the EPV", claims.rises(0, 1)),
        (
            "informative_comparable",
            "the informative fractions are mostly comparable",
            claims.comparable("informative", 0, 1),
        ),
        (
            "greedy_redundant_less",
            "no noise: the redundant fraction is always less with greedy",
            claims.selects_less(GREEDY, OPTIMAL, "redundant", 0),
        ),
        (
            "noisy_redundant_equivocal",
            "5 % noise: neither method always selects fewer redundant features",
            claims.equivocal,
        ),
        (
            "uninformative_comparable",
            "the uninformative fractions are mostly comparable",
            claims.comparable("uninformative", 0, 1),
        ),
        (
            "uninformative_less_at",
            "optimal has the smaller uninformative fraction at EPV 17.91",
            claims.less_at_most_events,
        ),
        (
            "stable_only_at",
            "only optimal without noise at EPV 4.73 and 17.91 is relatively stable",
            claims.only_at(4.73, 17.91),
        ),
        (
            "informative_larger_at",
            "no noise: optimal selects more informative features at EPV 17.91 than at 4.73",
            claims.larger_at_last,
        ),
        (
            "uninformative_low_in_most_runs",
            "no noise: in most runs optimal selects very few uninformative features at EPV 17.91",
            claims.low_in_most_runs,
        ),
        _INTERPRETABLE_CLAIM,
        _NOISE_CLAIM,
    ),
}
# The fractions of section 5.2: method, role, label noise, EPV (None: the largest over all), number,
# and the range of what would be printed like it.
FRACTIONS: tuple[tuple[str, str, int, float | None, str, float, float], ...] = (
    (OPTIMAL, "informative", 0, 0.36, "42 %", 0.415, 0.425),
    (OPTIMAL, "informative", 0, 17.91, "91 %", 0.905, 0.915),
    (GREEDY, "informative", 0, None, "58 %", 0.575, 0.585),
    (GREEDY, "informative", 0, 4.73, "58 %", 0.575, 0.585),
    (OPTIMAL, "uninformative", 0, 17.91, "< 1 %", 0.0, 0.01),
    (GREEDY, "uninformative", 0, 17.91, "11 %", 0.105, 0.115),
    (OPTIMAL, "informative", 1, None, "76 %", 0.755, 0.765),
    (OPTIMAL, "informative", 1, 1.35, "76 %", 0.755, 0.765),
    (GREEDY, "informative", 1, None, "70 %", 0.695, 0.705),
    (GREEDY, "informative", 1, 1.35, "70 %", 0.695, 0.705),
)
STATEMENTS: tuple[Statement, ...] = (
    *_intervals(
        "parkinson", "mean test accuracy", "accuracy", lambda findings: findings.draws(), *ACCURACY
    ),
    *_auc("cardinality", OPTIMAL, False, 0.80, 0.79, 0.98),
    *_auc("cardinality", OPTIMAL, True, 1.0, 1.0, 1.0),
    *_auc("cardinality", GREEDY, False, 0.65, 0.62, 0.99),
    *_auc("cardinality", GREEDY, True, 1.0, 1.0, 1.0),
    *(_fraction(*fraction) for fraction in FRACTIONS),
    *_auc("budget", OPTIMAL, False, 0.75, 0.71, 1.0),
    *_auc("budget", OPTIMAL, True, 1.0, 0.99, 1.0),
    *_auc("budget", GREEDY, False, 0.76, 0.61, 0.94),
    *_auc("budget", GREEDY, True, 1.0, 0.98, 1.0),
    *(_claim(study, *claim) for study, entries in _CLAIMS.items() for claim in entries),
)
