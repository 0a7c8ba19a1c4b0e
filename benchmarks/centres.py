"""The coverage of what a report says about centres, simulated: `python -m benchmarks.centres`.

A replication draws centres whose baseline risk and whose effects differ, leaves out each in turn,
selects and fits on the others, and summarises as the report does. The summary is compared with how
the model of all centres performs in the population of centres, and the interval of each centre with
how the model of the others performs there. Writes simulated/centres.csv and the table of
docs/evaluation.md.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit, logit
from scipy.stats import norm, qmc

import shortlist as sl
from shortlist.evaluation.metric import scores
from shortlist.report.group import SCALES, describe_centres

from .simulation import (
    MAX_FEATURES,
    draw_patients,
    log_odds_of,
    run_command,
    to_markdown,
)

N_CANDIDATES, RIDGE = 10, 1.0
SLOPES = 2 / 3  # the spread of effects relative to that of baselines
N_NEW = 25  # other centres of a replication
COLUMNS = {"auc": "AUC", "calibration_slope": "slope", "observed_expected": "O/E"}
KINDS = {"mean": "mean", "new": "new centre", "own": "each centre"}


class Setting(NamedTuple):
    """How many centres and patients per centre, how much centres differ, and how often drawn."""

    n_centres: int
    n_rows: int
    spread: float  # standard deviation of the intercepts
    replications: int


SETTINGS = (
    Setting(5, 100, 0.0, 300),
    Setting(5, 100, 0.3, 300),
    Setting(10, 50, 0.3, 300),
    Setting(10, 100, 0.0, 300),
    Setting(10, 100, 0.3, 300),
    Setting(20, 100, 0.3, 200),
)


def replicate(setting: Setting, replication: int) -> list[dict[str, Any]]:
    """Return for every measure how much of what it claims to contain each interval contains."""
    rng = np.random.default_rng((setting.n_centres, setting.n_rows, replication, 1))
    sizes = np.linspace(0.5, 1.5, setting.n_centres) * setting.n_rows
    places = np.repeat(np.arange(setting.n_centres), sizes.round().astype(int))
    X, risk = draw_patients(len(places), N_CANDIDATES, rng)
    centres = rng.normal(size=(setting.n_centres, 2))
    y = (rng.random(len(places)) < _risk(risk, centres[places], setting.spread)).astype(int)
    problem = sl.SubsetProblem(X / 2, y, ridge=RIDGE, max_features=MAX_FEATURES)
    log_odds, truths = np.empty(len(y)), []
    for place, centre in enumerate(centres):
        inside = places == place
        model = sl.solve(problem.with_weights(~inside))
        log_odds[inside] = log_odds_of(problem, model)[inside]
        truths.append(_performance(model, centre, setting.spread))
    found = describe_centres(places.astype(str), y, log_odds, None)
    whole = sl.solve(problem)
    mean = _mean_performance(whole, setting.spread)
    new = [_performance(whole, each, setting.spread) for each in rng.normal(size=(N_NEW, 2))]
    rows = []
    for pooled in found.pooled:
        name = pooled["metric"]
        ends = pooled["prediction_lower"], pooled["prediction_upper"]
        inside_ends = [ends[0] <= each[name] <= ends[1] for each in new]
        rows += [
            _row("mean", name, pooled["lower"] <= mean[name] <= pooled["upper"]),
            _row("new", name, float(np.mean(inside_ends))),
        ]
    for row in found.rows:
        for each in row["measures"]:
            truth = truths[int(row["centre"])][each["metric"]]
            if each["lower"] is not None:
                rows.append(_row("own", each["metric"], each["lower"] <= truth <= each["upper"]))
    return rows


def _row(kind: str, measure: str, covered: float) -> dict[str, Any]:
    return {"kind": kind, "measure": measure, "covered": float(covered)}


def _risk(risk: Any, centres: Any, spread: float) -> Any:
    """Return the risks in centres that differ from the average one in two normal numbers each."""
    shift, bend = np.moveaxis(np.asarray(centres), -1, 0)
    return expit(spread * shift + np.exp(SLOPES * spread * bend) * logit(risk))


def _performance(model: sl.Solution, centre: Any, spread: float) -> dict[str, float]:
    """Return the performance in a centre: each patient has both outcomes, weighted."""
    log_odds, risk = _population(model)
    risk = _risk(risk, centre, spread)
    weights = np.concatenate([risk, 1 - risk])
    return scores(np.repeat([1, 0], len(risk)), np.tile(log_odds, 2), weights)


def _mean_performance(model: sl.Solution, spread: float) -> dict[str, float]:
    """Return the mean over all centres, on the scales of the summary, by Gaussian quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(5)
    weights = weights / weights.sum()
    found: dict[str, float] = dict.fromkeys(COLUMNS, 0.0)
    for a, p in zip(nodes, weights, strict=True):
        for b, q in zip(nodes, weights, strict=True):
            values = _performance(model, (a, b), spread)
            for name in COLUMNS:
                found[name] += p * q * float(SCALES[name].there(values[name]))
    return {name: float(SCALES[name].back(value)) for name, value in found.items()}


def _population(model: sl.Solution) -> tuple[Any, Any]:
    """Return predictions and average risks of patients.

    Predictors are normal, so predicted and true log-odds are jointly normal: their means and
    covariances, from many patients, make evenly spread points.
    """
    X, risk = _MANY
    both = np.stack([X / 2 @ model.coef, logit(risk)])
    root = np.linalg.cholesky(np.cov(both) + 1e-12 * np.eye(2))
    points = both.mean(axis=1)[:, None] + root @ _EVEN.T
    return model.intercept + points[0], expit(points[1])


_MANY = draw_patients(100_000, N_CANDIDATES, np.random.default_rng(12345))
_EVEN = norm.ppf(qmc.Sobol(2, scramble=False).random_base2(9) + 2**-10)


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Return per setting, kind of interval and measure the coverage."""
    keys = ["n_centres", "n_rows", "spread", "replications", "kind", "measure"]
    groups = rows.groupby(keys, sort=False)["covered"]
    return pd.DataFrame({"coverage": groups.mean(), "intervals": groups.size()}).reset_index()


def page_table(table: pd.DataFrame) -> str:
    """Return the table of the page, a line per setting, and which cells are not 93 to 97 %."""
    head = ["centres", "patients each", "spread"]
    head += [f"{name}, {kind}" for kind in KINDS.values() for name in COLUMNS.values()]
    lines, short, n_wide = [], [], 0
    for (k, n, spread, _), part in table.groupby(list(Setting._fields)):
        found = part.set_index(["kind", "measure"])["coverage"]
        cells = [(kind, name, found[kind, name]) for kind in KINDS for name in COLUMNS]
        lines.append([str(k), str(n), f"{spread:g}", *(f"{share:.1%}" for *_, share in cells)])
        n_wide += sum(share > 0.97 for *_, share in cells)
        short += [
            f"{COLUMNS[name]}, {KINDS[kind]} ({k}, {n}, {spread:g}: {share:.1%})"
            for kind, name, share in cells
            if share < 0.93
        ]
    error = 100 * sqrt(0.95 * 0.05 / table["replications"].min())
    return (
        f"{to_markdown(head, lines)}\nMonte-Carlo error of a mean's share of 95 %: at most "
        f"{error:.1f} percentage points. Below 93 % (centres, patients each, spread): "
        f"{', '.join(short) or 'none'}. Above 97 %: {n_wide} of {len(lines) * len(cells)} shares.\n"
    )


if __name__ == "__main__":
    run_command("centres")
