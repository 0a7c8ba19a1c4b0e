"""Write docs/benchmarks.md and its figures from the CSV files: `python -m benchmarks.render`.

Every measured number on the page is read from them.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import fill

import pandas as pd

from .catalogue import EXPERIMENTS
from .figure import FIGURES, to_svg
from .measure import notes_on_noise
from .settings import PROJECT, RESULTS
from .table import read_csv, replace, to_markdown
from .verdict import sentences

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
    losses = sentences(frames)
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
    """Say what the first row says about the run, and of which rows it does not hold."""
    row = frame.iloc[0]
    others = frame[frame["shortlist_sources"] != row["shortlist_sources"]]
    earlier = "".join(
        f" {len(part)} of {len(frame)} rows: {cpu}, sources {sources}."
        for (cpu, sources), part in others.groupby(["cpu", "shortlist_sources"], sort=False)
    )
    return (
        f"*{name}.csv: {row['date'][:10]}, {row['cpu']}, {row['cores']} cores, "
        f"{row['threads']} thread; shortlist {row['shortlist']} (sources "
        f"{row['shortlist_sources']}), numpy {row['numpy']}, scikit-learn {row['scikit_learn']}, "
        f"numba {row['numba']}, Python {row['python']}.{earlier}*"
    )


if __name__ == "__main__":
    for place, text in {PAGE: render(), **render_figures()}.items():
        replace(place, text)
        print(f"Wrote {place}.")
