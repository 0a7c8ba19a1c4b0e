"""The paper's numbers and claims beside ours.

The seeds of the paper's data sets are unknown, so its numbers are one draw of many. Ours are
therefore given for seed 0 and for all seeds that were run. The verdicts follow these rules:

- a number agrees if one that would be printed like it lies between the smallest and the largest
  of our draws; if there is only one draw, that is its verdict, unless the two are printed alike;
- a claim agrees if it holds for at least half of our draws;
- the ends of intervals, and claims about intervals, are compared for draws with 39 or more
  resamples alone: with fewer, the ends of a 95 % interval are not defined by the values.

The Parkinson data have no seed. Its numbers agree if the paper's variant comes within 0.02, since
the paper's folds and resamples are unknown, and its claims if they hold for that variant. The other
variants are told.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import isnan

import numpy as np
import pandas as pd

from .draw import MIN_RESAMPLES, Draw, complete_draws
from .markdown import table
from .paper import CLAIMS, VALUES, Claim, Value
from .parkinson import PAPER_VARIANT
from .saved import read_parkinson, read_summary
from .variant import Variant, finished_variants

COLUMNS = (
    "place",
    "kind",
    "key",
    "meaning",
    "paper",
    "paper_value",
    "paper_low",
    "paper_high",
    "ours",
    "n_draws",
    "minimum",
    "lower_quartile",
    "median",
    "upper_quartile",
    "maximum",
    "position",
    "n_holds",
    "verdict",
    "why",
)
AGREE, DIFFER, ONE_DRAW, NOT_RUN = VERDICTS = ("agree", "differ", "one draw", "not run")
MAIN = "seed 0"  # the draw that is called ours
CLOSE = 0.02  # for numbers from the Parkinson data
_QUARTERS = ("lowest quarter", "second quarter", "third quarter", "highest quarter")
_SPREAD = ("minimum", "lower_quartile", "median", "upper_quartile", "maximum")
_ALONE = f"no other draw has {MIN_RESAMPLES} resamples"
_Line = dict[str, object]


def compare(folder: str | os.PathLike[str]) -> pd.DataFrame:
    """Compare a study with the paper.

    Parameters
    ----------
    folder : path-like
        The folder of the study.

    Returns
    -------
    DataFrame
        A row per number ("value") and claim (`kind`) of the paper's sections 5.1 to 5.3: its
        `place` and `meaning`; what the `paper` states, as text and as `paper_value`, which is NaN
        for a bound; `paper_low` and `paper_high`, between which lies what is printed like it;
        `ours`, for seed 0; `n_draws`, how many draws of the data are compared. For a number, the
        spread over draws from `minimum` to `maximum` and the paper's `position` in it; for a claim,
        the number of draws for which it holds (`n_holds`). Then the `verdict` ("agree", "differ",
        "one draw" or "not run") and `why`.
    """
    summary = read_summary(folder)
    draws = {study: complete_draws(summary, study) for study in ("cardinality", "budget")}
    variants = finished_variants(read_parkinson(folder))
    lines = [
        *(
            _line(value, "value", value.stated)
            | {"paper_value": value.number, "paper_low": value.low, "paper_high": value.high}
            | (
                _compare_accuracy(value, variants)
                if value.study == "parkinson"
                else place_in_spread(value, _usable(value, draws[value.study]))
            )
            for value in VALUES
        ),
        *(
            _line(claim, "claim", "true")
            | (
                _check_variants(claim, variants)
                if claim.study == "parkinson"
                else _check_draws(claim, _usable(claim, draws[claim.study]))
            )
            for claim in CLAIMS
        ),
    ]
    frame = pd.DataFrame(lines, columns=list(COLUMNS))
    counts = dict.fromkeys(("n_draws", "n_holds"), "Int64")
    return frame.astype(counts).sort_values("place", kind="stable", ignore_index=True)


def to_markdown(comparison: pd.DataFrame) -> str:
    """Return a comparison as two tables, the numbers and the claims.

    Parameters
    ----------
    comparison : DataFrame
        What `compare` returns.

    Returns
    -------
    str
        Markdown.
    """
    lines = comparison.to_dict("records")
    numbers = table(
        ["section", "number", "paper", "ours", "spread over draws", "verdict", "why"],
        (
            [
                *(line[name] for name in ("place", "meaning", "paper", "ours")),
                " / ".join(f"{line[name]:.2f}" for name in _SPREAD if line[name] == line[name]),
                line["verdict"],
                line["why"],
            ]
            for line in lines
            if line["kind"] == "value"
        ),
    )
    claims = table(
        ["section", "claim", "ours", "verdict", "why"],
        (
            [line[name] for name in ("place", "meaning", "ours", "verdict", "why")]
            for line in lines
            if line["kind"] == "claim"
        ),
    )
    return f"{numbers}\n{claims}"


def _line(item: Value | Claim, kind: str, stated: str) -> _Line:
    return {
        "place": item.place,
        "kind": kind,
        "key": item.key,
        "meaning": item.meaning,
        "paper": stated,
        "ours": "",
    }


def _usable(item: Value | Claim, draws: Sequence[Draw]) -> list[Draw]:
    return [draw for draw in draws if draw.has_intervals or not item.needs_resamples]


def place_in_spread(value: Value, draws: Sequence[Draw]) -> _Line:
    """Say where a number of the paper lies among ours."""
    ours = {draw.name: value.measure(draw) for draw in draws}
    if MAIN not in ours:
        return _not_run(value, MAIN)
    low, high = value.low, value.high
    line: _Line = {"ours": f"{ours[MAIN]:.3f}", "n_draws": len(ours)}
    is_same = low <= ours[MAIN] <= high
    if len(ours) == 1:
        why = "the same to the digits printed" if is_same else _distance(value, ours[MAIN])
        if value.needs_resamples:
            why += f"; {_ALONE}"
        return line | {"verdict": AGREE if is_same else ONE_DRAW, "why": why}
    values = np.array(list(ours.values()))
    spread = dict(zip(_SPREAD, np.quantile(values, [0, 0.25, 0.5, 0.75, 1]).tolist(), strict=True))
    line |= spread
    if high < values.min() or low > values.max():
        below = high < values.min()
        nearest = min(ours, key=lambda name: max(low - ours[name], ours[name] - high))
        return line | {
            "position": "below all" if below else "above all",
            "verdict": DIFFER,
            "why": f"{'smaller' if below else 'larger'} than all our draws ({len(values)}), the "
            f"nearest of which is {ours[nearest]:.3f} ({nearest}); {value.reason}",
        }
    middle = min(max((low + high) / 2, values.min()), values.max())
    quarter = sum(middle > spread[name] for name in ("lower_quartile", "median", "upper_quartile"))
    return line | {
        "position": _QUARTERS[quarter],
        "verdict": AGREE,
        "why": "the same to the digits printed"
        if is_same
        else f"in the {_QUARTERS[quarter]} of our draws ({len(values)})",
    }


def _check_draws(claim: Claim, draws: Sequence[Draw]) -> _Line:
    findings = {draw.name: claim.check(draw) for draw in draws}
    if MAIN not in findings:
        return _not_run(claim, MAIN)
    main = findings[MAIN]
    count = sum(finding.holds for finding in findings.values())
    why = f"{main.figures}; holds for {count} of {len(findings)} draws"
    if claim.needs_resamples and len(findings) == 1:
        why = f"{main.figures}; {_ALONE}"
    return {
        "ours": str(main.holds).lower(),
        "n_draws": len(findings),
        "n_holds": count,
        "verdict": AGREE if 2 * count >= len(findings) else DIFFER,
        "why": why,
    }


def _compare_accuracy(value: Value, variants: Sequence[Variant]) -> _Line:
    """Compare the paper's variant, and say where the others are."""
    ours = {variant.name: value.measure(variant) for variant in variants}
    if PAPER_VARIANT not in ours:
        return _not_run(value, PAPER_VARIANT)
    own = ours.pop(PAPER_VARIANT)
    is_same, is_close = value.low <= own <= value.high, abs(own - value.number) <= CLOSE
    why = "the same to the digits printed" if is_same else _distance(value, own)
    if not is_close:
        why += f"; {value.reason}"
    if ours:
        why += f"; other variants {min(ours.values()):.2f} to {max(ours.values()):.2f}"
    return {
        "ours": f"{own:.3f}",
        "n_draws": 1,
        "verdict": AGREE if is_close else DIFFER,
        "why": why,
    }


def _check_variants(claim: Claim, variants: Sequence[Variant]) -> _Line:
    """Check the paper's variant, and list the others for which the claim holds, or does not."""
    findings = {variant.name: claim.check(variant) for variant in variants}
    if PAPER_VARIANT not in findings:
        return _not_run(claim, PAPER_VARIANT)
    main = findings.pop(PAPER_VARIANT)
    parts = [main.figures]
    for holds, words in ((True, "holds also for"), (False, "does not hold for")):
        names = [name for name, finding in findings.items() if finding.holds is holds]
        if names:
            parts.append(f"{words} {', '.join(names)}")
    return {
        "ours": str(main.holds).lower(),
        "n_draws": 1,
        "n_holds": int(main.holds),
        "verdict": AGREE if main.holds else DIFFER,
        "why": "; ".join(parts),
    }


def _distance(value: Value, ours: float) -> str:
    number = value.high if isnan(value.number) else value.number
    return f"{abs(ours - number):.3f} {'above' if ours > number else 'below'} the paper"


def _not_run(item: Value | Claim, name: str) -> _Line:
    resamples = f" with {MIN_RESAMPLES} resamples" if item.needs_resamples else ""
    return {"verdict": NOT_RUN, "why": f"{name} is not among the results{resamples}"}
