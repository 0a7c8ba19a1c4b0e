"""The options that state a problem, shared by several commands: patients, prices, limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from ..errors import InvalidProblemError
from .columns import Columns
from .parameter import (
    LIMITS_PANEL,
    SEARCH_PANEL,
    CategoricalColumns,
    CostsFile,
    DataFile,
    EventValue,
    ExcludedColumns,
    FeesFile,
    MissingIndicator,
    NumericColumns,
    OutcomeColumn,
    PersonColumn,
    SplineKnots,
    amount,
    decimal,
)

if TYPE_CHECKING:
    from ..problem import SubsetProblem
    from ..prognostic import PrognosticModel
    from ..prognostic.patients import Patients


@dataclass(frozen=True)
class ProblemOptions:
    """Patients, prices and limits as a command is given them."""

    data: DataFile
    outcome: OutcomeColumn
    positive: EventValue = None
    person: PersonColumn = None
    budget: Annotated[
        float | None,
        typer.Option(
            parser=amount,
            metavar="NUMBER",
            help="Upper limit on the total cost; needs --costs.",
            rich_help_panel=LIMITS_PANEL,
        ),
    ] = None
    costs: CostsFile = None
    fees: FeesFile = None
    max_features: Annotated[
        int | None,
        typer.Option(
            min=0, help="Upper limit on the number of predictors.", rich_help_panel=LIMITS_PANEL
        ),
    ] = None
    include: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMNS",
            help="Predictors that must be bought, separated by commas.",
            rich_help_panel=LIMITS_PANEL,
        ),
    ] = None
    exclude: ExcludedColumns = None
    max_coefficient: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            help="Upper limit on the size of coefficients, per two standard deviations of a number "
            "or per level.",
            rich_help_panel=SEARCH_PANEL,
        ),
    ] = None
    increasing: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMNS",
            help="Numbers and truth values that may only raise the risk.",
            rich_help_panel=SEARCH_PANEL,
        ),
    ] = None
    decreasing: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMNS",
            help="Numbers and truth values that may only lower the risk.",
            rich_help_panel=SEARCH_PANEL,
        ),
    ] = None
    categorical: CategoricalColumns = None
    numeric: NumericColumns = None
    spline_knots: SplineKnots = None
    missing_indicator: MissingIndicator = False
    ridge: Annotated[
        str,
        typer.Option(
            metavar="NUMBER",
            help="Strength of the L2 penalty, or 'tuned' by cross-validation.",
            rich_help_panel=SEARCH_PANEL,
        ),
    ] = "tuned"
    time_limit: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="Stop a search with the best model so far, and exit code 3. Tuning the ridge "
            "may take as long again.",
            rich_help_panel=SEARCH_PANEL,
        ),
    ] = None
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Threads of a long search; default: one per core. They do not change results.",
            rich_help_panel=SEARCH_PANEL,
        ),
    ] = None

    @property
    def inputs(self) -> list[Path | None]:
        """The input files."""
        return [self.data, self.costs, self.fees]

    def check_limits(self, *, required: bool = True) -> None:
        """Raise if limits contradict each other or, where they are required, are missing."""
        if required and self.budget is None and self.max_features is None:
            raise InvalidProblemError(
                "--budget: state a limit, with --budget and --costs or with --max-features."
            )
        if self.budget is not None and self.costs is None:
            raise InvalidProblemError(
                "--costs: a budget needs a price list; make one with `shortlist costs-template`, "
                "or use --max-features."
            )
        for option, file in (("--costs", self.costs), ("--fees", self.fees)):
            if required and self.budget is None and file is not None:
                raise InvalidProblemError(f"{option}: has no effect without --budget; give one.")

    def read(self) -> tuple[Patients, PrognosticModel]:
        """Read the files; return the patients, and the model that is to be fitted to them."""
        from ..prognostic import PrognosticModel
        from ..prognostic.patients import read_patients
        from ..tables import read_fees

        ridge = _parse_ridge(self.ridge)
        patients = read_patients(self.data, self.outcome, self.positive, self.person)
        columns = Columns(patients, self.outcome, self.person)
        model = PrognosticModel(
            max_features=self.max_features,
            budget=self.budget,
            costs=None if self.costs is None else columns.costs(self.costs),
            fees=None if self.fees is None else read_fees(self.fees, columns.names),
            include=columns.named("--include", self.include),
            exclude=columns.excluded(self.exclude),
            kinds=columns.kinds(self.categorical, self.numeric),
            spline_knots=self.spline_knots,
            missing_indicator=self.missing_indicator,
            ridge=ridge,
            time_limit=self.time_limit,
            max_coefficient=self.max_coefficient,
            signs=columns.signs(self.increasing, self.decreasing),
            threads=self.threads,
        )
        columns.note_codes(model.exclude, self.categorical, self.numeric)
        return patients, model

    def problem(self, announce: Callable[[str], None], loss: str = "logistic") -> SubsetProblem:
        """Read the files and return the problem, its ridge tuned unless it is given."""
        from ..losses import LOGISTIC, loss_of

        if loss_of(loss) is not LOGISTIC and _parse_ridge(self.ridge) is None:
            raise InvalidProblemError(
                f"--ridge: is tuned by the risks of a logistic regression; give a number with "
                f"--loss {loss}."
            )
        patients, model = self.read()
        if model.ridge is None:
            model.fit(*patients.data, announce)
        return model.problem(patients.predictors, patients.events, loss=loss)


def with_problem_options(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command, whose first parameter is a `ProblemOptions`, take its fields as options."""

    @wraps(command)
    def run(**values: Any) -> None:
        options = ProblemOptions(
            **{field.name: values.pop(field.name) for field in fields(ProblemOptions)}
        )
        command(options, **values)

    types = get_type_hints(ProblemOptions, include_extras=True)
    own_types = get_type_hints(command, include_extras=True)
    parameters = [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=types[field.name],
        )
        for field in fields(ProblemOptions)
    ]
    parameters += [
        parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=own_types[parameter.name])
        for parameter in list(signature(command).parameters.values())[1:]
    ]
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _parse_ridge(ridge: str) -> float | None:
    if ridge == "tuned":
        return None
    try:
        return decimal(ridge)
    except ValueError:
        raise InvalidProblemError(
            f"--ridge: must be a number greater than 0 or 'tuned', not {ridge!r}."
        ) from None
