"""Pages about rare events, splines and many levels say something at every risk."""

import re

import numpy as np
import pandas as pd
import pytest

import shortlist as sl
from shortlist.external import describe_external
from shortlist.report import render_report, validate_model, write_report
from shortlist.report.page import _decimals, _p_value, _percent, _places, _ratio, _risk
from shortlist.report.performance import choose_thresholds, describe_curves


@pytest.fixture(scope="module")
def rare(tmp_path_factory):
    """A report on 3000 patients with 0.8 % events, a spline and a factor of 25 levels."""
    rng = np.random.default_rng(5)
    n = 3000
    dose, site = rng.normal(50, 15, n), rng.integers(1, 26, n).astype(str)
    gene = rng.normal(3e-8, 1e-8, n)
    risk = 1 / (1 + np.exp(6.5 - 0.6 * ((dose - 50) / 15) ** 2 - 0.8e8 * (gene - 3e-8)))
    y = (rng.random(n) < risk).astype(int)
    assert 0.005 < y.mean() < 0.012
    table = pd.DataFrame({"dose": dose, "site": site, "gene": gene})
    model = sl.PrognosticModel(
        max_features=3,
        ridge=1.0,
        preparation=sl.Preparation(spline_knots=3, kinds={"site": "categorical"}),
    ).fit(table, y)
    path = tmp_path_factory.mktemp("rare") / "r.html"
    evaluation = validate_model(model, table, y, n_resamples=2)
    content = write_report(path, model, table, y, evaluation=evaluation)
    return content, path.read_text(), (model.card_, table, y)


def test_thresholds_and_axes_follow_the_risks(rare):
    content, _, (_, _, y) = rare
    curves = content["performance"]["curves"]
    thresholds = [row["threshold"] for row in curves["thresholds"]]
    assert thresholds[0] < y.mean() and len(thresholds) >= 3
    for row in curves["thresholds"]:
        assert 0 < row["share_above"] < 1
        assert row["lower"] < row["model"] < row["upper"]
    assert curves["decision_curve"][-1]["threshold"] < 0.5
    assert curves["histogram"][-1]["to"] < 0.5
    groups = [group["events"] for group in curves["calibration"]]
    assert 2 <= len(groups) <= y.sum() // 5
    assert groups[-1] > groups[0]


def test_no_number_is_a_signed_zero_or_beyond_reading(rare):
    content, page, _ = rare
    assert not re.search(r"\N{MINUS SIGN}0(\.0+)?\b(?![.\d])", page)
    assert "Accuracy" not in page
    table = page[page.index("<summary>Odds ratios") :].split("</table>")[0]
    assert not re.search(r"e\+\d\d", table)
    contrasts = [row["contrast"] for row in content["effects"] if row["predictor"] == "gene"]
    assert contrasts and not any(contrast == "per unit" for contrast in contrasts)
    assert all(abs(row["coefficient"]) < 20 for row in content["effects"])


def test_each_column_of_measures_has_one_number_of_decimals(rare):
    _, page, (card, table, y) = rare
    rows = r'<tr><th scope="row">(?:AUC|Brier score|Calibration slope)</th>.*?</tr>'
    of_validation = re.findall(rows, render_report(describe_external(card, table, y)))
    decimals = {len(d) for row in of_validation for d in re.findall(r"\d\.(\d+)", row)}
    assert decimals == {4}  # of 0.8 % events; three would show a Brier score of 0.008 and 0.008
    apparent = [re.findall(r'class="n">([^<]*)', row)[0] for row in re.findall(rows, page)]
    assert {len(number.partition(".")[2]) for number in apparent} == {4}


def test_levels_are_in_their_natural_order_and_the_reference_is_named(rare):
    content, page, _ = rare
    parts = [part for part in content["equation"]["parts"] if part["predictor"] == "site"]
    assert [int(part["level"]) for part in parts] == list(range(1, 26))
    (reference,) = [part for part in parts if part["what"] == "reference"]
    assert f"if site is {reference['level']}, the reference" in page


def test_splines_are_curves(rare):
    content, page, (card, table, _) = rare
    assert 'aria-labelledby="splines-title' in page
    (dose,) = [term for term in card.terms if term.name == "dose"]
    (curve,) = [curve for curve in content["splines"] if curve["predictor"] == "dose"]
    low, high = curve["points"][0], curve["points"][-1]
    assert (low["value"], high["value"]) == (table["dose"].min(), table["dose"].max())
    at = pd.Series([low["value"], curve["reference"]])
    difference = np.diff(dose.contribution(at).log_odds)[0]
    assert low["odds_ratio"] == pytest.approx(np.exp(-difference))


def test_the_validation_page_too(rare):
    card, table, y = rare[2]
    page = render_report(describe_external(card, table, y))
    assert not re.search(r"\N{MINUS SIGN}0(\.0+)?\b(?![.\d])", page)


@pytest.mark.parametrize("risks", [np.full(50, 0.004), np.full(50, 1.0), np.linspace(0, 1, 8)])
def test_risks_that_do_not_differ_have_one_threshold(risks):
    thresholds = choose_thresholds(risks)
    assert len(thresholds) == 1 and 0 < thresholds[0] < 1
    y = np.arange(len(risks)) % 2
    with np.errstate(divide="ignore"):
        log_odds = np.clip(np.log(risks) - np.log1p(-np.minimum(risks, 1 - 1e-9)), -30, 30)
    assert describe_curves(y, log_odds, None).ici is None or len(np.unique(risks)) > 1


def test_numbers_are_written_as_a_reader_wants_them():
    assert (_decimals(-0.0001), _percent(-0.00001)) == ("0.000", "0.0%")
    assert [_places(share) for share in (0.5, 0.02, 0.99, 0.004, 0.0005, 0.0)] == [
        3, 3, 3, 4, 5, 10,
    ]  # fmt: skip
    assert (_p_value(0.0004), _p_value(0.04), _p_value(None)) == ("< 0.001", "0.040", "\N{EN DASH}")
    assert (_risk(0.0042), _risk(0.05), _risk(0.5), _risk(0.0)) == ("0.42%", "5%", "50%", "0%")
    assert (_ratio(3e21), _ratio(None), _ratio(1e-9)) == (
        "over a million", "over a million", "under a millionth",
    )  # fmt: skip
