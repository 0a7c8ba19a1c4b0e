"""Random charts of points, each determined by a seed, against all the points there are.

`random_chart(seed)` draws few patients, kinds of predictors, limits and a ridge from 1e-6 to 10,
and finds the points. `best_points` fits scale and intercept of every allowed points model, by
Newton steps of its own, and asserts that each has converged.

Run as a script it prints what fails: `python tests/support/many_charts.py 0 6000`.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import shortlist as sl
from shortlist.deployment.bands import make_bands
from shortlist.deployment.chart import PointsChart, band_problem

GAP = 1e-6  # of what counts as proven
_ROUNDING = 1e-9
_MOST = 30_000  # points models of a problem


class Charted(NamedTuple):
    """A problem of bands, its effects by predictor, the most points, and the chart found."""

    problem: sl.SubsetProblem
    effects: list[Any]
    most: int
    chart: PointsChart


def random_chart(seed: int, time_limit: float = 10.0) -> Charted:
    """Draw patients and limits, and find the points."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 90))
    table, score = pd.DataFrame(index=range(n)), np.zeros(n)
    steepness = float(rng.choice([0.3, 3.0, 30.0]))  # the last separates almost all patients
    for name in "abc"[: rng.integers(1, 4)]:
        kind = rng.choice(["yes or no", "number", "level"])
        values = rng.integers(0, 2 if kind == "yes or no" else 3, n)
        score += steepness * rng.integers(-6, 7) * values
        table[name] = np.array(["x", "y", "z"])[values] if kind == "level" else values
    cut = np.quantile(score, rng.uniform(0.1, 0.9)) - rng.choice([0, 0.5]) * steepness
    y = (score + rng.logistic(size=n) > cut).astype(int)
    y[:2] = 0, 1
    ridge = float(10.0 ** rng.uniform(-6, 1))
    limits: dict[str, Any] = {}
    if rng.random() < 0.3:
        limits["max_features"] = int(rng.integers(1, 3))
    if rng.random() < 0.3:
        limits |= {"budget": 4, "costs": {name: int(rng.integers(1, 4)) for name in table}}
    if rng.random() < 0.2:
        limits["signs"] = {"a": str(rng.choice(["positive", "negative"]))}
    if rng.random() < 0.2:
        limits["max_coefficient"] = float(10.0 ** rng.uniform(-1, 1))
    model = sl.PrognosticModel(ridge=ridge, **limits)
    plain = model.check(table, y)
    banded = make_bands(plain, 3, False)
    most = int(rng.integers(1, 7))
    n_columns = sum(item.effects.shape[1] for item in banded)
    while most > 1 and (2 * most + 1) ** n_columns > _MOST:
        most -= 1
    chart = sl.points(model, table, y, max_points=most, n_bands=3, time_limit=time_limit)
    problem = band_problem(model, plain, banded, ridge)
    return Charted(problem, [item.effects for item in banded], most, chart)


def best_points(charted: Charted) -> tuple[float, list[int]]:
    """Return the best objective of all affordable points models, and its points."""
    problem, limits = charted.problem, charted.problem.limits
    best, where = np.inf, [0] * problem.n_columns
    for size in range(len(charted.effects) + 1):
        for support in combinations(range(len(charted.effects)), size):
            if not limits.is_affordable(support):
                continue
            columns = problem.columns_of(support)
            choices = []
            for g in support:
                steps = product(
                    range(-charted.most, charted.most + 1), repeat=charted.effects[g].shape[1]
                )
                choices.append(
                    [p for p in steps if np.ptp(charted.effects[g] @ np.array(p)) <= charted.most]
                )
            rows = [[c for part in parts for c in part] for parts in product(*choices)]
            points = np.array(rows, dtype=np.int64).reshape(len(rows), len(columns))
            wrong = (points < 0) & (limits.lower[columns] == 0)
            wrong |= (points > 0) & (limits.upper[columns] == 0)
            # Points with a common divisor are those of the quotient with another scale.
            points = points[~wrong.any(axis=1) & (np.gcd.reduce(points, axis=1) <= 1)]
            with np.errstate(divide="ignore", invalid="ignore"):
                ends = np.where(points > 0, limits.upper[columns], -limits.lower[columns])
                caps = np.where(points == 0, np.inf, ends / np.abs(points)).min(
                    axis=1, initial=np.inf
                )
            values = _refitted(problem, columns, points, caps)
            if values.min() < best:
                best = float(values.min())
                where = np.zeros(problem.n_columns, np.int64)
                where[columns] = points[values.argmin()]
                where = where.tolist()
    return best, where


