"""The paper's numbers, claims and settings beside ours.

The seeds of the paper's data sets are unknown, so its numbers are one draw of many. Ours are
therefore given for seed 0 and for all seeds that were run. The verdicts follow two rules:

- a number agrees if one that would be printed like it lies between the smallest and the largest
  of our draws;
- a claim agrees if it holds for at least half of our draws.

The Parkinson data have no seed. There the draws are the row-wise variants (by column or by feature,
22 or 17 measures), since the paper does not say which of them it ran.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from .draw import complete_draws
from .markdown import table
from .paper import CLAIMS, VALUES, Claim, Value
from .parkinson import PAPER_VARIANT
from .saved import read_parkinson, read_summary
from .settings import SETTINGS, Setting
from .variant import row_wise_variants

COLUMNS = (
    "place",
    "kind",
    "key",
    "meaning",
    "paper",
    "paper_value",
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
AGREE, DIFFER, NOT_RUN = "agree", "differ", "not run"
# The draw that is called ours.
MAIN = {"parkinson": PAPER_VARIANT, "cardinality": "seed 0", "budget": "seed 0"}
_QUARTERS = ("lowest quarter", "second quarter", "third quarter", "highest quarter")
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
        A row per number ("value"), claim and setting (`kind`) of the paper's sections 5.1 to 5.3:
        its `place` and `meaning`; what the `paper` states, as text and as `paper_value`; `ours`,
        for seed 0; `n_draws`, how many draws of the data there are. For a number, the spread over
        draws from `minimum` to `maximum` and the paper's `position` in it; for a claim, the number
        of draws for which it holds (`n_holds`). Then the `verdict` ("agree", "differ" or "not
        run") and `why`.
    """
    summary = read_summary(folder)
    draws: dict[str, Sequence[Any]] = {
        "parkinson": row_wise_variants(read_parkinson(folder)),
        "cardinality": complete_draws(summary, "cardinality"),
        "budget": complete_draws(summary, "budget"),
    }
    lines = [
        *(_compare_value(value, draws[value.study]) for value in VALUES),
        *(_compare_claim(claim, draws[claim.study]) for claim in CLAIMS),
        *(_compare_setting(setting, summary) for setting in SETTINGS),
    ]
    frame = pd.DataFrame(lines, columns=list(COLUMNS))
    counts = dict.fromkeys(("n_draws", "n_holds"), "Int64")
    return frame.astype(counts).sort_values("place", kind="stable", ignore_index=True)


def to_markdown(comparison: pd.DataFrame) -> str:
    """Return a comparison as two tables, the numbers, and the claims and settings.

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
    numbers = [line for line in lines if line["kind"] == "value"]
    words = [line for line in lines if line["kind"] != "value"]
    return "\n".join(
        [
            table(
                ["section", "number", "paper", "ours", "spread over draws", "verdict", "why"],
                (
                    [
                        *(line[name] for name in ("place", "meaning", "paper", "ours")),
                        _spread_text(line),
                        line["verdict"],
                        line["why"],
                    ]
                    for line in numbers
                ),
            ),
            table(
                ["section", "claim or setting", "paper", "ours", "verdict", "why"],
                (
                    [line[name] for name in ("place", "meaning", "paper", "ours", "verdict", "why")]
                    for line in words
                ),
            ),
        ]
    )


def _compare_value(value: Value, draws: Sequence[Any]) -> _Line:
    ours = {draw.name: value.measure(draw) for draw in draws}
    return (
        _line(value.place, "value", value.key, value.meaning, value.stated)
        | {"paper_value": (value.low + value.high) / 2}
        | place_in_spread(value.low, value.high, ours, MAIN[value.study])
    )


def place_in_spread(low: float, high: float, ours: dict[str, float], main: str) -> _Line:
    """Say where the numbers from `low` to `high` lie among ours, of which one is the main one."""
    if main not in ours:
        return _not_run(main)
    values = np.array(list(ours.values()))
    spread = dict(
        zip(
            ("minimum", "lower_quartile", "median", "upper_quartile", "maximum"),
            np.quantile(values, [0, 0.25, 0.5, 0.75, 1]).tolist(),
            strict=True,
        )
    )
    line: _Line = {"ours": f"{ours[main]:.3f}", "n_draws": len(values)} | spread
    nearest = min(ours, key=lambda name: max(low - ours[name], ours[name] - high, 0.0))
    if high < values.min() or low > values.max():
        below = high < values.min()
        return line | {
            "position": "below all" if below else "above all",
            "verdict": DIFFER,
            "why": f"{'smaller' if below else 'larger'} than all our draws ({len(values)}); the "
            f"nearest is {ours[nearest]:.3f} ({nearest})",
        }
    middle = min(max((low + high) / 2, values.min()), values.max())
    quarter = sum(middle > spread[name] for name in ("lower_quartile", "median", "upper_quartile"))
    is_same = low <= ours[main] <= high
    return line | {
        "position": _QUARTERS[quarter],
        "verdict": AGREE,
        "why": "the same to the digits printed"
        if is_same
        else f"in the {_QUARTERS[quarter]} of our draws ({len(values)})",
    }


def _compare_claim(claim: Claim, draws: Sequence[Any]) -> _Line:
    findings = {draw.name: claim.check(draw) for draw in draws}
    line = _line(claim.place, "claim", claim.key, claim.meaning, "true")
    main = findings.get(MAIN[claim.study])
    if main is None:
        return line | _not_run(MAIN[claim.study])
    count = sum(finding.holds for finding in findings.values())
    return line | {
        "ours": str(main.holds).lower(),
        "n_draws": len(findings),
        "n_holds": count,
        "verdict": AGREE if 2 * count >= len(findings) else DIFFER,
        "why": f"{main.figures}; holds for {count} of {len(findings)} draws",
    }


def _compare_setting(setting: Setting, summary: pd.DataFrame) -> _Line:
    ours = setting.ours(summary)
    is_same = ours == setting.stated
    return _line(setting.place, "setting", setting.key, setting.meaning, setting.stated) | {
        "ours": ours,
        "verdict": AGREE if is_same else DIFFER,
        "why": "the same" if is_same else "another setting was run",
    }


def _line(place: str, kind: str, key: str, meaning: str, paper: str) -> _Line:
    line: _Line = {"place": place, "kind": kind, "key": key, "meaning": meaning, "paper": paper}
    return line | {"ours": ""}


def _not_run(name: str) -> _Line:
    return {"verdict": NOT_RUN, "why": f"{name} is not among the results"}


def _spread_text(line: dict[Any, Any]) -> str:
    names = ("minimum", "lower_quartile", "median", "upper_quartile", "maximum")
    if line["verdict"] == NOT_RUN:
        return ""
    return " / ".join(f"{line[name]:.2f}" for name in names)
