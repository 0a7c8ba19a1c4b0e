"""`shortlist alternatives`: models that are nearly as good, and what to buy instead."""

from __future__ import annotations

from typing import Annotated

import typer

from .parameter import AsJson, LossName
from .problem_options import ProblemOptions, with_problem_options
from .progress import noting, working


@with_problem_options
def alternatives(
    options: ProblemOptions,
    tolerance: Annotated[
        float, typer.Option(min=0, help="How much worse than the best, relatively: 0.01 is 1 %.")
    ] = 0.01,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of models to list.")] = 20,
    loss: LossName = "logistic",
    as_json: AsJson = False,
) -> None:
    """List all models that are nearly as good as the best, and the substitute of each predictor."""
    from ..choice import near_optimal, substitutes
    from ..solution import Status
    from .terminal import print_json, print_table

    options.check_limits()
    with noting() as notes, working("Reading") as announce:
        problem = options.problem(announce, loss)
        announce("Listing models")
        seconds, threads = options.time_limit, options.threads
        models = near_optimal(problem, tolerance, limit, time_limit=seconds, threads=threads)
        announce("Finding substitutes")
        instead = substitutes(problem, time_limit=seconds, threads=threads)
    cut_short = not models.is_complete and len(models) < limit
    listed, replaced = models.to_records(), instead.to_records()
    proven = (
        not cut_short
        and instead.best.status is Status.OPTIMAL
        and all(row["is_proven"] for row in replaced)
    )
    if as_json:
        print_json(
            {
                "ridge": problem.ridge,
                "loss": problem.loss.name,
                "tolerance": tolerance,
                "is_complete": models.is_complete,
                "is_proven": proven,
                "models": listed,
                "substitutes": replaced,
                "notes": notes,
            }
        )
    else:
        print_table(
            f"Models whose penalised loss is at most {100 * tolerance:g} % above the best",
            ["worse by", "cost", "predictors"],
            [(f"{row['excess']:.2%}", f"{row['cost']:g}", row["predictors"]) for row in listed],
        )
        typer.echo(
            "The list is complete."
            if models.is_complete
            else "The list may be incomplete: the time limit was reached."
            if cut_short
            else f"There are more; these are the best {limit} (see --limit)."
        )
        print_table(
            "Substitutes, if a predictor is unavailable",
            ["without", "worse by", "cost", "gained instead", "also lost"],
            [
                (r["without"], f"{r['excess']:.2%}", f"{r['cost']:g}", r["gained"], r["lost"])
                for r in replaced
            ],
        )
        typer.echo(f"Ridge {problem.ridge:g}. " + ("All results are proven." if proven else ""))
    if not proven:
        raise typer.Exit(3)
