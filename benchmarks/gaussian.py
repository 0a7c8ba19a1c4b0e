"""How far it reaches: hundreds and thousands of correlated columns, within a time limit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import NamedTuple

import pandas as pd

import shortlist as sl

from .measure import CpuShare, Row, outcome
from .sample import CORRELATION, draw, draw_published
from .settings import Settings
from .table import Summary, format_seconds

TITLE = "Many correlated columns"
ABOUT = (
    "Gaussian features with correlation r^|i-j| between columns i and j, labels of a logistic "
    "model with 10 equally spaced predictors of coefficient 1, at most 10 to select, one solve. "
    "With as many rows as columns they are the instances of Liu and Lodi (2026), who have no "
    "intercept: at r = 0.9, ridge 2 and coefficients of at most 2 in size an A100 proves theirs "
    "of 500 columns in 4348 s and of 16 000 in 101 s."
)
N_TRUE = 10
SECONDS = 60.0
SIZES = (500, 1000, 2000, 4000, 8000, 16_000)


class Case(NamedTuple):
    """A problem, and the CPU seconds that it gets."""

    rows: int
    columns: int
    correlation: float
    ridge: float
    max_coefficient: float | None
    seconds: float = SECONDS

    def draw(self) -> tuple[object, object]:
        """Return features and labels."""
        if self.rows == self.columns and self.ridge == 2.0:
            return draw_published(self.columns, self.correlation, N_TRUE)
        return draw(self.rows, self.columns, N_TRUE, correlation=self.correlation)


CASES = (
    Case(1000, 300, CORRELATION, 1.0, None),
    Case(1000, 1000, CORRELATION, 1.0, None),
    *(Case(n, n, 0.9, 2.0, 2.0) for n in SIZES),
    *(Case(n, n, 0.5, 2.0, None) for n in SIZES),
)
LONG_CASES = (Case(500, 500, 0.9, 2.0, 2.0, 1800.0),)  # of a full run


def run(settings: Settings) -> Iterator[Row]:
    """Solve each case once; with `quick`, the smallest alone."""
    cases = CASES[:1] if settings.quick else CASES + LONG_CASES * settings.full
    for case in cases:
        facts = case._asdict() | {
            "max_features": N_TRUE,
            "time_limit": settings.time_limit(case.seconds),
        }
        del facts["seconds"]
        is_checked = case in LONG_CASES
        yield from settings.resume(facts) or [facts | _solve(case, facts["time_limit"], is_checked)]


def _solve(case: Case, seconds: float, is_checked: bool) -> Row:
    X, y = case.draw()
    share, started = CpuShare(), process_time()
    problem = sl.SubsetProblem(
        X, y, ridge=case.ridge, max_features=N_TRUE, max_coefficient=case.max_coefficient
    )
    solution = sl.solve(problem, time_limit=seconds, threads=1)
    taken = process_time() - started
    return {
        **outcome(solution),
        "repeats": 1,
        "seconds": taken,
        **(_check(problem, solution) if is_checked else {}),
        "cpu_share": share.read(),
    }


def _check(problem: sl.SubsetProblem, solution: sl.Solution) -> Row:
    """Write a proof to a file, read and check it; return its size, and how long that took."""
    started = process_time()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "proof.npz"
        assert solution.certificate is not None
        solution.certificate.save(path)
        verdict = sl.verify(problem, sl.Certificate.load(path))
        size = path.stat().st_size
    return {
        "proof_bytes": size,
        "proof_valid": verdict.valid,
        "proof_gap": verdict.gap,
        "check_seconds": process_time() - started,
    }


def summarise(frame: pd.DataFrame) -> Summary:
    """Return a line for each case."""
    return Summary(
        header=["data", "limit", "time", "nodes", "gap"],
        lines=[
            [
                name_of(row),
                f"{row['time_limit']:g} s",
                format_seconds(row["seconds"]) if row["status"] == "optimal" else "not proven",
                str(row["nodes"]),
                f"{row['gap']:.1e}",
            ]
            for row in frame.to_dict("records")
        ],
        notes=[
            f"The proof of {name_of(row)} takes {row['proof_bytes'] / 1e9:.2f} GB as `.npz`; to "
            f"write, read and check it took {row['check_seconds']:.0f} s, "
            f"{row['check_seconds'] / row['seconds']:.1f} times its search. It is "
            f"{'valid' if row['proof_valid'] else 'not valid'}, with a rigorous gap of "
            f"{row['proof_gap']:.1e}."
            for row in frame.to_dict("records")
            if row.get("proof_bytes", 0) > 0
        ],
    )


def name_of(row: Row) -> str:
    """Return the size, the correlation, the ridge, and the limit on coefficients if any."""
    limit = row["max_coefficient"]
    limited = "" if pd.isna(limit) else f", coefficients at most {limit:g}"
    size = f"{row['rows']} x {row['columns']}"
    return f"{size}, r = {row['correlation']:g}, ridge {row['ridge']:g}{limited}"
