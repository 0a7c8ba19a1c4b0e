"""The comparison has every number and claim of the paper, and verdicts follow from the draws."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from fake_study import fake_tables, write_fake_study

from study import claims
from study.claims import GREEDY, OPTIMAL
from study.compare import _verdict, compare
from study.draws import READINGS, Draws
from study.paper import MEASURES, STATEMENTS, Statement
from study.parkinson import Findings

# The results that the paper prints, by section, in its order.
NUMBERS = {
    "5.1": "0.87 0.84 0.90",
    "5.2": "0.80 0.79 0.98 1.00 1.00 1.00 0.65 0.62 0.99 1.00 1.00 1.00 "
    "42% 91% 58% 58% <1% 11% 76% 76% 70% 70%",  # largest ones twice, also at their EPV
    "5.3": "0.75 0.71 1.00 1.00 0.99 1.00 0.76 0.61 0.94 1.00 0.98 1.00",
}
# What it says of them, in our words; each is a claim.
N_CLAIMS = {"5.1": 4, "5.2": 17, "5.3": 13}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_fake_study(tmp_path_factory.mktemp("fake"))


def test_no_number_is_left_out():
    numbers = [statement for statement in STATEMENTS if statement.kind == "number"]
    for place, printed in NUMBERS.items():
        stated = [number.stated.replace(" ", "") for number in numbers if number.place == place]
        assert stated == printed.split()
    others = [statement for statement in STATEMENTS if statement.kind == "claim"]
    assert Counter(claim.place for claim in others) == N_CLAIMS
    for number in numbers:
        value = float(number.stated.strip("< %")) / (100 if "%" in number.stated else 1)
        assert number.low <= value <= number.high
        assert number.high - number.low == pytest.approx(0.01)


def test_every_statement_has_a_line(folder):
    comparison = compare(folder)
    assert len(comparison) == len(STATEMENTS)
    assert comparison["key"].is_unique
    assert comparison.query("place == '5.1' and kind == 'claim'")["verdict"].eq("true here").all()
    synthetic = comparison[comparison["place"] != "5.1"]
    words = r"\.overlap|no_difference|stable|interpretable|noise_harms"
    takes_many = synthetic["key"].str.contains(words)  # resamples, which the main seed has
    assert (synthetic.loc[takes_many, "n_draws"] == 1).all()
    assert (synthetic.loc[~takes_many, "n_draws"] == 4).all()
    assert {f"verdict_{reading}" for reading in READINGS} <= set(comparison)


def verdict(values, low=0.415, high=0.425, kind="number"):
    statement = Statement(kind, "cardinality", "key", "meaning", "42 %", low, high, lambda x: x)
    return _verdict(statement, np.asarray(values, dtype=float), None)


def test_a_number_is_outside_where_one_draw_in_twenty_is():
    draws = np.linspace(0.5, 0.9, 99)
    assert verdict(draws)["verdict"] == "outside"  # 1 of 100, the paper's own
    for n_below, expected in ((1, "outside"), (2, "inside")):  # 2 or 3 of 100
        some = np.concatenate([np.full(n_below, 0.3), draws[n_below:]])
        assert verdict(some)["verdict"] == expected
        assert verdict(0.84 - some)["verdict"] == expected  # the other end
    assert verdict(draws[:38])["verdict"] == "few draws"
    assert verdict(draws[:39])["verdict"] == "outside"
    assert verdict(np.full(99, 0.4151))["verdict"] == "inside"  # printed as 42 %
    place = verdict([*np.full(30, 0.1), 0.42, *np.full(30, 0.9), np.nan])
    assert (place["n_draws"], place["percentile"]) == (61, 0.5)
    assert verdict([np.nan])["verdict"] == "not run"


def test_verdicts_cover_what_they_promise():
    """If the paper is a draw like ours, it is outside in 5 % of cases at most."""
    rng = np.random.default_rng(0)
    count = 0
    for _ in range(2000):
        paper, *draws = rng.normal(size=101)
        count += verdict(draws, paper, paper)["verdict"] == "outside"
    assert 0.02 < count / 2000 < 0.06


def test_a_claim_is_judged_by_the_share_of_draws():
    for n_true, expected in ((60, "usual"), (50, "usual"), (49, "depends"), (5, "depends")):
        place = verdict([1] * n_true + [0] * (100 - n_true), kind="claim")
        assert (place["verdict"], place["share"]) == (expected, n_true / 100)
    assert verdict([1] * 4 + [0] * 96, kind="claim")["verdict"] == "rare"
    assert verdict([1, np.nan], kind="claim")["verdict"] == "true here"
    assert verdict([0, np.nan], kind="claim")["verdict"] == "false here"


def draws_with(n_runs=4, **measures):
    """Return one draw; a measure is, by method, a number or one per EPV, without and with noise."""
    draws = Draws.__new__(Draws)
    draws.seeds = [1]
    draws._values = {}
    for name, by_method in measures.items():
        values = np.full((1, 2, 2, 4, n_runs), np.nan)
        for method, given in by_method.items():
            pair = given if isinstance(given, dict) else {0: given, 1: given}
            for noise, series in pair.items():
                per_epv = np.broadcast_to(np.asarray(series, dtype=float), 4)
                values[0, (OPTIMAL, GREEDY).index(method), noise] = per_epv[:, np.newaxis]
        draws._values[name] = values
    return draws


RISING, LAST = (0.2, 0.4, 0.6, 0.9), (0.1, 0.1, 0.1, 0.9)
APART = {OPTIMAL: (0.1, 0.2, 0.1, 0.1), GREEDY: 0.1}
LESS, MORE = {OPTIMAL: {0: 0.8, 1: 0.6}}, {OPTIMAL: {0: 0.6, 1: 0.8}}
ONCE = {OPTIMAL: {0: LAST, 1: 0.1}, GREEDY: 0.1}
GOOD = {"informative": {OPTIMAL: 0.9, GREEDY: 0.9}, "uninformative": {OPTIMAL: 0.01, GREEDY: 0}}


def both(optimal, greedy):
    return {OPTIMAL: optimal, GREEDY: greedy}


# A check, a measure, values for which it holds, and values for which it does not.
CLAIMS = [
    (claims.rises(0, 1), "informative", {OPTIMAL: RISING}, both(0.5, 0.5)),
    (
        claims.selects_less(OPTIMAL, GREEDY, "informative", 0),
        "informative",
        both(0.1, 0.2),
        both((0.1, 0.1, 0.1, 0.3), 0.2),
    ),
    (
        claims.selects_less(OPTIMAL, GREEDY, "informative", 0, epvs=3),
        "informative",
        both((0.1, 0.1, 0.1, 0.3), 0.2),
        both((0.1, 0.1, 0.3, 0.3), 0.2),
    ),
    (
        claims.comparable("informative", 0),
        "informative",
        both((0.5, 0.5, 0.5, 0.9), 0.52),
        both((0.5, 0.5, 0.9, 0.9), 0.52),
    ),
    (claims.largest_at(17.91, OPTIMAL, 0), "informative", {OPTIMAL: RISING}, both(0.5, 0.5)),
    (claims.larger_at_last, "informative", {OPTIMAL: RISING}, both(0.5, 0.5)),
    (
        claims.noise_adds(OPTIMAL, lambda by: np.abs(by + 0.2) < 1e-12),
        "informative",
        {OPTIMAL: {0: 0.9, 1: 0.7}},
        {OPTIMAL: {0: 0.9, 1: 0.8}},
    ),
    (
        claims.less_at_most_events,
        "uninformative",
        both((0.9, 0.9, 0.9, 0.1), 0.5),
        both({0: 0.1, 1: 0.9}, 0.5),
    ),
    (claims.equivocal, "redundant", both(RISING, 0.5), both(0.4, 0.5)),
    (claims.low_in_most_runs, "uninformative", {OPTIMAL: 0.01}, {OPTIMAL: 0.02}),
    (
        claims.never_below_2,
        "uninformative",
        both(0.02, 0.03),
        both(0.02, (0.03, 0.014, 0.03, 0.03)),
    ),
    (claims.differ_most_at(1.35, "uninformative", 0), "uninformative", APART, both(RISING, 0.2)),
    (claims.never_differ_by(0.11, "uninformative", 0), "uninformative", APART, both(0.3, 0.1)),
    (claims.only_at(17.91), "stability", ONCE, ONCE | {GREEDY: {0: 0.8, 1: 0.1}}),
    (claims.only_at(17.91), "stability", ONCE, both(LAST, 0.1)),
]


@pytest.mark.parametrize(("check", "measure", "true", "false"), CLAIMS)
def test_claims_about_one_measure(check, measure, true, false):
    assert check(draws_with(**{measure: true})).tolist() == [True]
    assert check(draws_with(**{measure: false})).tolist() == [False]


def test_claims_about_stability_and_fractions():
    interpretable = claims.only_at(17.91, interpretable=True)
    assert interpretable(draws_with(stability=ONCE, **GOOD)).all()
    bad = GOOD | {"uninformative": {OPTIMAL: 0.1, GREEDY: 0}}
    assert not interpretable(draws_with(stability=ONCE, **bad)).any()
    assert claims.noise_harms(draws_with(informative=LESS, stability=LESS)).all()
    assert not claims.noise_harms(draws_with(informative=MORE, stability=LESS)).any()
    for check in (claims.only_at(17.91), interpretable, claims.noise_harms):
        assert np.isnan(check(draws_with(stability={}, **GOOD))).all()  # stability is not known


def test_claims_about_intervals_need_all_of_them():
    ends = {
        "auc_lower": {OPTIMAL: 0.8, GREEDY: 0.82},
        "auc_upper": {OPTIMAL: 0.9, GREEDY: 0.92},
    }
    assert claims.intervals_overlap(draws_with(**ends)).tolist() == [1.0]
    apart = ends | {"auc_lower": {OPTIMAL: 0.8, GREEDY: (0.82, 0.82, 0.82, 0.91)}}
    assert claims.intervals_overlap(draws_with(**apart)).tolist() == [0.0]
    some = draws_with(**ends)
    some._values["auc_lower"][0, 0, 0, 0, 0] = np.nan
    assert np.isnan(claims.intervals_overlap(some)).all()
    for lower, expected in (((-0.1, -0.1, -0.1, 0.1), 1.0), ((-0.1, -0.1, 0.1, 0.1), 0.0)):
        paired = {"difference_lower": {OPTIMAL: lower}, "difference_upper": {OPTIMAL: 0.2}}
        assert claims.no_difference(draws_with(**paired)).tolist() == [expected]


def test_claims_about_the_parkinson_data():
    findings = Findings(np.array([0.87, 0.86]), np.linspace(0.84, 0.90, 399), [MEASURES] * 3)
    assert claims.optimum(lambda measures: "PPE" in measures)(findings).all()
    other = findings._replace(optima=[MEASURES, MEASURES, frozenset({"D2"})])
    assert not claims.optimum(lambda measures: "PPE" in measures)(other).any()
    assert claims.accuracy_overlaps((0.9, 0.86, 0.95))(findings).all()
    assert not claims.accuracy_overlaps((0.9, 0.89, 0.95))(findings).any()
    estimate, lower, upper = findings.draws()
    assert estimate.tolist() == [0.87, 0.86]
    assert lower.min() < 0.8415 < lower.max() < upper.min() < 0.8985 < upper.max()


def test_draws_are_those_of_the_tables():
    summary = fake_tables().summary
    draws = Draws(summary, "budget")
    assert draws.seeds == [1, 2, 3, 2023]
    rows = summary[(summary["study"] == "budget") & (summary["method"] == "univariable")]
    noisy = rows[(rows["label_noise"] == 0.05) & (rows["epv"] == 4.73)]
    own = noisy[(noisy["arm"] == "selections") & (noisy["seed"] == 2)]
    fraction = draws.fraction(GREEDY, "redundant", 1)[1, 2]
    assert fraction == pytest.approx(own["redundant"].mean())
    main = rows[rows["arm"] == "paper"]
    lowest = main.loc[main["auc"].idxmin()]
    extreme = draws.extreme(GREEDY, highest=False)
    assert [part[3] for part in extreme] == lowest[["auc", "auc_lower", "auc_upper"]].tolist()
    assert not np.isnan(extreme.lower).any()  # the arm "extremes" has those of the other seeds
    assert not np.isnan(draws.extreme(OPTIMAL, highest=True).upper).any()


def test_other_readings_are_other_draws():
    summary = fake_tables().summary
    own = Draws(summary, "cardinality").runs(OPTIMAL, "informative", 1)
    redrawn = Draws(summary, "cardinality", "redrawn").runs(OPTIMAL, "informative", 1)
    np.testing.assert_array_equal(redrawn[0, :, 0], own[0, :, 0])
    np.testing.assert_array_equal(redrawn[0, :, 1], own[1, :, 1])
    np.testing.assert_array_equal(redrawn[2, :, 1], own[0, :, 1])
    flip = Draws(summary, "cardinality", "flip_y")
    assert flip.seeds == [1, 2, 3]
    np.testing.assert_array_equal(
        flip.runs(OPTIMAL, "informative", 0),
        Draws(summary, "cardinality").runs(OPTIMAL, "informative", 0)[:3],
    )
    shares = Draws(summary, "cardinality", "of_selected")
    total = sum(
        shares.fraction(OPTIMAL, role, 0) for role in ("informative", "redundant", "uninformative")
    )
    assert (total <= 1 + 1e-9).all()


def test_the_share_of_resampling_noise_is_found():
    """Draws whose fractions differ by chance alone have a share of about 1."""
    rng = np.random.default_rng(1)
    draws = Draws.__new__(Draws)
    draws.seeds = list(range(400))
    shape = (400, 2, 2, 4, 5)
    centre = rng.normal(size=(400, 2, 2, 4, 1))
    for spread, expected in ((0.0, 1.0), (1.0, 1 / 6)):  # each run has a variance of 1
        draws._values = {
            "informative": spread * centre + rng.normal(size=shape),
            "informative_variance": np.ones(shape),
        }
        assert draws.noise_share("informative") == pytest.approx(expected, rel=0.15)


def test_a_seed_with_a_gap_is_left_out():
    summary = fake_tables().summary
    gap = (summary["seed"] == 2) & (summary["arm"] == "selections") & (summary["n_features"] == 53)
    assert Draws(summary[~gap], "budget").seeds == [1, 3, 2023]
