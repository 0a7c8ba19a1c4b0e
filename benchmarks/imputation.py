"""Missing values by equations or by medians, simulated: `python -m benchmarks.imputation`.

A replication draws patients with ten correlated predictors, four of which matter, and removes
values at random, or more often where the next predictor is high. It fits a model to at most five
with either kind of imputation, and predicts new patients with the same gaps by the model card,
which knows the predictors bought only. Differences are paired. Writes simulated/imputation.csv
and the table of docs/evaluation.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit

import shortlist as sl
from shortlist.evaluation.metric import auc, calibration, log_loss

from .simulation import MAX_FEATURES, run_missing, to_markdown, write_page_table

EFFECTS, N_CANDIDATES, INTERCEPT, RIDGE = (1.0, 0.7, 0.5, 0.35), 10, -1.0, 1.0
N_NEW = 4000


class Setting(NamedTuple):
    """Patients, correlation of any two predictors, share of values missing, and where."""

    n_rows: int
    correlation: float
    share: float
    mechanism: str
    replications: int = 100


SETTINGS = tuple(
    Setting(n_rows, correlation, 0.25, mechanism)
    for n_rows in (200, 1000)
    for correlation in (0.0, 0.3, 0.6)
    for mechanism in ("at random", "where others are high")
)


def draw(setting: Setting, n_rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, Any]:
    """Return patients with gaps, and their outcomes."""
    matrix = np.full((N_CANDIDATES, N_CANDIDATES), setting.correlation)
    np.fill_diagonal(matrix, 1.0)
    X = rng.normal(size=(n_rows, N_CANDIDATES)) @ np.linalg.cholesky(matrix).T
    y = (rng.random(n_rows) < expit(INTERCEPT + X[:, : len(EFFECTS)] @ EFFECTS)).astype(int)
    chance = np.full(X.shape, setting.share)
    if setting.mechanism != "at random":
        chance = np.clip(setting.share * (1 + np.tanh(np.roll(X, 1, axis=1))), 0, 1)
    gaps = rng.random(X.shape) < chance
    names = [f"x{i + 1}" for i in range(N_CANDIDATES)]
    return pd.DataFrame(np.where(gaps, np.nan, X), columns=names), y


def replicate(setting: Setting, replication: int) -> list[dict[str, Any]]:
    """Return the measures of both kinds on new patients, in one row."""
    seed = (setting.n_rows, round(100 * setting.correlation), setting.mechanism == "at random")
    rng = np.random.default_rng((*map(int, seed), replication))
    table, y = draw(setting, setting.n_rows, rng)
    new, outcome = draw(setting, N_NEW, rng)
    row: dict[str, Any] = {}
    weights = np.ones(N_NEW)
    for kind in ("median", "conditional"):
        model = sl.PrognosticModel(max_features=MAX_FEATURES, ridge=RIDGE, imputation=kind)
        log_odds = model.fit(table, y).card_.log_odds(new)
        row |= {
            f"auc_{kind}": auc(outcome, log_odds, weights),
            f"log_loss_{kind}": log_loss(outcome, log_odds, weights),
            f"slope_{kind}": calibration(outcome, log_odds, weights)[1],
            f"right_{kind}": len({"x1", "x2", "x3", "x4"} & set(model.selected_features_)),
        }
    return [row]


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Return means per setting, and paired differences with their standard errors."""
    rows = rows.assign(
        gain=rows["auc_conditional"] - rows["auc_median"],
        less=rows["log_loss_conditional"] - rows["log_loss_median"],
    )
    groups = rows.groupby(list(Setting._fields), sort=False)
    table = groups.mean().drop(columns="replication")
    for name in ("gain", "less"):
        table[f"{name}_error"] = groups[name].sem()
    return table.reset_index()


def page_table(table: pd.DataFrame) -> str:
    """Return the table of the page."""
    head = [
        *("missing", "patients", "correlation", "AUC, medians", "AUC, equations", "difference"),
        *("log loss, difference", "slope, medians", "slope, equations"),
    ]
    lines = [
        [
            *(line.mechanism, str(line.n_rows), f"{line.correlation:g}"),
            *(f"{line.auc_median:.3f}", f"{line.auc_conditional:.3f}"),
            f"{line.gain:+.4f} ± {line.gain_error:.4f}",
            f"{line.less:+.4f} ± {line.less_error:.4f}",
            *(f"{line.slope_median:.2f}", f"{line.slope_conditional:.2f}"),
        ]
        for line in table.itertuples()
    ]
    return to_markdown(head, lines)


def main() -> None:
    """Simulate what the file of results lacks, and write the table of the page."""
    table = run_missing("imputation", SETTINGS, replicate, summarise)
    write_page_table("imputation", page_table(table))


if __name__ == "__main__":
    main()
