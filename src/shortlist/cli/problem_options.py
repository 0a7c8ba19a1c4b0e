"""The options that state a problem, shared by several commands: patients, prices, limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..errors import InvalidProblemError
from .columns import Columns
from .parameter import (
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
    limits_option,
    search_option,
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
        limits_option(
            parser=amount,
            metavar="NUMBER",
            help="Upper limit on the total cost; needs --costs.",
        ),
    ] = None
    costs: CostsFile = None
    fees: FeesFile = None
    max_features: Annotated[
        int | None, limits_option(min=0, help="Upper limit on the number of predictors.")
    ] = None
    include: Annotated[
        list[str] | None,
        limits_option(
            metavar="COLUMNS", help="Predictors that must be bought, separated by commas."
        ),
    ] = None
    exclude: ExcludedColumns = None
    max_coefficient: Annotated[
        float | None,
        search_option(
            metavar="NUMBER",
            help="Upper limit on the size of coefficients, per two standard deviations of a number "
            "or per level.",
        ),
    ] = None
    increasing: Annotated[
        list[str] | None,
        search_option(
            metavar="COLUMNS", help="Numbers and truth values that may only raise the risk."
        ),
    ] = None
    decreasing: Annotated[
        list[str] | None,
        search_option(
            metavar="COLUMNS", help="Numbers and truth values that may only lower the risk."
        ),
    ] = None
    categorical: CategoricalColumns = None
    numeric: NumericColumns = None
    spline_knots: SplineKnots = None
    missing_indicator: MissingIndicator = False
    ridge: Annotated[
        str,
        search_option(
            metavar="NUMBER", help="Strength of the L2 penalty, or 'tuned' by cross-validation."
        ),
    ] = "tuned"
    time_limit: Annotated[
        float | None,
        search_option(
            min=0,
            metavar="SECONDS",
            help="Stop a search with the best model so far, and exit code 3. Tuning the ridge "
            "may take as long again.",
        ),
    ] = None
    threads: Annotated[
        int | None,
        search_option(
            min=1,
            help="Threads of a long search; default: one per core. They do not change results.",
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

        ridge = self._number_of_ridge()
        patients = read_patients(self.data, self.outcome, self.positive, self.person)
        columns = Columns(patients, self.outcome, self.person)
        exclude = columns.excluded(self.exclude)
        kinds = columns.marked(
            ("--categorical", self.categorical, "categorical"),
            ("--numeric", self.numeric, "numeric"),
        )
        signs = columns.marked(
            ("--increasing", self.increasing, "positive"),
            ("--decreasing", self.decreasing, "negative"),
        )
        model = PrognosticModel(
            max_features=self.max_features,
            budget=self.budget,
            costs=None if self.costs is None else columns.costs(self.costs),
            fees=None if self.fees is None else read_fees(self.fees, columns.names),
            include=columns.named("--include", self.include),
            exclude=exclude,
            kinds=kinds,
            spline_knots=self.spline_knots,
            missing_indicator=self.missing_indicator,
            ridge=ridge,
            time_limit=self.time_limit,
            max_coefficient=self.max_coefficient,
            signs=signs or None,
            threads=self.threads,
        )
        columns.note_codes({*exclude, *kinds})
        return patients, model

    def problem(self, announce: Callable[[str], None], loss: str = "logistic") -> SubsetProblem:
        """Read the files and return the problem, its ridge tuned unless it is given."""
        from ..losses import loss_of

        if self.ridge == "tuned" and not loss_of(loss).gives_risks:
            raise InvalidProblemError(
                f"--ridge: is tuned by the risks of a logistic regression; give a number with "
                f"--loss {loss}."
            )
        patients, model = self.read()
        if model.ridge is None:
            model.fit(*patients.data, announce)
        return model.problem(patients.predictors, patients.events, loss=loss)

    def _number_of_ridge(self) -> float | None:
        """Return the ridge, None if it is to be tuned."""
        try:
            return None if self.ridge == "tuned" else decimal(self.ridge)
        except ValueError:
            raise InvalidProblemError(
                f"--ridge: must be a number greater than 0 or 'tuned', not {self.ridge!r}."
            ) from None


def with_problem_options(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command, whose first parameter is a `ProblemOptions`, take its fields as options."""
    shared = signature(ProblemOptions, eval_str=True).parameters
    own = list(signature(command, eval_str=True).parameters.values())[1:]

    @wraps(command)
    def run(**values: Any) -> None:
        options = ProblemOptions(**{name: values.pop(name) for name in shared})
        command(options, **values)

    parameters = [
        parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in (*shared.values(), *own)
    ]
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run
