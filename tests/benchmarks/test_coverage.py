"""Intervals of corrected performance hold the truth as often as the page says."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from scipy.stats import binom

from benchmarks import optimism, tuning, worth
from benchmarks.coverage import COLUMNS, Setting, page_table, replicate, summarise
from benchmarks.simulation import PAGE, SIMULATED, simulate

PROMISED = ["auc", "brier", "calibration_slope", "calibration_intercept"]


def test_the_page_has_the_table_and_the_table_the_coverage() -> None:
    table = pd.read_csv(SIMULATED / "coverage.csv")
    assert page_table(table) in PAGE.read_text(encoding="utf-8")
    main = table[(table["n_candidates"] == 10) & table["measure"].isin(PROMISED)]
    assert {100, 200, 400, 1000} <= set(main["n_rows"])
    assert (main["coverage"] >= 0.9).all()
    assert (main[main["n_rows"] != 300]["intervals"] >= 240).all()
    assert table["coverage"].min() >= 0.9


@pytest.mark.parametrize("module", [optimism, tuning, worth], ids=["optimism", "tuning", "worth"])
def test_the_page_has_the_tables_of_the_committed_results(module: Any) -> None:
    table = pd.read_csv(SIMULATED / f"{module.__name__.rpartition('.')[2]}.csv")
    settings = {(setting.n_rows, setting.n_candidates) for setting in module.SETTINGS}
    assert set(zip(table["n_rows"], table["n_candidates"], strict=True)) == settings
    assert module.page_table(table) in PAGE.read_text(encoding="utf-8")


def test_the_corrections_in_use_have_about_the_least_error() -> None:
    """As the page claims: .632+ for AUC and Brier score, and Harrell's for slopes."""
    table = pd.read_csv(SIMULATED / "optimism.csv")
    errors = table.pivot(index=["n_candidates", "n_rows", "measure"], columns="way", values="rmse")
    for (_, _, measure), line in errors[list(optimism.WAYS)].iterrows():
        if measure != "observed_expected":
            used = ".632+" if measure in ("auc", "brier") else "bootstrap"
            assert line[used] <= 1.05 * line.min(), measure


@pytest.mark.slow
def test_coverage() -> None:
    """Simulated anew, with other patients: not below 90 % by more than chance allows."""
    setting = Setting(120, 10, 100)
    table = summarise(simulate(setting, replicate)).set_index("measure")
    fewest = binom.ppf(0.005, setting.replications, 0.9)
    for name in COLUMNS:
        line = table.loc[name]
        assert line["coverage"] * line["intervals"] >= fewest, name
        assert line["intervals"] == setting.replications
