"""Numbers and counts: least squares and Poisson regression, with the gap of the root and abess."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes
from sklearn.linear_model import PoissonRegressor, Ridge
from sklearn.preprocessing import PolynomialFeatures, scale

import shortlist as sl
from shortlist.native.core import core, prepare

from .measure import Row, interleave, outcome
from .settings import Settings
from .table import Summary, format_seconds

TITLE = "Numbers and counts"
ABOUT = (
    "The diabetes data of scikit-learn, 442 x 10, standardised, alone and with all products and "
    "squares of columns; the counts are the outcome in units of 25, rounded. The ratio is to one "
    "fit of scikit-learn's `Ridge` or `PoissonRegressor` on all columns. The gap of the root is "
    "the share of what the best model gains over none that the first relaxation leaves open."
)
TIME_LIMIT = 60.0
SIZES = (3, 5, 8)
RIDGES = (1.0, 10.0)
Float = NDArray[np.float64]


def tables() -> Iterator[tuple[str, Float, Float, str]]:
    """Yield name, columns, outcomes and loss of each table."""
    X, y = load_diabetes(return_X_y=True, scaled=False)
    X = scale(X)
    products = PolynomialFeatures(2, include_bias=False).fit_transform(X)
    for loss, values in (("squared_error", y), ("poisson", np.round(y / 25))):
        yield "diabetes", X, values, loss
        yield "diabetes, products", scale(products), values, loss


def run(settings: Settings) -> Iterator[Row]:
    """Solve every table with every size at every ridge."""
    for name, X, y, loss in tables():
        for ridge in RIDGES:
            for size in SIZES[:1] if settings.quick else SIZES:
                problem = sl.SubsetProblem(X, y, ridge=ridge, max_features=size, loss=loss)
                limit = settings.time_limit(TIME_LIMIT)
                facts = {"data": name, "rows": len(X), "columns": X.shape[1], "loss": loss}
                facts |= {"ridge": ridge, "max_features": size}
                yield facts | _measure(problem, settings.repeats(3), limit)


def _measure(problem: sl.SubsetProblem, repeats: int, limit: float | None) -> Row:
    solutions: list[sl.Solution] = []
    X, y, ridge = problem.X, problem.response.values, problem.ridge

    def solve() -> None:
        posed = sl.SubsetProblem(
            X, y, ridge=ridge, max_features=problem.limits.max_features, loss=problem.family.name
        )
        solutions.append(sl.solve(posed, time_limit=limit, threads=1))

    def fit() -> None:
        numbers = problem.response.kind == "numbers"
        (Ridge(ridge) if numbers else PoissonRegressor(alpha=ridge / len(X), max_iter=1000)).fit(
            X, y
        )

    seconds, cpu_share = interleave({"solve": solve, "fit": fit}, repeats)
    solution, prepared = solutions[-1], prepare(problem)
    lower, _, _ = core.relax_root(prepared.problem, prepared.limits)
    gain = prepared.problem.null_objective - solution.objective
    support = _abess_support(problem)
    rest = sorted(set(range(problem.n_columns)).difference(support))
    theirs = sl.solve(problem.with_limits(include=support, exclude=rest)).objective
    return {
        **outcome(solution),
        "repeats": repeats,
        "seconds": float(np.median(seconds["solve"])),
        "ratio": float(np.median(seconds["solve"]) / np.median(seconds["fit"])),
        "root_gap": (solution.objective - lower) / gain,
        "valid": sl.verify(problem, solution.certificate).valid,
        "abess_above": theirs / solution.objective - 1,
        "cpu_share": cpu_share,
    }


def _abess_support(problem: sl.SubsetProblem) -> list[int]:
    from abess import LinearRegression, PoissonRegression  # extra `bench`

    is_linear = problem.response.kind == "numbers"
    model = (LinearRegression if is_linear else PoissonRegression)(
        support_size=problem.limits.max_features
    )
    model.fit(problem.X, problem.response.values)
    return [int(n) for n in np.flatnonzero(model.coef_)]


def summarise(frame: pd.DataFrame) -> Summary:
    """Return a line for each table and ridge."""
    lines = []
    for (loss, data, ridge), part in frame.groupby(["loss", "data", "ridge"], sort=False):
        n_proven = (part["status"] == "optimal").sum()
        lines.append(
            [
                f"{loss}, {data}, ridge {ridge:g}",
                ", ".join(map(str, part["max_features"])),
                f"{n_proven} of {len(part)}",
                ", ".join(format_seconds(seconds) for seconds in part["seconds"]),
                f"{part['ratio'].max():.3g}",
                ", ".join(map(str, part["nodes"])),
                ", ".join(f"{gap:.1%}" for gap in part["root_gap"]),
                f"{part['abess_above'].max():.1%}",
            ]
        )
    header = ["data", "at most", "proven", "times", "max ratio", "nodes", "root gap"]
    return Summary(header=[*header, "abess above, at most"], lines=lines)
