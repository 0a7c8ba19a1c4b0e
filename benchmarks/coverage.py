"""The coverage of a report's intervals, simulated: `python -m benchmarks.coverage`.

A replication draws patients from a known population, tunes the ridge, selects and fits as
`shortlist fit` does, and validates as the report does. Its intervals are then compared with how the
model performs in the population; where values are missing, they are missing there too. Writes
simulated/coverage.csv and the table of docs/evaluation.md.
"""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.random import Generator, default_rng

import shortlist as sl
from shortlist.evaluation import net_benefit, worth_interval
from shortlist.report.validation import choose_folds, validate_model

from .simulation import (
    MAX_FEATURES,
    THRESHOLD,
    draw_population,
    draw_study,
    expected_performance,
    run_command,
    to_markdown,
    true_performance,
    tune_ridge,
)

KEYS = ["n_candidates", "n_rows", "rule", "missing"]
COLUMNS = {
    "auc": "AUC",
    "brier": "Brier",
    "calibration_slope": "slope",
    "calibration_intercept": "intercept",
    "calibration_in_the_large": "in the large",
    "observed_expected": "O/E",
    "net_benefit": "net benefit",
}
N_RESAMPLES = 49
RULES: dict[str, dict[str, Any]] = {
    "best": {},
    "stable": {"stable": True},
    "5 imputations": {"preparation": sl.Preparation(imputations=5)},
}


class Setting(NamedTuple):
    """How many patients and candidates a study has, and how often it is simulated."""

    n_rows: int
    n_candidates: int
    replications: int
    rule: str = "best"
    missing: float = 0.0  # the share of values, at random
    is_compared: bool = False  # with univariable selection and with all candidates too


SETTINGS = (
    Setting(100, 20, 300),
    Setting(200, 20, 300),
    Setting(100, 10, 300),
    Setting(200, 10, 300),
    Setting(300, 10, 150, is_compared=True),
    Setting(400, 10, 250),
    Setting(1000, 10, 250),
    Setting(200, 10, 250, "stable"),
    Setting(100, 20, 250, "stable"),
    Setting(200, 10, 150, "best", 0.2),
    Setting(200, 10, 110, "5 imputations", 0.2),
)


def replicate(setting: Setting, replication: int) -> list[dict[str, Any]]:
    """Return estimate, interval and truth of every measure for one simulated study."""
    rng = default_rng((setting.n_rows, setting.n_candidates, replication))
    X, y = draw_study(setting.n_rows, setting.n_candidates, rng)
    if setting.rule != "best" or setting.missing:
        return _intervals(*_evaluate_model(setting, X, y, rng), y)
    problem = sl.SubsetProblem(X, y, ridge=1.0, max_features=MAX_FEATURES)
    experiment = sl.Experiment(problem, ridges=(tune_ridge(problem),), n_folds=choose_folds(y))
    evaluation, truth = _evaluate(experiment)
    rows = _intervals(evaluation, truth, y)
    if setting.is_compared:
        everything = range(setting.n_candidates)
        full = problem.with_limits(include=everything, max_features=setting.n_candidates)
        rivals = {
            "univariable": replace(experiment, backend="univariable"),
            "full": replace(experiment, problem=full, ridges=(tune_ridge(full),)),
        }
        for rival_name, rival_experiment in rivals.items():
            rival, rival_truth = _evaluate(rival_experiment)
            difference = rival.corrected_difference(evaluation).loc[["auc", "brier"]]
            rows += [
                {"measure": f"{name}_difference_{rival_name}", "estimate": line["estimate"]}
                | {"lower": line["lower"], "upper": line["upper"]}
                | {"truth": rival_truth[name] - truth[name]}
                for name, line in difference.iterrows()
                if rival.selected != evaluation.selected
            ]
    return rows


def _intervals(evaluation: Any, truth: dict[str, float], y: Any) -> list[dict[str, Any]]:
    """Return a row per measure of an evaluation."""
    rows = [
        {"measure": name, "estimate": line["corrected"], "lower": line["lower"]}
        | {"upper": line["upper"], "truth": truth[name]}
        for name, line in evaluation.optimism().iterrows()
    ]
    known = evaluation.predictions
    probability, harm = known["probability"].to_numpy(), THRESHOLD / (1 - THRESHOLD)
    acted, event = probability >= THRESHOLD, np.asarray(y) == 1
    lower, upper = worth_interval((acted & event, 1.0), (acted & ~event, harm))
    rows.append(
        {"measure": "net_benefit", "estimate": net_benefit(y, probability, THRESHOLD)}
        | {"lower": lower}
        | {"upper": upper, "truth": truth["net_benefit"]}
    )
    return rows


