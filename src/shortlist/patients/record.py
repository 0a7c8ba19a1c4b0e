"""What a model card records: outcome, candidates, limits, preprocessing, search and data."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from .column import ColumnKind
from .term import Finite, ImputationKind, Name, StrictModel

NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]


class Outcome(StrictModel):
    """The outcome: the name of its column, and its two values."""

    name: str | None
    event: str
    no_event: str


class Codebook(StrictModel):
    """What columns mean: a title of the model, and labels, units and references by column.

    Reports, calculators and exports show it. It changes no prediction and no proof, and the checker
    does not look at it.

    Attributes
    ----------
    title : str or None
        What the model is for, such as "Risk of death in intensive care".
    labels : dict from column to text
        The names of predictors for readers; the outcome's too.
    units : dict from column to text
        The units of numbers.
    references : dict from column to level
        The levels of factors that others are compared with, instead of the most frequent ones.

    Examples
    --------
    >>> import shortlist as sl
    >>> codebook = sl.Codebook(labels={"sodsom": "Sodium"}, units={"sodsom": "mmol/l"})
    >>> codebook.label("sodsom"), codebook.heading("sodsom"), codebook.heading("age")
    ('Sodium', 'Sodium, mmol/l', 'age')
    """

    title: str | None = None
    labels: dict[Name, str] = Field(default_factory=dict)
    units: dict[Name, str] = Field(default_factory=dict)
    references: dict[Name, str] = Field(default_factory=dict)

    @model_serializer(mode="wrap")
    def _leave_out_empty(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in serialize(self).items() if value}

    def label(self, name: str) -> str:
        """Return the label of a column, its name if it has none."""
        return self.labels.get(name, name)

    def heading(self, name: str) -> str:
        """Return the label of a column with its unit, if it has one."""
        unit = self.units.get(name)
        return self.label(name) if unit is None else f"{self.label(name)}, {unit}"

    def of(self, names: Collection[str | None]) -> Codebook:
        """Return what is said of some columns."""
        texts = {
            field: {name: text for name, text in getattr(self, field).items() if name in names}
            for field in ("labels", "units", "references")
        }
        return self.model_copy(update=texts)


class Candidate(StrictModel):
    """A predictor that could be bought, and the limits on its coefficients, if any."""

    name: Name
    kind: ColumnKind
    cost: NonNegative
    bought: bool
    max_coefficient: Positive | None = None
    sign: Literal["positive", "negative"] | None = None

    @model_serializer(mode="wrap")
    def _leave_out_none(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in serialize(self).items() if value is not None}


class SharedFee(StrictModel):
    """A price paid once if any of its members is bought."""

    amount: NonNegative
    members: tuple[Name, ...]


class StatedLimits(StrictModel):
    """The limits on the purchase, as a file states them; `exclude` has constant columns too."""

    budget: NonNegative | None
    max_features: Count | None
    fees: tuple[SharedFee, ...]
    include: tuple[Name, ...]
    exclude: tuple[Name, ...]


class Draws(StrictModel):
    """How many imputations were drawn, and the seed of the draws."""

    number: Annotated[int, Field(ge=1)]
    seed: Count


class Preprocessing(StrictModel):
    """How the columns of the table became columns of the problem.

    `missing_codes` are the values of a column that stand for missing ones, and `synonyms` the
    levels that stand for others; predictions replace them too.
    """

    spline_knots: Literal[3, 4, 5] | None
    missing_indicator: bool
    imputation: ImputationKind
    draws: Draws | None = None  # of missing values, if there are any
    missing_codes: dict[Name, tuple[str, ...]]
    synonyms: dict[Name, dict[str, str]]


class RidgeScore(StrictModel):
    """The mean score of a ridge over the folds; None if it was not tried, or a fold has none."""

    ridge: Positive
    score: Finite | None


class ThriftRecord(StrictModel):
    """How a limit was lowered: to what the cheapest selection needs within a share of the best one.

    Without a share, to the lowest whose cross-validated loss is within a standard error of the
    least.
    `share` is one of the loss, or if it is `of_gain` one of the gain over no model, whose loss is
    `null_objective`. `stated` is the limit as it was given, and `best_cost` and `best_objective`
    are those of the best selection at that limit.
    """

    share: NonNegative | None
    limit: Literal["budget", "max_features"]
    stated: NonNegative | None
    best_cost: NonNegative
    best_objective: NonNegative
    is_proven: bool
    of_gain: bool = False
    null_objective: NonNegative | None = None

    def given_up(self, objective: float) -> str:
        """Return what a model gives up of the best one's loss and of its gain, in words."""
        lost = objective - self.best_objective
        text = f"{lost / self.best_objective:.2%} of the loss"
        gain = 0.0 if self.null_objective is None else self.null_objective - self.best_objective
        return text if gain <= 0 else f"{text}, or {lost / gain:.1%} of the gain over no model"


class StableRecord(StrictModel):
    """How many resamples select each candidate, of which those remain that half of them select.

    `best_objective` is the objective of the best selection of all candidates.
    """

    resamples: Annotated[int, Field(ge=1)]
    times: dict[Name, Count]
    best_objective: NonNegative
    is_proven: bool


class SearchRecord(StrictModel):
    """The search that found the model, and its proven bound.

    `imputed` counts the single imputations that select each candidate.
    """

    ridge: Positive
    tuning: tuple[RidgeScore, ...]  # empty if the ridge was given
    scoring: str | None
    folds: Count
    repeats: Count  # of the folds
    backend: str
    status: Literal[
        "optimal", "time_limit", "node_limit", "memory_limit", "interrupted", "stalled", "heuristic"
    ]
    objective: NonNegative
    lower_bound: NonNegative
    gap: NonNegative
    gap_target: NonNegative
    nodes: Count
    within: ThriftRecord | None
    stable: StableRecord | None
    imputed: dict[Name, Count] | None

    @property
    def tried(self) -> list[float]:
        """The ridges that were tried, the strongest first."""
        return [entry.ridge for entry in self.tuning if entry.ridge not in self.untried]

    @property
    def untried(self) -> list[float]:
        """Weaker ridges, which were left out because the score was falling."""
        last = max((i for i, entry in enumerate(self.tuning) if entry.score is not None), default=0)
        return [entry.ridge for entry in self.tuning[last + 1 :]]

    @property
    def cross_validation(self) -> str:
        """The cross-validation that chose the ridge, in words."""
        often = "" if self.repeats == 1 else f", repeated {self.repeats} times"
        return f"{self.folds}-fold cross-validation{often}"


class FittedData(StrictModel):
    """The data of the fit; the hash covers the candidates and the outcome.

    `marks` are bits in hexadecimal digits: each row sets one of them by a hash of its outcome and
    the predictors bought, numbers to a thousandth of their range. With at least ten bits per row,
    development patients are recognised as such, but of strangers up to one in ten hits a bit too,
    so that it tells of nobody for sure whether he was among them. Empty if there are too many rows.
    """

    rows: Count
    events: Count
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    marks: Annotated[str, Field(pattern="^[0-9a-f]*$")]


class UpdateRecord(StrictModel):
    """How a model was adapted to other patients, and how many these were."""

    how: Literal["recalibrated in the large", "recalibrated, intercept and slope", "refitted"]
    rows: Count
    events: Count