def _refitted(problem: sl.SubsetProblem, columns: Any, points: Any, caps: Any) -> Any:
    """Return the objective of each row of points, scale and intercept fitted by Newton steps.

    The variable is the scale times the length of the points, so that all have the same ridge.
    """
    rows = np.column_stack([problem.X[:, columns], problem.response.values])
    rows, place = np.unique(rows, axis=0, return_inverse=True)
    w, y = np.bincount(place.ravel(), weights=problem.weights), rows[:, -1]
    length = np.maximum(np.sqrt((points**2).sum(axis=1)), 1e-300)[:, np.newaxis]
    totals, caps = (
        points @ rows[:, :-1].T / np.maximum(length, 1),
        caps * np.maximum(length[:, 0], 1),
    )
    ridge = problem.ridge * (points != 0).any(axis=1)
    s = np.zeros(len(points))
    b = np.full(len(points), np.log(w[y > 0].sum() / w[y < 0].sum()))

    def value(s: Any, b: Any) -> Any:
        margins = y * (s[:, np.newaxis] * totals + b[:, np.newaxis])
        return np.logaddexp(0, -margins) @ w + ridge / 2 * s**2

    now, open_ = value(s, b), np.full(len(points), True)
    for _ in range(500):
        chance = 1 / (1 + np.exp(-(s[:, np.newaxis] * totals + b[:, np.newaxis])))
        slack, curve = w * (chance - (y > 0)), w * chance * (1 - chance) + 1e-300
        gs, gb = (slack * totals).sum(axis=1) + ridge * s, slack.sum(axis=1)
        hss, hsb, hbb = (
            (curve * totals**2).sum(axis=1) + ridge + 1e-14,
            (curve * totals).sum(axis=1),
            curve.sum(axis=1) + 1e-14,
        )
        det = np.maximum(hss * hbb - hsb**2, 1e-14 * hss * hbb)
        ds = -(hbb * gs - hsb * gb) / det
        ds = np.clip(s + ds, 0, caps) - s
        db = -(gb + hsb * ds) / hbb
        decrement = -(gs * ds + gb * db)
        open_ = decrement > 1e-11 * now
        if not open_.any():
            break
        share = np.where(open_, 1.0, 0.0)
        for _ in range(60):
            ahead = value(s + share * ds, b + share * db)
            worse = ahead > now * (1 + 1e-15)
            if not worse.any():
                break
            share[worse] /= 2
        s, b, now = s + share * ds, b + share * db, np.minimum(ahead, now)
    assert not open_.any(), "a reference fit has not converged"
    return now


def failure(charted: Charted) -> str | None:
    """Return what is wrong about a chart, None if nothing is."""
    best, where = best_points(charted)
    search = charted.chart.search
    if search.is_proven and search.objective > best * (1 + 2 * GAP):
        return f"proven with {search.objective:.7g}, but {where} have {best:.7g}"
    if search.points_bound > best * (1 + GAP * 1e-3):
        return f"a bound of {search.points_bound:.9g}, but {where} have {best:.9g}"
    if search.objective < best * (1 - _ROUNDING):
        return f"an objective of {search.objective:.9g}, but the best is {best:.9g}"
    return None


def main(first: int, last: int) -> None:
    """Print what fails."""
    warnings.simplefilter("ignore")
    counts: Counter[str] = Counter()
    for seed in range(first, last):
        charted = random_chart(seed)
        wrong = failure(charted)
        counts["wrong" if wrong else "right"] += 1
        counts["proven"] += charted.chart.search.is_proven
        if wrong:
            rows, ridge = charted.problem.n_rows, charted.problem.ridge
            print(f"seed {seed}, {rows} rows, ridge {ridge:.2g}: {wrong}", flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
