"""Missing values by equations or by medians, simulated: `python -m benchmarks.imputation`.

A replication draws patients with ten correlated predictors, four of which matter, and removes
values at random, or more often where the next predictor is high. It fits a model to at most five
with either kind of imputation, and predicts new patients with the same gaps by the model card, which
knows the predictors bought only. Differences are paired. Writes imputation.csv and the
table of docs/evaluation.md.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.special import expit

import shortlist as sl
from shortlist.evaluation.metric import auc, calibration, log_loss

from .settings import PROJECT, RESULTS

PAGE = PROJECT / "docs" / "evaluation.md"
START, END = "<!-- imputation -->\n", "<!-- end of imputation -->\n"
EFFECTS, N_CANDIDATES, INTERCEPT, RIDGE = (1.0, 0.7, 0.5, 0.35), 10, -1.0, 1.0
N_NEW, REPLICATIONS, MAX_FEATURES = 4000, 100, 5


class Setting(NamedTuple):
    """Patients, correlation of any two predictors, share of values missing, and where."""

    n_rows: int
    correlation: float
    share: float
    mechanism: str


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


def replicate(setting: Setting, replication: int) -> dict[str, Any]:
    """Return the measures of both kinds on new patients."""
    warnings.simplefilter("ignore")
    seed = (setting.n_rows, round(100 * setting.correlation), setting.mechanism == "at random")
    rng = np.random.default_rng((*map(int, seed), replication))
    table, y = draw(setting, setting.n_rows, rng)
    new, outcome = draw(setting, N_NEW, rng)
    row: dict[str, Any] = setting._asdict() | {"replication": replication}
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
    return row


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Return means per setting, and paired differences with their standard errors."""
    rows = rows.assign(
        gain=rows["auc_conditional"] - rows["auc_median"],
        less=rows["log_loss_conditional"] - rows["log_loss_median"],
    )
    groups = rows.groupby(list(Setting._fields), sort=False)
    table = groups.mean().drop(columns="replication")
    table["replications"] = groups.size()
    for name in ("gain", "less"):
        table[f"{name}_error"] = groups[name].std() / np.sqrt(table["replications"])
    return table.reset_index()


def to_markdown(table: pd.DataFrame) -> str:
    """Return the table of the page."""
    head = [
        *("patients", "correlation", "missing", "AUC, medians", "AUC, equations", "difference"),
        *("log loss, difference", "slope, medians", "slope, equations"),
    ]
    lines = [f"| {' | '.join(head)} |", f"| ---: | ---: | --- |{' ---: |' * 6}"]
    for line in table.itertuples():
        cells = [
            *(str(line.n_rows), f"{line.correlation:g}", line.mechanism),
            *(f"{line.auc_median:.3f}", f"{line.auc_conditional:.3f}"),
            f"{line.gain:+.4f} ± {line.gain_error:.4f}",
            f"{line.less:+.4f} ± {line.less_error:.4f}",
            *(f"{line.slope_median:.2f}", f"{line.slope_conditional:.2f}"),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def with_table(page: str, table: pd.DataFrame) -> str:
    """Return a page with its table replaced."""
    before, rest = page.split(START)
    return before + START + to_markdown(table) + END + rest.split(END)[1]


def main() -> None:
    """Simulate what the results lack; the number of processes is the only argument."""
    n_jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    path = RESULTS.parent / "imputation.csv"
    table = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=list(Setting._fields))
    for setting in SETTINGS:
        if (table[list(Setting._fields)] == list(setting)).all(axis=1).any():
            continue
        rows = Parallel(n_jobs=n_jobs)(delayed(replicate)(setting, i) for i in range(REPLICATIONS))
        found = summarise(pd.DataFrame(rows))
        table = pd.concat([table, found]) if len(table) else found
        table.to_csv(path, index=False, float_format="%.6g")
        print(setting, flush=True)
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_table(page, pd.read_csv(path)), encoding="utf-8")


if __name__ == "__main__":
    from benchmarks.imputation import main as run  # by its name, so that other processes find it

    run()
