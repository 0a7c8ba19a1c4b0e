"""`shortlist path`: what every budget buys."""

from __future__ import annotations

import typer

from .parameter import AsJson, LossName
from .problem_options import ProblemOptions, with_problem_options
from .progress import noting, working


@with_problem_options
def path(options: ProblemOptions, loss: LossName = "logistic", as_json: AsJson = False) -> None:
    """List every budget at which the best affordable selection changes, and to what.

    Up to --budget, or up to the price of everything without one; without prices, every number of
    predictors up to --max-features. --time-limit is for each step. All steps have one ridge: unless
    --ridge gives it, it is tuned for the highest limit, so it may be another than that of `fit`.
    """
    from ..choice import solve_path
    from .terminal import print_json, print_table

    options.check_limits(required=False)
    with noting() as notes, working("Reading") as announce:
        problem = options.problem(announce, loss)
        announce("Solving for every budget")
        stairs = solve_path(problem, time_limit=options.time_limit, threads=options.threads)
    proven, steps = stairs.is_certified, stairs.to_records()
    if as_json:
        print_json(
            {
                "ridge": problem.ridge,
                "loss": problem.loss.name,
                "limit_name": stairs.limit_name,
                "is_proven": proven,
                "steps": steps,
                "notes": notes,
            }
        )
    else:
        print_table(
            f"Best model for every {'budget' if stairs.limit_name == 'budget' else 'number'}",
            ["from", "penalised loss", "predictors", "gained", "lost"],
            [
                (
                    f"{step['limit']:g}",
                    f"{step['objective']:.4f}",
                    len(step["predictors"]),
                    step["gained"],
                    step["lost"],
                )
                for step in steps
            ],
        )
        tuned = ", tuned for the highest limit; pass the ridge of `fit` with --ridge"
        typer.echo(
            f"Ridge {problem.ridge:g}{tuned if options.ridge == 'tuned' else ''}. "
            + ("All steps are proven." if proven else "Not proven: a limit was reached.")
        )
    if not proven:
        raise typer.Exit(3)
