"""Ways to choose how many predictors to buy, compared: `python -m benchmarks.worth`.

A replication draws patients from a known population, tunes the ridge with at most 10 predictors,
and chooses the number: 10, the one with the least cross-validated log loss, or the smallest within
a standard error of it. Writes simulated/worth.csv and the table of docs/evaluation.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import shortlist as sl
from shortlist.cross_validation import shuffled_folds
from shortlist.patients.worth import N_FOLDS, N_REPEATS, loss_differences

from .simulation import (
    N_EFFECTS,
    Setting,
    draw_study,
    log_odds_of,
    run_command,
    to_markdown,
    true_performance,
    tune_ridge,
)

MOST = 10
SETTINGS = (
    Setting(100, 20, 200),
    Setting(200, 20, 200),
    Setting(500, 20, 200),
    Setting(200, 10, 200),
)


def replicate(setting: Setting, replication: int) -> list[dict[str, Any]]:
    """Return how the numbers that are chosen do in the population, a row per way."""
    rng = np.random.default_rng((9, setting.n_rows, setting.n_candidates, replication))
    X, y = draw_study(setting.n_rows, setting.n_candidates, rng)
    problem = sl.SubsetProblem(X, y, ridge=1.0, max_features=MOST)
    problem = problem.with_ridge(tune_ridge(problem, n_repeats=1))
    losses = np.zeros((len(y), MOST + 1))
    for train, test in (f for seed in range(N_REPEATS) for f in shuffled_folds(y, N_FOLDS, seed)):
        weights = np.zeros_like(y)
        weights[train] = 1
        part = problem.with_weights(weights)
        for number in range(MOST + 1):
            log_odds = log_odds_of(problem, sl.solve(part.with_limits(max_features=number)))
            margins = (2 * y[test] - 1) * log_odds[test]
            losses[test, number] += np.logaddexp(0.0, -margins) / N_REPEATS
    table = loss_differences(losses)
    best = int(table["log_loss"].argmin())
    error = losses[:, best].std(ddof=1) / np.sqrt(len(y))
    chosen = {
        f"at most {MOST}": MOST,
        "least loss": best,
        "within a standard error of the difference": int(
            (table["difference"] <= table["error"]).argmax()
        ),
        "within a standard error of the least loss": int((table["difference"] <= error).argmax()),
    }
    rows = []
    for way, number in chosen.items():
        solution = sl.solve(problem.with_limits(max_features=number))
        truth = true_performance(setting.n_candidates, solution.coef, solution.intercept)
        noise = sum(g >= N_EFFECTS for g in solution.support)
        rows.append(
            {"way": way, "log_loss": truth["log_loss"], "auc": truth["auc"]}
            | {"number": len(solution.support), "noise": noise}
        )
    return rows


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the means per setting and way."""
    groups = rows.groupby(["n_candidates", "n_rows", "way"], sort=False)
    table = groups[["log_loss", "auc", "number", "noise"]].mean()
    table["log_loss_error"] = groups["log_loss"].sem()
    table["replications"] = groups.size()
    return table.reset_index()


def page_table(table: pd.DataFrame) -> str:
    """Return the table of the page."""
    rows = [
        [
            f"{line['n_candidates']}, {line['n_rows']}",
            line["way"],
            f"{line['number']:.1f}",
            f"{line['noise']:.1f}",
            f"{line['log_loss']:.3f}",
            f"{line['auc']:.3f}",
        ]
        for _, line in table.iterrows()
    ]
    head = ["candidates, patients", "number bought", "predictors", "noise", "log loss", "AUC"]
    return to_markdown(head, rows)


if __name__ == "__main__":
    run_command("worth")
