"""Simulated studies: a population whose risks are known, and runs over settings.

Each command that simulates, such as `python -m benchmarks.optimism`, has a file of results; a run
that was interrupted goes on with the setting that the file lacks.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.special import expit

import shortlist as sl
from shortlist.cross_validation import GRID, shuffled_folds
from shortlist.evaluation.metric import log_loss, scores

from .settings import PROJECT

SIMULATED = PROJECT / "benchmarks" / "simulated"
PAGE = PROJECT / "docs" / "evaluation.md"
THRESHOLD = 0.3  # of the net benefit
MAX_FEATURES = 5
_DEFAULTS = sl.Tuning()
RIDGES, N_FOLDS, N_REPEATS = GRID, int(_DEFAULTS.cv), _DEFAULTS.n_repeats
_EFFECTS = (1.0, 0.7, 0.5, 0.35)  # of the first predictors; all others have none
N_EFFECTS = len(_EFFECTS)
_INTERCEPT, _CORRELATION = -1.2, 0.3
_N_POPULATION = 10_000


class Setting(NamedTuple):
    """How many patients and candidates a study has, and how often it is simulated."""

    n_rows: int
    n_candidates: int
    replications: int


def draw_patients(n_rows: int, n_candidates: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return correlated normal predictors and the true risks of some patients."""
    correlation = np.full((n_candidates, n_candidates), _CORRELATION)
    np.fill_diagonal(correlation, 1.0)
    X = rng.normal(size=(n_rows, n_candidates)) @ np.linalg.cholesky(correlation).T
    return X, expit(_INTERCEPT + X[:, : len(_EFFECTS)] @ _EFFECTS)


def draw_study(n_rows: int, n_candidates: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return predictors, scaled as `PrognosticModel` scales, and outcomes of a study's patients."""
    X, risk = draw_patients(n_rows, n_candidates, rng)
    return X / 2, (rng.random(n_rows) < risk).astype(int)


@cache
def draw_population(n_candidates: int) -> tuple[Any, Any]:
    """Return predictors and true risks of many patients, by whom models are judged."""
    X, risk = draw_patients(_N_POPULATION, n_candidates, np.random.default_rng(12345))
    return X / 2, risk


def true_performance(n_candidates: int, coef: Any, intercept: float) -> dict[str, float]:
    """Return how a model performs in the population."""
    X, risk = draw_population(n_candidates)
    return expected_performance(X @ coef + intercept, risk)


def expected_performance(predicted: Any, risk: Any) -> dict[str, float]:
    """Return the measures of log-odds for known risks: each patient has both outcomes, weighted."""
    log_odds = np.tile(predicted, 2)
    y, weights = np.repeat([1, 0], len(risk)), np.concatenate([risk, 1 - risk])
    harm = THRESHOLD / (1 - THRESHOLD)
    gain = np.where(expit(log_odds) >= THRESHOLD, np.where(y == 1, 1.0, -harm), 0.0)
    return scores(y, log_odds, weights) | {
        "log_loss": log_loss(y, log_odds, weights),
        "net_benefit": float(weights @ gain / weights.sum()),
    }


def tune_ridge(problem: sl.SubsetProblem, n_repeats: int = N_REPEATS) -> float:
    """Return the ridge that `shortlist fit` chooses: the lowest log loss in 5 repeated folds.

    Rows count as often as their weights say, and copies of a row stay together.
    """
    rows = np.flatnonzero(problem.weights)
    weights = problem.weights[rows].astype(np.int64)
    y = (problem.response.values[rows] > 0).astype(np.int64)
    losses = np.zeros(len(RIDGES))
    for seed in range(n_repeats):
        for train, test in shuffled_folds(y, N_FOLDS, seed):
            kept = np.zeros(problem.n_rows)
            kept[rows[train]] = weights[train]
            part = problem.with_weights(kept)
            for i, ridge in enumerate(RIDGES):
                log_odds = log_odds_of(problem, sl.solve(part.with_ridge(ridge)))
                losses[i] += log_loss(y[test], log_odds[rows[test]], weights[test])
    return float(RIDGES[int(losses.argmin())])


def log_odds_of(problem: sl.SubsetProblem, solution: sl.Solution) -> Any:
    """Return the predictions of a solution for all rows."""
    return problem.decision_function(solution.coef, solution.intercept)


def simulate(
    setting: Any, replicate: Callable[[Any, int], list[dict[str, Any]]], n_jobs: int = 1
) -> pd.DataFrame:
    """Return the rows of all replications of a setting, with its fields."""
    parts = Parallel(n_jobs=n_jobs)(
        delayed(_quietly)(replicate, setting, number) for number in range(setting.replications)
    )
    facts = setting._asdict()
    return pd.DataFrame(
        [facts | {"replication": i} | row for i, part in enumerate(parts) for row in part]
    )


def _quietly(replicate: Any, setting: Any, number: int) -> list[dict[str, Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.ShortlistWarning)  # of ridges at the edge
        rows: list[dict[str, Any]] = replicate(setting, number)
    return rows


def write_page_table(name: str, text: str, path: Path = PAGE) -> None:
    """Replace the part of a page, by default docs/evaluation.md, between comments with a name."""
    page = path.read_text(encoding="utf-8")
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    before, rest = page.split(start)
    path.write_text(before + start + text + end + rest.split(end)[1], encoding="utf-8")


def to_markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose first column is text and whose others are numbers."""
    ruler = ["---", *("---:" for _ in head[1:])]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (head, ruler, *rows))


def run_command(name: str) -> None:
    """Simulate the settings that the results of a command lack, and write its table into the page.

    The command is a module with SETTINGS, `replicate`, `summarise` and `page_table`; its first
    argument is the number of processes. The settings in the file of results are told by their
    fields that are columns of it, but for `replications`.
    """
    command = import_module(f"benchmarks.{name}")  # by its name, so that other processes find it
    n_jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    path = SIMULATED / f"{name}.csv"
    table = pd.read_csv(path) if path.exists() else pd.DataFrame()
    for setting in command.SETTINGS:
        if len(table):
            facts = {k: v for k, v in setting._asdict().items() if k in table}
            facts.pop("replications", None)
            if (table[list(facts)] == list(facts.values())).all(axis=1).any():
                continue
        print(name, *setting, flush=True)
        rows = simulate(setting, command.replicate, n_jobs)
        table = pd.concat([table, command.summarise(rows)])
        table.to_csv(path, index=False, float_format="%.6g")
    write_page_table(name, command.page_table(pd.read_csv(path)))
