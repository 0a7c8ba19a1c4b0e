"""Write docs/benchmarks.md and its figures from the CSV files: `python -m benchmarks.render`.

Every measured number on the page is read from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import inf
from pathlib import Path
from textwrap import fill
from typing import NamedTuple

import pandas as pd

from .catalogue import EXPERIMENTS
from .figure import FIGURES, to_svg
from .gaussian import name_of
from .grid import geometric_mean
from .ladder import PEERS
from .measure import notes_on_noise
from .peer_grid import answered_by_peer
from .peers.comparison import NATIVE, TOLERANCE
from .peers.registry import EXACT
from .settings import PROJECT, RESULTS
from .table import Summary, format_percent, format_seconds, read_csv, replace, to_markdown

PAGE = PROJECT / "docs" / "benchmarks.md"
_INTRODUCTION = """\
# Benchmarks

Written by `python -m benchmarks.render` from the files in `benchmarks/results`, which `make bench`
writes; do not edit. Times are CPU seconds of one thread after a warm-up, medians where they were
repeated.
"""
_LADDERS = ("columns", "rows", "ridges")
_TIE = 2.0  # times faster or slower is a tie
_MOST_FAMILIES = 10
# Their results are lines of the first table; the rows themselves are in their files.
_WITHOUT_SECTION = ("tall", "startup", "proof", "staircase", "rows")


def render(results: Path = RESULTS) -> str:
    """Return the page: the answer, where others win, and a section for most experiments.

    Parameters
    ----------
    results : Path
        Folder of the CSV files.

    Returns
    -------
    str
        Markdown.
    """
    frames = _read(results)
    sections = [_INTRODUCTION, to_markdown(answers_of(frames)), *_losses_section(frames)]
    for name, frame in frames.items():
        if name in _WITHOUT_SECTION:
            continue
        experiment = EXPERIMENTS[name]
        summary = experiment.summarise(frame)
        sections += [f"## {experiment.TITLE}\n", _paragraph(experiment.ABOUT), to_markdown(summary)]
        if name in FIGURES:
            sections.append(f"![{FIGURES[name][1]}]({figure_path(name).name})\n")
        sections += map(_paragraph, [*summary.notes, *notes_on_noise(frame)])
    return "\n".join(
        [*sections, "## Where the numbers come from\n", to_markdown(_provenance(frames))]
    )


def answers_of(frames: Mapping[str, pd.DataFrame]) -> Summary:
    """Return the first table: a line for each experiment that has results."""
    makers: dict[str, Callable[[pd.DataFrame], tuple[str, str]]] = {
        "grid": lambda rows: (
            f"certified selection, {len(rows)} problems of the paper's grid, over one plain "
            "scikit-learn fit",
            f"{geometric_mean(rows['ratio']):.2f} of its time on average, at most "
            f"{rows['ratio'].max():.2f}",
        ),
        "machine_grid": lambda rows: (
            "support vector machines, the same grid, over one LinearSVC fit",
            f"{geometric_mean(rows['ratio']):.2f} of its time, {_proven(rows)}",
        ),
        "survival": lambda rows: _cox(rows[rows["part"] == "tables"]),
        "parkinson": lambda rows: (
            "Parkinson's 88 spline columns, the hardest of 6 problems",
            f"{format_seconds(rows['seconds'].max())}, {rows['ratio'].max():.2g} fits",
        ),
        "gaussian": lambda rows: (name_of(rows.iloc[0]), format_seconds(rows["seconds"].iloc[0])),
        "ridges": lambda rows: _weak_ridge(rows),
        "wide": lambda rows: (
            f"gene expression, up to {rows['columns'].max()} columns",
            f"{_proven(rows)} in {format_seconds(rows['seconds'].min())} to "
            f"{format_seconds(rows['seconds'].max())}",
        ),
        "tall": lambda rows: (
            f"{rows['rows'].max()} rows x {rows['columns'].max()}",
            f"{format_seconds(rows['seconds'].max())}, {rows['ratio'].max():.2g} fits, memory "
            f"{rows['memory_ratio'].max():.2g} times the data",
        ),
        "sampling": lambda rows: (
            f"{rows['rows'].max()} rows on disk, by a sample, proven on all rows",
            format_seconds(rows.loc[rows["rows"].idxmax(), "seconds"]),
        ),
        "startup": lambda rows: _first_answer(rows),
        "proof": lambda rows: (
            f"a proof of the grid checked, {len(rows)} of them",
            f"{format_seconds(rows['seconds'].median())}, at most "
            f"{format_seconds(rows['seconds'].max())}, {int(rows['valid'].sum())} valid",
        ),
        "staircase": lambda rows: (
            "the best model at every budget up to 40, over solving them one by one",
            f"{geometric_mean(rows['ratio']):.2f} of the time",
        ),
        "peers": lambda rows: _fastest_exact_peer(rows),
    }
    lines = [list(maker(frames[name])) for name, maker in makers.items() if name in frames]
    return Summary(header=["question", "answer"], lines=lines)


def _proven(rows: pd.DataFrame) -> str:
    return f"{int((rows['status'] == 'optimal').sum())} of {len(rows)} proven"


def _cox(rows: pd.DataFrame) -> tuple[str, str]:
    plain = rows[(rows["form"] == "columns") & (rows["columns"] < 30)]
    return (
        f"certified Cox regression, {len(plain)} problems, over one fit of scikit-survival",
        f"{geometric_mean(plain['ratio']):.2f} of its time on average, at most "
        f"{plain['ratio'].max():.2f}, {_proven(plain)}",
    )


def _weak_ridge(rows: pd.DataFrame) -> tuple[str, str]:
    hardest = rows[(rows["peer"] == NATIVE) & (rows["step"] <= 1e-4)].sort_values("step")
    row = hardest.iloc[-1]
    return f"{row['ladder']}, ridge {row['step']:g}", (
        f"{format_seconds(row['seconds'])}, {int(row['nodes'])} nodes"
    )


def _first_answer(rows: pd.DataFrame) -> tuple[str, str]:
    row = rows[rows["stage"].str.startswith("a first solve")].iloc[0]
    return "a new process to its first answer, over one with a scikit-learn fit", (
        f"{format_seconds(row['cpu_seconds'])}, {row['ratio']:.2f} of its time"
    )


def _fastest_exact_peer(rows: pd.DataFrame) -> tuple[str, str]:
    ratios = {
        name: geometric_mean(part["seconds"] / part["native_seconds"])
        for name, part in answered_by_peer(rows).items()
        if name in EXACT
    }
    name = min(ratios, key=ratios.__getitem__)
    return f"the fastest other exact method on the grid, {name}", f"{ratios[name]:.0f} times slower"


def render_figures(results: Path = RESULTS) -> dict[Path, str]:
    """Return the figures of the page as SVG, by their place."""
    return {
        figure_path(name): to_svg(FIGURES[name][0], frame)
        for name, frame in _read(results).items()
        if name in FIGURES and name not in _WITHOUT_SECTION
    }


def figure_path(name: str) -> Path:
    """Return the place of the figure of an experiment, beside the page."""
    return PAGE.with_name(f"benchmarks-{name}.svg")


def _read(results: Path) -> dict[str, pd.DataFrame]:
    """Return the results of all experiments that have some."""
    paths = {name: results / f"{name}.csv" for name in EXPERIMENTS}
    frames = {name: read_csv(path) for name, path in paths.items() if path.is_file()}
    if not frames:
        raise SystemExit(f"There are no results in {results}: run `make bench` first.")
    return frames


def _paragraph(text: str) -> str:
    return fill(text, width=110, break_long_words=False, break_on_hyphens=False) + "\n"


def _provenance(frames: Mapping[str, pd.DataFrame]) -> Summary:
    """Return the runs that the rows of the files come from."""
    run = ["date", "cpu", "shortlist_sources", "core"]
    rows = pd.concat(
        [frame.assign(file=f"{name}.csv")[["file", *run]] for name, frame in frames.items()]
    )
    rows["date"] = rows["date"].str[:10]
    lines = [
        [", ".join(part["file"].unique()), str(len(part)), *key]
        for key, part in rows.groupby(run, sort=False)
    ]
    return Summary(header=["files", "rows", "date", "processor", "sources", "solver"], lines=lines)


class Loss(NamedTuple):
    """Where another method is faster, or nothing is proven."""

    where: str
    who: str
    theirs: str
    ours: str
    remark: str
    size: float  # times slower than the other, or infinite where nothing is proven


def _losses_section(frames: Mapping[str, pd.DataFrame]) -> list[str]:
    losses = sorted(losses_of(frames), key=lambda loss: -loss.size)
    if not losses:
        return []
    shown = losses[:_MOST_FAMILIES]
    left_out = len(losses) - len(shown)
    table = Summary(
        header=["where others win, or nothing is proven", "who", "theirs", "ours", ""],
        lines=[list(loss[:5]) for loss in shown],
    )
    more = [f"Left out, because smaller: {left_out}.\n"] if left_out else []
    return ["## Where others win\n", to_markdown(table), *more]


def losses_of(frames: Mapping[str, pd.DataFrame]) -> list[Loss]:
    """Return where a peer wins or ties, or nothing is proven."""
    makers: dict[str, Callable[[pd.DataFrame], list[Loss]]] = {
        "grid": _slower_than_a_fit,
        "machine_grid": _machines_not_proven,
        "gaussian": _not_proven,
        "peers": _faster_peers,
        **{name: partial(_lost_rungs, name) for name in _LADDERS},
    }
    return [
        loss for name, maker in makers.items() if name in frames for loss in maker(frames[name])
    ]


def _open(where: str, rows: pd.DataFrame) -> Loss:
    gap = f"a gap of {format_percent(rows['gap'].max())} is left"
    return Loss(where, "", "", f"> {format_seconds(rows['seconds'].max())}", gap, inf)


def _slower_than_a_fit(frame: pd.DataFrame) -> list[Loss]:
    slower = frame[frame["ratio"] > 1.0]
    if slower.empty:
        return []
    worst = slower.loc[slower["ratio"].idxmax()]
    where = f"paper's grid, {len(slower)} of {len(frame)} problems"
    fit, ours = worst["seconds"] / worst["ratio"], worst["seconds"]
    times = (format_seconds(fit), format_seconds(ours))
    return [Loss(where, "scikit-learn", *times, "a plain fit without selection", worst["ratio"])]


def _machines_not_proven(frame: pd.DataFrame) -> list[Loss]:
    return [
        _open(f"grid with the {str(loss).replace('_', ' ')}, {len(left)} of {len(part)}", left)
        for loss, part in frame.groupby("loss", sort=False)
        if len(left := part[part["status"] != "optimal"])
    ]


def _not_proven(frame: pd.DataFrame) -> list[Loss]:
    """Return a loss for each kind of problem, of all its sizes."""
    left = frame[frame["status"] != "optimal"]
    kinds = left.groupby(["correlation", "ridge", "max_coefficient"], sort=False, dropna=False)
    losses = []
    for _, part in kinds:
        _, kind = name_of(part.iloc[0]).split(", ", 1)
        sizes = dict.fromkeys(
            f"{r} x {c}" for r, c in zip(part["rows"], part["columns"], strict=True)
        )
        losses.append(_open(f"{', '.join(sizes)}: {kind}", part))
    return losses


def _faster_peers(frame: pd.DataFrame) -> list[Loss]:
    losses = []
    for name, part in answered_by_peer(frame).items():
        ratio = geometric_mean(part["seconds"] / part["native_seconds"])
        wins = part[part["seconds"] < part["native_seconds"]]
        missed = (part["objective"] / part["optimum"] - 1.0 > TOLERANCE).mean()
        if wins.empty and ratio > _TIE:
            continue
        kind = "no proof" if name not in EXACT else "exact"
        times = (format_seconds(part[key].median()) for key in ("seconds", "native_seconds"))
        where = f"paper's grid, {len(wins)} of {len(part)} problems"
        losses.append(Loss(where, name, *times, f"{kind}, misses {missed:.0%}", 1 / ratio))
    return losses


def _lost_rungs(experiment: str, frame: pd.DataFrame) -> list[Loss]:
    """Return a loss for each ladder and peer: the rung where it is largest."""
    losses = []
    for ladder, rungs in frame[frame["seconds"].notna()].groupby("ladder", sort=False):
        native = rungs[rungs["peer"] == NATIVE].set_index("step")
        left = native[native["status"] != "optimal"]
        if len(left):
            steps = " and ".join(f"{step:.10g}" for step in left.index)
            losses.append(_open(f"{experiment}, {ladder}: {steps}", left))
        for name in PEERS:
            rows = rungs[rungs["peer"] == name].set_index("step")
            if name in EXACT:
                rows = rows[rows["status"] == "optimal"]
            ratio = native["seconds"].reindex(rows.index) / rows["seconds"]
            if not (ratio >= 1.0).any():
                continue
            row, ours = rows.loc[ratio.idxmax()], native.loc[ratio.idxmax()]
            excess = row["objective"] / row["optimum"] - 1.0
            same = f"{format_percent(excess)} worse" if excess > TOLERANCE else "the same model"
            where = f"{experiment}, {ladder}: {ratio.idxmax():.10g}"
            if (n := int((ratio >= 1.0).sum())) > 1:
                where += f", most of {n}"
            times = (format_seconds(row["seconds"]), format_seconds(ours["seconds"]))
            proof = "" if name in EXACT else ", no proof"
            losses.append(Loss(where, name, *times, f"{same}{proof}", float(ratio.max())))
    return losses


if __name__ == "__main__":
    for place, text in {PAGE: render(), **render_figures()}.items():
        replace(place, text)
        print(f"Wrote {place}.")
