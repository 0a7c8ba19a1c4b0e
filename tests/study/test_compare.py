"""The comparison has every number and claim of the paper, and verdicts follow from the draws."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from fake_study import SEEDS, fake_tables, write_fake_study

from study import claims
from study.claims import CLAIMS, Comparison, Group, judge
from study.compare import compare, locate
from study.draws import EPVS, Draws, averages, effects, mean_of
from study.paper import MEASURES, QUANTITIES, STATEMENTS, Statement
from study.parkinson import Findings
from study.plan import GREEDY, METHODS, OPTIMAL

# The results that the paper prints, by section, in its order; what it says twice, once.
NUMBERS = {
    "5.1": "0.87 0.84 0.90",
    "5.2": "0.80 0.79 0.98 1.00 1.00 1.00 0.65 0.62 0.99 1.00 1.00 1.00 "
    "42% 91% 58% <1% 11% 76% 70%",
    "5.3": "0.75 0.71 1.00 1.00 0.99 1.00 0.76 0.61 0.94 1.00 0.98 1.00",
}
# What it says of them, in our words; each is a claim.
N_CLAIMS = {"5.1": 2, "5.2": 17, "5.3": 12}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_fake_study(tmp_path_factory.mktemp("fake"))


def test_no_number_is_left_out_or_there_twice():
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
    keys = {statement.key for statement in STATEMENTS if statement.place != "5.1"}
    assert {key for key in keys if key in CLAIMS} == set(CLAIMS)
    assert keys - set(CLAIMS) <= set(QUANTITIES)


def test_every_statement_has_a_line(folder):
    tables = compare(folder)
    assert len(tables.numbers) + len(tables.claims) == len(STATEMENTS)
    assert tables.claims.query("place == '5.1'")["verdict"].tolist() == ["holds", "holds"]
    synthetic = tables.claims[tables.claims["place"] != "5.1"]
    assert (synthetic["n_draws"] == len(SEEDS)).all()
    assert set(synthetic["verdict"]) <= {"holds", "does not hold", "not decided"}
    assert (synthetic["share"] <= synthetic["share_with_ties"]).all()
    has_word = synthetic["word"].notna()
    assert synthetic.loc[has_word, "verdict_lower_threshold"].notna().all()
    assert (synthetic["lower_threshold"] < synthetic["threshold"])[has_word].all()
    assert (synthetic["threshold"] < synthetic["higher_threshold"])[has_word].all()
    deciding = tables.comparisons.set_index(["key", "comparison"])["estimate"]
    for line in synthetic.to_dict("records"):
        assert deciding.loc[[(line["key"], line["deciding"])]].iloc[0] == line["estimate"]


def place_of(values, low=0.415, high=0.425):
    statement = Statement("number", "cardinality", "key", "meaning", "42 %", low, high)
    return locate(statement, np.asarray(values, dtype=float))


def test_a_number_is_outside_where_one_draw_in_twenty_is():
    draws = np.linspace(0.5, 0.9, 99)
    assert place_of(draws)["verdict"] == "outside"  # 1 of 100, the paper's own
    for n_below, expected in ((1, "outside"), (2, "inside")):  # 2 or 3 of 100
        some = np.concatenate([np.full(n_below, 0.3), draws[n_below:]])
        assert place_of(some)["verdict"] == expected
        assert place_of(0.84 - some)["verdict"] == expected  # the other end
    assert place_of(draws[:38])["verdict"] == "few draws"
    assert place_of(draws[:39])["verdict"] == "outside"
    assert place_of(np.full(99, 0.4151))["verdict"] == "inside"  # printed as 42 %
    place = place_of([*np.full(30, 0.1), 0.42, *np.full(30, 0.9), np.nan])
    assert (place["n_draws"], place["percentile"]) == (61, 0.5)
    assert place_of([np.nan])["verdict"] == "not run"


def test_places_cover_what_they_promise():
    """If the paper is a draw like ours, it is outside in 5 % of cases at most."""
    rng = np.random.default_rng(0)
    count = 0
    for _ in range(2000):
        paper, *draws = rng.normal(size=101)
        count += place_of(draws, paper, paper)["verdict"] == "outside"
    assert 0.02 < count / 2000 < 0.06


# Margins with a mean and so small a spread that nothing is in doubt.
def sure(mean, n=12):
    return Comparison(f"{mean}", mean + 0.001 * np.linspace(-1, 1, n))


DOUBTFUL = Comparison("doubtful", 0.01 + np.linspace(-1, 1, 12))


@pytest.mark.parametrize(
    ("groups", "verdict", "deciding"),
    [
        ([([1, 2, 3], 3)], "holds", "1"),
        ([([1, -2, 3], 3)], "does not hold", "-2"),
        ([([1, -2, 3], 2)], "holds", "1"),
        ([([1, -2, -3], 2)], "does not hold", "-2"),
        ([([-1, -2, -3], 1)], "does not hold", "-1"),
        ([([1, 2], 2), ([3, -1], 1)], "holds", "1"),
        ([([1, 2], 2), ([-3, -1], 1)], "does not hold", "-1"),
    ],
)
def test_verdicts_without_doubt(groups, verdict, deciding):
    judgement = judge([Group([sure(mean) for mean in means], k) for means, k in groups])
    assert (judgement.verdict, judgement.deciding) == (verdict, deciding)
    assert judgement.share == judgement.share_with_ties == (verdict == "holds")


def test_doubt_counts_where_it_can_matter():
    assert judge([Group([sure(1), DOUBTFUL], 2)]).verdict == "not decided"
    assert judge([Group([sure(1), DOUBTFUL], 1)]).verdict == "holds"
    assert judge([Group([sure(-1), DOUBTFUL], 2)]).verdict == "does not hold"
    assert judge([Group([sure(-1), DOUBTFUL], 1)]).verdict == "not decided"
    assert judge([Group([sure(1, n=9)], 1)]).verdict == "few draws"


def test_ties_are_told_apart():
    values = np.array([0.0] * 6 + [0.1] * 6)
    judgement = judge([Group([Comparison("ties", values)], 1)])
    assert (judgement.share, judgement.share_with_ties) == (0.5, 1.0)


def test_a_distance_is_small_if_its_whole_interval_is():
    near, far = Comparison("", sure(-0.3).values, within=0.5), sure(-0.7).values
    assert near.margin().estimate == pytest.approx(0.2)
    assert near.margin().lower < 0.2 < near.margin().upper < 0.201
    assert (near.margins() > 0).all()
    assert Comparison("", far, within=0.5).margin().upper < 0
    wide = Comparison("", np.linspace(-4, 4, 12), within=0.5).margin()
    assert wide.lower < 0 < wide.upper == 0.5


@pytest.mark.parametrize(("n_all", "k"), [(1, 1), (4, 4), (4, 3), (4, 1), (8, 5)])
def test_verdicts_are_wrong_in_one_case_of_40_at_most(n_all, k):
    """True claims are called false, and false ones true, with a probability of 2.5 % at most.

    In the worst case: as many margins as can be are 0, the others far on the side of the truth.
    """
    rng = np.random.default_rng(n_all + 10 * k)
    wrong = Counter()
    for _ in range(1000):
        noise = rng.normal(size=(n_all, 20))
        for verdict, n_zero, far in (("holds", n_all - k + 1, 100), ("does not hold", k, -100)):
            means = np.where(np.arange(n_all) < n_zero, 0, far)
            values = noise + means[:, np.newaxis]
            wrong[verdict] += (
                judge([Group([Comparison("", v) for v in values], k)]).verdict == verdict
            )
    for verdict in ("holds", "does not hold"):
        assert wrong[verdict] <= 25 + 2.5 * np.sqrt(25)


def draws_with(n_runs=4, **measures):
    """Return twelve equal draws; a measure is, by method, a number or one per EPV, by noise."""
    draws = Draws.__new__(Draws)
    draws.seeds = list(range(12))
    draws._values = {}
    for name, by_method in measures.items():
        values = np.full((12, 2, 2, 4, n_runs), np.nan)
        for method, given in by_method.items():
            pair = given if isinstance(given, dict) else {0: given, 1: given}
            for noise, series in pair.items():
                per_epv = np.broadcast_to(np.asarray(series, dtype=float), 4)
                values[:, METHODS.index(method), noise] = per_epv[:, np.newaxis]
        draws._values[name] = values
    return draws


def both(optimal, greedy):
    return {OPTIMAL: optimal, GREEDY: greedy}


RISING, LAST = (0.2, 0.4, 0.6, 0.9), (0.1, 0.1, 0.1, 0.9)
ONCE = {OPTIMAL: {0: LAST, 1: 0.1}, GREEDY: 0.1}
# A claim, a measure, values for which it holds, and values for which it does not.
SINGLE = [
    ("cardinality.rises", "informative", {OPTIMAL: RISING}, {OPTIMAL: RISING[::-1]}),
    ("budget.rises", "informative", {OPTIMAL: RISING}, {OPTIMAL: {0: RISING, 1: RISING[::-1]}}),
    (
        "cardinality.greedy_largest_at",
        "informative",
        {GREEDY: {0: (0.1, 0.2, 0.5, 0.4)}},
        {GREEDY: {0: (0.1, 0.2, 0.5, 0.6)}},
    ),
    (
        "cardinality.noisy_optimal_largest_at",
        "informative",
        {OPTIMAL: {1: (0.1, 0.9, 0.5, 0.4)}},
        {OPTIMAL: {1: (0.1, 0.2, 0.5, 0.6)}},
    ),
    ("cardinality.redundant_less", "redundant", both(0.1, 0.2), both((0.1, 0.1, 0.1, 0.3), 0.2)),
    (
        "cardinality.noisy_redundant_less",
        "redundant",
        both((0.1, 0.1, 0.1, 0.3), 0.2),
        both((0.1, 0.1, 0.3, 0.3), 0.2),
    ),
    ("budget.greedy_redundant_less", "redundant", both(0.3, 0.2), both(0.1, 0.2)),
    ("budget.noisy_redundant_equivocal", "redundant", both(RISING, 0.5), both(0.4, 0.5)),
    (
        "cardinality.uninformative_comparable",
        "uninformative",
        both((0.11, 0.11, 0.11, 0.3), 0.1),
        both((0.11, 0.11, 0.3, 0.3), 0.1),
    ),
    (
        "budget.informative_comparable",
        "informative",
        both({0: 0.5, 1: (0.5, 0.9, 0.9, 0.9)}, 0.52),
        both({0: 0.5, 1: 0.9}, 0.52),
    ),
    (
        "cardinality.uninformative_differs_most_at",
        "uninformative",
        both((0.1, 0.2, 0.1, 0.0), (0.1, 0.1, 0.1, 0.2)),
        both((0.3, 0.2, 0.1, 0.0), (0.1, 0.1, 0.1, 0.1)),
    ),
    (
        "cardinality.noise_lowers_optimal",
        "informative",
        {OPTIMAL: {0: 0.9, 1: (0.7, 0.1, 0.1, 0.1)}},
        {OPTIMAL: {0: 0.9, 1: (0.85, 0.1, 0.1, 0.1)}},
    ),
    (
        "cardinality.noise_raises_greedy",
        "informative",
        {GREEDY: {0: 0.5, 1: (0.7, 0.1, 0.1, 0.1)}},
        {GREEDY: {0: 0.5, 1: 0.4}},
    ),
    (
        "cardinality.noisy_uninformative_differ_by",
        "uninformative",
        both(0.11, 0.1),
        both((0.11, 0.11, 0.12, 0.11), 0.1),
    ),
    (
        "cardinality.noisy_uninformative_never_below",
        "uninformative",
        both(0.02, 0.03),
        both(0.02, (0.03, 0.014, 0.03, 0.03)),
    ),
    (
        "budget.uninformative_less_at",
        "uninformative",
        both((0.9, 0.9, 0.9, 0.1), 0.5),
        both({0: 0.1, 1: 0.9}, 0.5),
    ),
    ("budget.uninformative_low_in_most_runs", "uninformative", {OPTIMAL: 0.01}, {OPTIMAL: 0.03}),
    ("cardinality.stable_only_at", "stability", ONCE, ONCE | {GREEDY: {0: 0.8, 1: 0.1}}),
    ("cardinality.stable_only_at", "stability", ONCE, both(LAST, 0.1)),
    ("budget.stable_only_at", "stability", both({0: (0.1, 0.1, 0.9, 0.9), 1: 0.1}, 0.1), ONCE),
    ("cardinality.no_difference", "auc", both(0.8, 0.795), both(0.8, 0.78)),
]


def verdict_on(key, draws):
    claim = CLAIMS[key]
    return judge(claim.groups(draws, claim.thresholds[1]))


@pytest.mark.parametrize(("key", "measure", "true", "false"), SINGLE)
def test_claims_about_one_measure(key, measure, true, false):
    holds = verdict_on(key, draws_with(**{measure: true}))
    assert (holds.verdict, holds.share) == ("holds", 1.0)
    fails = verdict_on(key, draws_with(**{measure: false}))
    assert (fails.verdict, fails.share_with_ties) == ("does not hold", 0.0)


def test_claims_about_several_measures():
    key = "cardinality.interpretable_only_at"
    good = {"informative": both(0.9, 0.9), "uninformative": both(0.01, 0)}
    assert verdict_on(key, draws_with(stability=ONCE, **good)).verdict == "holds"
    bad = good | {"uninformative": both(0.1, 0)}
    assert verdict_on(key, draws_with(stability=ONCE, **bad)).verdict == "does not hold"
    everywhere = draws_with(stability=both(0.9, 0.9), **good)
    assert verdict_on(key, everywhere).verdict == "does not hold"
    less, more = {OPTIMAL: {0: 0.8, 1: 0.6}}, {OPTIMAL: {0: 0.6, 1: 0.8}}
    for informative, verdict in ((less, "holds"), (more, "does not hold")):
        draws = draws_with(informative=informative, stability=less)
        assert verdict_on("budget.noise_harms", draws).verdict == verdict


def test_a_strict_threshold_is_met_by_fewer():
    """More of the same word never turns a "holds" of its kind into one elsewhere."""
    draws = draws_with(auc=both(0.8, 0.792))
    claim = CLAIMS["cardinality.no_difference"]
    assert [judge(claim.groups(draws, t)).verdict for t in claim.thresholds] == [
        "does not hold", "holds", "holds",
    ]  # fmt: skip


def test_overlaps_of_intervals_are_shares_of_runs():
    ends = {"lower": [0.8, 0.82, 0.8, 0.87], "upper": [0.9, 0.92, 0.9, 0.97]}
    draws = draws_with()
    draws.intervals = pd.DataFrame(
        {"arm": "intervals", "seed": 1, "n_samples": 82, "n_features": [14, 14, 53, 53]}
        | {"label_noise": 0.0, "run": 2, "method": [OPTIMAL, GREEDY] * 2}
        | ends
    )
    assert draws.overlaps(0.5).tolist() == [0.5]
    assert draws.overlaps(0.2).tolist() == [1.0]
    draws.intervals.loc[0, "lower"] = np.nan
    assert draws.overlaps(0.5).tolist() == [0.0]  # of those that are known


def test_claims_about_the_parkinson_data(folder, tmp_path):
    findings = Findings(np.array([0.87, 0.86]), np.linspace(0.84, 0.90, 399), [MEASURES] * 3)
    estimate, lower, upper = findings.draws()
    assert estimate.tolist() == [0.87, 0.86]
    assert lower.min() < 0.8415 < lower.max() < upper.min() < 0.8985 < upper.max()
    write_fake_study(tmp_path)
    optima = pd.read_csv(tmp_path / "parkinson_optima.csv")
    optima.loc[1, "measures"] = "PPE"  # at one ridge
    optima.to_csv(tmp_path / "parkinson_optima.csv", index=False)
    accuracy = pd.read_csv(tmp_path / "parkinson_accuracy.csv")
    accuracy["accuracy"] -= 0.1
    accuracy.to_csv(tmp_path / "parkinson_accuracy.csv", index=False)
    assert (
        compare(tmp_path).claims.query("place == '5.1'")["verdict"].tolist()
        == ["does not hold"] * 2
    )


def fake_draws(study, **how):
    tables = fake_tables()
    return Draws(tables.runs, tables.intervals, study, **how)


def test_draws_are_those_of_the_tables():
    runs = fake_tables().runs
    draws = fake_draws("budget")
    assert draws.seeds == list(SEEDS)
    rows = runs[(runs["study"] == "budget") & (runs["method"] == GREEDY) & (runs["seed"] == 2)]
    own = rows[(rows["label_noise"] == 0.05) & (rows["epv"] == 4.73)]
    assert len(own) == 5
    fraction = draws.cells(GREEDY, "redundant", 1)[1, 2]
    assert fraction == pytest.approx(own["redundant"].mean())
    assert draws.extreme_aucs(GREEDY, "lowest")[1] == rows["auc"].min()
    extremes = draws.intervals.query("arm == 'extremes' and method == 'optimal' and seed == 3")
    highest = extremes.loc[extremes["auc"].idxmax()]
    assert draws.extreme_ends(OPTIMAL, "highest", "upper")[2] == highest["upper"]
    assert len(draws.extreme_ends(OPTIMAL, "lowest", "lower")) == 3


def test_averages_and_effects_are_means_of_draws():
    draws = {"budget": fake_draws("budget")}
    table = averages(draws).set_index(["measure", "method", "label_noise", "epv"])
    values = draws["budget"].cells(OPTIMAL, "stability", 1)[:, 2]
    assert table.loc["stability", OPTIMAL, 0.05, 4.73]["estimate"] == pytest.approx(values.mean())
    pairs = [table.loc["auc", m, 0.0, 0.36]["estimate"] for m in (OPTIMAL, GREEDY, "difference")]
    assert pairs[0] - pairs[1] == pytest.approx(pairs[2])
    means = np.array(
        [
            [table.loc["informative", OPTIMAL, noise, epv]["estimate"] for epv in EPVS]
            for noise in (0.0, 0.05)
        ]
    )
    changes = effects(draws).set_index(["measure", "method", "effect"])["estimate"]
    for effect, expected in (
        ("noise", means[1].mean() - means[0].mean()),
        ("rows, noise 0", means[0, 2:].mean() - means[0, :2].mean()),
        ("rows, noise 0.05", means[1, 2:].mean() - means[1, :2].mean()),
        ("candidates, noise 0", means[0, 1::2].mean() - means[0, ::2].mean()),
        ("candidates, noise 0.05", means[1, 1::2].mean() - means[1, ::2].mean()),
    ):
        assert changes["informative", OPTIMAL, effect] == pytest.approx(expected)


def test_intervals_of_means_are_student_s():
    lower, upper = mean_of(np.array([1.0, 2.0, 3.0]))[1:]
    assert upper - 2 == pytest.approx(4.302652729911275 / np.sqrt(3)) == pytest.approx(2 - lower)
    assert np.isnan(mean_of(np.array([1.0])).lower)


def test_fractions_can_be_read_as_shares_of_the_selected():
    shares = fake_draws("cardinality", of_selected=True)
    roles = ("informative", "redundant", "uninformative")
    total = sum(shares.cells(OPTIMAL, role, 0) for role in roles)
    np.testing.assert_allclose(total, 1, atol=1e-4)


def test_a_seed_with_a_gap_is_left_out():
    tables = fake_tables()
    runs = tables.runs
    gap = (runs["seed"] == 2) & (runs["n_features"] == 53) & (runs["method"] == OPTIMAL)
    draws = Draws(runs[~gap], tables.intervals, "budget")
    assert draws.seeds == [seed for seed in SEEDS if seed != 2]


def test_thresholds_are_ordered():
    assert claims.STABLE == 0.75
    for claim in CLAIMS.values():
        if claim.word:
            assert all(low < high for low, high in pairwise(claim.thresholds))
