"""Arguments and options of the commands, and the problem that they state."""

# ruff: noqa: RUF009 - the calls in `ProblemOptions` make its fields
from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, fields
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from math import nan
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ..errors import InvalidProblemError, ShortlistWarning, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..cross_validation import Tuning
    from ..patients import PrognosticModel
    from ..patients.table import Patients, PlainTable
    from ..problem import SubsetProblem
    from ..tables.price_list import PriceList

_THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+")
ColumnList = list[str] | None  # each entry is a name, or several with commas between them

_LIMITS, _COLUMNS, _SEARCH = "Prices and limits", "Columns", "Search"  # panels of --help

DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="Patients, one per row, below the column names: CSV, TSV, Parquet or Excel.",
        show_default=False,
    ),
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model file that `shortlist fit` wrote.")
]
OutcomeColumn = Annotated[
    str, typer.Option("--outcome", metavar="COLUMN", help="The column to predict.")
]
EventValue = Annotated[
    str | None,
    typer.Option("--positive", metavar="VALUE", help="The value of the outcome that is the event."),
]
PersonColumn = Annotated[
    str | None,
    typer.Option(
        "--person",
        metavar="COLUMN",
        help="The column that identifies the person, if persons have several rows.",
    ),
]
CentreColumn = Annotated[
    str | None,
    typer.Option(
        "--centre",
        metavar="COLUMN",
        help="The column that names the centre of each row, which is not a predictor; reports then "
        "have the performance by centre.",
    ),
]
WeightsColumn = Annotated[
    str | None,
    typer.Option(
        "--weights",
        metavar="COLUMN",
        help="The column of weights of the rows in the loss, which is not a predictor.",
    ),
]
DropMissingOutcome = Annotated[
    bool,
    typer.Option("--drop-missing-outcome", help="Leave out rows without an outcome, and say so."),
]
Subgroups = Annotated[
    list[str] | None,
    typer.Option(
        "--subgroups",
        metavar="GROUPS",
        help="Columns and comparisons by which the report shows performance, separated by commas: "
        "'sex,age>65'.",
    ),
]
Thresholds = Annotated[
    str | None,
    typer.Option(
        "--thresholds",
        metavar="RISKS",
        help="Risks at which one would act, separated by commas, for the tables of the report: "
        "10%,20%; default: round ones.",
    ),
]
LossName = Annotated[
    str,
    typer.Option(
        "--loss",
        metavar="NAME",
        rich_help_panel=_SEARCH,
        help="logistic, or squared_hinge or hinge for a support vector machine, which needs "
        "--ridge.",
    ),
]
ReportFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Where to write a report, as HTML to read and print; its numbers go into a JSON file "
        "of the same name.",
    ),
]
OutputFile = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="Where to write the result; default: the terminal."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead.")]


def _decimal(text: str) -> float:
    """Return the number in the text of an option, which may have a decimal comma."""
    if _THOUSANDS.fullmatch(text):
        raise typer.BadParameter(f"{text!r} has two meanings; write it without the comma.")
    return float(text.replace(",", ".") if text.count(",") == 1 else text)


def _amount(text: str) -> float:
    """Return a number of at least 0."""
    try:
        number = _decimal(text)
    except ValueError:
        number = -1.0
    if not number >= 0:
        raise typer.BadParameter(f"{text!r} is not a number of at least 0.")
    return number


def _part(text: str) -> float:
    """Return a part of 1, such as 10% or 0.1; NaN for a text that is no number."""
    number = text.strip()
    try:
        return _decimal(number.rstrip("% ")) / (100 if number.endswith("%") else 1)
    except ValueError:
        return nan


def _share(text: str) -> float | str:
    """Return a share, such as 1% or 0.01, or the words for one of the gain or a standard error."""
    word = text.strip().lower()
    if word == "1se":
        return word
    share = _part(word.removesuffix("-of-gain"))
    if not 0 <= share < 1:
        raise typer.BadParameter(
            f"{text!r} is not a share below 100 %; write 5%-of-gain, 1%, 0.01 or 1se."
        )
    return f"{share!r}-of-gain" if word.endswith("-of-gain") else share


def risks(text: str | None) -> list[float]:
    """Return the risks in the text of an option, such as 10%,0.2."""
    found = []
    for part in [] if text is None else text.split(","):
        risk = _part(part)
        if not 0 < risk < 1:
            raise InvalidProblemError(
                f"--thresholds: {part!r} is not a risk between 0 and 100 %; write 10%,20%."
            )
        found.append(risk)
    return found


