"""Every verdict on a claim, once more: from the tables in `study/results` alone, with pandas.

Shares no code with the study. Run it: `python tests/support/recompute_verdicts.py`. A claim is a
list of groups, a group a list of columns with a row per seed, and how many of them have to be
positive. What is shown by intervals there is shown here by one-sided p-values.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import ttest_1samp

RESULTS = Path(__file__).parents[2] / "study" / "results"
EPV = {(82, 53): "a", (82, 14): "b", (1090, 53): "c", (1090, 14): "d"}  # increasing
CELLS = [noise + epv for noise in "01" for epv in "abcd"]
CLEAN, NOISY = CELLS[:4], CELLS[4:]


def read(folder: Path = RESULTS) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return runs and intervals, with a letter for the shape and a digit for the noise."""
    frames = []
    for name in ("runs", "intervals"):
        frame = pd.read_csv(folder / f"{name}.csv.gz")
        frame = frame[frame["method"].isin(["optimal", "univariable"])]
        shape = [EPV[pair] for pair in zip(frame["n_samples"], frame["n_features"], strict=True)]
        digit = (frame["label_noise"] > 0).astype(int).astype(str)
        frames.append(frame.assign(cell=digit + pd.Series(shape, index=frame.index)))
    return frames[0], frames[1]


def cell_means(runs: pd.DataFrame, study: str, measure: str) -> dict[str, pd.DataFrame]:
    """Return a table by method: seeds by cells, the mean over runs."""
    part = runs[runs["study"] == study]
    wide = part.pivot_table(index=["method", "seed"], columns="cell", values=measure)
    return {method: wide.loc[method] for method in ("optimal", "univariable")}


def p_values(margin: pd.Series, within: float | None) -> tuple[float, float]:
    """Return the p-values against "not positive" and against "not negative"."""

    def p(values: pd.Series, side: str) -> float:
        if values.std() == 0:
            return 0.0 if (values.mean() > 0) == (side == "greater") and values.mean() else 1.0
        return float(ttest_1samp(values, 0, alternative=side).pvalue)

    if within is None:
        return p(margin, "greater"), p(margin, "less")
    inside = max(p(within - margin, "greater"), p(within + margin, "greater"))
    outside = min(p(margin - within, "greater"), p(-margin - within, "greater"))
    return inside, outside


def verdict(groups: list[tuple[list[tuple[pd.Series, float | None]], int]]) -> str:
    """Judge a claim."""
    shown, refuted = [], []
    for columns, at_least in groups:
        values = [p_values(margin, within) for margin, within in columns]
        surplus = len(columns) - at_least + 1
        yes = sum(p < 0.025 / surplus for p, _ in values)
        no = sum(p < 0.025 / (at_least * len(groups)) for _, p in values)
        shown.append(yes >= at_least)
        refuted.append(no >= surplus)
    if all(shown):
        return "holds"
    return "does not hold" if any(refuted) else "not decided"


def all_of(*margins: pd.Series):
    return [([(margin, None) for margin in margins], len(margins))]


def some_of(at_least: int, margins, within: float | None = None):
    return [([(margin, within) for margin in margins], at_least)]


def overlapping(intervals: pd.DataFrame, study: str, share: float) -> pd.Series:
    """Return by seed in which part of the runs the AUC intervals overlap by a share."""
    rows = intervals[(intervals["study"] == study) & (intervals["arm"] == "intervals")]
    aucs = rows["aucs"].str.split(expand=True).astype(float).iloc[:, 1:]
    rows = rows.assign(low=aucs.min(axis=1), high=aucs.max(axis=1))  # of 39: the outermost
    ends = rows.pivot(index=["seed", "cell"], columns="method", values=["low", "high"])
    common = ends["high"].min(axis=1) - ends["low"].max(axis=1)
    shorter = (ends["high"] - ends["low"]).min(axis=1)
    return (common >= share * shorter).groupby("seed").mean()


