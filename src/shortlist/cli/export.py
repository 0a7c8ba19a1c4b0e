"""`shortlist export`: the problem as a file for other solvers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .output import check_paths
from .parameter import LossName
from .problem_options import ProblemOptions, with_problem_options
from .progress import noting, working


@with_problem_options
def export(
    options: ProblemOptions,
    output: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Where to write: .cbf for conic solvers, .nl for nonlinear ones.",
            show_default=False,
        ),
    ],
    loss: LossName = "logistic",
) -> None:
    """Write the problem that `fit` solves as a mixed-integer model, for another solver to check."""
    from ..conic import export as write_model

    check_paths(options.inputs, [output])
    options.check_limits()
    with noting(), working("Reading") as announce:
        problem = options.problem(announce, loss)
        announce("Writing")
        write_model(problem, output)
    typer.echo(
        f"{output} written: {problem.n_rows} rows, {problem.n_columns} columns of "
        f"{problem.n_predictors} predictors, ridge {problem.ridge:g}.",
        err=True,
    )
