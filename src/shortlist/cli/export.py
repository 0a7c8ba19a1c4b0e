"""`shortlist export`: the problem as a file for other solvers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .place import check_places
from .progress import noting, working
from .question import Question, asking


@asking
def export(
    question: Question,
    output: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Where to write: .cbf for conic solvers, .nl for nonlinear ones.",
            show_default=False,
        ),
    ],
) -> None:
    """Write the problem that `fit` solves as a mixed-integer model, for another solver to check."""
    from ..conic import export as write_model

    check_places(question.inputs, [output])
    question.check_limits()
    with noting(), working("Reading") as announce:
        problem = question.problem(announce)
        announce("Writing")
        write_model(problem, output)
    typer.echo(
        f"{output} is written: {problem.n_rows} rows, {problem.n_columns} columns of "
        f"{problem.n_predictors} predictors, ridge {problem.ridge:g}.",
        err=True,
    )
