"""`shortlist fit`: from patients and prices to a model."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InvalidProblemError, ShortlistWarning, shown
from .parameter import AsJson, DataFile, OutcomeColumn, PersonColumn, split_names
from .place import check_places
from .progress import noting, working

if TYPE_CHECKING:
    import pandas as pd

_LIMITS = "What is affordable"
_COLUMNS = "What the columns are"
_SEARCH = "How to search"


def fit(
    data: DataFile,
    outcome: OutcomeColumn,
    positive: Annotated[
        str | None,
        typer.Option(
            metavar="VALUE", help="The value of the outcome that is the event, if not 1 or yes."
        ),
    ] = None,
    person: PersonColumn = None,
    model: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to write the model, as JSON.")
    ] = None,
    as_json: AsJson = False,
    budget: Annotated[
        float | None,
        typer.Option(
            min=0, help="Upper limit on the total cost; needs --costs.", rich_help_panel=_LIMITS
        ),
    ] = None,
    costs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The price list: a predictor and its cost per row. "
            "`shortlist costs-template` makes one to fill in.",
            rich_help_panel=_LIMITS,
        ),
    ] = None,
    fees: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Fees paid once: an amount, then the predictors that share it, per row.",
            rich_help_panel=_LIMITS,
        ),
    ] = None,
    max_features: Annotated[
        int | None,
        typer.Option(
            min=0, help="Upper limit on the number of predictors.", rich_help_panel=_LIMITS
        ),
    ] = None,
    include: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMNS",
            help="Predictors that must be bought, with commas between them.",
            rich_help_panel=_LIMITS,
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMNS",
            help="Columns that are no predictors.",
            rich_help_panel=_LIMITS,
        ),
    ] = None,
    categorical: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMNS",
            help="Columns whose numbers are codes, not amounts.",
            rich_help_panel=_COLUMNS,
        ),
    ] = None,
    numeric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMNS",
            help="Columns whose numbers are amounts.",
            rich_help_panel=_COLUMNS,
        ),
    ] = None,
    spline_knots: Annotated[
        int | None,
        typer.Option(
            min=3,
            max=5,
            help="Bend numbers by natural cubic splines with as many knots.",
            rich_help_panel=_COLUMNS,
        ),
    ] = None,
    missing_indicator: Annotated[
        bool,
        typer.Option(
            "--missing-indicator",
            help="Let a missing value tell something by being missing.",
            rich_help_panel=_COLUMNS,
        ),
    ] = False,
    ridge: Annotated[
        str,
        typer.Option(
            metavar="NUMBER",
            help="Strength of the L2 penalty, or 'tuned' by cross-validation.",
            rich_help_panel=_SEARCH,
        ),
    ] = "tuned",
    time_limit: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="Stop the search with the best model so far, and exit code 3. Tuning the ridge "
            "may take as long again.",
            rich_help_panel=_SEARCH,
        ),
    ] = None,
) -> None:
    """Fit a model on the best predictors that are affordable, and prove that none are better.

    Missing values may be left empty. Numbers are standardised, text becomes levels, and a column is
    bought as a whole. Rows of one person stay together when the ridge is tuned.
    """
    from ..prognostic import PrognosticModel
    from ..result import Status
    from ..tables import read_costs, read_fees
    from .fit_view import Fitted, as_record, render
    from .patients import read_patients

    check_places([data, costs, fees], [model])
    _check_limits(budget, costs, fees, max_features)
    strength = _parse_ridge(ridge)
    started = perf_counter()
    with noting() as notes, working("Reading") as announce:
        patients = read_patients(data, outcome, positive, person)
        names = list(patients.predictors.columns)
        amounts = split_names(numeric, names)
        announce("Preparing")
        estimator = PrognosticModel(
            max_features=max_features,
            budget=budget,
            costs=None if costs is None else read_costs(costs, names),
            fees=None if fees is None else read_fees(fees, names),
            include=split_names(include, names),
            exclude=split_names(exclude, names),
            kinds=_kinds(split_names(categorical, names), amounts),
            spline_knots=spline_knots,
            missing_indicator=missing_indicator,
            ridge=strength,
            time_limit=time_limit,
        ).fit(patients.predictors, patients.events, patients.persons, announce)
        card = estimator.card_.model_copy(update={"outcome": patients.outcome})
        _note_codes(patients.predictors, estimator.kinds_, amounts)
        if model is not None:
            card.save(model)
    fitted = Fitted(card, estimator, patients, model, notes, perf_counter() - started)
    if as_json:
        typer.echo(json.dumps(as_record(fitted), indent=2))
    else:
        render(fitted)
    if estimator.status_ is not Status.OPTIMAL:
        raise typer.Exit(3)


def _check_limits(
    budget: float | None, costs: Path | None, fees: Path | None, max_features: int | None
) -> None:
    if budget is None and max_features is None:
        raise InvalidProblemError(
            "--budget: say what is affordable, with --budget and --costs, or with --max-features."
        )
    if budget is not None and costs is None:
        raise InvalidProblemError(
            "--costs: a budget needs a price list; make one with `shortlist costs-template`, "
            "or use --max-features."
        )
    if budget is None and fees is not None:
        raise InvalidProblemError("--fees: matter only with a --budget; give one.")


def _parse_ridge(ridge: str) -> float | None:
    if ridge == "tuned":
        return None
    try:
        return float(ridge)
    except ValueError:
        raise InvalidProblemError(
            f"--ridge: must be a number greater than 0 or 'tuned', not {ridge!r}."
        ) from None


def _kinds(categorical: list[str], numeric: list[str]) -> dict[str, str]:
    both = set(categorical).intersection(numeric)
    if both:
        raise InvalidProblemError(
            f"--categorical and --numeric: {min(both)!r} is in both; remove it from one."
        )
    return dict.fromkeys(categorical, "categorical") | dict.fromkeys(numeric, "numeric")


def _note_codes(predictors: pd.DataFrame, kinds: Mapping[str, str], numeric: list[str]) -> None:
    """Point at numbers that may be codes: three to ten different ones, all of them whole."""
    from ..prognostic.columns import as_numbers

    suspects = []
    for name, kind in kinds.items():
        if kind == "numeric" and name not in numeric:
            values = set(as_numbers(predictors[name]).tolist())
            values = {value for value in values if value == value}  # NaN is not itself
            if 3 <= len(values) <= 10 and all(value.is_integer() for value in values):
                suspects.append(name)
    if suspects:
        warnings.warn(
            f"{', '.join(map(shown, suspects))} hold few whole numbers and are taken for amounts; "
            f"if they are codes, add --categorical {quote(','.join(suspects))}, "
            "and --numeric for those that are not.",
            ShortlistWarning,
            stacklevel=2,
        )
