"""Models whose names and levels are made of what ends texts, starts commands or is left out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from flat_options import prognostic_model

from shortlist.patients import ModelCard

_PIECES = [
    *("'", '"', "`", "''", '"";', "--", "/*", "*/", "#", ";", "$$", "${x}", "@{p}", "%s", "{r1}"),
    *("'; DROP TABLE patients; --", '"; DROP TABLE patients; --', "`; DROP TABLE patients; -- "),
    *("' OR 1=1", "'||(SELECT 1)||'", ":x", "?", "=1+1", "+A1", "@SUM(A1)", "{{7*7}}", "</script>"),
    *('"); file.create("pwned")', "*/ require('fs').writeFileSync('pwned', '') /*", "_x", "NULL"),
    *("\N{MODIFIER LETTER APOSTROPHE}", "\N{FULLWIDTH APOSTROPHE}", "\N{LINE SEPARATOR}", "TRUE"),
    *("\N{BLACK HEART SUIT}", "\u00e9", "\N{NO-BREAK SPACE}b", " ", "  ", "a", "A", "1", "-", "NA"),
]  # fmt: skip
_REFUSED = ["\\", "\\'; DROP TABLE patients; -- ", '\\"', "\\\\", "\x01", "\nSELECT 1;\n", "\t"]


class Hostile(NamedTuple):
    """A model, patients with whole numbers as "id", and their risks."""

    card: ModelCard
    patients: pd.DataFrame
    risk: Any


def hostile_model(seed: int, refused: bool = False) -> Hostile:
    """Draw names and levels, fit a model, and predict patients of all levels and of unknown ones.

    With `refused` there are backslashes and control characters too.
    """
    rng = np.random.default_rng(seed)

    def text() -> str:
        return "".join(rng.choice(_PIECES, rng.integers(1, 5)))

    def texts(n: int) -> list[str]:
        found: dict[str, str] = {}
        while len(found) < n:
            one = text().strip()[:40].strip()
            # SQLite finds no column named TRUE in a subquery; the others are missing values.
            if one and one.lower() not in ("null", "na", "true"):
                found[one.casefold()] = one
        return list(found.values())

    names, levels = texts(3), texts(6)
    if refused:
        names[0] += str(rng.choice(_REFUSED)) + "z"
        levels[0] += str(rng.choice(_REFUSED)) + "z"
    n = 120
    table = pd.DataFrame(
        {
            names[0]: rng.normal(size=n).round(3),
            names[1]: np.array(levels[:5], dtype=object)[np.arange(n) % 5],
            names[2]: rng.integers(0, 2, n),
        }
    )
    score = table[names[0]] + 2.0 * (np.arange(n) % 5 > 2) - table[names[2]]
    y = (score + rng.logistic(size=n) > 0.5).astype(int)
    model = prognostic_model(ridge=0.5, include=names, kinds={names[1]: "categorical"})
    card = model.fit(table, y).card_
    new = table.iloc[:40].reset_index(drop=True)
    new.loc[5:8, names[1]] = levels[5]
    new.loc[9, names[1]] = None
    risk = card.probability(new)
    return Hostile(card, new.assign(id=np.arange(len(new))), risk)