Within = Annotated[
    Any,
    typer.Option(
        "--within",
        rich_help_panel=_LIMITS,
        parser=_share,
        metavar="SHARE",
        help="Buy the cheapest selection that gives up at most this share of what the best one "
        "gains over no model, 5%-of-gain (recommended), or whose loss is within this share of the "
        "best one's, 1%; 1se: no more than predicts as well by cross-validation.",
    ),
]


Stable = Annotated[
    bool,
    typer.Option(
        "--stable",
        rich_help_panel=_LIMITS,
        help="Buy the best selection among the predictors that at least half of 50 resamples "
        "select, instead of the best of all; not with --within.",
    ),
]


Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        rich_help_panel=_SEARCH,
        help="Print a log of the search to standard error, a line at most once a second.",
    ),
]


def _in_panel(
    panel: str,
    help: str,
    metavar: str | None = None,
    *,
    names: Sequence[str] = (),
    default: Any = None,
    **settings: Any,
) -> Any:
    """Return a field of `ProblemOptions`: an option, in a panel of --help."""
    option = typer.Option(*names, help=help, metavar=metavar, rich_help_panel=panel, **settings)
    return field(default=default, metadata={"option": option})


_limit = partial(_in_panel, _LIMITS)
_column = partial(_in_panel, _COLUMNS)
_search = partial(_in_panel, _SEARCH)


class Stated(NamedTuple):
    """A problem, and the model and the patients that it was made from."""

    problem: SubsetProblem
    model: PrognosticModel
    plain: PlainTable
    persons: NDArray[Any] | None


