"""Comparison of a study with the numbers and claims of the paper.

The seeds of the paper's data sets are unknown, so its results are one draw of many. A number is
"outside" if, were it a draw like ours, it would be among the 2.5 % lowest or highest of all, its
own included, and else "inside". That takes 39 draws; with fewer there is no verdict. Claims are
judged on the average over draws, as `claims.py` says.

The Parkinson data are given. There the accuracy has a spread over splits into folds, the ends of
its interval have one over draws of the resamples, and claims are true or not.
"""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np
import pandas as pd

from .claims import CLAIMS, FALSE, FEW_DRAWS, TRUE, Judgement, judge
from .draws import Draws, Float, averages, effects, read_draws
from .methods import differences
from .paper import LITTLE_ACCURACY, MEASURES, QUANTITIES, STATEMENTS, Statement
from .parkinson import Findings, read_findings
from .tables import read_runs

MIN_DRAWS = 39
INSIDE, OUTSIDE, NOT_RUN = "inside", "outside", "not run"
_TAIL = 0.025
_LARGE_OVERLAP = 0.5  # of the shorter interval
_NAMES = ["place", "key", "meaning"]
_NUMBER = ["paper", "mean", "lower", "upper", "n_draws", "percentile", "verdict"]
_THRESHOLDS = ["lower_threshold", "threshold", "higher_threshold"]
OTHER_VERDICTS = [
    f"verdict_{other}" for other in ("lower_threshold", "higher_threshold", "of_selected")
]
_CLAIM = [*Judgement._fields, "word", *_THRESHOLDS, *OTHER_VERDICTS]


class PaperComparison(NamedTuple):
    """All tables that compare a study with the paper.

    Parameters
    ----------
    numbers : DataFrame
        A row per number: its `place`, `key` and `meaning`, what the `paper` states, as text; the
        `mean` of our draws, `lower` and `upper`, their central 95 %, `n_draws`, the paper's
        `percentile` among them, and the `verdict`.
    claims : DataFrame
        A row per claim: its `verdict`; the comparison that is `deciding` it, with its mean over
        draws and 95 % interval; the `share` of draws in which the claim holds, and
        `share_with_ties`, that in which it holds if ties count; the `word` whose `threshold` is
        ours, and the verdicts with a lower and a higher one; the verdict `of_selected`, if
        fractions are read as shares of the selected features.
    comparisons : DataFrame
        A row per comparison of averages that a claim asks for; `at_least` so many of its group
        have to hold.
    averages, effects, methods : DataFrame
        As `averages`, `effects` and `differences` return them.
    """

    numbers: pd.DataFrame
    claims: pd.DataFrame
    comparisons: pd.DataFrame
    averages: pd.DataFrame
    effects: pd.DataFrame
    methods: pd.DataFrame


def compare(folder: str | os.PathLike[str]) -> PaperComparison:
    """Compare a study with the paper."""
    draws, other = read_draws(folder), read_draws(folder, of_selected=True)
    findings = read_findings(folder)
    numbers, claims, comparisons = [], [], []
    for statement in STATEMENTS:
        line = {name: getattr(statement, name) for name in _NAMES}
        own = draws.get(statement.study)
        if statement.kind == "number":
            values = (
                _parkinson_number(statement, findings)
                if own is None
                else QUANTITIES[statement.key](own)
            )
            numbers.append(line | {"paper": statement.stated} | locate(statement, values))
        elif own is None:
            claims.append(line | _parkinson_claim(statement, findings))
        else:
            claims.append(line | _claim(statement.key, own, other[statement.study]))
            comparisons += _comparisons(statement.key, own)
    return PaperComparison(
        pd.DataFrame(numbers, columns=[*_NAMES, *_NUMBER]),
        pd.DataFrame(claims, columns=[*_NAMES, *_CLAIM]),
        pd.DataFrame(comparisons),
        averages(draws),
        effects(draws),
        differences(read_runs(folder)),
    )


def _claim(key: str, draws: Draws, other: Draws) -> dict[str, object]:
    if not draws.seeds:
        return {"verdict": NOT_RUN}
    claim = CLAIMS[key]
    lower, own, higher = claim.thresholds
    judgement = judge(claim.groups(draws, own))
    line = judgement._asdict() | {"verdict_of_selected": judge(claim.groups(other, own)).verdict}
    if claim.word:
        line |= {"word": claim.word} | dict(zip(_THRESHOLDS, claim.thresholds, strict=True))
        for name, threshold in zip(OTHER_VERDICTS, (lower, higher), strict=False):
            line[name] = judge(claim.groups(draws, threshold)).verdict
    return line


def _comparisons(key: str, draws: Draws) -> list[dict[str, object]]:
    if not draws.seeds:
        return []
    claim = CLAIMS[key]
    return [
        {"key": key, "group": number, "at_least": group.at_least, "comparison": comparison.words}
        | comparison.margin()._asdict()
        for number, group in enumerate(claim.groups(draws, claim.thresholds[1]), start=1)
        for comparison in group.comparisons
    ]


def _parkinson_number(statement: Statement, findings: Findings | None) -> Float:
    if findings is None:
        return np.empty(0)
    ends = ("estimate", "lower", "upper")
    return findings.draws()[ends.index(statement.key.rpartition(".")[2])]


def _parkinson_claim(statement: Statement, findings: Findings | None) -> dict[str, object]:
    if findings is None:
        return {"verdict": NOT_RUN}
    if statement.key == "parkinson.selected":
        return {"verdict": TRUE if all(m == MEASURES for m in findings.optima) else FALSE}
    _, lower, upper = findings.own
    shared = min(upper, LITTLE_ACCURACY[2]) - max(lower, LITTLE_ACCURACY[1])
    width = min(upper - lower, LITTLE_ACCURACY[2] - LITTLE_ACCURACY[1])
    return {"verdict": TRUE if shared >= _LARGE_OVERLAP * width else FALSE}


def locate(statement: Statement, every: Float) -> dict[str, object]:
    """Say where the paper's number lies among our draws, those that have it."""
    values = every[~np.isnan(every)]
    n_draws = len(values)
    if not n_draws:
        return {"n_draws": 0, "verdict": NOT_RUN}
    below, above = int((values <= statement.high).sum()), int((values >= statement.low).sum())
    # A draw as extreme as the paper has at most this probability, the paper included.
    is_out = (min(below, above) + 1) / (n_draws + 1) <= _TAIL + 1e-12
    lower, upper = np.quantile(values, [_TAIL, 1 - _TAIL]).tolist()
    return {
        "mean": float(values.mean()),
        "lower": lower,
        "upper": upper,
        "n_draws": n_draws,
        "percentile": (below + n_draws - above) / (2 * n_draws),
        "verdict": FEW_DRAWS if n_draws < MIN_DRAWS else OUTSIDE if is_out else INSIDE,
    }
