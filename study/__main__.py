"""The commands of the study: `python -m study --help`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

import shortlist as sl

from . import run as study
from .compare import compare as compare_with_paper
from .figures import draw_figures
from .page import render
from .parkinson import run_parkinson
from .recordings import download_recordings, read_recordings
from .tables import Tables, write_whole

app = typer.Typer(
    help=(
        "The experiments of Knauer and Rodner (2023): run them, see how far they are, draw the "
        "figures, and compare with the paper."
    ),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

StudyFolder = Annotated[
    Path, typer.Argument(metavar="DIR", help="The folder of a study.", show_default=False)
]
OutFolder = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="The folder to write to.", show_default=False)
]
FigureFolder = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="The folder of the figures; by default `figures` in DIR."),
]
Jobs = Annotated[int, typer.Option("--jobs", help="Processes; -1 is one per core.")]
Dask = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Scheduler of a Dask cluster to run on instead."),
]


@app.command()
def run(
    out: OutFolder,
    preset: Annotated[
        str,
        typer.Option(metavar="NAME", help="paper: everything; quick: the same with few draws."),
    ] = "paper",
    jobs: Jobs = -1,
    dask: Dask = None,
) -> None:
    """Run the study; if it is interrupted, `resume` goes on."""
    _say_where(out, study.start(out, preset, n_jobs=jobs, dask=dask, announce=_announce))


@app.command()
def resume(folder: StudyFolder, jobs: Jobs = -1, dask: Dask = None) -> None:
    """Go on with a study where it stopped."""
    _say_where(folder, study.resume(folder, n_jobs=jobs, dask=dask, announce=_announce))


@app.command()
def status(folder: StudyFolder) -> None:
    """Show how far a study is, also while it runs."""
    parts = study.status(folder)
    table = Table("part", "finished", "of", "core hours")
    for column in table.columns[1:]:
        column.justify = "right"
    for part in (*parts, None):
        chosen = parts if part is None else [part]
        table.add_row(
            "all" if part is None else part.name,
            str(sum(line.finished for line in chosen)),
            str(sum(line.total for line in chosen)),
            f"{sum(line.seconds for line in chosen) / 3600:.2f}",
        )
    Console().print(table)


@app.command()
def figures(folder: StudyFolder, figures: FigureFolder = None) -> None:
    """Draw all figures from the tables of a study."""
    place = _figures_of(folder, figures)
    paths = draw_figures(folder, place)
    typer.echo(f"{len(paths)} files are written to {place}.", err=True)


@app.command()
def compare(folder: StudyFolder) -> None:
    """Compare a study with the numbers and claims of the paper; writes its tables."""
    comparison = compare_with_paper(folder)
    for name, table in comparison._asdict().items():
        write_whole(folder / f"{name}.csv", table.to_csv(index=False, float_format="%.6g"))
    shown = Table("", "claim", "verdict", "mean that decides", "draws in which it holds")
    for line in comparison.claims.to_dict("records"):
        cells = [line["place"], line["meaning"], line["verdict"]]
        if line["estimate"] == line["estimate"]:
            mean = f"{line['estimate']:+.3f} [{line['lower']:+.3f}, {line['upper']:+.3f}]"
            cells += [f"{line['deciding']}: {mean}", f"{line['share']:.0%}"]
        shown.add_row(*cells)
    Console().print(shown)
    for kind in ("numbers", "claims"):
        table = getattr(comparison, kind)
        counts = table["verdict"].value_counts().items()
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts)
        typer.echo(f"{len(table)} {kind}: {verdicts}.")
    typer.echo(f"{len(comparison)} tables are written to {folder}.", err=True)


@app.command()
def page(
    folder: StudyFolder,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The page, in Markdown.")
    ],
    figures: FigureFolder = None,
) -> None:
    """Write a page about a study, in Markdown, with its figures and the comparison."""
    write_whole(output, render(folder, _figures_of(folder, figures), output.parent))
    typer.echo(f"{output} written.", err=True)


@app.command()
def parkinson(
    out: OutFolder,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The file parkinsons.data; without it, it is downloaded from UCI into DIR.",
        ),
    ] = None,
    jobs: Jobs = -1,
    dask: Dask = None,
) -> None:
    """Run the experiment on the Oxford Parkinson's data; run it again to resume."""
    if data is None:
        data = download_recordings(out / "parkinsons.data")
    variants = run_parkinson(read_recordings(data), out, n_jobs=jobs, dask=dask, announce=_announce)
    table = Table("variant", "accuracy", "95 % interval", "measures selected")
    for line in variants.to_dict("records"):
        interval = f"[{line['accuracy_lower']:.2f}, {line['accuracy_upper']:.2f}]"
        table.add_row(line["variant"], f"{line['accuracy']:.2f}", interval, line["measures"])
    Console().print(table)


def _figures_of(folder: Path, figures: Path | None) -> Path:
    return folder / "figures" if figures is None else figures


def _announce(text: str) -> None:
    typer.echo(f"{text} …", err=True)


def _say_where(folder: Path, tables: Tables) -> None:
    typer.echo(
        f"{len(tables.runs)} runs are in {folder / 'runs.csv.gz'}. "
        f"Next: python -m study figures, compare or page {folder}",
        err=True,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; wrong input ends with one sentence and exit code 2."""
    try:
        app(arguments, prog_name="python -m study")
    except (sl.InvalidFileError, sl.InvalidProblemError, sl.MissingDependencyError) as error:
        message = str(error)
    except OSError as error:
        message = f"{error.filename}: {error.strerror or error}."
    typer.echo(f"Error: {message}", err=True)
    sys.exit(2)


if __name__ == "__main__":
    main()
