"""The page has every number from the tables, and says what was not run."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest
from fake_study import write_fake_study

from shortlist.study.page import render


def test_page_is_filled_from_the_tables(tmp_path):
    folder = tmp_path / "docs" / "study"
    folder.mkdir(parents=True)
    write_fake_study(folder)
    (folder / "figures").mkdir()
    for name in ("fig1a", "appendix-budget-82x14-noise0"):
        (folder / "figures" / f"{name}.svg").write_text("")
    page = render(folder, folder.parent)
    assert "$" not in page
    assert "nan" not in page
    assert "This part was not run." not in page
    assert "](study/figures/fig1a.svg)" in page
    assert re.findall(r"study/figures/([^)]*)", page) == [
        "fig1a.svg", "appendix-budget-82x14-noise0.svg",
    ]  # fmt: skip
    assert "inside 399 bootstrap resamples" in page
    assert "over 4 seeds; those other than 0 have 9 resamples" in page
    assert "with a probability of 40%" in page  # 2 of 5 draws are the smallest and the largest
    assert "over the first 49 resamples of either protocol" in page
    assert "with the paper protocol 0 estimates of 72 are below" in page
    assert render(folder, folder.parent) == page


@pytest.mark.parametrize("timed", [10, 20])
def test_times_on_the_clock_are_given_if_all_were_read(tmp_path, timed):
    write_fake_study(tmp_path)
    provenance = {
        "journals": {"paper": {"tasks": 20, "core_seconds": 600.0}},
        "times": [{"arm": "paper", "tasks": timed, "seconds": 300.0}],
        "versions": dict.fromkeys(("shortlist", "python", "numpy", "scikit-learn"), "1"),
        "machine": {"cores": 2, "processor": "abacus"},
    }
    (tmp_path / "provenance.json").write_text(json.dumps(provenance))
    page = render(tmp_path, tmp_path)
    assert "certified solves and" in page
    assert "Minutes summed over processes: paper 10." in page
    assert ("The clock was read for 10 of 20 resamples." in page) == (timed == 10)
    assert ("Minutes on the clock: paper 5." in page) == (timed == 20)


def test_page_says_what_was_not_run(tmp_path):
    write_fake_study(tmp_path)
    summary = pd.read_csv(tmp_path / "summary.csv")
    own = (summary["seed"] == 0) & (summary["protocol"] == "paper")
    own &= summary["method"].isin(["optimal", "univariable"])
    summary[own].to_csv(tmp_path / "summary.csv", index=False)
    (tmp_path / "parkinson_summary.csv").unlink()
    page = render(tmp_path, tmp_path.parent)
    assert page.count("This part was not run.") == 3
