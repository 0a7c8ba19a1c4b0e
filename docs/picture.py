"""Draw the tour's picture: the top of a report, as a browser shows it.

Needs chromium and `pip install 'shortlist[browser]'`. With the report of docs/tour.md:

    python docs/picture.py report.html
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).with_name("report.png")


def main() -> None:
    """Open the report that is named on the command line and take its picture."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 940, "height": 900})
        page.goto(Path(sys.argv[1]).resolve().as_uri())
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
