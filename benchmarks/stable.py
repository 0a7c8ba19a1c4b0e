"""Predictors that resamples select often, against the plain optimum: `python -m benchmarks.stable`.

A replication draws two samples of patients from a known population, tunes the ridge in each, and
fits three models: the best selection, the best among stable predictors (`stable`), and the best
within the limit that is enough by cross-validation (`within="1se"`). It counts the predictors
without an effect that are bought, compares the selections of the two samples, and judges the models
in the population. Writes simulated/stable.csv and the table of docs/evaluation.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import shortlist as sl

from .simulation import (
    MAX_FEATURES,
    N_EFFECTS,
    draw_study,
    run_command,
    to_markdown,
    true_performance,
    tune_ridge,
)

PRICES, BUDGET = (1.0, 2.0, 3.0), 10.0  # one predictor after the other, over and over
RULES: dict[str, dict[str, Any]] = {
    "best": {},
    "stable": {"stable": True},
    "within 1se": {"within": "1se"},
}


class Setting(NamedTuple):
    """Patients, candidates, what is limited, and how often it is simulated."""

    n_rows: int
    n_candidates: int
    limit: str
    replications: int = 100


SETTINGS = tuple(
    Setting(n_rows, n_candidates, limit)
    for n_rows, n_candidates in ((100, 10), (100, 20), (300, 20), (1000, 20))
    for limit in ("number", "budget")
)


def replicate(setting: Setting, replication: int) -> list[dict[str, Any]]:
    """Return the means over two samples, a row per rule, and how far their selections agree."""
    key = (11, setting.n_rows, setting.n_candidates, len(setting.limit), replication)
    rng = np.random.default_rng(key)
    found = [_models(setting, rng) for _ in range(2)]
    rows = []
    for rule in RULES:
        pair = [models[rule] for models in found]
        first, second = (set(np.flatnonzero(coef)) for coef, _ in pair)
        truths = [true_performance(setting.n_candidates, *model) for model in pair]
        rows.append(
            {
                "rule": rule,
                "number": np.mean([len(first), len(second)]),
                "noise": np.mean([sum(g >= N_EFFECTS for g in each) for each in (first, second)]),
                "agreement": len(first & second) / max(1, len(first | second)),
                "log_loss": np.mean([truth["log_loss"] for truth in truths]),
                "auc": np.mean([truth["auc"] for truth in truths]),
            }
        )
    return rows


def _models(setting: Setting, rng: np.random.Generator) -> dict[str, tuple[Any, float]]:
    """Return coefficients and intercept of the model of each rule, on one sample."""
    X, y = draw_study(setting.n_rows, setting.n_candidates, rng)
    names = [f"x{i}" for i in range(setting.n_candidates)]
    limits: dict[str, Any] = {"max_features": MAX_FEATURES}
    if setting.limit == "budget":
        costs = {name: PRICES[i % len(PRICES)] for i, name in enumerate(names)}
        limits = {"budget": BUDGET, "costs": costs}
    table = pd.DataFrame(X, columns=names)
    ridge = tune_ridge(sl.SubsetProblem(table, y, ridge=1.0, **limits), n_repeats=1)
    models = {}
    for rule, options in RULES.items():
        card = sl.PrognosticModel(**limits, **options, ridge=ridge).fit(table, y).card_
        coef = np.zeros(len(names))
        for term in card.terms:
            coef[names.index(term.name)] = term.coefficients[0]  # type: ignore[union-attr]
        models[rule] = (coef, card.intercept)
    return models


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the means per setting and rule, and paired differences to the best selection."""
    keys = ["n_rows", "n_candidates", "limit", "replication"]
    best = rows[rows["rule"] == "best"].set_index(keys)
    paired = rows.join(best[["log_loss", "auc"]], on=keys, rsuffix="_best")
    for measure in ("log_loss", "auc"):
        paired[f"{measure}_difference"] = paired[measure] - paired.pop(f"{measure}_best")
    groups = paired.groupby(["n_rows", "n_candidates", "limit", "rule"], sort=False)
    table = groups.mean().drop(columns=["replication", "replications"])
    for measure in ("log_loss", "auc"):
        table[f"{measure}_error"] = groups[f"{measure}_difference"].sem()
    table["replications"] = groups.size()
    return table.reset_index()


def page_table(table: pd.DataFrame) -> str:
    """Return the table of the page."""
    limits = {"number": f"{MAX_FEATURES} predictors", "budget": f"budget {BUDGET:g}"}
    rows = []
    for _, line in table.iterrows():
        cells = [
            f"{line['n_candidates']}, {line['n_rows']}, {limits[line['limit']]}",
            line["rule"],
            *(f"{line[name]:.2f}" for name in ("number", "noise", "agreement")),
            *(f"{line[name]:.3f}" for name in ("log_loss", "auc")),
        ]
        for measure in ("log_loss", "auc"):
            difference = f"{line[f'{measure}_difference']:+.4f} ± {line[f'{measure}_error']:.4f}"
            cells.append("" if line["rule"] == "best" else difference)
        rows.append(cells)
    head = ["candidates, patients, limit", "rule", "predictors", "noise", "agreement"]
    head += ["log loss", "AUC", "log loss less that of the best", "AUC less that of the best"]
    return to_markdown(head, rows)


if __name__ == "__main__":
    run_command("stable")