def verdicts(folder: Path = RESULTS) -> dict[str, str]:
    """Return the verdict on every claim, by its key."""
    runs, intervals = read(folder)
    found = {}
    for study in ("cardinality", "budget"):
        names = ("informative", "redundant", "uninformative", "stability", "auc")
        of = {name: cell_means(runs, study, name) for name in names}
        o = {name: tables["optimal"] for name, tables in of.items()}
        g = {name: tables["univariable"] for name, tables in of.items()}
        gap = {name: o[name] - g[name] for name in names}
        claims = {
            "overlap": all_of(overlapping(intervals, study, 0.5) - 0.9),
            "no_difference": some_of(6, [gap["auc"][c] for c in CELLS], 0.01),
            "noise_harms": [
                group
                for name in ("informative", "stability")
                for group in some_of(3, [o[name]["0" + e] - o[name]["1" + e] for e in "abcd"])
            ],
        }
        groups = []
        for method, table in (("optimal", o), ("greedy", g)):
            for cell in CELLS:
                parts = [
                    table["stability"][cell] - 0.75,
                    table["informative"][cell] - 0.75,
                    0.02 - table["uninformative"][cell],
                ]
                if (method, cell) == ("optimal", "0d"):
                    groups += all_of(*parts)
                else:
                    groups += some_of(1, [-part for part in parts])
        claims["interpretable_only_at"] = groups
        stable_cells = {"cardinality": ["0d"], "budget": ["0c", "0d"]}[study]
        claims["stable_only_at"] = all_of(
            *[(o["stability"][c] - 0.75) * (1 if c in stable_cells else -1) for c in CELLS],
            *[0.75 - g["stability"][c] for c in CELLS],
        )
        if study == "cardinality":
            claims |= cardinality_claims(o, g, gap)
        else:
            claims |= budget_claims(o, gap, runs)
        found |= {f"{study}.{name}": verdict(groups) for name, groups in claims.items()}
    return found


def rising(table: pd.DataFrame, noise: str) -> list[pd.Series]:
    return [table[noise + b] - table[noise + a] for a, b in ("ab", "bc", "cd")]


def largest(table: pd.DataFrame, cell: str):
    others = [c for c in table if c[0] == cell[0] and c != cell]
    return all_of(*[table[cell] - table[other] for other in others])


def cardinality_claims(o, g, gap):
    far = gap["uninformative"][CLEAN]
    far = far * np.sign(far.sum() - far)  # the sign of the other draws
    drop = o["informative"][CLEAN].max(axis=1) - o["informative"][NOISY].max(axis=1)
    rise = g["informative"][NOISY].max(axis=1) - g["informative"][CLEAN].max(axis=1)
    return {
        "rises": all_of(*rising(o["informative"], "0")),
        "greedy_largest_at": largest(g["informative"], "0c"),
        "redundant_less": all_of(*[-gap["redundant"][c] for c in CLEAN]),
        "uninformative_comparable": some_of(3, [gap["uninformative"][c] for c in CLEAN], 0.015),
        "uninformative_differs_most_at": all_of(*[far["0d"] - far[c] for c in CLEAN[:3]]),
        "noise_lowers_optimal": all_of(drop - 0.1),
        "noise_raises_greedy": all_of(rise),
        "noisy_optimal_largest_at": largest(o["informative"], "1b"),
        "noisy_greedy_largest_at": largest(g["informative"], "1b"),
        "noisy_redundant_less": some_of(3, [-gap["redundant"][c] for c in NOISY]),
        "noisy_uninformative_differ_by": some_of(
            4, [gap["uninformative"][c] for c in NOISY], 0.015
        ),
        "noisy_uninformative_never_below": all_of(
            *[table["uninformative"][c] - 0.015 for table in (o, g) for c in NOISY]
        ),
    }


def budget_claims(o, gap, runs):
    last = runs[
        (runs["study"] == "budget") & (runs["method"] == "optimal") & (runs["cell"] == "0d")
    ]
    low = (last["uninformative"] < 0.02).groupby(last["seed"]).mean()
    return {
        "rises": all_of(*rising(o["informative"], "0"), *rising(o["informative"], "1")),
        "informative_comparable": some_of(5, [gap["informative"][c] for c in CELLS], 0.05),
        "greedy_redundant_less": all_of(*[gap["redundant"][c] for c in CLEAN]),
        "noisy_redundant_equivocal": [
            *some_of(1, [gap["redundant"][c] for c in NOISY]),
            *some_of(1, [-gap["redundant"][c] for c in NOISY]),
        ],
        "uninformative_comparable": some_of(5, [gap["uninformative"][c] for c in CELLS], 0.015),
        "uninformative_less_at": all_of(-gap["uninformative"]["0d"], -gap["uninformative"]["1d"]),
        "uninformative_low_in_most_runs": all_of(low - 0.5),
    }


if __name__ == "__main__":
    given = Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS
    kept = pd.read_csv(given / "claims.csv").set_index("key")["verdict"]
    for key, again in verdicts(given).items():
        print(f"{key:50} {again:14} {'' if kept[key] == again else 'but kept: ' + kept[key]}")
