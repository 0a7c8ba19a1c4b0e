"""Every number of the paper is compared, and the claims are true and false when they should be."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from fake_study import fake_tables, write_fake_study

from shortlist.study import claims
from shortlist.study.claims import overlap
from shortlist.study.compare import COLUMNS, compare, place_in_spread, to_markdown
from shortlist.study.draw import Draw, Interval, complete_draws
from shortlist.study.paper import CLAIMS, VALUES

# The results that the paper prints, by section, in its order.
NUMBERS = {
    "5.1": "0.87 0.84 0.90",
    "5.2": "0.80 0.79 0.98 1.00 1.00 1.00 0.65 0.62 0.99 1.00 1.00 1.00 "
    "42% 91% 58% <1% 11% 76% 70%",
    "5.3": "0.75 0.71 1.00 1.00 0.99 1.00 0.76 0.61 0.94 1.00 0.98 1.00",
}
# What it says of them, in our words; each is a claim.
N_CLAIMS = {"5.1": 4, "5.2": 15, "5.3": 10}


def test_no_number_is_left_out():
    for place, numbers in NUMBERS.items():
        stated = [value.stated.replace(" ", "") for value in VALUES if value.place == place]
        assert stated == numbers.split()
    assert Counter(claim.place for claim in CLAIMS) == N_CLAIMS
    text = " ".join(claim.meaning for claim in CLAIMS)
    for number in ("4.73", "17.91", "1.35", "1 %", "2 %", "0.91 [0.87, 0.96]", "4 of 17", "0.05"):
        assert number in text


def test_stated_numbers_are_within_their_rounding():
    for value in VALUES:
        number = float(value.stated.strip("< %")) / (100 if "%" in value.stated else 1)
        assert value.low <= number <= value.high
        assert value.high - value.low == pytest.approx(0.01)


def test_table_has_a_line_for_everything(tmp_path):
    comparison = compare(write_fake_study(tmp_path))
    assert tuple(comparison.columns) == COLUMNS
    assert Counter(comparison["kind"]) == {
        "value": len(VALUES),
        "claim": len(CLAIMS),
        "setting": 12,
    }
    assert comparison["key"].is_unique
    assert set(comparison["verdict"]) == {"agree", "differ"}
    assert (comparison.loc[comparison["kind"] == "setting", "verdict"] == "agree").all()
    assert to_markdown(comparison).count("\n| 5.") == len(comparison)


def place(*by_seed):
    """Return the line of 42 %, given our fractions."""
    return place_in_spread(0.415, 0.425, {f"seed {i}": x for i, x in enumerate(by_seed)}, "seed 0")


def test_verdict_follows_the_spread():
    same = place(0.423, 0.3, 0.3, 0.3)
    assert (same["verdict"], same["ours"]) == ("agree", "0.423")
    assert same["why"] == "the same to the digits printed"
    within = place(0.30, 0.35, 0.40, 0.50)
    assert (within["verdict"], within["position"]) == ("agree", "third quarter")
    assert (within["minimum"], within["median"], within["maximum"]) == (0.3, 0.375, 0.5)
    above = place(0.1, 0.2, 0.3, 0.4)
    assert (above["verdict"], above["position"]) == ("differ", "above all")
    assert "0.400 (seed 3)" in above["why"]
    below = place(0.6, 0.5, 0.7, 0.8)
    assert (below["verdict"], below["position"]) == ("differ", "below all")
    assert place(0.1, 0.2, 0.3, 0.4151)["verdict"] == "agree"  # would be printed as 42 %
    assert place_in_spread(0, 1, {"seed 1": 0.5}, "seed 0")["verdict"] == "not run"


def test_what_was_not_run_is_said(tmp_path):
    folder = write_fake_study(tmp_path)
    summary = pd.read_csv(folder / "summary.csv")
    summary[summary["n_features"] == 14].to_csv(folder / "summary.csv", index=False)
    (folder / "parkinson_summary.csv").unlink()
    comparison = compare(folder)
    results = comparison[comparison["kind"] != "setting"]
    assert set(results["verdict"]) == {"not run"}
    settings = comparison.set_index("key")["verdict"]
    assert settings["data_sets"] == "differ"  # 4 instead of 8
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
        claims.differs_at_most(0.01, "informative", 0.05),
        {"optimal": 0.51, "univariable": 0.50},
        {"optimal": (0.5, 0.5, 0.5, 0.511), "univariable": 0.5},
    ),
    (
        claims.never_below(0.02, "informative", 0.05),
        {"optimal": 0.02, "univariable": 0.03},
        {"optimal": 0.02, "univariable": (0.03, 0.019, 0.03, 0.03)},
    ),
    (
        claims.noise_changes_largest("optimal", "informative", -1),
        {"optimal": {0.0: 0.9, 0.05: 0.7}},
        {"optimal": {0.0: 0.7, 0.05: 0.9}},
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


def test_claim_about_intervals():
    ends = {"auc_lower": {"optimal": 0.8, "univariable": 0.82}}
    ends["auc_upper"] = {"optimal": 0.9, "univariable": 0.92}
    assert claims.intervals_overlap(draw_with(**ends)).holds
    apart = ends | {"auc_lower": {"optimal": 0.8, "univariable": (0.82, 0.82, 0.82, 0.91)}}
    finding = claims.intervals_overlap(draw_with(**apart))
    assert not finding.holds
    assert finding.figures == "24 of 32 pairs share half or more, 8 are apart"


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