@dataclass(frozen=True)
class ProblemOptions:
    """The options that state a problem: patients, prices and limits."""

    data: DataFile
    outcome: OutcomeColumn
    positive: EventValue = None
    person: PersonColumn = None
    centre: CentreColumn = None
    weights: WeightsColumn = None
    drop_missing_outcome: DropMissingOutcome = False
    budget: float | None = _limit(
        "Upper limit on the total cost; needs --costs.", "NUMBER", parser=_amount
    )
    costs: Path | None = _limit(
        "The price list: a predictor per row, its cost, and if wanted its label, unit, reference "
        "level and kind; `shortlist costs-template` makes one to fill in.",
        "FILE",
    )
    fees: Path | None = _limit(
        "Fees paid once: an amount, then the predictors that share it, per row.", "FILE"
    )
    max_features: int | None = _limit("Upper limit on the number of predictors.", min=0)
    include: ColumnList = _limit("Predictors that must be bought, separated by commas.", "COLUMNS")
    exclude: ColumnList = _column(
        "Columns that are not predictors, separated by commas.", "COLUMNS"
    )
    max_coefficient: float | None = _search(
        "Upper limit on the size of coefficients, per two standard deviations of a number or per "
        "level.",
        "NUMBER",
    )
    increasing: ColumnList = _search(
        "Numbers and binary values that may only raise the risk.", "COLUMNS"
    )
    decreasing: ColumnList = _search(
        "Numbers and binary values that may only lower the risk.", "COLUMNS"
    )
    categorical: ColumnList = _column("Columns whose numbers are codes, not amounts.", "COLUMNS")
    numeric: ColumnList = _column("Columns whose numbers are amounts.", "COLUMNS")
    missing_codes: list[str] | None = _column(
        "Values that stand for missing ones, by column, separated by commas: 'glucose=0,*=-9'; * "
        "is every column.",
        "CODES",
    )
    merge_levels: bool = _column(
        "Take levels that differ in case, blanks or one letter for one.",
        names=["--merge-levels"],
        default=False,
    )
    synonyms: Path | None = _column(
        "Levels to replace: a column, a level and the one meant, per row.", "FILE"
    )
    spline_knots: int | None = _column(
        "Model numbers by natural cubic splines with this many knots.", min=3, max=5
    )
    missing_indicator: bool = _column(
        "Let a missing value itself predict.", names=["--missing-indicator"], default=False
    )
    imputation: str | None = _column(
        "Missing numbers and binary values are imputed from the other predictors "
        "(conditional, the default), or by the median and the most frequent value (median).",
        "KIND",
    )
    imputations: int | None = _column(
        "Select on this number of copies of the patients whose missing values are drawn, given the "
        "other columns and the outcome (multiple imputation).",
        "NUMBER",
        min=1,
    )
    ridge: str = _search(
        "Strength of the L2 penalty; or 'tuned' by cross-validation, among those given, such as "
        "1,3,10,30, or else further ones until the best is found.",
        "NUMBERS",
        default="tuned",
    )
    title: str | None = _column(
        "What the model is for, such as 'Risk of death in intensive care', for reports and pages.",
        "TEXT",
    )
    time_limit: float | None = _search(
        "Stop a search with the best model so far, and exit code 3. Tuning the ridge may take as "
        "long again.",
        "SECONDS",
        min=0,
    )
    threads: int | None = _search(
        "Threads of a long search; default: one per core. They do not change results.", min=1
    )

    @property
    def inputs(self) -> list[Path | None]:
        """The input files."""
        return [self.data, self.costs, self.fees, self.synonyms]

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

    def read(self) -> tuple[Patients, PrognosticModel]:
        """Read the files; return the patients, and the model that is to be fitted to them."""
        from ..patients import Codebook, Preparation, PrognosticModel
        from ..patients.table import split_patients
        from ..tables import read_fees, read_synonyms, read_table

        ridge, tuning = self._ridge_and_tuning()
        owners = (self.person, self.centre, self.weights)
        table = read_table(self.data)
        patients = split_patients(
            self.data,
            table,
            self.outcome,
            self.positive,
            *owners,
            drop=self.drop_missing_outcome,
        )
        columns = _NamedColumns(patients, self.outcome, *owners)
        exclude = columns.excluded(self.exclude)
        listed = None if self.costs is None else columns.price_list(self.costs)
        kinds = {} if listed is None else listed.kinds
        kinds = kinds | columns.marked(
            ("--categorical", self.categorical, "categorical"),
            ("--numeric", self.numeric, "numeric"),
        )
        codebook = Codebook(title=self.title)
        if listed is not None:
            texts = {"labels": listed.labels, "units": listed.units}
            codebook = codebook.model_copy(update=texts | {"references": listed.references})
        signs = columns.marked(
            ("--increasing", self.increasing, "positive"),
            ("--decreasing", self.decreasing, "negative"),
        )
        model = PrognosticModel(
            max_features=self.max_features,
            budget=self.budget,
            costs=None if listed is None else listed.costs or None,
            fees=None if self.fees is None else read_fees(self.fees, columns.names),
            include=columns.named("--include", self.include),
            exclude=exclude,
            preparation=Preparation(
                kinds=kinds,
                missing_codes=columns.codes(self.missing_codes),
                synonyms=None
                if self.synonyms is None
                else read_synonyms(self.synonyms, columns.names),
                merge_levels=self.merge_levels,
                spline_knots=self.spline_knots,
                missing_indicator=self.missing_indicator,
                imputation=self.imputation or "conditional",
                imputations=self.imputations,
            ),
            codebook=codebook,
            ridge=ridge,
            tuning=tuning,
            time_limit=self.time_limit,
            max_coefficient=self.max_coefficient,
            signs=signs or None,
            threads=self.threads,
        )
        columns.note_codes({*exclude, *kinds})
        return patients, model

    def problem(self, announce: Callable[[str], None], loss: str = "logistic") -> SubsetProblem:
        """Read the files and return the problem, its ridge tuned unless it is given."""
        return self.state(announce, loss).problem

    def state(self, announce: Callable[[str], None], loss: str = "logistic") -> Stated:
        """Read the files and return the problem, as `problem` does, with what it was made from."""
        from ..families import family_of
        from ..patients.suspicion import suspicious_columns, warn_of_mistakes

        patients, model = self.read()
        if model.ridge is None and not family_of(loss).gives_risks:
            raise InvalidProblemError(
                f"--ridge: is tuned by the risks of a logistic regression; give a number with "
                f"--loss {loss}."
            )
        plain = model.check(patients.predictors, patients.events)
        if model.ridge is None:
            model.fit(*patients.data, announce, sample_weight=patients.weights)
        else:
            warn_of_mistakes(suspicious_columns(plain.frame, plain.kinds, plain.labels))
        problem = model.problem(plain, plain.labels, sample_weight=patients.weights, loss=loss)
        persons = None if patients.persons is None else patients.persons.to_numpy()
        if persons is not None and patients.weights is not None:
            persons = persons[patients.weights > 0]
        return Stated(problem, model, plain.weighted(patients.weights), persons)

    def _ridge_and_tuning(self) -> tuple[float | None, Tuning | None]:
        """Return the ridge, None if it is to be tuned, and among which, None for any."""
        from ..cross_validation import Tuning

        if self.ridge == "tuned":
            return None, None
        parts = self.ridge.split(",")
        try:
            if len(parts) > 2:  # two are a decimal comma
                return None, Tuning(ridges=tuple(map(float, parts)))
            return _decimal(self.ridge), None
        except ValueError:
            raise InvalidProblemError(
                "--ridge: must be a number greater than 0, three or more such as 1,3,10 or "
                f"'tuned', not {self.ridge!r}."
            ) from None


