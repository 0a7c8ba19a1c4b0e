"""Where a peer wins or ties, or nobody proves anything: what the page must not hide.

Every sentence is made from the rows; none is made if there is nothing to tell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import pandas as pd

from .gaussian import limit_of
from .grid import geometric_mean
from .ladder import PEERS
from .peer_grid import answered_by_peer
from .peers.comparison import NATIVE, TOLERANCE
from .peers.registry import EXACT
from .table import format_percent, format_seconds

LADDERS = ("columns", "rows", "ridges")
_TIE = 2.0  # times faster or slower is a tie


def sentences(frames: Mapping[str, pd.DataFrame]) -> list[str]:
    """Return what each experiment with results has to tell."""
    makers: dict[str, Callable[[pd.DataFrame], list[str]]] = {
        "grid": _slower_than_a_fit,
        "machine_grid": _machines_not_proven,
        "gaussian": _not_proven,
        "peers": _faster_peers,
        **{name: partial(_lost_rungs, name) for name in LADDERS},
    }
    return [
        sentence
        for name, maker in makers.items()
        if name in frames
        for sentence in maker(frames[name])
    ]


def _slower_than_a_fit(frame: pd.DataFrame) -> list[str]:
    slower = frame[frame["ratio"] > 1.0]
    if slower.empty:
        return []
    return [
        f"One scikit-learn fit without selection is faster than a certified selection on "
        f"{len(slower)} of {len(frame)} problems of the paper's grid, by up to "
        f"{slower['ratio'].max():.0f} times."
    ]


def _machines_not_proven(frame: pd.DataFrame) -> list[str]:
    texts = []
    for loss, part in frame.groupby("loss", sort=False):
        left = part[part["status"] != "optimal"]
        if not left.empty:
            texts.append(
                f"Grid with the {str(loss).replace('_', ' ')}: {len(left)} of {len(part)} problems "
                f"are not proven in {part['time_limit'].max():g} s; gaps of up to "
                f"{left['gap'].max():.0%} are left."
            )
    return texts


def _not_proven(frame: pd.DataFrame) -> list[str]:
    open_rows = frame[frame["status"] != "optimal"]
    return [
        f"{row['rows']} x {row['columns']}, ridge {row['ridge']:g}{limit_of(row)}: not proven in "
        f"{row['time_limit']:g} s; a gap of {row['gap']:.0%} is left."
        for row in open_rows.to_dict("records")
    ]


def _faster_peers(frame: pd.DataFrame) -> list[str]:
    texts = []
    for name, part in answered_by_peer(frame).items():
        ratio = geometric_mean(part["seconds"] / part["native_seconds"])
        wins = part[part["seconds"] < part["native_seconds"]]
        missed = (part["objective"] / part["optimum"] - 1.0 > TOLERANCE).mean()
        if wins.empty and ratio > _TIE:
            continue
        kind = "proves nothing" if name not in EXACT else "is exact"
        texts.append(
            f"{name} is faster on {len(wins)} of {len(part)} problems of the grid (mean ratio "
            f"{ratio:.2g}); it {kind} and misses the optimum on {missed:.0%}."
        )
    return texts


def _lost_rungs(experiment: str, frame: pd.DataFrame) -> list[str]:
    texts = []
    for (ladder, step), part in frame[frame["seconds"].notna()].groupby(
        ["ladder", "step"], sort=False
    ):
        rung = f"Ladder of {experiment}, {ladder} at {step:.10g}"
        rows = {row["peer"]: row for row in part.to_dict("records")}
        native = rows[NATIVE]
        if native["status"] != "optimal":
            texts.append(
                f"{rung}: not proven in {format_seconds(native['seconds'])}; a gap of "
                f"{native['gap']:.1%} is left."
            )
        for name in PEERS:
            if name not in rows or rows[name]["seconds"] > native["seconds"]:
                continue
            row = rows[name]
            if name in EXACT and row["status"] != "optimal":
                continue
            excess = row["objective"] / row["optimum"] - 1.0
            quality = (
                f"a model {format_percent(excess)} worse"
                if excess > TOLERANCE
                else "the same model"
            )
            texts.append(
                f"{rung}: {name} takes {format_seconds(row['seconds'])} against "
                f"{format_seconds(native['seconds'])}, for {quality}"
                + ("." if name in EXACT else " without a proof.")
            )
    return texts
