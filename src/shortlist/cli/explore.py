"""`shortlist explore`: an interactive page for budgets, prices and the proven best model."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import InvalidProblemError
from .option import ProblemOptions, with_problem_options
from .terminal import noting, working

_page_option = partial(typer.Option, rich_help_panel="Page")
_ABOUT_DATA = (
    *("positive", "person", "budget", "costs", "fees", "exclude", "categorical", "numeric"),
    *("missing_codes", "merge_levels", "synonyms", "spline_knots", "missing_indicator"),
    "imputation",
)


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
        float,
        _page_option(
            min=1e-4,
            max=1e4,
            help="Strength of the L2 penalty at the start; `shortlist fit` can tune it.",
        ),
    ] = 1.0,
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
    with noting(), working("Preparing"):
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
                kinds=model.kinds,
                spline_knots=model.spline_knots,
                missing_indicator=model.missing_indicator,
                imputation=model.imputation,  # type: ignore[arg-type]
                missing_codes=model.missing_codes,
                synonyms=model.synonyms,
                merge_levels=model.merge_levels,
                budget=model.budget,
            )
    serve(
        prepared,
        ridge=ridge,
        port=port,
        settings=None if settings is None else settings.read_text("utf-8", errors="replace"),
        open_browser=browser,
        announce=lambda address: typer.echo(
            f"The explorer is running at {address}\nPress Ctrl-C to stop it."
        ),
    )
