"""Intervals of corrected performance hold the truth as often as the page says."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from scipy.stats import binom

from benchmarks import centres, coverage, imputation, optimism, stable, tuning, worth
from benchmarks.coverage import COLUMNS, Setting, page_table, replicate, summarise
from benchmarks.simulation import PAGE, SIMULATED, simulate

PROMISED = ["auc", "brier", "calibration_slope", "calibration_intercept"]


def test_the_page_has_the_table_and_the_table_the_coverage() -> None:
    table = pd.read_csv(SIMULATED / "coverage.csv")
    assert page_table(table) in PAGE.read_text(encoding="utf-8")
    plain = table[(table["rule"] == "best") & (table["missing"] == 0)]
    main = plain[(plain["n_candidates"] == 10) & plain["measure"].isin(PROMISED)]
    assert {100, 200, 400, 1000} <= set(main["n_rows"])
    assert (main["coverage"] >= 0.9).all()
    assert (main[main["n_rows"] != 300]["intervals"] >= 240).all()
    assert plain["coverage"].min() >= 0.9
    settings = {(s.n_candidates, s.n_rows, s.rule, s.missing) for s in coverage.SETTINGS}
    assert set(table[coverage.KEYS].itertuples(index=False, name=None)) == settings
    fewest = binom.ppf(0.005, table["intervals"], 0.9)  # not below 90 % by more than chance allows
    assert (table["coverage"] * table["intervals"] >= fewest - 1e-3).all()


@pytest.mark.parametrize(
    "module", [optimism, tuning, worth, stable, imputation], ids=lambda module: module.__name__
)
def test_the_page_has_the_tables_of_the_committed_results(module: Any) -> None:
    table = pd.read_csv(SIMULATED / f"{module.__name__.rpartition('.')[2]}.csv")
    facts = [field for field in module.SETTINGS[0]._fields if field in table]
    facts = [field for field in facts if field != "replications"]
    settings = {tuple(getattr(setting, fact) for fact in facts) for setting in module.SETTINGS}
    assert set(table[facts].itertuples(index=False, name=None)) == settings
    assert module.page_table(table) in PAGE.read_text(encoding="utf-8")


def test_the_page_has_the_coverage_of_summaries_over_centres() -> None:
    table = pd.read_csv(SIMULATED / "centres.csv")
    settings = {setting[:3] for setting in centres.SETTINGS}
    assert set(table[["n_centres", "n_rows", "spread"]].itertuples(index=False, name=None)) == (
        settings
    )
    assert centres.page_table(table) in PAGE.read_text(encoding="utf-8")
    assert table["coverage"].min() >= 0.9


def test_the_corrections_in_use_have_about_the_least_error() -> None:
    """As the page claims: .632+ for AUC and Brier score, and Harrell's for slopes."""
    table = pd.read_csv(SIMULATED / "optimism.csv")
    errors = table.pivot(index=["n_candidates", "n_rows", "measure"], columns="way", values="rmse")
    for (_, _, measure), line in errors[list(optimism.WAYS)].iterrows():
        if measure != "observed_expected":
            used = ".632+" if measure in ("auc", "brier") else "bootstrap"
            assert line[used] <= 1.05 * line.min(), measure


def test_stable_selections_have_less_noise_and_agree_more() -> None:
    """As the page claims: less noise everywhere; the rest from 300 patients on, at no price."""
    table = pd.read_csv(SIMULATED / "stable.csv")
    keys = ["n_candidates", "n_rows", "limit"]
    best, rule = (table[table["rule"] == name].set_index(keys) for name in ("best", "stable"))
    assert (rule["noise"] < best["noise"]).all()
    many = rule.index.get_level_values("n_rows") >= 300
    assert (rule["agreement"] > best["agreement"])[many].all()
    assert (rule[many]["log_loss_difference"] < rule[many]["log_loss_error"]).all()


def test_draws_predict_no_better_than_equations() -> None:
    table = pd.read_csv(SIMULATED / "imputation.csv")
    gain, error = (table[f"auc_multiple_less_conditional{part}"] for part in ("", "_error"))
    assert (gain < 2 * error).all()
    assert gain.min() > -0.0025


@pytest.mark.parametrize("rule", ["stable", "5 imputations"])
def test_options_are_simulated_as_the_report_evaluates_them(
    rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coverage, "N_RESAMPLES", 20)
    rows = pd.DataFrame(replicate(Setting(60, 5, 1, rule, 0.1), 0))
    assert set(rows["measure"]) == set(COLUMNS)
    assert (rows["lower"] < rows["upper"]).all()
    assert rows["truth"].notna().all()


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
