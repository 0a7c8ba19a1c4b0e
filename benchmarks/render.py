"""Write docs/benchmarks.md and its figures from the CSV files: `python -m benchmarks.render`.

Every measured number on the page is read from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from textwrap import fill

import pandas as pd

from .catalogue import EXPERIMENTS
from .figure import FIGURES, to_svg
from .gaussian import limit_of
from .grid import geometric_mean
from .ladder import PEERS
from .measure import notes_on_noise
from .peer_grid import answered_by_peer
from .peers.comparison import NATIVE, TOLERANCE
from .peers.registry import EXACT
from .settings import PROJECT, RESULTS
from .table import format_percent, format_seconds, read_csv, replace, to_markdown

PAGE = PROJECT / "docs" / "benchmarks.md"
_INTRODUCTION = """\
# Benchmarks

Written by `python -m benchmarks.render` from the files in `benchmarks/results`, which `make bench`
writes; do not edit. Times are CPU seconds of one thread, or those of the clock on a machine with
nothing else to do, unless a section says otherwise; after a warm-up, and medians where they were
repeated.
"""
_LOSSES = """\
## Where others win, and what is not proven

Made from all results below.
"""
_LADDERS = ("columns", "rows", "ridges")
_TIE = 2.0  # times faster or slower is a tie


def render(results: Path = RESULTS) -> str:
    """Return the page: a section for each experiment that has results.

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
    sections = [_INTRODUCTION]
    losses = losses_of(frames)
    if losses:
        sections += [_LOSSES, "".join(_item(text) for text in losses)]
    for name, frame in frames.items():
        experiment = EXPERIMENTS[name]
        summary = experiment.summarise(frame)
        sections += [f"## {experiment.TITLE}\n", _paragraph(experiment.ABOUT), to_markdown(summary)]
        if name in FIGURES:
            sections.append(f"![{FIGURES[name][1]}]({figure_path(name).name})\n")
        notes = [*summary.notes, *notes_on_noise(frame), _provenance(name, frame)]
        sections += map(_paragraph, notes)
    return "\n".join(sections)


def render_figures(results: Path = RESULTS) -> dict[Path, str]:
    """Return the figures of the page as SVG, by their place."""
    return {
        figure_path(name): to_svg(FIGURES[name][0], frame)
        for name, frame in _read(results).items()
        if name in FIGURES
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


def _item(text: str) -> str:
    return fill(
        f"- {text}", width=100, subsequent_indent="  ", break_long_words=False,
        break_on_hyphens=False,
    ) + "\n"  # fmt: skip


def _paragraph(text: str) -> str:
    return fill(text, width=100, break_long_words=False, break_on_hyphens=False) + "\n"


def _provenance(name: str, frame: pd.DataFrame) -> str:
    """Return the run of the first row, and the runs of others."""
    row = frame.iloc[0]
    others = frame[frame["shortlist_sources"] != row["shortlist_sources"]]
    earlier = "".join(
        f" {len(part)} of {len(frame)} rows: {cpu}, sources {sources}."
        for (cpu, sources), part in others.groupby(["cpu", "shortlist_sources"], sort=False)
    )
    # Rows from before the compiled core say which numba it was.
    is_core = isinstance(row.get("core"), str)
    solver = f"core {row['core']}" if is_core else f"numba {row['numba']}"
    return (
        f"*{name}.csv: {row['date'][:10]}, {row['cpu']}, {row['cores']} cores, "
        f"{row['threads']} thread; shortlist {row['shortlist']} (sources "
        f"{row['shortlist_sources']}), numpy {row['numpy']}, scikit-learn {row['scikit_learn']}, "
        f"{solver}, Python {row['python']}.{earlier}*"
    )


def losses_of(frames: Mapping[str, pd.DataFrame]) -> list[str]:
    """Return where a peer wins or ties, or nothing is proven, in sentences made from the rows."""
    makers: dict[str, Callable[[pd.DataFrame], list[str]]] = {
        "grid": _slower_than_a_fit,
        "machine_grid": _machines_not_proven,
        "gaussian": _not_proven,
        "peers": _faster_peers,
        **{name: partial(_lost_rungs, name) for name in _LADDERS},
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


if __name__ == "__main__":
    for place, text in {PAGE: render(), **render_figures()}.items():
        replace(place, text)
        print(f"Wrote {place}.")
