"""Cox regression: tables with times to events, made ones, and how often heuristics miss."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, scale

import shortlist as sl

from .measure import Row, interleave, outcome
from .sample import draw, true_predictors
from .settings import Settings, SkippedError
from .table import Summary, format_seconds

TITLE = "Cox regression"
ABOUT = (
    "Tables from the wheels of scikit-survival, lifelines and SurvSet, complete rows, standardised "
    "columns: as they are, with a cubic spline of four knots for each number (bought whole), and "
    "with all products and squares. Ties are Efron's. The ratio is to one fit of scikit-survival's "
    "`CoxPHSurvivalAnalysis` on all columns with the same ridge; the check is that of the proof, "
    "relative to its search. A solve gets 30 s. The gap is in log-likelihood units."
)
TABLE_SECONDS, CORRELATED_SECONDS = 30.0, 60.0
RIDGES = (0.01, 0.1, 1.0)
SIZES = (3, 5, 8)
BUDGET = 10
Float = NDArray[np.float64]
Table = tuple[pd.DataFrame, NDArray[Any]]


def _resource(package: str, *parts: str) -> Path:
    """Return a file of an installed package, which need not be importable."""
    found = find_spec(package)
    if found is None or found.origin is None:
        raise SkippedError(
            "This needs `pip install scikit-survival abess` and, for their data alone, "
            "`pip install --no-deps lifelines SurvSet`."
        )
    return Path(found.origin).parent.joinpath(*parts)


def tables() -> Iterator[tuple[str, Table]]:
    """Yield the name, the columns and the outcomes of each table."""
    _resource("sksurv")
    from sksurv import datasets  # in the extra `test`

    for name in ("gbsg2", "whas500", "veterans_lung_cancer", "aids", "breast_cancer", "flchain"):
        X, y = getattr(datasets, f"load_{name}")()
        if name == "flchain":  # missing for one patient in six
            X = X.drop(columns=["chapter", "creatinine"])
        event, time = y.dtype.names
        yield name.partition("_")[0], _complete(X, y[time], y[event])
    rossi = pd.read_csv(_resource("lifelines", "datasets", "rossi.csv"))
    yield "rossi", _complete(rossi.drop(columns=["week", "arrest"]), rossi.week, rossi.arrest)
    lung = pd.read_csv(_resource("lifelines", "datasets", "lung.csv")).dropna()
    yield "lung", _complete(lung.drop(columns=["time", "status"]), lung.time, lung.status)
    pbc = pd.read_pickle(_resource("SurvSet", "resources", "pickles", "pbc.pickle"))
    yield "pbc", _complete(pbc.drop(columns=["pid", "time", "event"]), pbc.time, pbc.event)


def _complete(X: pd.DataFrame, time: Any, event: Any) -> Table:
    """Return dummies of complete rows, standardised, and their outcomes."""
    columns = pd.get_dummies(X, drop_first=True).astype(float)
    time, event = np.asarray(time, float), np.asarray(event).astype(int)
    used = columns.notna().all(axis=1).to_numpy() & (time > 0)
    columns = columns[used].loc[:, columns[used].std() > 0]
    return (columns - columns.mean()) / columns.std(ddof=0), sl.survival(time[used], event[used])


def _products(X: Float) -> Float:
    """Return columns with their squares and products, each once."""
    made = PolynomialFeatures(2, include_bias=False).fit_transform(X).round(12)
    _, first = np.unique(made, axis=1, return_index=True)
    made = made[:, np.sort(first)]
    return np.asarray(scale(made[:, made.std(axis=0) > 1e-9]))


def _splines(X: Float) -> tuple[Float, list[int]]:
    """Return columns, splines of those with more than ten values, and which predictor owns each."""
    parts, groups = [], []
    for g, column in enumerate(X.T):
        if len(np.unique(column)) > 10:
            made = SplineTransformer(n_knots=4, include_bias=False).fit_transform(column[:, None])
        else:
            made = column[:, None]
        made = made[:, made.std(axis=0) > 1e-9]
        parts.append(made)
        groups += [g] * made.shape[1]
    return np.asarray(scale(np.column_stack(parts))), groups


class Posed(NamedTuple):
    """A problem, and the facts that tell it from the others."""

    facts: Row
    make: Callable[[], sl.SubsetProblem]


def posed() -> Iterator[Posed]:
    """Yield all problems on tables."""
    for name, (frame, y) in tables():
        X = frame.to_numpy()
        costs = np.random.default_rng(0).integers(1, 11, X.shape[1])
        for ridge in RIDGES:
            for size in SIZES:
                facts = {"data": name, "form": "columns", "ridge": ridge, "limit": f"{size}"}
                yield Posed(facts, partial(_cox, X, y, ridge, max_features=size))
            facts = {"data": name, "form": "columns", "ridge": ridge, "limit": f"budget {BUDGET}"}
            yield Posed(facts, partial(_cox, X, y, ridge, costs=costs, budget=BUDGET))
        if name == "breast":
            facts = {"data": name, "form": "columns", "ridge": 0.1, "limit": "6"}
            yield Posed(facts, partial(_cox, X, y, 0.1, max_features=6))
            continue
        made, groups = _splines(X)
        facts = {"data": name, "form": "splines", "ridge": 1.0, "limit": "5"}
        yield Posed(facts, partial(_cox, made, y, 1.0, max_features=5, groups=groups))
        if len(X) < 5000:
            facts = {"data": name, "form": "products", "ridge": 1.0, "limit": "5"}
            yield Posed(facts, partial(_cox, _products(X), y, 1.0, max_features=5))
    for share in (0.69, 0.12):
        X, y = draw_times(1000, 300, 10, 0.5, share)
        facts = {
            "data": f"{share:.0%} events",
            "form": "made, r = 0.5",
            "ridge": 1.0,
            "limit": "10",
        }
        yield Posed(facts, partial(_cox, X, y, 1.0, max_features=10))


def _cox(X: Float, y: NDArray[Any], ridge: float, **limits: Any) -> sl.SubsetProblem:
    return sl.SubsetProblem(X, y, ridge=ridge, loss="cox", **limits)


def draw_times(n: int, p: int, k: int, correlation: float, events: float) -> tuple[Float, Any]:
    """Draw exponential times whose hazard depends on k columns, censored to a share of events."""
    X, _ = draw(n, p, k, correlation=correlation)
    rng = np.random.default_rng([0, 1])
    time = rng.exponential(np.exp(-X[:, true_predictors(p, k)].sum(axis=1)))
    censored = rng.exponential(size=n)
    censored *= np.quantile(time / censored, events)
    return X, sl.survival(np.minimum(time, censored), time <= censored)


def draw_correlated(n: int, random_state: int, k: int = 15) -> tuple[Float, Any, list[int]]:
    """Draw an instance in the manner of FastSurvival: as many columns as rows, correlation 0.9.

    Times are (-log V / exp(u))^0.1; half of the rows are censored.
    """
    X, _ = draw(n, n, k, random_state, 0.9)
    rng, true = np.random.default_rng([random_state, 1]), true_predictors(n, k)
    time = (-np.log(rng.random(n)) / np.exp(X[:, true].sum(axis=1))) ** 0.1
    censored = rng.permutation(time) * rng.uniform(0.8, 1.3, n)
    return X, sl.survival(np.minimum(time, censored), time <= censored), true.tolist()


def run(settings: Settings) -> Iterator[Row]:
    """Solve the tables, then the correlated instances, then count what heuristics miss."""
    for i, (facts, make) in enumerate(posed()):
        if not settings.quick or i % 20 == 0:
            facts = {"part": "tables"} | facts
            yield from settings.resume(facts) or [facts | _measure(settings, make)]
    for n in (300,) if settings.quick else (300, 600, 1200):
        facts = {"part": "correlated", "rows": n}
        yield from settings.resume(facts) or [facts | _compare(settings, n)]
    yield from _misses(2 if settings.quick else 40)


def _measure(settings: Settings, make: Callable[[], sl.SubsetProblem]) -> Row:
    from sksurv.linear_model import CoxPHSurvivalAnalysis

    solutions: list[sl.Solution] = []
    limit, problem = settings.time_limit(TABLE_SECONDS), make()
    y = sl.survival(problem.response.values, problem.response.events)

    def solve() -> None:
        solutions.append(sl.solve(make(), time_limit=limit, threads=1))

    def fit() -> None:
        CoxPHSurvivalAnalysis(alpha=problem.ridge, ties="efron", n_iter=1000).fit(problem.X, y)

    started = process_time()
    solve()
    is_long = process_time() - started > 2.0
    seconds, cpu_share = interleave(
        {"solve": solve, "fit": fit} if not is_long else {"fit": fit}, settings.repeats(3)
    )
    solution = solutions[-1]
    taken = solution.seconds if is_long else float(np.median(seconds["solve"]))
    # The proof of a search that reached its limit is as long as that, and shows no optimum.
    certificate = solution.certificate if solution.status is sl.Status.OPTIMAL else None
    if certificate is not None and not is_long:
        sl.verify(problem, certificate)  # to warm up
    started = process_time()
    is_valid = certificate is not None and sl.verify(problem, certificate).valid
    return {
        "rows": problem.n_rows,
        "columns": problem.n_columns,
        "events": int(y["event"].sum()),
        **outcome(solution),
        "gap": solution.objective - solution.lower_bound,
        "seconds": taken,
        "ratio": taken / float(np.median(seconds["fit"])),
        "check": (process_time() - started) / taken if is_valid else float("nan"),
        "valid": is_valid,
        "cpu_share": cpu_share,
    }


def _compare(settings: Settings, n: int) -> Row:
    X, y, true = draw_correlated(n, 0)
    problem, limit = _cox(X, y, 1.0, max_features=15), settings.time_limit(CORRELATED_SECONDS)
    best: list[tuple[float, float]] = []  # objective and seconds of each new incumbent

    def note(progress: sl.Progress) -> None:
        if not best or progress.objective < best[-1][0] - 1e-9:
            best.append((progress.objective, progress.seconds))

    solution = sl.solve(problem, time_limit=limit, threads=1, callback=note)
    others = {name: sl.solve(problem, name).objective for name in ("forward", "swap")}
    others |= {f"abess_{alpha:g}": _refit(problem, _abess(problem, alpha)) for alpha in (0.0, 0.5)}
    others["true"] = _refit(problem, true)
    return {
        "data": f"n = p = {n}",
        "columns": n,
        "events": int(problem.response.events.sum()),
        "ridge": 1.0,
        "limit": "15",
        **outcome(solution),
        "gap": solution.objective - solution.lower_bound,
        "seconds": solution.seconds,
        "seconds_to_best": best[-1][1] if best else 0.0,
        **{name: objective - solution.objective for name, objective in others.items()},
    }


def _abess(problem: sl.SubsetProblem, alpha: float) -> list[int]:
    """Return the support of abess, whose penalty is alpha times the squared length."""
    from abess import CoxPHSurvivalAnalysis  # extra `bench`

    model = CoxPHSurvivalAnalysis(support_size=problem.limits.max_features, alpha=alpha)
    response = problem.response
    model.fit(problem.X, np.column_stack([response.values, response.events]))
    return [int(n) for n in np.flatnonzero(model.coef_)]


def _refit(problem: sl.SubsetProblem, support: list[int]) -> float:
    rest = sorted(set(range(problem.n_columns)).difference(support))
    return sl.solve(problem.with_limits(include=support, exclude=rest)).objective


def _misses(n_samples: int) -> Iterator[Row]:
    """Yield a line for each table: on how many subsamples of four fifths each rule is worse."""
    known = dict(tables())
    for name, form in (("breast", "columns"), ("gbsg2", "products")):
        frame, y = known[name]
        X = frame.to_numpy() if form == "columns" else _products(frame.to_numpy())
        counts = dict.fromkeys(("forward", "swap", "abess_0", "abess_0.5"), 0)
        for seed in range(n_samples):
            rows = np.random.default_rng(seed).permutation(len(X))[: len(X) * 4 // 5]
            part = X[np.sort(rows)]
            part = scale(part[:, part.std(axis=0) > 1e-9])
            problem = _cox(part, y[np.sort(rows)], 1.0, max_features=5)
            best = sl.solve(problem, threads=1).objective
            worse = {rule: sl.solve(problem, rule).objective for rule in ("forward", "swap")}
            for alpha in (0.0, 0.5):
                worse[f"abess_{alpha:g}"] = _refit(problem, _abess(problem, alpha))
            for rule, objective in worse.items():
                counts[rule] += objective > best + 1e-6 * problem.scale.unit
        yield {
            "part": "misses", "data": name, "form": form, "ridge": 1.0, "limit": "5",
            "samples": n_samples, **counts,
        }  # fmt: skip


def summarise(frame: pd.DataFrame) -> Summary:
    """Return a line for each table and ridge; what is beside the tables goes into notes."""
    lines = []
    tables_part = frame[frame["part"] == "tables"]
    for (data, form, ridge), part in tables_part.groupby(["data", "form", "ridge"], sort=False):
        lines.append(
            [
                f"{data}, {form}, {part['rows'].iloc[0]:.0f} x {part['columns'].iloc[0]:.0f}",
                f"{ridge:g}",
                f"{(part['status'] == 'optimal').sum()} of {len(part)}",
                format_seconds(float(part["seconds"].max())),
                f"{part['ratio'].max():.2g}",
                f"{part['nodes'].max():.0f}",
                f"{part['gap'].max():.2g}",
                f"{part['check'].max():.2g}" if part["valid"].any() else "",
            ]
        )
    notes = [
        f"{row.data}: {row.gap:.0f} open after {row.seconds:.0f} s; the best model came after "
        f"{row.seconds_to_best:.2g} s. Above it: the true predictors {row.true:z.1f}, forward "
        f"{row.forward:z.1f}, swaps {row.swap:z.1f}, abess {row.abess_0:z.1f}, or with the ridge "
        f"{row.abess_half:z.1f}."
        for row in frame[frame["part"] == "correlated"]
        .rename(columns={"abess_0.5": "abess_half"})
        .itertuples()
    ]
    notes += [
        f"Of {row.samples:.0f} subsamples of {row.data} ({row.form}, 5 predictors, ridge 1) "
        f"forward selection misses the best selection of {row.forward:.0f}, with exchanges of "
        f"{row.swap:.0f}, abess of {row.abess_0:.0f}, and with the ridge of {row.abess_half:.0f}."
        for row in frame[frame["part"] == "misses"]
        .rename(columns={"abess_0.5": "abess_half"})
        .itertuples()
    ]
    header = ["data", "ridge", "proven", "max time", "max ratio", "max nodes", "max gap", "check"]
    return Summary(header=header, lines=lines, notes=notes)
