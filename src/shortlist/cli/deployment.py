"""Commands that carry a model out of Python: code, calculator, nomogram, points, manuscript."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InvalidFileError, InvalidProblemError
from .option import AsJson, ModelFile, OutputFile, ProblemOptions, with_problem_options
from .terminal import check_paths, noting, print_json, print_table, working

if TYPE_CHECKING:
    from ..deployment import PointsChart

_FIGURE_ENDINGS = (".svg", ".png", ".pdf")


def export_model(
    model: ModelFile,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where to write it: .R, .sql, .js or .xlsx."
        ),
    ],
) -> None:
    """Write a model as code for R, SQL or JavaScript, or as an Excel workbook with formulas.

    Each form replaces missing values as the model does, marks values outside the range of the
    development data, and has a test row.
    """
    check_paths([model], [output])
    with working("Writing"):
        from ..deployment import write_model
        from ..patients import ModelCard

        write_model(output, ModelCard.load(model))
    typer.echo(f"{output} written.", err=True)


def calculator(
    model: ModelFile,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write the page.")
    ],
    patients: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The development patients, to place a risk among theirs; only percentiles are "
            "kept.",
        ),
    ] = None,
    unit: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=UNIT", help="The unit of a predictor, such as age=years."),
    ] = None,
) -> None:
    """Write a calculator for the bedside: one page that works offline, on a phone too."""
    check_paths([model, patients], [output])
    units = {}
    for text in unit or []:
        name, equals, value = text.rpartition("=")
        if not equals or not name or not value:
            raise InvalidProblemError(f"--unit: {text!r} must be a predictor, = and its unit.")
        units[name] = value
    with noting(), working("Writing"):
        from ..deployment import write_calculator
        from ..patients import ModelCard
        from ..tables import read_table

        table = None if patients is None else read_table(patients)
        write_calculator(output, ModelCard.load(model), table, units)
    typer.echo(f"{output} written. Open it in a browser.", err=True)


def nomogram(
    model: ModelFile,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where to write it: .svg, .png or .pdf."
        ),
    ],
) -> None:
    """Draw the nomogram of a model: the risk is read with a ruler."""
    check_paths([model], [output])
    if output.suffix.lower() not in _FIGURE_ENDINGS:
        raise InvalidFileError(f"{output}: the name must end in {', '.join(_FIGURE_ENDINGS)}.")
    with noting(), working("Drawing"):
        from io import BytesIO

        from ..deployment import plot_nomogram
        from ..files import write_whole
        from ..patients import ModelCard

        figure: Any = plot_nomogram(ModelCard.load(model)).figure
        buffer = BytesIO()
        figure.savefig(buffer, format=output.suffix[1:].lower(), dpi=200)
    write_whole(output, buffer.getvalue())
    typer.echo(f"{output} written.", err=True)


def manuscript(
    report: Annotated[
        Path,
        typer.Argument(
            metavar="REPORT", help="The JSON file beside a report of `shortlist fit --report`."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the files go.")
    ],
) -> None:
    """Write the tables of a report as CSV, LaTeX and Word, and its figures as SVG and PNG."""
    with noting(), working("Drawing"):
        from ..report import write_manuscript

        files = write_manuscript(output, report)
    typer.echo(f"{output}: {len(files)} files written.", err=True)


@with_problem_options()
def points(
    options: ProblemOptions,
    max_points: Annotated[int, typer.Option(min=1, help="The most points of a predictor.")] = 5,
    bands: Annotated[int, typer.Option(min=2, help="The most bands of a number.")] = 4,
    resamples: Annotated[
        int, typer.Option(min=0, help="Bootstrap resamples, to correct for optimism.")
    ] = 0,
    output: OutputFile = None,
    chart: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to write the chart to print, as HTML."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find whole-number points within the limits, with a certified loss of rounding.

    --time-limit limits the search for the points; it is 60 seconds if not given.
    """
    options.check_limits()
    if options.weights is not None:
        raise InvalidProblemError("--weights: points count rows alike; leave it out.")
    check_paths(options.inputs, [output, chart])
    with noting() as notes, working("Reading") as announce:
        from ..deployment import points as find_points
        from ..files import write_whole

        patients, model = options.read()
        found = find_points(
            model,
            *patients.data,
            max_points=max_points,
            n_bands=bands,
            time_limit=options.time_limit or 60.0,
            n_resamples=resamples,
            outcome=patients.outcome,
            announce=announce,
        )
        page = None if chart is None else found.page()
    if output is not None:
        found.save(output)
    if chart is not None and page is not None:
        write_whole(chart, page)
    if as_json:
        print_json(found.model_dump(mode="json") | {"notes": notes})
    else:
        _print_points(found)
    for path in (output, chart):
        if path is not None:
            typer.echo(f"{path} written.", err=True)
    if not found.search.is_proven:
        raise typer.Exit(3)


def _print_points(found: PointsChart) -> None:
    print_table(
        "Points",
        ["predictor", "value", "points"],
        [
            (found.codebook.heading(term.bands.name) if first else "", label, value)
            for term in found.terms
            for first, label, value in zip(
                [True] + [False] * len(term.points), term.bands.labels, term.points, strict=False
            )
        ],
        numbers=["points"],
    )
    print_table(
        "From the total to the risk",
        ["total", "risk", "observed"],
        [(row.total, f"{row.risk:.1%}", f"{row.events} of {row.patients}") for row in found.totals],
        numbers=["total", "risk", "observed"],
    )
    search = found.search
    corrected = (
        "" if found.auc_corrected is None else f", {found.auc_corrected:.3f} corrected for optimism"
    )
    proof = (
        "no other points within the limits are better, proven"
        if search.is_proven
        else "other points are better by at most "
        f"{search.objective / search.points_bound - 1:.2%}, not proven to be none in --time-limit"
    )
    price = "" if found.cost is None else f"Cost {found.cost:g}. "
    typer.echo(
        f"{price}Apparent AUC {found.auc:.3f}{corrected}. Certified loss of rounding at most "
        f"{found.loss_of_rounding:.2%}; {proof}."
    )
