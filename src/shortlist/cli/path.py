"""`shortlist path`: what every budget buys."""

from __future__ import annotations

import json
from typing import Any

import typer

from .parameter import AsJson
from .progress import noting, working
from .question import Question, asking


@asking
def path(question: Question, as_json: AsJson = False) -> None:
    """List every budget at which the best affordable selection changes, and to what.

    Up to --budget, or up to the price of everything without one; without prices, every number of
    predictors up to --max-features. --time-limit is for each step. All steps have one ridge: unless
    --ridge gives it, it is tuned for the highest limit, so it may be another than that of `fit`.
    """
    from ..choice import solve_path
    from .choice_view import print_table

    question.check_limits(required=False)
    with noting() as notes, working("Reading") as announce:
        problem = question.problem(announce)
        announce("Finding what every budget buys")
        stairs = solve_path(problem, time_limit=question.time_limit, threads=question.threads)
    frame = stairs.to_frame()
    if as_json:
        steps: list[Any] = [
            {
                stairs.limit_name: step.limit,
                "cost": step.solution.cost,
                "objective": step.solution.objective,
                "lower_bound": step.solution.lower_bound,
                "status": step.solution.status.value,
                "predictors": [stairs.names[g] for g in step.solution.support],
                "gained": [stairs.names[g] for g in step.gained],
                "lost": [stairs.names[g] for g in step.lost],
            }
            for step in stairs
        ]
        record = {"ridge": problem.ridge, "proven": stairs.is_certified, "steps": steps}
        typer.echo(json.dumps(record | {"notes": notes}, indent=2))
    else:
        print_table(
            f"What every {'budget' if stairs.limit_name == 'budget' else 'number'} buys",
            ["from", "penalised loss", "predictors", "new", "gone"],
            [
                (f"{limit:g}", f"{objective:.4f}", n, gained, lost)
                for limit, objective, n, gained, lost in zip(
                    frame[stairs.limit_name],
                    frame["objective"],
                    frame["n_predictors"],
                    frame["gained"],
                    frame["lost"],
                    strict=True,
                )
            ],
        )
        typer.echo(
            f"Ridge {problem.ridge:g}"
            + (
                ", tuned for the highest limit; give that of `fit` with --ridge. "
                if question.ridge == "tuned"
                else ". "
            )
            + ("All of it is proven." if stairs.is_certified else "Not proven: a limit came first.")
        )
    if not stairs.is_certified:
        raise typer.Exit(3)
