"""The calculator in a real browser: a patient typed in has the risk of `predict`."""

import re

import numpy as np
import pandas as pd
import pytest
from newcomers import make_table, with_gaps

import shortlist as sl
from shortlist.deployment import write_calculator
from shortlist.deployment.code import reading_of
from shortlist.patients.column import level_of

NOTHING = "\N{EN DASH}"

in_browser = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::shortlist.ShortlistWarning"),
]


@pytest.fixture
def calculator(any_card, newcomers, tmp_path):
    path = tmp_path / "calculator.html"
    first = any_card.terms[0].name
    write_calculator(path, any_card, newcomers, units={first: "years"})
    return path


def n_pages(pdf):
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def enter(page, card, patient):
    """Type a patient as a user would; what is missing or cannot be chosen is left out."""
    page.click("#clear")
    for number, term in enumerate(card.terms):
        value = patient[term.name]
        if pd.isna(value):
            continue
        text, reading = level_of(value), reading_of(card, term)
        if term.kind == "numeric":
            page.fill(f"#t{number}", text)
            continue
        value = dict(reading.aliases).get(text, value)
        if text in reading.codes:
            continue
        if term.kind == "categorical" and text not in dict(reading.aliases):
            value = term.position_of(text)
            if value is None:
                continue
        page.check(f'input[name="t{number}"][value="{int(value)}"]')


class TestInBrowser:
    pytestmark = in_browser

    def test_a_patient_has_the_risk_of_predict(self, opened, any_card, newcomers, calculator):
        page, said = opened(calculator)
        some = newcomers.iloc[:40]
        expected = any_card.probability(some)
        imputed = any_card.imputed(some).all(axis=1)
        outside = any_card.outside(some).any(axis=1)
        for row in range(len(some)):
            enter(page, any_card, some.iloc[row])
            risk = page.get_attribute("#risk", "data-risk")
            if imputed.iloc[row]:
                assert risk == ""
                continue
            assert float(risk) == pytest.approx(expected[row], abs=1e-12)
            shown = page.inner_text("#risk")
            if re.fullmatch(r"[\d.]+%", shown):
                assert float(shown[:-1]) == pytest.approx(100 * expected[row], abs=0.0501)
            assert bool(page.inner_text("#outside")) == outside.iloc[row]
        assert said == []

    def test_cost_place_and_wrong_input(self, opened, card, tmp_path):
        newcomers = make_table(200, 9)
        write_calculator(tmp_path / "calculator.html", card, newcomers)
        page, _ = opened(tmp_path / "calculator.html")
        assert page.inner_text("#cost") == "0"
        page.fill("#t0", "61,5")
        assert page.inner_text("#cost") == "2"
        page.fill("#t1", "1")
        assert page.inner_text("#cost") == "7"  # with the fee
        typed = pd.DataFrame({"age": [61.5], "lab": [1], "stage": [None], "code": [None]})
        risk = card.probability(typed.assign(smoker=None))[0]
        assert float(page.get_attribute("#risk", "data-risk")) == pytest.approx(risk, abs=1e-12)
        share = float(re.search(r"of (\d+)%", page.inner_text("#place"))[1]) / 100
        assert share == pytest.approx((card.probability(newcomers) < risk).mean(), abs=0.02)
        page.fill("#t0", "1,000")
        assert page.inner_text("#risk") == NOTHING
        assert page.get_attribute("#t0", "aria-invalid") == "true"
        page.press("#t0", "Escape")
        assert page.input_value("#t0") == ""
        assert page.inner_text("#risk") != NOTHING

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("width", [1280, 390])
    def test_it_fits(
        self, opened, any_card, newcomers, calculator, width, scheme, request, pictures
    ):
        viewport = {"width": width, "height": 900}
        page, said = opened(calculator, viewport=viewport, color_scheme=scheme)
        enter(page, any_card, newcomers.dropna().iloc[3])
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate(
            "[...document.querySelectorAll('input, select, fieldset')].every("
            "(e) => e.labels?.length || e.querySelector('legend'))"
        )
        assert said == []
        name = f"calculator-{request.node.callspec.params['any_card']}-{scheme}-{width}"
        page.screenshot(path=pictures / f"{name}.png", full_page=True)

    def test_it_prints_on_one_page(self, opened, any_card, newcomers, calculator, pictures):
        page, _ = opened(calculator)
        enter(page, any_card, newcomers.dropna().iloc[3])
        pdf = page.pdf(path=pictures / "calculator.pdf", prefer_css_page_size=True)
        assert n_pages(pdf) == 1

    def test_the_keyboard_reaches_everything(self, opened, card, tmp_path):
        write_calculator(tmp_path / "calculator.html", card)
        page, _ = opened(tmp_path / "calculator.html")
        stops = []
        for _ in range(7):
            page.keyboard.press("Tab")
            active = "document.activeElement"
            stops.append(page.evaluate(f"{active}.id || {active}.name"))
        assert stops == ["t0", "t1", "t2", "t3", "t4", "clear", "print"]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_chart_of_points_fits_and_prints_on_one_page(opened, width, scheme, pictures, tmp_path):
    table = with_gaps(make_table(300, 0), 1)
    y = (table["age"].fillna(60) + 10 * (table["stage"] == "III") > 65).rename("dead <b>")
    model = sl.PrognosticModel(
        ridge=1.0, max_features=4, preparation=sl.Preparation(missing_indicator=True)
    )
    chart = sl.points(model, table, y, max_points=10, time_limit=2, n_resamples=2)
    path = tmp_path / "chart.html"
    path.write_text(chart.page(), encoding="utf-8")
    page, said = opened(path, viewport={"width": width, "height": 900}, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert said == []
    page.screenshot(path=pictures / f"chart-{scheme}-{width}.png", full_page=True)
    assert n_pages(page.pdf(path=pictures / "chart.pdf", prefer_css_page_size=True)) == 1


def test_names_are_text_only(hostile_card, tmp_path):
    write_calculator(tmp_path / "calculator.html", hostile_card)
    text = (tmp_path / "calculator.html").read_text()
    assert text.count("<script") == 2
    assert "<img" not in text and "<b>" not in text


def test_no_patient_is_in_it(any_card, newcomers, tmp_path):
    """The page keeps percentiles, which do not depend on the order of patients."""
    for name, table in (("a", newcomers), ("b", newcomers.iloc[::-1])):
        write_calculator(tmp_path / name, any_card, table)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"units": {"height": "cm"}}, "units: the model knows no predictor 'height'"),
        ({"patients": pd.DataFrame(np.zeros((1, 5)), columns=["age", "lab", "stage", "code",
          "smoker"])}, "patients: must have at least two rows"),
    ],
)  # fmt: skip
def test_wrong_arguments(card, tmp_path, arguments, sentence):
    with pytest.raises(sl.InvalidProblemError, match=sentence):
        write_calculator(tmp_path / "calculator.html", card, **arguments)
