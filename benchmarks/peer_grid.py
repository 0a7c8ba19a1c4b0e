"""Other solvers and packages on problems of the paper's grid."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pandas as pd

import shortlist as sl

from .grid import geometric_mean, limits_of
from .measure import Row
from .peers.comparison import NATIVE, TOLERANCE, measure
from .peers.registry import EXACT, NAMES
from .settings import Settings
from .table import Goal, Summary, format_seconds

TITLE = "Against the alternatives"
ABOUT = (
    "Twelve problems: every other one of the 24 that the paper's eight data sets and its three "
    "limits make at ridge 0.02. A peer gets 60 CPU seconds for each. Its support is fitted and "
    "scored by our objective, whatever it says of its own. Times are CPU seconds of one thread, "
    "ours taken just before and after those of each peer. The ratio is the peer's time over that "
    "of the native backend for the same problem, as a geometric mean; a peer that reached the "
    "time limit counts with the time that it had used, so that its ratio is at least that. A miss "
    "is a support whose best objective exceeds the optimum by more than 1e-6 of it; exact peers "
    "have them where their time ends. A wrong claim is a miss called optimal, or a lower bound "
    "above the optimum by more than 1e-6 of it. Peers that know no costs are measured on the "
    "limits that they know, bcselector on budgets. El0ps penalises the number of predictors: its "
    "time is that of finding the penalty that gives the number asked for, and a number that no "
    "penalty gives is a miss."
)
RIDGE = 0.02
TIME_LIMIT = 60.0
N_PROBLEMS = 12  # for each seed
GOAL_CONIC, GOAL_CUTS = 300.0, 50.0


def run(settings: Settings) -> Iterator[Row]:
    """Solve every problem with every peer that is installed."""
    time_limit = settings.time_limit(TIME_LIMIT)
    for seed in settings.seeds:
        problems = [
            (data, limit, arguments)
            for data in sl.datasets.paper_datasets(n_informative=5, random_state=seed)
            for limit, arguments in limits_of(data).items()
        ]
        for data, limit, arguments in problems[::2]:
            X = data.X.to_numpy()
            if not settings.quick or X.shape == (82, 14):
                make = partial(sl.SubsetProblem, X, data.y, ridge=RIDGE, **arguments)
                facts = {
                    "seed": seed,
                    "rows": X.shape[0],
                    "columns": X.shape[1],
                    "label_noise": data.parameters["label_noise"],
                    "limit": limit,
                    "ridge": RIDGE,
                    "time_limit": time_limit,
                }
                yield from measure(settings, make, facts, settings.only_peers(NAMES))


def summarise(frame: pd.DataFrame) -> Summary:
    """Return a line for each peer that is installed."""
    lines, ratios = [], {}
    for name, part in answered_by_peer(frame).items():
        excess = part["objective"] / part["optimum"] - 1.0
        missed = excess > TOLERANCE
        wrong = (part["status"] == "optimal") & missed
        wrong |= part["lower_bound"] > part["optimum"] * (1.0 + TOLERANCE)
        ratios[name] = geometric_mean(part["seconds"] / part["native_seconds"])
        n_limit = int((part["status"] == "time_limit").sum())
        lines.append(
            [
                name,
                str(len(part)),
                str((part["status"] == "optimal").sum()) if name in EXACT else "",
                str(wrong.sum()) if name in EXACT else "",
                f"{missed.mean():.0%}",
                f"{max(excess.max(), 0.0):.1%}",
                format_seconds(float(part["seconds"].median())),
                ("at least " if n_limit else "") + _factor(ratios[name]),
            ]
        )
    # Goals are limits from above: the native time over the peer's.
    goals = [
        Goal(f"native time over that of {name}", 1.0 / ratios[name], 1.0 / goal)
        for name, goal in (
            ("conic, SCIP", GOAL_CONIC),
            ("cuts, HiGHS", GOAL_CUTS),
            ("cuts, SCIP", GOAL_CUTS),
            ("cuts, Gurobi", GOAL_CUTS),
        )
        if name in ratios
    ]
    return Summary(
        header=[
            *("peer", "problems", "proven", "wrong claims"),
            *("misses", "worst miss", "median time", "mean ratio"),
        ],
        lines=lines,
        notes=_notes(frame),
        goals=goals,
    )


def _factor(ratio: float) -> str:
    return f"{ratio:.0f}" if ratio >= 100 else f"{ratio:.2g}"


def answered_by_peer(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the rows with an answer of each peer, exact ones first."""
    answered = frame[frame["seconds"].notna() & (frame["peer"] != NATIVE)]
    return {
        name: answered[answered["peer"] == name] for name in NAMES if name in set(answered["peer"])
    }


def _notes(frame: pd.DataFrame) -> list[str]:
    native = frame[frame["peer"] == NATIVE]
    limits = " and ".join(f"{limit:g} s" for limit in sorted(set(frame["time_limit"])))
    notes = [
        f"The native backend proves {(native['status'] == 'optimal').sum()} of {len(native)} "
        f"problems in a median of {format_seconds(float(native['seconds'].median()))}. Time limit "
        f"of the peers: {limits} of CPU time. Packages: "
        + ", ".join(sorted(set(frame["package"].dropna())))
        + "."
    ]
    planned = N_PROBLEMS * frame["seed"].nunique()
    if len(native) < planned:
        shapes = native[["rows", "columns"]].drop_duplicates().to_numpy()
        sizes = ", ".join(f"{n_rows} x {n_columns}" for n_rows, n_columns in shapes)
        notes.insert(0, f"Only {len(native)} of the {planned} problems were run: those of {sizes}.")
    silent = frame[frame["status"].isin(["not_installed", "failed"])]
    if not silent.empty:
        notes.append(f"Without an answer: {' '.join(sorted(set(silent['reason'])))}")
    not_asked = [name for name in NAMES if name not in set(frame["peer"])]
    if not_asked:
        notes.append(f"Not asked in this run: {', '.join(not_asked)}.")
    return notes