def _evaluate_model(
    setting: Setting, X: Any, y: Any, rng: Generator
) -> tuple[Any, dict[str, float]]:
    """Return the evaluation of the model of a table, and how it performs in the population."""
    population, risk = draw_population(setting.n_candidates)
    table = _with_gaps(X, setting.missing, rng)
    model = sl.PrognosticModel(max_features=MAX_FEATURES, **RULES[setting.rule]).fit(table, y)
    predicted = model.card_.log_odds(_with_gaps(population, setting.missing, rng))
    evaluation = validate_model(model, table, y, n_resamples=N_RESAMPLES)
    return evaluation, expected_performance(predicted, risk)


def _with_gaps(X: Any, share: float, rng: Generator) -> pd.DataFrame:
    gaps = rng.random(X.shape) < share
    return pd.DataFrame(np.where(gaps, np.nan, X), columns=[f"x{i}" for i in range(X.shape[1])])


def _evaluate(experiment: sl.Experiment) -> tuple[Any, dict[str, float]]:
    """Return the evaluation of a way to select, and how its model performs in the population."""
    problem = experiment.problem.with_ridge(experiment.ridges[0])
    solution = sl.solve(problem, experiment.backend)
    truth = true_performance(problem.n_predictors, solution.coef, solution.intercept)
    evaluation = sl.evaluate(
        experiment, N_RESAMPLES, progress=False, cross_validate_resamples=False
    )
    return evaluation, truth


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Return per setting and measure the coverage, and means of estimate and truth."""
    known = rows.dropna(subset=["lower", "upper"])
    covered = (known["lower"] <= known["truth"]) & (known["truth"] <= known["upper"])
    groups = known.assign(coverage=covered, width=known["upper"] - known["lower"]).groupby(
        [*KEYS, "measure"], sort=False
    )
    table = groups[["coverage", "estimate", "truth", "width"]].mean()
    table["intervals"] = groups.size()
    return table.reset_index()


def page_table(table: pd.DataFrame) -> str:
    """Return the table of the page, a line per setting, and what else it says."""
    head = ["candidates", "patients", "rule", "missing", *COLUMNS.values(), "replications"]
    lines = []
    for (candidates, patients, rule, missing), part in table.groupby(KEYS):
        found = part.set_index("measure")
        shares = [f"{found.loc[name, 'coverage']:.1%}" for name in COLUMNS]
        facts = [str(candidates), str(patients), rule, f"{missing:.0%}"]
        lines.append([*facts, *shares, str(found.loc["auc", "intervals"])])
    counts = table[table["measure"] == "auc"]["intervals"]
    errors = [100 * sqrt(0.95 * 0.05 / n) for n in (counts.max(), counts.min())]
    return (
        to_markdown(head, lines)
        + f"\nMonte-Carlo error of a share of 95 %: {errors[0]:.1f} to {errors[1]:.1f} "
        "percentage points. " + _outside(table) + "\n" + _differences(table)
    )


def _outside(table: pd.DataFrame) -> str:
    """Return a sentence that names the shares which are not 93 to 97 %."""
    far = table[~table["coverage"].between(0.93 - 1e-9, 0.97 + 1e-9)]
    named = [
        f"{COLUMNS[line['measure']]} ({line['n_candidates']}, {line['n_rows']}, {line['rule']}, "
        f"{line['missing']:.0%}: {line['coverage']:.1%})"
        for _, line in far.iterrows()
        if line["measure"] in COLUMNS
    ]
    return f"Not 93 to 97 % (candidates, patients, rule, missing): {', '.join(named) or 'none'}."


def _differences(table: pd.DataFrame) -> str:
    """Return sentences about paired differences to the exact selection."""
    found = table[table["measure"].str.contains("_difference_")].set_index("measure")
    text = ""
    for rival, name in (("univariable", "univariable selection"), ("full", "all candidates")):
        if f"auc_difference_{rival}" in found.index:
            auc_line, brier_line = (found.loc[f"{m}_difference_{rival}"] for m in ("auc", "brier"))
            text += (
                f"\nPaired differences between {name} and exact selection, "
                f"{auc_line['n_rows']:.0f} patients, in the {auc_line['intervals']:.0f} "
                f"replications where the two differ: {auc_line['coverage']:.1%} for the AUC, "
                f"{brier_line['coverage']:.1%} for the Brier score.\n"
            )
    return text


if __name__ == "__main__":
    run_command("coverage")
