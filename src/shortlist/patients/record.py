"""What a model card records: outcome, candidates, limits, preprocessing, search and data."""

from __future__ import annotations

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
    """The mean score of a ridge over the folds; None if a fold has no score."""

    ridge: Positive
    score: Finite | None


class ThriftRecord(StrictModel):
    """How a limit was lowered: to what the cheapest selection needs within a share of the best one.

    Without a share, to the lowest whose cross-validated loss is within a standard error of the
    least.
    `stated` is the limit as it was given, and `best_cost` and `best_objective` are those of the
    best selection at that limit.
    """

    share: NonNegative | None
    limit: Literal["budget", "max_features"]
    stated: NonNegative | None
    best_cost: NonNegative
    best_objective: NonNegative
    is_proven: bool


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
