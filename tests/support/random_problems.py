"""Small random problems of every kind, each determined by a seed.

`random_arguments(seed)` draws the arguments of a `SubsetProblem`, and `random_problem(seed)` makes
the problem. All are small enough for enumeration: 2 to 12 predictors, 4 to 80 rows. The seeds mix

- numbers, 0/1 answers, scores with few values, and columns of different scales;
- columns that are duplicated, nearly collinear, constant or zero;
- labels that depend on some columns, on none, or that a plane separates;
- predictors of one column and of several;
- weights: none, of a bootstrap, real, with zeros;
- limits: a number of predictors, a budget, both, or none;
- prices: equal, whole, decimal such as 2.10, irrational, some of them zero;
- fees, disjoint or overlapping; predictors that must or must not be bought.

What a seed draws may change with this file, never between two runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import shortlist as sl
from shortlist.families import FAMILIES

Generator = np.random.Generator


def random_problem(seed: int, loss: str = "logistic") -> sl.SubsetProblem:
    """Return the problem of a seed."""
    arguments = random_arguments(seed)
    return sl.SubsetProblem(**arguments | random_outcomes(seed, arguments, loss))


def random_outcomes(seed: int, arguments: dict[str, Any], loss: str) -> dict[str, Any]:
    """Return the loss and its outcomes: the labels, or what goes with them and with some columns.

    Times come with a rule for ties and often with strata.
    """
    rng, X, labels = np.random.default_rng([seed, 2]), arguments["X"], arguments["y"]
    kind = FAMILIES[loss].outcome
    if kind == "labels":
        return {"loss": loss, "y": labels}
    _, place = np.unique(labels, return_inverse=True)
    scales = np.abs(X).max(axis=0)
    column = X[:, rng.integers(X.shape[1])] / max(float(scales.max()), 1e-300)
    u = rng.normal() * place + rng.normal() * column + rng.choice([0.0, 0.3, 1.0]) * rng.normal(
        size=len(X)
    )  # fmt: skip
    if kind == "counts":
        counts = rng.poisson(np.exp(np.clip(u + rng.choice([-1.0, 1.0, 4.0]), -5, 8)))
        # Never all alike where rows of both labels count.
        return {"loss": loss, "y": counts + place}
    if kind == "times":
        return {"loss": loss} | random_times(rng, u, labels)
    numbers = (u + 2.0 * place).round(rng.choice([1, 15]))
    y = rng.choice([1e-3, 1.0, 100.0]) * numbers + rng.choice([0.0, 10.0, 1e3])
    return {"loss": loss, "y": y}


def random_times(rng: Generator, u: np.ndarray, has_event: np.ndarray) -> dict[str, Any]:
    """Draw times to events, the earlier the larger u; no tie, some, or nearly all tied."""
    time = rng.exponential(np.exp(-np.clip(u, -5, 5)))
    width = rng.choice([0.0, 0.1, 1.0])
    if width:
        time = width * (1.0 + np.floor(time / width))
    arguments = {
        "y": sl.survival(rng.choice([1e-3, 1.0, 365.0]) * (time + 1e-9), has_event),
        "ties": str(rng.choice(["efron", "breslow"])),
    }
    if rng.random() < 0.4:
        arguments["strata"] = rng.integers(0, int(rng.integers(2, 5)), len(u))
    return arguments


def random_arguments(seed: int) -> dict[str, Any]:
    """Draw the keyword arguments of a problem: X, y, ridge and those that the problem needs."""
    rng = np.random.default_rng(seed)
    n_predictors = int(rng.integers(2, 13))
    n_rows = int(rng.integers(4, 81))
    arguments: dict[str, Any] = {"ridge": float(10 ** rng.uniform(-3, 1))}
    n_columns = n_predictors
    if rng.random() < 0.3:
        n_columns += int(rng.integers(0, n_predictors + 1))
        surplus = rng.integers(0, n_predictors, n_columns - n_predictors)
        arguments["groups"] = rng.permutation(np.concatenate([np.arange(n_predictors), surplus]))
    X = random_columns(rng, n_rows, n_columns)
    arguments["y"] = random_labels(rng, X)
    arguments["X"] = X
    weights = random_weights(rng, arguments["y"])
    if weights is not None:
        arguments["sample_weight"] = weights
    arguments.update(random_limits(rng, n_predictors))
    return arguments


def limited_problem(seed: int, loss: str = "logistic") -> sl.SubsetProblem:
    """Return the problem of a seed with limits on its coefficients."""
    arguments = random_arguments(seed)
    arguments |= random_outcomes(seed, arguments, loss)
    n_predictors = 1 + max(arguments.get("groups", [arguments["X"].shape[1] - 1]))
    return sl.SubsetProblem(**arguments, **random_coef_limits(seed, n_predictors))


def random_coef_limits(seed: int, n_predictors: int) -> dict[str, Any]:
    """Draw `max_coefficient`, `signs` or both: loose and tight, for all predictors or some."""
    rng = np.random.default_rng([seed, 1])
    kind = rng.choice(["size", "sign", "both"])
    limits: dict[str, Any] = {}
    if kind != "sign":
        largest = 10 ** rng.uniform(-2, 1.5, n_predictors)
        largest[rng.random(n_predictors) < 0.3] = np.inf
        limits["max_coefficient"] = largest if rng.random() < 0.5 else float(largest.min())
    if kind != "size":
        names = rng.choice(["positive", "negative", ""], n_predictors, p=[0.4, 0.3, 0.3])
        limits["signs"] = [str(name) or None for name in names]
    return limits


def random_columns(rng: Generator, n_rows: int, n_columns: int) -> np.ndarray:
    """Draw a table, some of whose columns depend on others or on nothing."""
    kind = rng.choice(["gaussian", "uniform", "answers", "scores", "scales"])
    if kind == "gaussian":
        X = rng.normal(size=(n_rows, n_columns))
    elif kind == "uniform":
        X = rng.random((n_rows, n_columns))
    elif kind == "answers":
        X = (rng.random((n_rows, n_columns)) < rng.uniform(0.1, 0.9, n_columns)).astype(float)
    elif kind == "scores":
        X = rng.integers(0, 4, (n_rows, n_columns)).astype(float)
    else:
        X = rng.normal(3.0, 1.0, (n_rows, n_columns)) * 10 ** rng.uniform(-2, 2, n_columns)
    if rng.random() < 0.2:
        source, target = rng.integers(0, n_columns, 2)
        X[:, target] = X[:, source]
    if rng.random() < 0.2:
        source, target = rng.integers(0, n_columns, 2)
        noise = 10 ** rng.uniform(-9, -1) * rng.normal(size=n_rows)
        X[:, target] = rng.choice([-1.0, 0.5, 1.0]) * X[:, source] + noise
    if rng.random() < 0.15:
        X[:, rng.integers(n_columns)] = rng.choice([0.0, 1.0, -2.5])
    return X


def random_labels(rng: Generator, X: np.ndarray) -> np.ndarray:
    """Draw labels of two classes, both of which occur."""
    n_rows, n_columns = X.shape
    kind = rng.choice(["logistic", "logistic", "noise", "separable"])
    if kind == "noise":
        score = rng.normal(size=n_rows)
    else:
        theta = rng.normal(size=n_columns) * (rng.random(n_columns) < 0.4)
        score = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9) @ theta
        if kind == "logistic":
            score = score + rng.logistic(scale=rng.choice([0.2, 1.0]), size=n_rows)
    # Where the labels change is drawn too: the smaller class may have a single row.
    rank = np.argsort(np.argsort(score, kind="stable"))
    return rank >= min(max(1, rng.binomial(n_rows, rng.uniform(0.1, 0.9))), n_rows - 1)


def random_weights(rng: Generator, y: np.ndarray) -> np.ndarray | None:
    """Draw weights that leave rows to both classes, or none."""
    n_rows = len(y)
    kind = rng.choice(["none", "none", "bootstrap", "real", "zeros"])
    if kind == "none":
        return None
    if kind == "bootstrap":
        weights = rng.multinomial(n_rows, np.full(n_rows, 1 / n_rows)).astype(float)
    else:
        weights = rng.gamma(1.0, size=n_rows)
        if kind == "zeros":
            weights[rng.random(n_rows) < 0.3] = 0.0
    for label in (False, True):
        if not weights[y == label].any():
            weights[np.flatnonzero(y == label)[0]] = 1.0
    return weights


def random_limits(rng: Generator, n_predictors: int) -> dict[str, Any]:
    """Draw limits, prices, and what must and must not be bought; something is affordable."""
    order = rng.permutation(n_predictors)
    n_include = int(rng.integers(1, 3)) if rng.random() < 0.2 else 0
    n_exclude = int(rng.integers(1, 3)) if rng.random() < 0.2 else 0
    include = order[:n_include].tolist()
    exclude = order[n_include : n_include + n_exclude].tolist()
    limits: dict[str, Any] = {}
    if include:
        limits["include"] = include
    if exclude:
        limits["exclude"] = exclude
    kind = rng.choice(
        ["number", "budget", "budget", "both", "both", "none"], p=[0.2] * 4 + [0.1] * 2
    )
    if kind in ("number", "both"):
        limits["max_features"] = int(rng.integers(max(1, n_include), n_predictors + 1))
    if kind in ("budget", "both"):
        limits.update(random_prices(rng, n_predictors, include))
    return limits


def random_prices(rng: Generator, n_predictors: int, include: list[int]) -> dict[str, Any]:
    """Draw costs, fees and a budget that pays for `include`."""
    kind = rng.choice(["equal", "whole", "decimal", "irrational"])

    def draw(size: int) -> np.ndarray:
        if kind == "equal":
            return np.ones(size)
        if kind == "whole":
            return rng.integers(1, 10, size).astype(float)
        if kind == "decimal":
            return np.round(rng.integers(1, 100, size) * 0.05, 2)
        return np.exp(rng.normal(size=size))

    costs = draw(n_predictors)
    if rng.random() < 0.25:
        costs[rng.random(n_predictors) < 0.3] = 0.0
    fees = []
    if rng.random() < 0.6:
        n_fees = int(rng.integers(1, 4))
        if rng.random() < 0.5:
            parts = np.array_split(rng.permutation(n_predictors), n_fees + 1)[:n_fees]
        else:
            parts = [
                np.flatnonzero(rng.random(n_predictors) < rng.uniform(0.2, 0.8))
                for _ in range(n_fees)
            ]
        fees = [(float(a), p.tolist()) for a, p in zip(draw(n_fees), parts, strict=True)]
    dues = sum(amount for amount, members in fees if set(members) & set(include))
    least = costs[include].sum() + dues
    most = costs.sum() + sum(amount for amount, _ in fees)
    budget = float(least + rng.uniform(0, 0.9) ** 1.5 * (most - least))
    if kind != "irrational":
        budget = float(np.ceil(budget * 20) / 20)
    return {"costs": costs, "budget": budget} | ({"fees": fees} if fees else {})
