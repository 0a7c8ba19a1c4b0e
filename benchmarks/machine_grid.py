"""The paper's grid with the losses of support vector machines, against one LinearSVC fit."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from statistics import median
from time import process_time

import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

import shortlist as sl

from .grid import RIDGES, geometric_mean, limits_of
from .measure import CpuShare, Row, outcome
from .peers.backend import solve_within
from .settings import Settings
from .table import Summary, format_seconds

TITLE = "The paper's grid with support vector machines"
TIME_LIMIT = 2.0
ABOUT = (
    "The problems of the paper's grid with the squared hinge and with the hinge. The ratio is "
    "the CPU time to make and solve the problem to a gap of 1e-6, in at most "
    f"{TIME_LIMIT:g} s, over that of one `LinearSVC(loss=loss, C=1/ridge).fit` on all columns, "
    "which penalises its intercept and stops after 1000 iterations, converged or not. Ratios are "
    "those of the problems that were proven."
)
FAMILIES = ("squared_hinge", "hinge")
_REPEATS, _LONG = 3, 0.5


def run(settings: Settings) -> Iterator[Row]:
    """Solve the problems of the grid with each loss; with `quick`, at the strongest ridge alone."""
    limit = settings.time_limit(TIME_LIMIT)
    for loss in FAMILIES:
        for data in sl.datasets.paper_datasets(n_informative=5, random_state=settings.seeds[0]):
            X = data.X.to_numpy()
            for name, arguments in limits_of(data).items():
                for ridge in RIDGES[:1] if settings.quick else RIDGES:
                    facts = {
                        "loss": loss,
                        "rows": X.shape[0],
                        "columns": X.shape[1],
                        "label_noise": data.parameters["label_noise"],
                        "limit": name,
                        "ridge": ridge,
                        "time_limit": limit,
                    }
                    posed = {"ridge": ridge, "loss": loss, **arguments}
                    done = settings.resume(facts)
                    yield from done or [facts | _measure(X, data.y, posed, limit)]


def _measure(X: object, y: object, posed: dict[str, object], limit: float) -> Row:
    seconds: list[float] = []
    fits: list[float] = []
    share = CpuShare()
    while len(seconds) < _REPEATS and max(seconds, default=0.0) < _LONG:
        started = process_time()
        problem = sl.SubsetProblem(X, y, **posed)  # type: ignore[arg-type]
        solution, status = solve_within(problem, "native", limit)
        seconds.append(process_time() - started)
        machine = LinearSVC(loss=problem.family.name, C=1 / problem.ridge, random_state=0)
        started = process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            machine.fit(X, y)
        fits.append(process_time() - started)
    return {
        **outcome(solution),
        "status": status,
        "seconds": median(seconds),
        "sklearn_seconds": median(fits),
        "sklearn_converged": int(machine.n_iter_) < machine.max_iter,
        "ratio": median(seconds) / median(fits),
        "cpu_share": share.read(),
    }


def summarise(frame: pd.DataFrame) -> Summary:
    """Return a line for each loss and size, and one for each loss as a whole."""
    lines = [
        _line(f"{loss}, {n_rows} x {n_columns}", part)
        for (loss, n_rows, n_columns), part in frame.groupby(
            ["loss", "rows", "columns"], sort=False
        )
    ]
    lines += [_line(f"{loss}, all", part) for loss, part in frame.groupby("loss", sort=False)]
    converged = frame.groupby("loss", sort=False)["sklearn_converged"].mean()
    return Summary(
        header=["data", "proven", "median time", "mean ratio", "max ratio", "largest gap"],
        lines=lines,
        notes=[
            "Means of ratios are geometric. LinearSVC converged on "
            + ", ".join(f"{share:.0%} ({loss})" for loss, share in converged.items())
            + " of the problems."
        ],
    )


def _line(name: str, part: pd.DataFrame) -> list[str]:
    proven = part[part["status"] == "optimal"]
    if proven.empty:
        return [name, f"0 of {len(part)}", "", "", "", f"{part['gap'].max():.1e}"]
    return [
        name,
        f"{len(proven)} of {len(part)}",
        format_seconds(float(part["seconds"].median())),
        f"{geometric_mean(proven['ratio']):.2f}",
        f"{proven['ratio'].max():.2f}",
        f"{part['gap'].max():.1e}",
    ]
