"""The calculator in a real browser: a patient typed in has the risk of `predict`."""

import os
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import shortlist as sl
from shortlist.deployment import write_calculator

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
NOTHING = "\N{EN DASH}"
# Where to keep the screenshots, to look at them.
PICTURES = os.environ.get("SHORTLIST_SCREENSHOTS")

in_browser = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium: the calculator is not tried"),
    pytest.mark.filterwarnings("ignore::shortlist.ShortlistWarning"),
]


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="needs shortlist[browser]")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


@pytest.fixture
def calculator(any_card, newcomers, tmp_path):
    path = tmp_path / "calculator.html"
    first = any_card.terms[0].name
    write_calculator(path, any_card, newcomers, units={first: "years"})
    return path


def opened(browser, path, **context):
    """A page, and what it said or asked for; it must say nothing and ask for nothing."""
    page = browser.new_context(offline=True, **context).new_page()
    said = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda sent: said.append(sent.url) if sent.url != path.as_uri() else None)
    page.goto(path.as_uri())
    return page, said


def enter(page, card, patient):
    """Type a patient as a user would; what is missing or cannot be chosen is left out."""
    page.click("#clear")
    for number, term in enumerate(card.terms):
        value = patient[term.name]
        if pd.isna(value):
            continue
        if term.kind == "numeric":
            page.fill(f"#t{number}", repr(float(value)))
            continue
        if term.kind == "categorical":
            level = str(int(value)) if isinstance(value, float) else value
            if level not in term.levels:
                continue
            value = term.levels.index(level)
        page.check(f'input[name="t{number}"][value="{int(value)}"]')


class TestInBrowser:
    pytestmark = in_browser

    def test_a_patient_has_the_risk_of_predict(self, browser, any_card, newcomers, calculator):
        page, said = opened(browser, calculator)
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

    def test_cost_place_and_wrong_input(self, browser, card, newcomers, calculator, request):
        if request.node.callspec.params["any_card"] != "card":
            pytest.skip("one model is enough")
        page, _ = opened(browser, calculator)
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
    def test_it_fits(self, browser, any_card, newcomers, calculator, width, scheme, request):
        viewport = {"width": width, "height": 900}
        page, said = opened(browser, calculator, viewport=viewport, color_scheme=scheme)
        enter(page, any_card, newcomers.dropna().iloc[3])
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate(
            "[...document.querySelectorAll('input, select, fieldset')].every("
            "(e) => e.labels?.length || e.querySelector('legend'))"
        )
        assert said == []
        if PICTURES:
            name = f"calculator-{request.node.callspec.params['any_card']}-{scheme}-{width}"
            page.screenshot(path=Path(PICTURES) / f"{name}.png", full_page=True)

    def test_it_prints_on_one_page(self, browser, any_card, newcomers, calculator, tmp_path):
        page, _ = opened(browser, calculator)
        enter(page, any_card, newcomers.dropna().iloc[3])
        path = (Path(PICTURES) if PICTURES else tmp_path) / "calculator.pdf"
        pdf = page.pdf(path=path, prefer_css_page_size=True)
        assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 1

    def test_the_keyboard_reaches_everything(self, browser, card, tmp_path):
        write_calculator(tmp_path / "calculator.html", card)
        page, _ = opened(browser, tmp_path / "calculator.html")
        stops = []
        for _ in range(7):
            page.keyboard.press("Tab")
            active = "document.activeElement"
            stops.append(page.evaluate(f"{active}.id || {active}.name"))
        assert stops == ["t0", "t1", "t2", "t3", "t4", "clear", "print"]


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
        ({"units": {"height": "cm"}}, "units: the model has no predictor 'height'"),
        ({"patients": pd.DataFrame(np.zeros((1, 5)), columns=["age", "lab", "stage", "code",
          "smoker"])}, "patients: must have at least two rows"),
    ],
)  # fmt: skip
def test_wrong_arguments(card, tmp_path, arguments, sentence):
    with pytest.raises(sl.InvalidProblemError, match=sentence):
        write_calculator(tmp_path / "calculator.html", card, **arguments)
