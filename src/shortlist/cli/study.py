"""`shortlist study`: the experiments of Knauer and Rodner (2023), run, resumed, drawn, compared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .option import OutputFile
from .terminal import working

if TYPE_CHECKING:
    from ..study import Tables

study = typer.Typer(
    help=(
        "The experiments of Knauer and Rodner (2023): run them, see how far they are, draw the "
        "figures, and compare with the paper."
    ),
    no_args_is_help=True,
)

StudyFolder = Annotated[
    Path, typer.Argument(metavar="DIR", help="The folder of a study.", show_default=False)
]
OutFolder = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="The folder to write to.", show_default=False)
]
Jobs = Annotated[int, typer.Option("--jobs", help="Processes; -1 is one per core.")]
Dask = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Scheduler of a Dask cluster to run on instead."),
]


@study.command()
def run(
    out: OutFolder,
    preset: Annotated[
        str,
        typer.Option(metavar="NAME", help="paper: everything; quick: the same, few resamples."),
    ] = "paper",
    jobs: Jobs = -1,
    dask: Dask = None,
) -> None:
    """Run the study; if it is interrupted, `resume` goes on."""
    from ..study import start

    _say_what_is_written(out, start(out, preset, n_jobs=jobs, dask=dask, announce=_announce))


@study.command()
def resume(folder: StudyFolder, jobs: Jobs = -1, dask: Dask = None) -> None:
    """Go on with a study where it stopped."""
    from ..study import resume as go_on

    _say_what_is_written(folder, go_on(folder, n_jobs=jobs, dask=dask, announce=_announce))


@study.command()
def status(folder: StudyFolder) -> None:
    """Show how far a study is, also while it runs."""
    from rich.console import Console
    from rich.table import Table

    from ..study import status as status_of

    parts = status_of(folder)
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


@study.command()
def figures(folder: StudyFolder) -> None:
    """Draw all figures from the tables of a study, into its folder `figures`."""
    from ..study.figures import draw_figures

    with working("Drawing"):
        paths = draw_figures(folder)
    typer.echo(f"{len(paths)} files are written to {folder / 'figures'}.", err=True)


@study.command()
def compare(folder: StudyFolder) -> None:
    """Compare a study with the numbers and claims of the paper; writes `comparison.csv`."""
    from rich.console import Console
    from rich.table import Table

    from ..files import write_whole
    from ..study.compare import compare as compare_with_paper

    comparison = compare_with_paper(folder)
    write_whole(folder / "comparison.csv", comparison.to_csv(index=False, float_format="%.6g"))
    table = Table("", "statement", "paper", "draws", "percentile or share", "verdict")
    for line in comparison.to_dict("records"):
        share = line["share"] if line["kind"] == "claim" else line["percentile"]
        table.add_row(
            *(str(line[name]) for name in ("place", "meaning", "paper", "n_draws")),
            "" if share != share else f"{share:.0%}",
            line["verdict"],
        )
    Console().print(table)
    for kind, rows in comparison.groupby("kind", sort=False):
        counts = rows["verdict"].value_counts().items()
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts)
        typer.echo(f"{len(rows)} {kind}s: {verdicts}.")
    typer.echo(f"comparison.csv is written to {folder}.", err=True)


@study.command()
def page(folder: StudyFolder, output: OutputFile = None) -> None:
    """Write a page about a study, in Markdown, with its figures and the comparison."""
    from ..study.page import render
    from .output import check_paths, write_or_print

    check_paths([], [output])
    write_or_print(render(folder, Path.cwd() if output is None else output.parent), output)


@study.command()
def parkinson(
    out: OutFolder,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The file parkinsons.data; without it, it is downloaded from UCI into DIR.",
        ),
    ] = None,
    variant: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="columns-17-rows (the paper's) or another of {columns,features}-{17,22}-"
            "{rows,persons} and columns-17-rows-quartiles-{linear,constant,continue}; can be "
            "repeated; `all` for all.",
        ),
    ] = None,
    resamples: Annotated[int, typer.Option(min=1, help="Bootstrap resamples.")] = 399,
    jobs: Jobs = -1,
    dask: Dask = None,
) -> None:
    """Run the experiment on the Oxford Parkinson's data; run it again to resume."""
    from rich.console import Console
    from rich.table import Table

    from ..study.parkinson import PAPER_VARIANT, VARIANTS, run_parkinson
    from ..study.recordings import download_recordings, read_recordings

    if data is None:
        with working("Downloading"):
            data = download_recordings(out / "parkinsons.data")
    names = variant or [PAPER_VARIANT]
    summary = run_parkinson(
        read_recordings(data),
        out,
        list(VARIANTS) if "all" in names else names,
        resamples,
        n_jobs=jobs,
        dask=dask,
        announce=_announce,
    )
    table = Table("variant", "accuracy", "95 % interval", "measures selected")
    for line in summary.to_dict("records"):
        interval = f"[{line['accuracy_lower']:.2f}, {line['accuracy_upper']:.2f}]"
        table.add_row(line["variant"], f"{line['accuracy']:.2f}", interval, line["measures"])
    Console().print(table)


def _announce(text: str) -> None:
    typer.echo(f"{text} …", err=True)


def _say_what_is_written(folder: Path, tables: Tables) -> None:
    typer.echo(
        f"{len(tables.rows)} rows are in {folder / 'results.csv.gz'}, their summary in "
        f"{folder / 'summary.csv.gz'}. Next: shortlist study figures, compare or page {folder}",
        err=True,
    )
