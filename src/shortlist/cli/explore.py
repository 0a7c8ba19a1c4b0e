"""`shortlist explore`: an interactive page for budgets, prices and the proven best model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InvalidProblemError
from .columns import Columns
from .parameter import (
    CategoricalColumns,
    CostsFile,
    EventValue,
    ExcludedColumns,
    FeesFile,
    MissingIndicator,
    NumericColumns,
    PersonColumn,
    SplineKnots,
)
from .progress import noting, working

if TYPE_CHECKING:
    from ..explorer import PreparedPatients

_PAGE_PANEL = "Page"


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
    positive: EventValue = None,
    person: PersonColumn = None,
    costs: CostsFile = None,
    fees: FeesFile = None,
    exclude: ExcludedColumns = None,
    categorical: CategoricalColumns = None,
    numeric: NumericColumns = None,
    spline_knots: SplineKnots = None,
    missing_indicator: MissingIndicator = False,
    ridge: Annotated[
        float,
        typer.Option(
            min=1e-4,
            max=1e4,
            help="Strength of the L2 penalty at the start; `shortlist fit` can tune it.",
            rich_help_panel=_PAGE_PANEL,
        ),
    ] = 1.0,
    settings: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Settings that the page saved.", rich_help_panel=_PAGE_PANEL
        ),
    ] = None,
    port: Annotated[
        int,
        typer.Option(
            min=0,
            max=65535,
            help="Port on this machine; 0 is a free one.",
            rich_help_panel=_PAGE_PANEL,
        ),
    ] = 0,
    browser: Annotated[
        bool,
        typer.Option("--browser/--no-browser", help="Open the page.", rich_help_panel=_PAGE_PANEL),
    ] = True,
) -> None:
    """Drag the budget on a page of this machine, and watch the proven best model change.

    Prices, shared fees, and required or unavailable predictors are set on the page too. The page
    contacts only this machine, and works without a network. Ctrl-C stops it.
    """
    from ..explorer import PreparedPatients, example_patients
    from ..explorer.serve import check_installed, serve
    from ..prognostic.patients import read_patients
    from ..solver.compilation import ready_kernels
    from ..tables import read_fees

    check_installed()
    about_data = (outcome, positive, person, costs, fees, exclude, categorical, numeric)
    if data is None and any((*about_data, spline_knots, missing_indicator)):
        raise InvalidProblemError("DATA: is missing; give the table that the options refer to.")
    if data is not None and outcome is None:
        raise InvalidProblemError("--outcome: name the column to predict.")
    with noting(), working("Preparing"):
        prepared: PreparedPatients
        if data is None or outcome is None:
            prepared = example_patients()
        else:
            patients = read_patients(data, outcome, positive, person)
            columns = Columns(patients, outcome, person)
            excluded = columns.excluded(exclude)
            columns.note_codes(excluded, categorical, numeric)
            prepared = PreparedPatients.prepare(
                data.name,
                patients,
                costs=None if costs is None else columns.costs(costs),
                fees=() if fees is None else read_fees(fees, columns.names),
                exclude=excluded,
                kinds=columns.kinds(categorical, numeric),
                spline_knots=spline_knots,
                missing_indicator=missing_indicator,
            )
        ready_kernels()  # so that the first answer comes at once
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
