"""Comparison of a study with the numbers and claims of the paper.

The seeds of the paper's data sets are unknown, so its results are one draw of many. A number is
"outside" if, were it a draw like ours, it would be among the 2.5 % lowest or highest of all, its
own included, and else "inside". That takes 39 draws; with fewer there is no verdict. A claim is
"usual" if it holds for half of our draws or more, "rare" if a draw for which it holds has at most a
probability of 5 %, the paper's included, and else it "depends" on the draw.

The Parkinson data are given. There the accuracy has a spread over splits into folds, the ends of
its interval have one over draws of the resamples, and claims are true or not.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np
import pandas as pd

from .draws import OURS, READINGS, Draws, Float
from .paper import STATEMENTS, Statement
from .parkinson import Findings, read_findings
from .tables import read_summary

MIN_DRAWS = 39
INSIDE, OUTSIDE, USUAL, DEPENDS, RARE = ("inside", "outside", "usual", "depends", "rare")
TRUE, FALSE, FEW_DRAWS, NOT_RUN = "true here", "false here", "few draws", "not run"
_CENTRAL_SHARE = 0.95
_QUANTILE_NAMES = ("lower", "lower_quartile", "median", "upper_quartile", "upper")
_COLUMNS = (
    *("place", "kind", "key", "meaning", "paper", "paper_low", "paper_high", "ours", "n_draws"),
    *(*_QUANTILE_NAMES, "percentile", "share", "verdict"),
    *(f"{name}_{other}" for other in READINGS for name in ("percentile", "share", "verdict")),
)


def compare(folder: str | os.PathLike[str]) -> pd.DataFrame:
    """Compare a study with the paper.

    Parameters
    ----------
    folder : path-like
        The folder of the study.

    Returns
    -------
    DataFrame
        A row per number and claim (`kind`) of the paper's sections 5.1 to 5.3: its `place`, `key`
        and `meaning`; what the `paper` states, as text, and `paper_low` and `paper_high`, between
        which lies what would be printed like it; `ours`, for the draw with the most resamples;
        `n_draws`. For a number `lower`, `lower_quartile`, `median`, `upper_quartile` and `upper`,
        the central 95 % of our draws, their quartiles and median, and the paper's `percentile`
        among them; for a claim the `share` of draws for which it holds. Then the `verdict`, and the
        same under other readings of the paper: `percentile_*` or `share_*`, and `verdict_*`.
    """
    summary = read_summary(folder)
    findings = read_findings(folder)
    draws = {
        reading: {study: Draws(summary, study, reading) for study in ("cardinality", "budget")}
        for reading in (OURS, *READINGS)
    }
    lines = [_line(statement, draws, findings) for statement in STATEMENTS]
    return pd.DataFrame(lines, columns=list(_COLUMNS))


def _line(
    statement: Statement, draws: Mapping[str, Mapping[str, Draws]], findings: Findings | None
) -> dict[str, object]:
    line: dict[str, object] = {
        "place": statement.place,
        "kind": statement.kind,
        "key": statement.key,
        "meaning": statement.meaning,
        "paper": statement.stated,
        "paper_low": statement.low,
        "paper_high": statement.high,
    }
    if statement.study == "parkinson":
        values = np.empty(0) if findings is None else statement.measure(findings)
        return line | _verdict(statement, values, 0)
    own = draws[OURS][statement.study]
    line |= _verdict(statement, statement.measure(own), own.main)
    for reading in READINGS:
        other = _verdict(statement, statement.measure(draws[reading][statement.study]), None)
        line |= {
            f"{name}_{reading}": other[name]
            for name in ("percentile", "share", "verdict")
            if name in other
        }
    return line


def _verdict(statement: Statement, every: Float, main: int | None) -> dict[str, object]:
    """Say where the paper lies among our draws, those that have the number or claim."""
    values = np.asarray(every, dtype=np.float64)
    ours = np.nan if main is None or not len(values) else float(values[main])
    values = values[~np.isnan(values)]
    n_draws = len(values)
    line: dict[str, object] = {"ours": ours, "n_draws": n_draws}
    if not n_draws:
        return line | {"verdict": NOT_RUN}
    if statement.kind == "claim":
        count = int(values.sum())
        verdict = USUAL if 2 * count >= n_draws else DEPENDS
        if _is_rare(count, n_draws, 1 - _CENTRAL_SHARE):
            verdict = RARE
        if n_draws == 1:
            verdict = TRUE if count else FALSE
        return line | {"share": count / n_draws, "verdict": verdict}
    ends = np.quantile(values, [0.025, 0.25, 0.5, 0.75, 0.975]).tolist()
    below, above = int((values <= statement.high).sum()), int((values >= statement.low).sum())
    is_out = _is_rare(min(below, above), n_draws, (1 - _CENTRAL_SHARE) / 2)
    verdict = FEW_DRAWS if n_draws < MIN_DRAWS else OUTSIDE if is_out else INSIDE
    percentile = (below + n_draws - above) / (2 * n_draws)
    line |= dict(zip(_QUANTILE_NAMES, ends, strict=True))
    return line | {"percentile": percentile, "verdict": verdict}


def _is_rare(count: int, n_draws: int, probability: float) -> bool:
    """A draw as extreme as the paper has at most this probability, the paper included."""
    return (count + 1) / (n_draws + 1) <= probability + 1e-12
