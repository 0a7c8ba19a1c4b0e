"""`shortlist path`, `alternatives` and `explore`: other budgets, and other selections."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import InvalidProblemError
from .option import AsJson, LossName, ProblemOptions, with_problem_options
from .terminal import check_paths, noting, print_json, print_table, working

_page_option = partial(typer.Option, rich_help_panel="Page")
_ABOUT_DATA = (
    *("positive", "person", "budget", "costs", "fees", "exclude", "categorical", "numeric"),
    *("missing_codes", "merge_levels", "synonyms", "spline_knots", "missing_indicator"),
    *("imputation", "title"),
)


Validated = Annotated[
    bool,
    typer.Option(
        "--cross-validate/--no-cross-validate",
        help="Show the cross-validated log loss, which takes 30 times as long.",
    ),
]
_OUT_OF_SAMPLE = "log loss, above the least"


def _log_loss(row: dict[str, Any]) -> str:
    """Return a cross-validated log loss, and its difference to the least with its error."""
    return f"{row['log_loss']:.4f}, {row['difference']:.4f} ± {row['error']:.4f}"


@with_problem_options()
def path(
    options: ProblemOptions,
    loss: LossName = "logistic",
    validated: Validated = True,
    as_json: AsJson = False,
) -> None:
    """List every budget at which the best affordable selection changes, and the new selection.

    Up to --budget, or up to the price of everything without one; without prices, every number of
    predictors up to --max-features. --time-limit is for each step. All steps have one ridge: unless
    --ridge gives it, it is tuned for the highest limit, so it may differ from the ridge of `fit`.
    The penalised loss always falls; the log loss is that of a cross-validation of the whole list.
    """
    check_paths(options.inputs, [])
    options.check_limits(required=False)
    with noting() as notes, working("Reading") as announce:
        from ..choice import solve_path
        from ..patients.worth import cross_validate_limits

        problem, model, plain, persons = options.state(announce, loss)
        announce("Solving for every budget")
        stairs = solve_path(problem, time_limit=options.time_limit, threads=options.threads)
        steps = stairs.to_records()
        validated = validated and problem.family.gives_risks
        if validated:
            curve = cross_validate_limits(model, plain, stairs, persons, announce)
            measured: list[Any] = curve.table.drop(columns="limit").to_dict("records")
            steps = [step | found for step, found in zip(steps, measured, strict=True)]
    proven = stairs.is_certified
    if as_json:
        record = {
            "ridge": problem.ridge,
            "loss": problem.family.name,
            "limit_name": stairs.limit_name,
            "is_proven": proven,
            "steps": steps,
            "notes": notes,
        }
        print_json(record)
    else:
        cells = [
            (
                f"{s['limit']:g}",
                f"{s['objective']:.4f}",
                *([_log_loss(s)] if validated else []),
                len(s["predictors"]),
                s["gained"],
                s["lost"],
            )
            for s in steps
        ]
        print_table(
            f"Best model for every {'budget' if stairs.limit_name == 'budget' else 'number'}",
            [
                *("from", "penalised loss", *([_OUT_OF_SAMPLE] if validated else [])),
                *("predictors", "gained", "lost"),
            ],
            cells,
        )
        tuned = ", tuned for the highest limit; pass the ridge of `fit` with --ridge"
        typer.echo(
            f"Ridge {problem.ridge:g}{tuned if options.ridge == 'tuned' else ''}. "
            + ("All steps are proven." if proven else "Not proven: a limit was reached.")
        )
    if not proven:
        raise typer.Exit(3)


@with_problem_options()
def alternatives(
    options: ProblemOptions,
    tolerance: Annotated[
        float, typer.Option(min=0, help="How much worse than the best, relatively: 0.01 is 1 %.")
    ] = 0.01,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of models to list.")] = 20,
    loss: LossName = "logistic",
    validated: Validated = True,
    as_json: AsJson = False,
) -> None:
    """List all models that are nearly as good as the best, and the substitute of each predictor.

    The log loss is cross-validated with the selection given, and so optimistic for all of them.
    """
    check_paths(options.inputs, [])
    options.check_limits()
    with noting() as notes, working("Reading") as announce:
        from ..choice import near_optimal, substitutes
        from ..patients.worth import cross_validate_selections
        from ..solution import Status

        problem, model, plain, persons = options.state(announce, loss)
        announce("Listing models")
        seconds, threads = options.time_limit, options.threads
        models = near_optimal(problem, tolerance, limit, time_limit=seconds, threads=threads)
        announce("Finding substitutes")
        instead = substitutes(problem, time_limit=seconds, threads=threads)
        listed, replaced = models.to_records(), instead.to_records()
        validated = validated and problem.family.gives_risks
        if validated:
            announce("Cross-validating models")
            supports = [found.support for found in models]
            found = cross_validate_selections(model, plain, problem, supports, persons)
            measured: list[Any] = found.to_dict("records")
            listed = [row | scores for row, scores in zip(listed, measured, strict=True)]
    cut_short = not models.is_complete and len(models) < limit
    proven = (
        not cut_short
        and instead.best.status is Status.OPTIMAL
        and all(row["is_proven"] for row in replaced)
    )
    if as_json:
        record = {
            "ridge": problem.ridge,
            "loss": problem.family.name,
            "tolerance": tolerance,
            "is_complete": models.is_complete,
            "is_proven": proven,
            "models": listed,
            "substitutes": replaced,
            "notes": notes,
        }
        print_json(record)
    else:
        print_table(
            f"Models whose penalised loss is at most {100 * tolerance:g} % above the best",
            ["worse by", *([_OUT_OF_SAMPLE] if validated else []), "cost", "predictors"],
            [
                (
                    f"{row['excess']:.2%}",
                    *([_log_loss(row)] if validated else []),
                    f"{row['cost']:g}",
                    row["predictors"],
                )
                for row in listed
            ],
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


@with_problem_options(*_ABOUT_DATA, make=dict)
def explore(
    about_data: dict[str, Any],
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="DATA",
            help="Patients, as for `shortlist fit`; without them, synthetic ones are shown.",
            show_default=False,
        ),
    ] = None,
    outcome: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column to predict.")
    ] = None,
    ridge: Annotated[
        float | None,
        _page_option(
            min=1e-4,
            max=1e4,
            help="Strength of the L2 penalty at the start; by default that of `shortlist fit`.",
        ),
    ] = None,
    settings: Annotated[
        Path | None, _page_option(metavar="FILE", help="Settings that the page saved.")
    ] = None,
    port: Annotated[
        int, _page_option(min=0, max=65535, help="Port on this machine; 0 is a free one.")
    ] = 0,
    browser: Annotated[bool, _page_option("--browser/--no-browser", help="Open the page.")] = True,
) -> None:
    """Drag the budget on a page of this machine, and watch the proven best model change.

    Prices, shared fees, and required or unavailable predictors are set on the page too. The page
    contacts only this machine, and works without a network. Ctrl-C stops it. It shows the best of
    all predictors, missing values replaced once: --stable and --imputations are options of fit.
    """
    if data is None and any((outcome, *about_data.values())):
        raise InvalidProblemError("DATA: is missing; give the table that the options refer to.")
    if data is not None and outcome is None:
        raise InvalidProblemError("--outcome: name the column to predict.")
    with noting(), working("Preparing") as announce:
        from ..explorer import PreparedPatients, example_patients
        from ..explorer.serve import check_installed, serve

        check_installed()
        if data is None or outcome is None:
            prepared = example_patients()
        else:
            options = ProblemOptions(data, outcome, **about_data)
            options.check_limits(required=False)
            patients, model = options.read()
            prepared = PreparedPatients.prepare(
                data.name,
                patients,
                costs=model.costs,
                fees=model.fees or (),
                exclude=model.exclude,
                preparation=model.preparation,
                codebook=model.codebook,
                budget=model.budget,
            )
            if ridge is None and settings is None:  # settings have a ridge
                limits = prepared.first_state().limits()
                limits |= {"include": (), "exclude": model.exclude}
                ridge = model.set_params(**limits).fit(*patients.data, announce).ridge_
    serve(
        prepared,
        ridge=1.0 if ridge is None else ridge,
        port=port,
        settings=None if settings is None else settings.read_text("utf-8", errors="replace"),
        open_browser=browser,
        announce=lambda address: typer.echo(
            f"The explorer is running at {address}\nPress Ctrl-C to stop it."
        ),
    )
