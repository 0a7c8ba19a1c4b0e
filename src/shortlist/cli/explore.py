"""`shortlist explore`: a page on which the budget is dragged and the proven best model follows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InvalidProblemError
from .columns import Columns
from .parameter import PersonColumn
from .progress import noting, working

if TYPE_CHECKING:
    from ..explorer import Cohort

_PRICES = "What things cost"
_COLUMNS = "What the columns are"
_PAGE = "The page"


def explore(
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
    positive: Annotated[
        str | None, typer.Option(metavar="VALUE", help="The outcome's value that is the event.")
    ] = None,
    person: PersonColumn = None,
    costs: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The price list.", rich_help_panel=_PRICES),
    ] = None,
    fees: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Fees paid once.", rich_help_panel=_PRICES),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMNS", help="Columns that are no predictors.", rich_help_panel=_COLUMNS
        ),
    ] = None,
    categorical: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMNS", help="Columns whose numbers are codes.", rich_help_panel=_COLUMNS
        ),
    ] = None,
    numeric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMNS", help="Columns whose numbers are amounts.", rich_help_panel=_COLUMNS
        ),
    ] = None,
    spline_knots: Annotated[
        int | None,
        typer.Option(min=3, max=5, help="Bend numbers by splines.", rich_help_panel=_COLUMNS),
    ] = None,
    missing_indicator: Annotated[
        bool,
        typer.Option(
            "--missing-indicator",
            help="Let a missing value tell something.",
            rich_help_panel=_COLUMNS,
        ),
    ] = False,
    ridge: Annotated[
        float,
        typer.Option(
            min=1e-4,
            max=1e4,
            help="Strength of the L2 penalty at the start; `shortlist fit` can tune it.",
            rich_help_panel=_PAGE,
        ),
    ] = 1.0,
    settings: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Settings that the page saved.", rich_help_panel=_PAGE),
    ] = None,
    port: Annotated[
        int,
        typer.Option(
            min=0, max=65535, help="Port on this machine; 0 is a free one.", rich_help_panel=_PAGE
        ),
    ] = 0,
    browser: Annotated[
        bool,
        typer.Option("--browser/--no-browser", help="Open the page.", rich_help_panel=_PAGE),
    ] = True,
) -> None:
    """Drag the budget on a page of this machine, and watch the proven best model change.

    Prices, shared fees, and what must or cannot be measured are set on the page too. The page asks
    only this machine, and works without a network. Ctrl-C ends it.
    """
    from ..explorer import Cohort, embedded_cohort
    from ..explorer.serve import check_installed, serve
    from ..prognostic.patients import read_patients
    from ..solver.compilation import ready_kernels
    from ..tables import read_fees

    check_installed()
    about_data = (outcome, positive, person, costs, fees, exclude, categorical, numeric)
    if data is None and any((*about_data, spline_knots, missing_indicator)):
        raise InvalidProblemError("DATA: give the table that the options are about.")
    if data is not None and outcome is None:
        raise InvalidProblemError("--outcome: name the column to predict.")
    with noting(), working("Preparing"):
        cohort: Cohort
        if data is None or outcome is None:
            cohort = embedded_cohort()
        else:
            patients = read_patients(data, outcome, positive, person)
            columns = Columns(patients, outcome, person)
            excluded = columns.excluded(exclude)
            columns.note_codes(excluded, categorical, numeric)
            cohort = Cohort.prepare(
                data.name,
                patients,
                costs=None if costs is None else columns.costs(costs),
                fees=() if fees is None else read_fees(fees, columns.names),
                exclude=excluded,
                kinds=columns.kinds(categorical, numeric),
                spline_knots=spline_knots,
                missing_indicator=missing_indicator,
            )
        ready_kernels()  # who opens the page expects answers
    serve(
        cohort,
        ridge=ridge,
        port=port,
        settings=None if settings is None else settings.read_text("utf-8", errors="replace"),
        open_browser=browser,
        announce=lambda address: typer.echo(f"The explorer is at {address}\nCtrl-C ends it."),
    )
