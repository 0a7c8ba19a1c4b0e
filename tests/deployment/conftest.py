"""A model with every kind of term, and 1 000 patients with gaps, unknown levels and far values."""

import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from flat_options import prognostic_model
from hostile_names import HOSTILE, LEVELS
from newcomers import make_table, with_gaps

CODES = {"age": [-9, 999], "smoker": 9, "code": [77]}
SYNONYMS = {"stage": {"early": "I", "3rd": "iii"}, "smoker": {"yes": "1", "no": "0"}}


def fitted(names, levels, spline_knots, missing_indicator, **options):
    table = with_gaps(make_table(300, 0), 1)
    filled = table.fillna({"age": 60, "lab": 1, "smoker": 0})
    risk = 0.08 * (filled["age"] - 60) + 2 * (table["stage"] == "III") + np.log(filled["lab"])
    risk += filled["smoker"] + (table["code"] == 2)
    y = pd.Series(risk + np.random.default_rng(2).logistic(size=300) > 1, name="dead").astype(int)
    table["stage"] = table["stage"].replace(levels)
    return prognostic_model(
        max_features=5,
        costs=dict.fromkeys((names.get(n, n) for n in table.columns), 2.0),
        fees=[(3.0, [names.get("lab", "lab"), names.get("stage", "stage")])],
        budget=20,
        ridge=0.5,
        **options,
        kinds={names.get("code", "code"): "categorical"},
        spline_knots=spline_knots,
        missing_indicator=missing_indicator,
    ).fit(table.rename(columns=names), y)


@pytest.fixture(scope="session")
def card():
    return fitted({}, {}, spline_knots=4, missing_indicator=True).card_


@pytest.fixture(scope="session")
def linear_card():
    return fitted({}, {}, spline_knots=None, missing_indicator=False).card_


@pytest.fixture(scope="session")
def hostile_card():
    return fitted(HOSTILE, LEVELS, spline_knots=3, missing_indicator=True).card_


@pytest.fixture(scope="session")
def median_card():
    return fitted({}, {}, spline_knots=3, missing_indicator=False, imputation="median").card_


@pytest.fixture(scope="session")
def coded_card():
    """A model that knows codes for missing values and synonyms."""
    return fitted(
        {}, {}, spline_knots=4, missing_indicator=False, missing_codes=CODES, synonyms=SYNONYMS
    ).card_


@pytest.fixture(
    scope="session",
    params=["card", "linear_card", "hostile_card", "median_card", "coded_card"],
)
def any_card(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="session")
def newcomers(any_card):
    """1 000 patients for the model: a tenth of the values missing, some unknown or far out."""
    table = with_gaps(make_table(1000, 3), 4)
    rng = np.random.default_rng(5)
    table.loc[rng.random(1000) < 0.05, "stage"] = "IV"
    table.loc[rng.random(1000) < 0.05, "code"] = 7.0
    table.loc[rng.random(1000) < 0.05, "age"] = 150.5
    table.loc[rng.random(1000) < 0.05, "lab"] = -3.25
    table.loc[rng.random(1000) < 0.05, "stage"] = " iii"
    if any_card.preprocessing.synonyms:
        table["smoker"] = table["smoker"].astype(object)
        for name, value in (
            *(("age", -9), ("age", 999), ("smoker", 9), ("smoker", "yes"), ("smoker", "no")),
            *(("code", 77), ("stage", "early"), ("stage", "3rd"), ("stage", "EARLY")),
        ):
            table.loc[rng.random(1000) < 0.05, name] = value
    names = {} if "age" in {t.name for t in any_card.terms} else HOSTILE
    if names:
        table["stage"] = table["stage"].replace(LEVELS)
    return table.rename(columns=names)


@pytest.fixture(scope="module")
def browser():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no chromium: the pages are not looked at in a browser")
    playwright = pytest.importorskip("playwright.sync_api", reason="needs shortlist[browser]")
    with playwright.sync_playwright() as driver:
        arguments = ["--no-sandbox", "--disable-gpu"]
        browser = driver.chromium.launch(executable_path=chromium, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def opened(browser):
    """Open a file; return the page, and what it said or asked for, which must be nothing."""
    contexts = []

    def open_page(path, **options):
        contexts.append(browser.new_context(offline=True, **options))
        page, said = contexts[-1].new_page(), []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda sent: said.append(sent.url))
        page.goto(path.as_uri())
        assert said.pop(0) == path.as_uri()
        return page, said

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture
def pictures(tmp_path):
    """Where screenshots go; SHORTLIST_SCREENSHOTS keeps them, to look at them."""
    return Path(os.environ.get("SHORTLIST_SCREENSHOTS", tmp_path))
