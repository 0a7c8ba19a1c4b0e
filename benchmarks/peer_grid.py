"""What a user would pick instead, on problems of the paper's grid."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

import shortlist as sl

from .grid import geometric_mean, limits_of
from .measure import Row
from .peers.comparison import measure
from .peers.registry import NAMES
from .settings import Settings
from .table import Goal, Summary

TITLE = "Against the alternatives"
ABOUT = (
    "The paper's eight data sets with its three limits at ridge 0.02, as in the grid. Every peer's "
    "support is fitted and scored by our objective, whatever the peer says of its own. The ratio "
    "is its time over that of the native backend for the same problem; a peer that reached the "
    "time limit counts with the limit, so its ratio is at least that. A miss is a support whose "
    "best objective exceeds the optimum by more than 1e-6 of it. A wrong claim is a miss called "
    "optimal, or a lower bound above the optimum by more than 1e-6 of it. Peers without costs are "
    "measured on the limits that they know."
)
RIDGE = 0.02
TIME_LIMIT = 20.0
TOLERANCE = 1e-6
GOAL_CONIC, GOAL_CUTS = 300.0, 50.0


def run(settings: Settings) -> Iterator[Row]:
    """Solve every problem with every peer that is installed."""
    time_limit = settings.time_limit(TIME_LIMIT)
    for seed in settings.seeds:
        for data in sl.datasets.paper_datasets(n_informative=5, random_state=seed):
            X = data.X.to_numpy()
            if settings.quick and X.shape != (82, 14):
                continue
            for limit, arguments in limits_of(data).items():
                problem = sl.SubsetProblem(X, data.y, ridge=RIDGE, **arguments)
                facts = {
                    "seed": seed,
                    "rows": X.shape[0],
                    "columns": X.shape[1],
                    "label_noise": data.parameters["label_noise"],
                    "limit": limit,
                    "ridge": RIDGE,
                    "time_limit": time_limit,
                }
                yield from measure(settings, problem, facts, NAMES)


def summarise(frame: pd.DataFrame) -> Summary:
    """Return a line for each peer that is installed."""
    lines, ratios, absent = [], {}, []
    for name, part in frame.groupby("peer", sort=False):
        done = part[part["seconds"].notna()]
        if done.empty:
            absent.append(str(name))
            continue
        excess = done["objective"] / done["optimum"] - 1.0
        wrong = (done["status"] == "optimal") & (excess > TOLERANCE)
        wrong |= done["lower_bound"] > done["optimum"] * (1.0 + TOLERANCE)
        ratios[name] = geometric_mean(done["seconds"] / done["native_seconds"])
        lines.append(
            [
                str(name),
                str(len(done)),
                str((done["status"] == "optimal").sum()),
                str(wrong.sum()),
                f"{(excess > TOLERANCE).mean():.0%}",
                f"{max(excess.max(), 0.0):.1%}",
                f"{ratios[name]:.3g}",
            ]
        )
    # Goals are limits from above: the native time over the peer's.
    goals = [
        Goal(f"native time over that of {name}", 1.0 / ratios[name], 1.0 / goal)
        for name, goal in (
            ("conic, SCIP", GOAL_CONIC),
            ("cuts, HiGHS", GOAL_CUTS),
            ("cuts, SCIP", GOAL_CUTS),
        )
        if name in ratios
    ]
    return Summary(
        header=["peer", "problems", "proven", "wrong claims", "misses", "worst miss", "mean ratio"],
        lines=lines,
        notes=[f"Not installed here: {', '.join(absent)}."] if absent else [],
        goals=goals,
    )
