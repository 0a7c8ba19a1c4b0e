"""Missing values by medians, equations or draws, simulated: `python -m benchmarks.imputation`.

A replication draws patients with ten correlated predictors, four of which matter, and removes
values at random, or more often where the next predictor is high. It fits a model to at most five
with each kind of imputation, and predicts new patients with the same gaps by the model card, which
knows the predictors bought only. Differences are paired. Writes simulated/imputation.csv and the
table of docs/evaluation.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit

import shortlist as sl
from shortlist.evaluation.metric import auc, calibration, log_loss

from .simulation import MAX_FEATURES, run_command, to_markdown

EFFECTS, N_CANDIDATES, INTERCEPT, RIDGE = (1.0, 0.7, 0.5, 0.35), 10, -1.0, 1.0
N_NEW = 4000
KINDS: dict[str, dict[str, Any]] = {
    "median": {"preparation": sl.Preparation(imputation="median")},
    "conditional": {},
    "multiple": {"preparation": sl.Preparation(imputations=5)},
}


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
    """Return the measures of all kinds on new patients, in one row."""
    seed = (setting.n_rows, round(100 * setting.correlation), setting.mechanism == "at random")
    rng = np.random.default_rng((*map(int, seed), replication))
    table, y = draw(setting, setting.n_rows, rng)
    new, outcome = draw(setting, N_NEW, rng)
    row: dict[str, Any] = {}
    weights = np.ones(N_NEW)
    for kind, options in KINDS.items():
        model = sl.PrognosticModel(max_features=MAX_FEATURES, ridge=RIDGE, **options)
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
    differences = {
        f"{measure}_{kind}_less_{other}": rows[f"{measure}_{kind}"] - rows[f"{measure}_{other}"]
        for measure in ("auc", "log_loss")
        for kind, other in (("conditional", "median"), ("multiple", "conditional"))
    }
    groups = rows.assign(**differences).groupby(list(Setting._fields), sort=False)
    table = groups.mean().drop(columns="replication")
    for name in differences:
        table[f"{name}_error"] = groups[name].sem()
    return table.reset_index()


def page_table(table: pd.DataFrame) -> str:
    """Return the table of the page."""
    pairs = ("conditional_less_median", "multiple_less_conditional")
    head = [
        *("missing", "patients", "correlation", "AUC, medians"),
        *("equations less medians", "draws less equations", "log loss, medians"),
        *("equations less medians", "draws less equations", "slope: medians, equations, draws"),
    ]
    lines = []
    for _, line in table.iterrows():
        cells = [line["mechanism"], str(line["n_rows"]), f"{line['correlation']:g}"]
        for measure in ("auc", "log_loss"):
            cells.append(f"{line[f'{measure}_median']:.3f}")
            for name in (f"{measure}_{pair}" for pair in pairs):
                cells.append(f"{line[name]:+.4f} ± {line[f'{name}_error']:.4f}")
        lines.append([*cells, ", ".join(f"{line[f'slope_{kind}']:.2f}" for kind in KINDS)])
    return to_markdown(head, lines)


if __name__ == "__main__":
    run_command("imputation")
