"""Ways to correct performance for optimism, compared: `python -m benchmarks.optimism`.

A replication draws patients from a known population, tunes the ridge, selects and fits as
`shortlist fit` does, and estimates how the model performs on new patients in several ways. The
truth is its performance in the population. Writes simulated/optimism.csv, and the table of
docs/evaluation.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import shortlist as sl
from shortlist.choice.stable import draw_counts
from shortlist.cross_validation import shuffled_folds
from shortlist.evaluation.metric import scores
from shortlist.report.validation import choose_folds

from .simulation import (
    MAX_FEATURES,
    draw_study,
    log_odds_of,
    run_command,
    to_markdown,
    true_performance,
    tune_ridge,
)

N_RESAMPLES = 99
SHOWN = {"auc": "AUC", "brier": "Brier", "calibration_slope": "slope", "observed_expected": "O/E"}
WAYS = ("apparent", "bootstrap", ".632+", "cross-validation", "cross-validation, 5 times")
N_REPEATS = 5


class Setting(NamedTuple):
    """How many patients and candidates a study has, and how often it is simulated."""

    n_rows: int
    n_candidates: int
    replications: int
    retuned: int = 0  # on how many of them a bootstrap that tunes the ridge anew is tried too


SETTINGS = (
    Setting(200, 20, 300),
    Setting(500, 20, 150),
    Setting(100, 10, 300),
    Setting(1000, 10, 100),
    Setting(100, 20, 400, retuned=40),
)


class Study:
    """The patients of a replication, and models of them."""

    def __init__(self, setting: Setting, replication: int) -> None:
        self.rng = np.random.default_rng((7, setting.n_rows, setting.n_candidates, replication))
        X, self.y = draw_study(setting.n_rows, setting.n_candidates, self.rng)
        problem = sl.SubsetProblem(X, self.y, ridge=1.0, max_features=MAX_FEATURES)
        self.problem = problem.with_ridge(tune_ridge(problem))
        self.everyone = np.ones_like(self.y)

    def model(self, weights: Any, ridge: float | None = None) -> Any:
        """Return the solution for some weights of the patients."""
        problem = self.problem.with_weights(weights)
        return sl.solve(problem if ridge is None else problem.with_ridge(ridge))

    def log_odds(self, weights: Any, ridge: float | None = None) -> Any:
        """Return the predictions of the model for some weights."""
        return log_odds_of(self.problem, self.model(weights, ridge))

    def resamples(self) -> Iterator[Any]:
        """Yield the weights of resamples that have both outcomes, inside and outside."""
        for _ in range(N_RESAMPLES):
            weights = draw_counts(self.rng, len(self.y), None)
            while any(len(np.unique(self.y[part])) < 2 for part in (weights > 0, weights == 0)):
                weights = draw_counts(self.rng, len(self.y), None)
            yield weights

    def cross_validated(self, n_folds: int, seed: int) -> dict[str, float]:
        """Return the measures of the pooled predictions of the folds."""
        log_odds = np.empty(len(self.y))
        for train, test in shuffled_folds(self.y, n_folds, seed):
            weights = np.zeros_like(self.y)
            weights[train] = 1
            log_odds[test] = self.log_odds(weights)[test]
        return scores(self.y, log_odds, self.everyone)


def replicate(setting: Setting, replication: int) -> list[dict[str, Any]]:
    """Return the truth and every estimate of every measure for one simulated study."""
    study = Study(setting, replication)
    y, everyone = study.y, study.everyone
    own = study.model(everyone)
    truth = true_performance(setting.n_candidates, own.coef, own.intercept)
    apparent = scores(y, log_odds_of(study.problem, own), everyone)
    inside, data, outside, retuned = [], [], [], []
    for weights in study.resamples():
        log_odds = study.log_odds(weights)
        inside.append(scores(y, log_odds, weights))
        data.append(scores(y, log_odds, everyone))
        outside.append(scores(y, log_odds, (weights == 0).astype(int)))
        if replication < setting.retuned:
            ridge = tune_ridge(study.problem.with_weights(weights), n_repeats=1)
            log_odds = study.log_odds(weights, ridge)
            retuned.append((scores(y, log_odds, weights), scores(y, log_odds, everyone)))
    repeats = [study.cross_validated(choose_folds(y), seed) for seed in range(N_REPEATS)]
    tenfold = [study.cross_validated(10, seed) for seed in range(N_REPEATS)]
    rows = []
    for name in SHOWN:
        optimism = np.nanmean([a[name] - b[name] for a, b in zip(inside, data, strict=True)])
        estimates = {
            "apparent": apparent[name],
            "bootstrap": apparent[name] - optimism,
            "cross-validation": repeats[0][name],
            "cross-validation, 5 times": np.nanmean([found[name] for found in repeats]),
            "10 folds": tenfold[0][name],
            "10 folds, 5 times": np.nanmean([found[name] for found in tenfold]),
        }
        if name in ("auc", "brier"):
            left_out = float(np.nanmean([found[name] for found in outside]))
            nothing = 0.5 if name == "auc" else _brier_of_no_information(study, own)
            estimates[".632+"] = _point_632(apparent[name], left_out, nothing)
        if retuned:
            optimism = np.nanmean([a[name] - b[name] for a, b in retuned])
            estimates["bootstrap, tuned anew"] = apparent[name] - optimism
            estimates["bootstrap, same studies"] = estimates["bootstrap"]
        rows += [
            {"measure": name, "way": way, "estimate": estimate, "truth": truth[name]}
            for way, estimate in estimates.items()
        ]
    return rows


def _point_632(apparent: float, outside: float, nothing: float) -> float:
    """Return the .632+ estimate of Efron and Tibshirani (1997)."""
    gain, span = apparent - outside, apparent - nothing
    share = 0.0 if span == 0 else float(np.clip(gain / span, 0.0, 1.0))
    weight = 0.632 / (1 - 0.368 * share)
    if (outside - nothing) * span < 0:
        outside = nothing
    return (1 - weight) * apparent + weight * outside


def _brier_of_no_information(study: Study, own: Any) -> float:
    risk = 1 / (1 + np.exp(-log_odds_of(study.problem, own)))
    share = study.y.mean()
    return float(share * np.mean((1 - risk) ** 2) + (1 - share) * np.mean(risk**2))


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Return per setting, measure and way the bias, its error, and the root mean squared error."""
    errors = rows.assign(error=rows["estimate"] - rows["truth"]).dropna(subset=["error"])
    keys = ["n_candidates", "n_rows", "measure", "way"]
    groups = errors.groupby(keys, sort=False)
    table = groups[["truth", "estimate"]].mean()
    table["bias"] = groups["error"].mean()
    table["bias_error"] = groups["error"].sem()
    table["rmse"] = groups["error"].agg(lambda error: float(np.sqrt(np.mean(error**2))))
    table["replications"] = groups.size()
    return table.reset_index()


