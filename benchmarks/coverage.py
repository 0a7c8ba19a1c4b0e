"""The coverage of a report's intervals, simulated: `python -m benchmarks.coverage`.

A replication draws patients from a known population, tunes the ridge, selects and fits as
`shortlist fit` does, and validates as the report does. Its intervals are then compared with how the
model performs in the population. Writes coverage.csv and the table of docs/evaluation.md.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.special import expit
from sklearn.model_selection import StratifiedKFold

import shortlist as sl
from shortlist.evaluation import interval, net_benefit
from shortlist.evaluation.metric import (
    auc,
    brier,
    calibration,
    calibration_in_the_large,
    observed_expected,
)
from shortlist.report.validation import choose_folds

from .settings import PROJECT, RESULTS

PAGE = PROJECT / "docs" / "evaluation.md"
START, END = "<!-- coverage -->\n", "<!-- end of coverage -->\n"
COLUMNS = {
    "auc": "AUC",
    "brier": "Brier",
    "calibration_slope": "slope",
    "calibration_intercept": "intercept",
    "calibration_in_the_large": "in the large",
    "observed_expected": "O/E",
    "net_benefit": "net benefit",
}
THRESHOLD = 0.3
N_RESAMPLES = 49
_EFFECTS = (1.0, 0.7, 0.5, 0.35)  # of the first predictors; all others have none
_INTERCEPT, _CORRELATION = -1.2, 0.3
_N_POPULATION = 10_000
_MAX_FEATURES = 5
_RIDGES = (10.0, 1.0, 0.1, 0.01)


class Setting(NamedTuple):
    """How many patients and candidates a study has, and how often it is simulated."""

    n_rows: int
    n_candidates: int
    replications: int
    is_compared: bool = False  # with univariable selection too


SETTINGS = (
    Setting(100, 10, 400),
    Setting(200, 10, 400),
    Setting(400, 10, 250),
    Setting(1000, 10, 250),
    Setting(300, 10, 100, is_compared=True),
    Setting(100, 20, 100),
    Setting(200, 20, 100),
)


def draw_patients(n_rows: int, n_candidates: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return correlated normal predictors and the true risks of some patients."""
    correlation = np.full((n_candidates, n_candidates), _CORRELATION)
    np.fill_diagonal(correlation, 1.0)
    X = rng.normal(size=(n_rows, n_candidates)) @ np.linalg.cholesky(correlation).T
    return X, expit(_INTERCEPT + X[:, : len(_EFFECTS)] @ _EFFECTS)


@cache
def _population(n_candidates: int) -> tuple[Any, Any]:
    return draw_patients(_N_POPULATION, n_candidates, np.random.default_rng(12345))


def true_performance(n_candidates: int, coef: Any, intercept: float) -> dict[str, float]:
    """Return how a model performs in the population: each patient has both outcomes, weighted."""
    X, risk = _population(n_candidates)
    log_odds = np.tile(X @ coef + intercept, 2)
    y, weights = np.repeat([1, 0], len(X)), np.concatenate([risk, 1 - risk])
    slope = calibration(y, log_odds, weights)
    harm = THRESHOLD / (1 - THRESHOLD)
    gain = np.where(expit(log_odds) >= THRESHOLD, np.where(y == 1, 1.0, -harm), 0.0)
    return {
        "auc": auc(y, log_odds, weights),
        "brier": brier(y, log_odds, weights),
        "calibration_intercept": slope[0],
        "calibration_slope": slope[1],
        "calibration_in_the_large": calibration_in_the_large(y, log_odds, weights),
        "observed_expected": observed_expected(y, log_odds, weights),
        "net_benefit": float(weights @ gain / weights.sum()),
    }


def replicate(setting: Setting, replication: int) -> list[dict[str, Any]]:
    """Return estimate, interval and truth of every measure for one simulated study."""
    rng = np.random.default_rng((setting.n_rows, setting.n_candidates, replication))
    X, risk = draw_patients(setting.n_rows, setting.n_candidates, rng)
    y = (rng.random(setting.n_rows) < risk).astype(int)
    halves = X / 2  # as `PrognosticModel` scales
    ridge = (
        sl.BestSubsetClassifier(
            ridge=None,
            max_features=_MAX_FEATURES,
            ridges=_RIDGES,
            cv=StratifiedKFold(5, shuffle=True, random_state=0),
            scoring="neg_log_loss",
        )
        .fit(halves, y)
        .ridge_
    )
    experiment = sl.Experiment(
        halves, y, max_features=_MAX_FEATURES, ridges=(ridge,), n_folds=choose_folds(y)
    )
    evaluation, truth = _evaluate(experiment, setting)
    table = evaluation.optimism()
    rows = [
        {"measure": name, "estimate": line["corrected"], "lower": line["lower"]}
        | {"upper": line["upper"], "truth": truth[name]}
        for name, line in table.iterrows()
    ]
    known = evaluation.predictions
    benefit = net_benefit(y, known["probability"].to_numpy(), THRESHOLD)
    lower, upper = interval("net_benefit", benefit.value, benefit, y)
    rows.append(
        {"measure": "net_benefit", "estimate": benefit.value, "lower": lower}
        | {"upper": upper, "truth": truth["net_benefit"]}
    )
    if setting.is_compared:
        rival, rival_truth = _evaluate(replace(experiment, backend="univariable"), setting)
        difference = rival.corrected_difference(evaluation)
        rows += [
            {"measure": f"{name}_difference", "estimate": line["estimate"], "lower": line["lower"]}
            | {"upper": line["upper"], "truth": rival_truth[name] - truth[name]}
            for name, line in difference.loc[["auc", "brier"]].iterrows()
            if rival.selected != evaluation.selected
        ]
    return [setting._asdict() | {"replication": replication} | row for row in rows]