def with_problem_options(
    *names: str, make: Callable[..., Any] = ProblemOptions
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let a command take fields of `ProblemOptions` as options: those named, or else all.

    Its first parameter is `make` of them; its other parameters are options of its own.
    """
    stated = signature(ProblemOptions, eval_str=True).parameters
    shared = []
    for each in fields(ProblemOptions):
        if each.name in (names or stated):
            parameter = stated[each.name]
            for option in each.metadata.values():
                parameter = parameter.replace(annotation=Annotated[parameter.annotation, option])
            shared.append(parameter)

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = list(signature(command, eval_str=True).parameters.values())[1:]

        @wraps(command)
        def run(**values: Any) -> None:
            command(make(**{each.name: values.pop(each.name) for each in shared}), **values)

        parameters = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in (*shared, *own)]
        run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return run

    return decorate


class _NamedColumns:
    """The columns of a table, by which options and price lists name predictors."""

    def __init__(
        self,
        patients: Patients,
        outcome: str,
        person: str | None,
        centre: str | None,
        weights: str | None,
    ) -> None:
        self.table = patients.predictors
        self.names = list(patients.predictors.columns)
        others = {outcome: "--outcome", person: "--person", centre: "--centre"}
        others[weights] = "--weights"
        self._others = {name: option for name, option in others.items() if name is not None}
        self._all = [*self.names, *self._others]

    def named(self, option: str, values: Sequence[str] | None) -> list[str]:
        """Return the predictors that an option names."""
        names = self._split(values)
        for name in names:
            if name in self._others:
                raise InvalidProblemError(
                    f"{option}: {shown(name)} is the {self._others[name]} column, not a "
                    "predictor; remove it."
                )
        return names

    def excluded(self, values: Sequence[str] | None) -> list[str]:
        """Return the predictors to leave out; outcome, persons and centres are out already."""
        return [name for name in self._split(values) if name not in self._others]

    def marked(self, *options: tuple[str, Sequence[str] | None, str]) -> dict[str, str]:
        """Return the predictors that two options name, with the mark of the option.

        Each option has a name, its values and a mark.
        """
        marks: dict[str, str] = {}
        for option, values, mark in options:
            names = self.named(option, values)
            both = marks.keys() & names
            if both:
                raise InvalidProblemError(
                    f"{' and '.join(name for name, *_ in options)}: {shown(min(both))} is in "
                    "both; remove it from one."
                )
            marks |= dict.fromkeys(names, mark)
        return marks

    def codes(self, values: Sequence[str] | None) -> dict[str, list[str]] | None:
        """Return the codes for missing values that an option declares, by column."""
        found: dict[str, list[str]] = {}
        for value in values or ():
            for part in value.split(","):
                name, equals, code = (text.strip() for text in part.rpartition("="))
                if not equals or not code or (name != "*" and name not in self.names):
                    raise InvalidProblemError(
                        f"--missing-codes: {shown(part)} is not a column, '=' and a value; write "
                        "for example 'glucose=0,*=-9'."
                    )
                found.setdefault(name, []).append(code)
        return found or None

    def price_list(self, path: Path) -> PriceList:
        """Read a price list, which may label the outcome, and name the person and the centre."""
        from ..tables import read_price_list

        found = read_price_list(path, self._all)
        for mapping in (found.costs, found.kinds, found.units, found.references):
            for name in mapping.keys() & self._others:
                del mapping[name]
        return found

    def note_codes(self, settled: Collection[str]) -> None:
        """Warn of columns that may be codes: three to ten different numbers, all of them whole."""
        from ..patients.column import may_be_codes

        suspects = [
            name for name in self.names if name not in settled and may_be_codes(self.table[name])
        ]
        if suspects:
            warnings.warn(
                f"{', '.join(map(shown, suspects))}: few distinct whole numbers, treated as "
                f"amounts; if they are codes, add --categorical {quote(','.join(suspects))}, "
                "and --numeric for those that are not.",
                ShortlistWarning,
                stacklevel=2,
            )

    def _split(self, values: Sequence[str] | None) -> list[str]:
        """Return the names in the values of an option: with commas between them, or one each.

        A value that is the name of a column is not split at its commas.
        """
        names: list[str] = []
        for value in values or ():
            names += [value] if value in self._all else [part.strip() for part in value.split(",")]
        return names
