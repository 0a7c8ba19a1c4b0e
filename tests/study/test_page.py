"""The page has every number from the tables, and says what was not run."""

from __future__ import annotations

import re

import pandas as pd
from fake_study import write_fake_study

from shortlist.study.page import render


def test_page_is_filled_from_the_tables(tmp_path):
    folder = tmp_path / "docs" / "study"
    folder.mkdir(parents=True)
    write_fake_study(folder)
    page = render(folder, folder.parent)
    assert "$" not in page
    assert "nan" not in page
    assert "not run." not in page
    assert "](study/figures/fig1a.svg)" in page
    assert len(re.findall(r"\(study/figures/appendix-", page)) == 16
    assert "inside 399 bootstrap resamples" in page
    assert "over 4 seeds; those other than 0 have 9 resamples" in page
    assert "with a probability of 40%" in page  # 2 of 5 draws are the smallest and the largest
    assert render(folder, folder.parent) == page


def test_page_says_what_was_not_run(tmp_path):
    write_fake_study(tmp_path)
    summary = pd.read_csv(tmp_path / "summary.csv")
    own = (summary["seed"] == 0) & (summary["protocol"] == "paper")
    own &= summary["method"].isin(["optimal", "univariable"])
    summary[own].to_csv(tmp_path / "summary.csv", index=False)
    (tmp_path / "parkinson_summary.csv").unlink()
    page = render(tmp_path, tmp_path.parent)
    assert page.count("This part was not run.") == 3
