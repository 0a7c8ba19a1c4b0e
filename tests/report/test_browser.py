"""The report in a real browser: nothing fails, nothing leaves the machine, nothing overflows."""

import os
import shutil
from pathlib import Path

import pytest

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# Where to keep the screenshots, to look at them.
PICTURES = os.environ.get("SHORTLIST_SCREENSHOTS")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        CHROMIUM is None, reason="no chromium: the report is not looked at in a browser"
    ),
]


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="needs shortlist[browser]")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.mark.parametrize("which", ["report", "hostile_report", "validation"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_report_opens_quietly(browser, request, tmp_path, which, scheme, width):
    path: Path = request.getfixturevalue(which)
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
    )
    page = context.new_page()
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda sent: asked.append(sent.url))
    page.goto(path.as_uri())
    assert said == []
    assert asked == [path.as_uri()]
    # Wide tables scroll in themselves: the page does not.
    assert page.evaluate("document.documentElement.scrollWidth") == width
    # What a phone cannot show whole says that it scrolls.
    hidden = page.evaluate(
        """[...document.querySelectorAll(".scroll, figure")]
        .filter((box) => box.scrollWidth > box.clientWidth + 1)
        .filter((box) => getComputedStyle(box, "::before").content === "none")
        .map((box) => box.innerText.slice(0, 80))"""
    )
    assert hidden == []
    for figure in page.locator("figure svg").all():
        box = figure.bounding_box()
        assert box["width"] > 250 and box["height"] > 100
    ink, paper = page.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    assert (brightness(ink) < brightness(paper)) == (scheme == "light")
    folder = Path(PICTURES) if PICTURES else tmp_path
    page.screenshot(path=folder / f"{which}-{scheme}-{width}.png", full_page=True)
    context.close()


@pytest.mark.parametrize("which", ["report", "validation"])
def test_it_prints(browser, request, which, tmp_path):
    page = browser.new_page()
    page.goto(request.getfixturevalue(which).as_uri())
    folder = Path(PICTURES) if PICTURES else tmp_path
    page.pdf(path=folder / f"{which}.pdf", format="A4")
    assert (folder / f"{which}.pdf").read_bytes().startswith(b"%PDF")
    page.close()


def test_a_phone_shows_intervals_and_whole_figures(browser, report):
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.goto(report.as_uri())
    for title in ("95% interval", "95% range when selected"):
        column = page.locator(f"th:has-text('{title}')").first
        if column.count():
            box = column.bounding_box()
            assert box["x"] + box["width"] <= 390
    for figure in page.locator("figure").all():
        assert figure.evaluate("node => node.scrollWidth <= node.clientWidth")
    page.close()


def brightness(colour):
    return sum(int(part) for part in colour.strip("rgb()").split(","))
