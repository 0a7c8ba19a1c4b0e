"""Every number of the paper is compared, and the claims are true and false when they should be."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from fake_study import fake_tables, write_fake_study

from shortlist.study import claims, variant
from shortlist.study.claims import overlap
from shortlist.study.compare import COLUMNS, compare, place_in_spread, to_markdown
from shortlist.study.draw import Draw, Interval, complete_draws
from shortlist.study.paper import CLAIMS, VALUES, Value
from shortlist.study.settings import settings
from shortlist.study.variant import Variant

# The results that the paper prints, by section, in its order.
NUMBERS = {
    "5.1": "0.87 0.84 0.90",
    "5.2": "0.80 0.79 0.98 1.00 1.00 1.00 0.65 0.62 0.99 1.00 1.00 1.00 "
    "42% 91% 58% 58% <1% 11% 76% 76% 70% 70%",  # largest ones twice, also at their EPV
    "5.3": "0.75 0.71 1.00 1.00 0.99 1.00 0.76 0.61 0.94 1.00 0.98 1.00",
}
# What it says of them, in our words; each is a claim.
N_CLAIMS = {"5.1": 4, "5.2": 17, "5.3": 13}


def test_no_number_is_left_out():
    for place, numbers in NUMBERS.items():
        stated = [value.stated.replace(" ", "") for value in VALUES if value.place == place]
        assert stated == numbers.split()
    assert Counter(claim.place for claim in CLAIMS) == N_CLAIMS
    text = " ".join(claim.meaning for claim in CLAIMS)
    for number in ("4.73", "17.91", "1.35", "1 %", "2 %", "0.91 [0.87, 0.96]", "4 of 17"):
        assert number in text


def test_stated_numbers_are_within_their_rounding():
    for value in VALUES:
        number = float(value.stated.strip("< %")) / (100 if "%" in value.stated else 1)
        assert value.low <= number <= value.high
        assert value.high - value.low == pytest.approx(0.01)
        assert np.isnan(value.number) == (value.stated == "< 1 %")


def test_table_has_a_line_for_everything(tmp_path):
    comparison = compare(write_fake_study(tmp_path))
    assert tuple(comparison.columns) == COLUMNS
    assert Counter(comparison["kind"]) == {"value": len(VALUES), "claim": len(CLAIMS)}
    assert comparison["key"].is_unique
    assert set(comparison["verdict"]) == {"agree", "differ", "one draw"}
    assert to_markdown(comparison).count("\n| 5.") == len(comparison)


def place(*by_seed):
    """Return the line of 42 %, given our fractions."""
    draws = [SimpleNamespace(name=f"seed {i}", fraction=x) for i, x in enumerate(by_seed)]
    return place_in_spread(FORTY_TWO, draws)


FORTY_TWO = Value(
    "key", "5.2", "cardinality", "", "42 %", 0.415, 0.425, lambda draw: draw.fraction, reason="luck"
)


def test_verdict_follows_the_spread():
    same = place(0.423, 0.3, 0.3, 0.3)
    assert (same["verdict"], same["ours"]) == ("agree", "0.423")
    assert same["why"] == "the same to the digits printed"
    within = place(0.30, 0.35, 0.40, 0.50)
    assert (within["verdict"], within["position"]) == ("agree", "third quarter")
    assert (within["minimum"], within["median"], within["maximum"]) == (0.3, 0.375, 0.5)
    above = place(0.1, 0.2, 0.3, 0.4)
    assert (above["verdict"], above["position"]) == ("differ", "above all")
    assert above["why"].endswith("0.400 (seed 3); luck")
    below = place(0.6, 0.5, 0.7, 0.8)
    assert (below["verdict"], below["position"]) == ("differ", "below all")
    assert place(0.1, 0.2, 0.3, 0.4151)["verdict"] == "agree"  # would be printed as 42 %
    assert place()["verdict"] == "not run"
    assert (place(0.42)["verdict"], place(0.5)["verdict"]) == ("agree", "one draw")
    assert place(0.5)["why"] == "0.080 above the paper"
    bound = FORTY_TWO._replace(stated="< 1 %", low=0.0, high=0.01)
    line = place_in_spread(bound, [SimpleNamespace(name="seed 0", fraction=0.03)])
    assert (line["verdict"], line["why"]) == ("one draw", "0.020 above the paper")


def test_ends_of_intervals_need_resamples(tmp_path):
    folder = write_fake_study(tmp_path)
    on_intervals = {value.key for value in VALUES if value.needs_resamples}
    on_intervals |= {claim.key for claim in CLAIMS if claim.needs_resamples}
    assert len(on_intervals) == 2 * 8 + 2 * 2
    for n_resamples, n_draws in ((38, 1), (39, 4)):
        summary = fake_tables()[0]
        summary.loc[summary["seed"] != 0, "n_resamples"] = n_resamples
        summary.to_csv(folder / "summary.csv", index=False)
        lines = compare(folder).set_index("key").query("place != '5.1'")
        assert (lines.loc[sorted(on_intervals), "n_draws"] == n_draws).all()
        assert (lines.drop(on_intervals)["n_draws"] == 4).all()


def test_the_paper_s_variant_alone_is_judged(tmp_path):
    lines = compare(write_fake_study(tmp_path)).set_index("key")
    accuracy = lines.loc["parkinson.accuracy.estimate"]
    assert (accuracy["ours"], accuracy["verdict"], accuracy["n_draws"]) == ("0.870", "agree", 1)
    assert accuracy["why"].endswith("other variants 0.77 to 0.89")
    upper = lines.loc["parkinson.accuracy.upper"]
    assert upper["verdict"] == "differ"  # 0.93 instead of 0.90
    assert "folds and resamples are unknown" in upper["why"]
    selected = lines.loc["parkinson.selected"]
    assert (selected["verdict"], selected["n_holds"]) == ("agree", 1)
    assert "does not hold for features-22-rows, columns-22-persons" in selected["why"]
    assert "holds also for" in lines.loc["parkinson.pitch_period_entropy", "why"]


def test_what_was_not_run_is_said(tmp_path):
    folder = write_fake_study(tmp_path)
    summary = pd.read_csv(folder / "summary.csv")
    summary[summary["n_features"] == 14].to_csv(folder / "summary.csv", index=False)
    (folder / "parkinson_summary.csv").unlink()
    comparison = compare(folder)
    assert set(comparison["verdict"]) == {"not run"}
    ours = {
        (place, name): ours for place, name, _, ours in settings(summary.query("seed==1"), None)
    }
    assert ours["5.1", "bootstrap resamples"] == "not run"
    assert ours["5.2", "synthetic data sets"] == "0"
    assert "not run" in to_markdown(comparison)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((0.0, 1.0), (0.5, 0.6), 1.0),
        ((0.0, 0.4), (0.3, 0.5), 0.5),
        ((0.0, 0.1), (0.2, 0.3), -1.0),
        ((1.0, 1.0), (0.9, 1.0), 1.0),
        ((1.0, 1.0), (0.8, 0.9), -1.0),
    ],
)
def test_overlap(first, second, expected):
    assert overlap(Interval(0, *first), Interval(0, *second)) == pytest.approx(expected)


FLAT = {"optimal": 0.5, "univariable": 0.5}
RISING = (0.2, 0.4, 0.6, 0.9)


def draw_with(**columns):
    """Return a draw; a column is by method a number or one per EPV, without and with noise."""
    summary = fake_tables()[0]
    summary = summary[summary["seed"] == 0].assign(stability=0.1)
    levels = summary["epv"].rank(method="dense").astype(int) - 1
    for name, by_method in columns.items():
        for method, values in by_method.items():
            values = values if isinstance(values, dict) else {0.0: values, 0.05: values}
            for noise, series in values.items():
                at = (summary["method"] == method) & (summary["label_noise"] == noise)
                per_epv = np.broadcast_to(np.asarray(series, dtype=float), 4)
                summary.loc[at, name] = per_epv[levels[at]]
    return Draw(summary, 0, "cardinality")


STABLE_ONCE = {"optimal": {0.0: (0.1, 0.1, 0.1, 0.9)}}
TRUE_AND_FALSE = [
    (claims.increases("optimal", "informative", 0.0, 0.05), {"optimal": RISING}, FLAT),
    (
        claims.less("optimal", "univariable", "informative", 0.0),
        {"optimal": 0.1, "univariable": 0.2},
        {"optimal": (0.1, 0.1, 0.1, 0.3), "univariable": 0.2},
    ),
    (
        claims.less("optimal", "univariable", "informative", 0.0, share=0.75),
        {"optimal": (0.1, 0.1, 0.1, 0.3), "univariable": 0.2},
        {"optimal": (0.1, 0.1, 0.3, 0.3), "univariable": 0.2},
    ),
    (
        claims.less_at(17.91, "optimal", "univariable", "informative", 0.0, 0.05),
        {"optimal": (0.9, 0.9, 0.9, 0.1), "univariable": 0.5},
        {"optimal": {0.0: 0.1, 0.05: 0.9}, "univariable": 0.5},
    ),
    (
        claims.equivocal("informative", 0.05),
        {"optimal": RISING, "univariable": 0.5},
        {"optimal": 0.4, "univariable": 0.5},
    ),
    (
        claims.comparable("informative", 0.0),
        {"optimal": (0.5, 0.5, 0.5, 0.9), "univariable": 0.52},
        {"optimal": (0.5, 0.5, 0.9, 0.9), "univariable": 0.52},
    ),
    (
        claims.differs_most_at(17.91, "informative", 0.0),
        {"optimal": RISING, "univariable": 0.2},
        {"optimal": RISING, "univariable": 0.9},
    ),
    (claims.largest_at(17.91, "optimal", "informative", 0.0), {"optimal": RISING}, FLAT),
    (
        claims.differs_at_most(0.015, "informative", 0.05),
        {"optimal": 0.514, "univariable": 0.50},
        {"optimal": (0.5, 0.5, 0.5, 0.516), "univariable": 0.5},
    ),
    (
        claims.never_below(0.015, "informative", 0.05),
        {"optimal": 0.02, "univariable": 0.03},
        {"optimal": 0.02, "univariable": (0.03, 0.014, 0.03, 0.03)},
    ),
    (
        claims.noise_changes_largest("optimal", "informative", -1),
        {"optimal": {0.0: 0.9, 0.05: 0.7}},
        {"optimal": {0.0: 0.7, 0.05: 0.9}},
    ),
    (
        claims.noise_changes_largest("optimal", "informative", -1, least=0.1),
        {"optimal": {0.0: 0.9, 0.05: 0.7}},
        {"optimal": {0.0: 0.9, 0.05: 0.81}},
    ),
    (claims.larger_at(17.91, 4.73, "optimal", "informative", 0.0), {"optimal": RISING}, FLAT),
    (
        claims.low_in_most_runs(0.02, 17.91, "optimal", "informative", 0.0),
        {"optimal": (0.9, 0.9, 0.9, 0.01)},
        {"optimal": 0.02},
    ),
]


@pytest.mark.parametrize(("check", "true", "false"), TRUE_AND_FALSE)
def test_claims_about_fractions(check, true, false):
    assert check(draw_with(informative=true)).holds
    assert not check(draw_with(informative=false)).holds
    assert check(draw_with(informative=true)).figures


def test_claims_about_stability():
    only = claims.stable_only_at(17.91)
    assert only(draw_with(stability=STABLE_ONCE)).holds
    assert not only(draw_with()).holds
    assert not only(draw_with(stability={"optimal": (0.1, 0.1, 0.1, 0.9)})).holds  # with noise too
    assert not only(draw_with(stability=STABLE_ONCE | {"univariable": {0.0: 0.8}})).holds
    interpretable = claims.interpretable_only_at(17.91)
    good = {"informative": {"optimal": 0.9}, "uninformative": {"optimal": 0.01}}
    assert interpretable(draw_with(stability=STABLE_ONCE, **good)).holds
    bad = good | {"uninformative": {"optimal": 0.1}}
    assert not interpretable(draw_with(stability=STABLE_ONCE, **bad)).holds


def test_uninformative_fractions_are_comparable_within_less():
    fractions = {"optimal": 0.5, "univariable": 0.52}
    assert claims.comparable("informative", 0.0)(draw_with(informative=fractions)).holds
    assert not claims.comparable("uninformative", 0.0)(draw_with(uninformative=fractions)).holds


def test_claim_about_the_harm_of_noise():
    harms = claims.noise_harms("optimal")
    less = {"optimal": {0.0: 0.8, 0.05: 0.6}}
    assert harms(draw_with(informative=less, stability=less)).holds
    assert not harms(draw_with(informative=less)).holds
    finding = harms(draw_with(informative={"optimal": {0.0: 0.6, 0.05: 0.8}}, stability=less))
    assert finding == (False, "fewer informative features at 0 of 4 EPVs, less stable at 4")


def test_claim_about_paired_differences():
    ends = {"auc_difference": {"optimal": 0.01}, "auc_difference_upper": {"optimal": 0.02}}
    none = ends | {"auc_difference_lower": {"optimal": -0.01}}
    assert claims.no_significant_difference(draw_with(**none)).holds
    some = ends | {"auc_difference_lower": {"optimal": (-0.01, -0.01, -0.01, 0.005)}}
    finding = claims.no_significant_difference(draw_with(**some))
    assert not finding.holds
    assert "in 8 of 32 runs: optimal is better in 8, greedy in 0" in finding.figures


OWN = Variant("columns-22-rows", Interval(0.87, 0.84, 0.90), frozenset({"PPE", "D2"}))


@pytest.mark.parametrize(
    ("check", "holds"),
    [
        (variant.selects(frozenset({"D2", "PPE"})), True),
        (variant.selects(frozenset({"D2"})), False),
        (variant.selects_other_than(frozenset({"D2"})), True),
        (variant.selects_other_than(frozenset({"D2", "PPE"})), False),
        (variant.includes("PPE"), True),
        (variant.includes("HNR"), False),
        (variant.overlaps(Interval(0.9, 0.86, 0.95)), True),
        (variant.overlaps(Interval(0.9, 0.89, 0.95)), False),
    ],
)
def test_claims_about_a_variant(check, holds):
    assert check(OWN).holds is holds


def test_claim_about_intervals():
    ends = {"auc_lower": {"optimal": 0.8, "univariable": 0.82}}
    ends["auc_upper"] = {"optimal": 0.9, "univariable": 0.92}
    assert claims.intervals_overlap(draw_with(**ends)).holds
    apart = ends | {"auc_lower": {"optimal": 0.8, "univariable": (0.82, 0.82, 0.82, 0.91)}}
    finding = claims.intervals_overlap(draw_with(**apart))
    assert not finding.holds
    assert finding.figures == "24 of 32 pairs share half or more, 8 apart"


def test_lowest_and_highest_auc_come_with_their_own_intervals():
    draw = draw_with(auc={"optimal": (0.8, 0.85, 0.9, 0.95)}, auc_lower={"optimal": RISING})
    assert draw.lowest_auc("optimal")[:2] == (0.8, 0.2)
    assert draw.highest_auc("optimal")[:2] == (0.95, 0.9)


def test_incomplete_seeds_are_left_out():
    summary = fake_tables()[0]
    assert [draw.name for draw in complete_draws(summary, "budget")] == [
        "seed 0", "seed 1", "seed 2", "seed 3",
    ]  # fmt: skip
    lacks = (summary["seed"] == 2) & (summary["n_features"] == 53) & (summary["study"] == "budget")
    names = [draw.name for draw in complete_draws(summary[~lacks], "budget")]
    assert names == ["seed 0", "seed 1", "seed 3"]