def page_table(table: pd.DataFrame) -> str:
    """Return the table of the page: bias and root mean squared error of the main ways."""
    head = ["candidates, patients", "way", *(f"{name}: bias" for name in SHOWN.values())]
    head += [f"{name}: error" for name in SHOWN.values()]
    found = table.set_index(["n_candidates", "n_rows", "way", "measure"]).sort_index()
    rows = []
    for candidates, patients in found.index.droplevel(["way", "measure"]).unique().sort_values():
        for way in WAYS:
            of_way = found.loc[(candidates, patients, way)]
            cells = [
                f"{of_way.loc[measure, column]:{sign}.3f}" if measure in of_way.index else ""
                for column, sign in (("bias", "+"), ("rmse", ""))
                for measure in SHOWN
            ]
            rows.append([f"{candidates}, {patients}", way, *cells])
    return to_markdown(head, rows) + _tuned_anew(found)


def _tuned_anew(found: pd.DataFrame) -> str:
    """Return a sentence about tuning the ridge anew on every resample."""
    rows = found[found.index.get_level_values("way") == "bootstrap, tuned anew"]
    (candidates, patients, way, _), *_ = rows.index
    anew, same = (
        found.loc[(candidates, patients, each, "auc")] for each in (way, "bootstrap, same studies")
    )
    return (
        "\nWith the ridge tuned anew on every resample, the bias of Harrell's corrected AUC is "
        f"{anew['bias']:+.4f} instead of {same['bias']:+.4f} ({candidates} candidates, {patients} "
        f"patients, the same {anew['replications']:.0f} studies).\n"
    )


if __name__ == "__main__":
    run_command("optimism")
