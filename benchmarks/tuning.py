"""Ways to choose the ridge, compared: `python -m benchmarks.tuning`.

A replication draws patients from a known population and scores every ridge by cross-validation, in
5 folds, 5 times. Each way chooses a ridge from these scores, and the model that is selected and
fitted with it is judged in the population. Writes simulated/tuning.csv and the table of
docs/evaluation.md.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pandas as pd

import shortlist as sl
from shortlist.cross_validation import shuffled_folds
from shortlist.evaluation.metric import auc, log_loss

from .simulation import (
    MAX_FEATURES,
    N_FOLDS,
    N_REPEATS,
    RIDGES,
    Setting,
    draw_study,
    log_odds_of,
    run_command,
    to_markdown,
    true_performance,
)

REFERENCE = "log loss, 4 ridges"  # 10, 1, 0.1 and 0.01, once in 5 folds
SETTINGS = (
    Setting(100, 20, 600),
    Setting(200, 20, 300),
    Setting(500, 20, 150),
    Setting(100, 10, 300),
    Setting(500, 10, 150),
)


def replicate(setting: Setting, replication: int) -> list[dict[str, Any]]:
    """Return how the ridges that are chosen do in the population, one row per way to choose."""
    rng = np.random.default_rng((8, setting.n_rows, setting.n_candidates, replication))
    X, y = draw_study(setting.n_rows, setting.n_candidates, rng)
    problem = sl.SubsetProblem(X, y, ridge=RIDGES[0], max_features=MAX_FEATURES)
    losses, aucs = [], []  # a row per fold, a column per ridge
    for seed in range(N_REPEATS):
        for train, test in shuffled_folds(y, N_FOLDS, seed):
            weights = np.zeros_like(y)
            weights[train] = 1
            part = problem.with_weights(weights)
            found = [log_odds_of(problem, sl.solve(part.with_ridge(r)))[test] for r in RIDGES]
            ones = np.ones(len(test), dtype=int)
            losses.append([log_loss(y[test], log_odds, ones) for log_odds in found])
            aucs.append([auc(y[test], log_odds, ones) for log_odds in found])
    everything = np.array(losses)
    finer, often = everything[:N_FOLDS], everything[:, ::2]
    once = finer[:, ::2]
    of_four = {
        "AUC, 4 ridges": np.nanmean(np.array(aucs)[:N_FOLDS, ::2], axis=0).argmax(),
        "log loss, 4 ridges": once.mean(axis=0).argmin(),
        "log loss, 4 ridges, 5 times": often.mean(axis=0).argmin(),
        "4 ridges, strongest within a standard error": strongest_within(once),
        "4 ridges, strongest within a paired one": strongest_within(once, paired=True),
    }
    chosen = {way: 2 * int(best) for way, best in of_four.items()}
    chosen["log loss, 7 ridges"] = int(finer.mean(axis=0).argmin())
    chosen["log loss, 7 ridges, 5 times"] = int(everything.mean(axis=0).argmin())
    models = {best: sl.solve(problem.with_ridge(RIDGES[best])) for best in set(chosen.values())}
    truths = {
        best: true_performance(setting.n_candidates, model.coef, model.intercept)
        for best, model in models.items()
    }
    return [
        {"way": way, "ridge": RIDGES[best], "log_loss": truths[best]["log_loss"]}
        | {"auc": truths[best]["auc"], "slope_error": abs(truths[best]["calibration_slope"] - 1)}
        for way, best in chosen.items()
    ]


def strongest_within(losses: Any, paired: bool = False) -> int:
    """Return the strongest ridge whose loss is within a standard error of the least.

    The error is that of the least loss over the folds, or of the difference to it.
    """
    means = losses.mean(axis=0)
    best = int(means.argmin())
    compared = losses - losses[:, [best]] if paired else losses[:, [best]]
    errors = compared.std(axis=0, ddof=1) / sqrt(len(losses))
    return int(np.flatnonzero(means <= means[best] + errors)[0])  # ridges fall


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the means per setting and way, and the paired difference in log loss to the first."""
    first = rows[rows["way"] == REFERENCE].set_index(["n_rows", "n_candidates", "replication"])
    paired = rows.join(
        first["log_loss"].rename("reference"), on=["n_rows", "n_candidates", "replication"]
    )
    groups = paired.assign(difference=paired["log_loss"] - paired["reference"]).groupby(
        ["n_candidates", "n_rows", "way"], sort=False
    )
    table = groups[["log_loss", "difference", "auc", "slope_error"]].mean()
    table["difference_error"] = groups["difference"].sem()
    table["ridge"] = groups["ridge"].agg(lambda ridge: float(np.exp(np.log(ridge).mean())))
    table["replications"] = groups.size()
    return table.reset_index()


def page_table(table: pd.DataFrame) -> str:
    """Return the table of the page: log loss less that of the reference, and error of the slope."""
    found = table.set_index(["way", "n_candidates", "n_rows"])
    settings = found.index.droplevel("way").unique().sort_values()
    head = ["chosen by", *(f"{p} of {n}" for n, p in settings)]
    rows = []
    for way in table["way"].unique():
        lines = [found.loc[(way, *setting)] for setting in settings]
        cells = [f"{1000 * line['difference']:+.1f}, {line['slope_error']:.2f}" for line in lines]
        rows.append([way, *cells])
    return to_markdown(head, rows)


if __name__ == "__main__":
    run_command("tuning")