def _evaluate(experiment: sl.Experiment, setting: Setting) -> tuple[Any, dict[str, float]]:
    """Return the evaluation of a way to select, and how its model performs in the population."""
    problem = sl.SubsetProblem(
        experiment.X, experiment.y, ridge=experiment.ridges[0], max_features=_MAX_FEATURES
    )
    solution = sl.solve(problem, experiment.backend)
    truth = true_performance(setting.n_candidates, solution.coef / 2, solution.intercept)
    evaluation = sl.evaluate(
        experiment, N_RESAMPLES, progress=False, cross_validate_resamples=False
    )
    return evaluation, truth


def simulate(setting: Setting, n_jobs: int = 1) -> pd.DataFrame:
    """Return a row per replication and measure."""
    parts = Parallel(n_jobs=n_jobs)(
        delayed(replicate)(setting, number) for number in range(setting.replications)
    )
    return pd.DataFrame([row for part in parts for row in part])


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Return per setting and measure the coverage, and means of estimate and truth."""
    known = rows.dropna(subset=["lower", "upper"])
    covered = (known["lower"] <= known["truth"]) & (known["truth"] <= known["upper"])
    groups = known.assign(coverage=covered, width=known["upper"] - known["lower"]).groupby(
        ["n_candidates", "n_rows", "measure"], sort=False
    )
    table = groups[["coverage", "estimate", "truth", "width"]].mean()
    table["intervals"] = groups.size()
    return table.reset_index()


def to_markdown(table: pd.DataFrame) -> str:
    """Return the table of the page, a line per setting."""
    head = ["candidates", "patients", *COLUMNS.values(), "replications"]
    lines = [f"| {' | '.join(head)} |", f"| {' | '.join('---:' for _ in head)} |"]
    for (candidates, patients), part in table.groupby(["n_candidates", "n_rows"]):
        found = part.set_index("measure")
        shares = [f"{found.loc[name, 'coverage']:.1%}" for name in COLUMNS]
        cells = [str(candidates), str(patients), *shares, str(found.loc["auc", "intervals"])]
        lines.append(f"| {' | '.join(cells)} |")
    counts = table[table["measure"] == "auc"]["intervals"]
    errors = [100 * sqrt(0.95 * 0.05 / n) for n in (counts.max(), counts.min())]
    return (
        "\n".join(lines)
        + f"\n\nMonte-Carlo error of a share of 95 %: {errors[0]:.1f} to {errors[1]:.1f} "
        "percentage points.\n" + _differences(table)
    )


def _differences(table: pd.DataFrame) -> str:
    """Return a sentence about paired differences between two ways to select."""
    found = table[table["measure"].str.endswith("_difference")].set_index("measure")
    if found.empty:
        return ""
    auc_line, brier_line = found.loc["auc_difference"], found.loc["brier_difference"]
    return (
        f"\nPaired differences between univariable and exact selection, {auc_line['n_rows']:.0f} "
        f"patients, in the {auc_line['intervals']:.0f} replications where the two differ: "
        f"{auc_line['coverage']:.1%} for the AUC, {brier_line['coverage']:.1%} for the Brier "
        "score.\n"
    )


def with_table(page: str, table: pd.DataFrame) -> str:
    """Return a page with its table of coverage replaced."""
    before, rest = page.split(START)
    return before + START + to_markdown(table) + END + rest.split(END)[1]


def main() -> None:
    """Simulate what coverage.csv lacks; the number of processes is the only argument."""
    n_jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    path = RESULTS.parent / "coverage.csv"
    table = pd.read_csv(path) if path.exists() else pd.DataFrame()
    for setting in SETTINGS:
        if len(table):
            known = table[["n_rows", "n_candidates"]] == [setting.n_rows, setting.n_candidates]
            if known.all(axis=1).any():
                continue
        table = pd.concat([table, summarise(simulate(setting, n_jobs))])
        table.to_csv(path, index=False, float_format="%.6g")
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_table(page, pd.read_csv(path)), encoding="utf-8")


if __name__ == "__main__":
    from benchmarks.coverage import main as run  # by its name, so that other processes find it

    run()
