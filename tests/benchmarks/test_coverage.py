"""Intervals of corrected performance hold the truth as often as the page says."""

from __future__ import annotations

import pandas as pd
import pytest
from scipy.stats import binom

from benchmarks.coverage import COLUMNS, PAGE, Setting, simulate, summarise, to_markdown
from benchmarks.settings import RESULTS

PROMISED = ["auc", "brier", "calibration_slope", "calibration_intercept"]


def test_the_page_has_the_table_and_the_table_the_coverage() -> None:
    table = pd.read_csv(RESULTS.parent / "coverage.csv")
    assert to_markdown(table) in PAGE.read_text(encoding="utf-8")
    main = table[(table["n_candidates"] == 10) & table["measure"].isin(PROMISED)]
    assert {100, 200, 400, 1000} <= set(main["n_rows"])
    assert (main["coverage"] >= 0.9).all()
    assert (main[main["n_rows"] != 300]["intervals"] >= 240).all()


@pytest.mark.slow
def test_coverage() -> None:
    """Simulated anew, with other patients: not below 90 % by more than chance allows."""
    setting = Setting(120, 10, 100)
    table = summarise(simulate(setting)).set_index("measure")
    fewest = binom.ppf(0.005, setting.replications, 0.9)
    for name in COLUMNS:
        line = table.loc[name]
        assert line["coverage"] * line["intervals"] >= fewest, name
        assert line["intervals"] == setting.replications
