"""Write docs/benchmarks.md from the CSV files: `python -m benchmarks.render`.

Every measured number on the page is read from them.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import fill

import pandas as pd

from .catalogue import EXPERIMENTS
from .measure import notes_on_noise
from .settings import PROJECT, RESULTS
from .table import read_csv, replace, to_markdown

PAGE = PROJECT / "docs" / "benchmarks.md"
_INTRODUCTION = """\
# Benchmarks

Written by `python -m benchmarks.render` from the files in `benchmarks/results`, which `make bench`
writes; do not edit. All times are wall-clock times on one thread, after a warm-up, and medians
where they were repeated.
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
    sections = [_INTRODUCTION]
    for name, experiment in EXPERIMENTS.items():
        path = results / f"{name}.csv"
        if not path.is_file():
            continue
        frame = read_csv(path)
        summary = experiment.summarise(frame)
        sections += [
            f"## {experiment.TITLE}\n",
            _paragraph(experiment.ABOUT),
            to_markdown(summary),
            *map(_paragraph, [*summary.notes, *notes_on_noise(frame), _provenance(name, frame)]),
        ]
    if len(sections) == 1:
        raise SystemExit(f"There are no results in {results}: run `make bench` first.")
    return "\n".join(sections)


def _paragraph(text: str) -> str:
    return fill(text, width=100, break_long_words=False, break_on_hyphens=False) + "\n"


def _provenance(name: str, frame: pd.DataFrame) -> str:
    """Say what the first row says about the run; all rows of a file are of one run."""
    row = frame.iloc[0]
    return (
        f"*{name}.csv: {row['date'][:10]}, {row['cpu']}, {row['cores']} cores, "
        f"{row['threads']} thread; shortlist {row['shortlist']} (sources "
        f"{row['shortlist_sources']}), numpy {row['numpy']}, scikit-learn {row['scikit_learn']}, "
        f"numba {row['numba']}, Python {row['python']}.*"
    )


if __name__ == "__main__":
    replace(PAGE, render())
    print(f"Wrote {PAGE}.")
