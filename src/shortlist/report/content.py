"""The content of a report, typed: its JSON file holds it, and its page shows nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable
from math import isfinite
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,  # before Python 3.12 pydantic asks for it
    TypeVar,
    cast,
)

import numpy as np
import pandas as pd
from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator
from typing_extensions import TypedDict

from ..patients import Codebook, Finding, ModelCard
from ..sample_size import (
    DEFAULT_SHARE,
    PREDICTION_ERROR,
    R2_DIFFERENCE,
    RISK_MARGIN,
    SHRINKAGE,
)

Number = float | None  # None for NaN and infinity
Card = Annotated[
    ModelCard,
    BeforeValidator(
        lambda card: ModelCard.parse(json.dumps(card), "model") if isinstance(card, dict) else card
    ),
]

LEVEL = 0.95  # of all intervals
TUNING_FOLDS = 3  # of the choice of the ridge inside a resample or fold
TOLERANCE = 0.01  # relative excess of the loss of alternatives
MOST_MODELS = 10  # alternatives
ENOUGH = 100  # patients of each outcome in a validation (Collins, Ogundimu and Altman 2016)
FEWEST_OF_GROUP = 10  # patients of each outcome, for a subgroup or centre to be measured


# The rows of tables. What is not in a type is refused, as in the sections that have them.
class PricedPredictor(TypedDict):
    """A candidate and its price."""

    predictor: str
    kind: str
    cost: float


class FeeRow(TypedDict):
    """A shared fee."""

    amount: float
    members: list[str]


class EquationPart(TypedDict):
    """A summand of the equation, as `patients.term.Part` has it."""

    predictor: str
    coefficient: float
    what: str
    level: str | None


class Knots(TypedDict):
    """The knots of a spline."""

    predictor: str
    knots: list[float]


class ExampleTerm(TypedDict):
    """What a value of the worked example adds to the log-odds."""

    predictor: str
    value: float | str
    adds: float


class StepRow(TypedDict):
    """A step of the staircase, its cross-validated loss, and how the page shows it.

    `tests` is the test tradeoff against the step shown before; None is infinite.
    """

    limit: float
    cost: float
    objective: float
    predictors: list[str]
    gained: list[str]
    lost: list[str]
    lower_bound: float
    is_proven: bool
    log_loss: float
    difference: float
    error: float
    is_chosen: bool
    reduction: float
    is_shown: bool
    new: list[str]
    given_up: list[str]
    tests: NotRequired[Number]
    tests_lower: NotRequired[Number]
    tests_upper: NotRequired[Number]


class AlternativeRow(TypedDict):
    """A model that is nearly as good; its cross-validated log loss, above the least of them."""

    log_loss: float
    difference: float
    error: float
    excess: float
    cost: float
    objective: float
    predictors: list[str]
    gained: list[str]
    lost: list[str]
    is_chosen: bool


class SubstituteRow(TypedDict):
    """The best model without a predictor."""

    without: str
    excess: float
    cost: float
    objective: float
    predictors: list[str]
    gained: list[str]
    lost: list[str]
    is_proven: bool


class RocPoint(TypedDict):
    """A point of the ROC curve."""

    false_positive_rate: float
    true_positive_rate: float


class NetBenefit(TypedDict):
    """The net benefit of acting above a threshold, and by how much it exceeds acting on all."""

    threshold: float
    model: float
    lower: float
    upper: float
    everyone: float
    gain: float
    gain_lower: float
    gain_upper: float


class ShareOf(TypedDict):
    """A share of some rows, with its interval; None of none."""

    n: int
    value: Number
    lower: Number
    upper: Number


class ThresholdRow(NetBenefit):
    """The accuracy of acting above a threshold too."""

    share_above: float
    sensitivity: ShareOf
    specificity: ShareOf
    predictive_value: ShareOf
    negative_predictive_value: ShareOf
    positive_likelihood_ratio: Number
    negative_likelihood_ratio: Number


class CalibrationGroup(TypedDict):
    """Predicted and observed shares of a group of patients."""

    n: int
    events: int
    predicted: float
    observed: float
    lower: float
    upper: float


class CalibrationPoint(TypedDict):
    """A point of the smooth calibration curve."""

    predicted: float
    observed: float
    lower: Number
    upper: Number


Bar = TypedDict("Bar", {"from": float, "to": float, "events": int, "others": int})


class CorrectedRow(TypedDict):
    """A measure with and without optimism."""

    metric: str
    apparent: Number
    optimism: Number
    corrected: Number
    error: Number
    lower: Number
    upper: Number
    n_resamples: int
    cross_validated: Number


class MeasureRow(TypedDict):
    """A measure of predictions for patients outside the fit."""

    metric: str
    estimate: Number
    lower: Number
    upper: Number
    error: Number


class GroupRow(TypedDict):
    """The numbers of rows and events of a group, and its measures or why it has none."""

    n: int
    events: int
    reason: str | None
    measures: list[MeasureRow]


class CentreRow(TypedDict):
    """The performance in a centre, and the model of the others if it was left out."""

    centre: str
    n: int
    events: int
    reason: str | None
    measures: list[MeasureRow]
    predictors: NotRequired[list[str]]
    ridge: NotRequired[float]
    is_proven: NotRequired[bool]
    is_same: NotRequired[bool]


class PooledRow(TypedDict):
    """The random-effects summary of a measure over centres."""

    metric: str
    estimate: Number
    lower: Number
    upper: Number
    prediction_lower: Number
    prediction_upper: Number
    tau: Number
    n_centres: int


class SubgroupRow(TypedDict):
    """The performance in a subgroup."""

    by: str
    group: str
    n: int
    events: int
    reason: str | None
    measures: list[MeasureRow]


class DifferenceRow(TypedDict):
    """A paired difference of two ways to get a model."""

    metric: str
    estimate: Number
    lower: Number
    upper: Number
    n_resamples: int


class RuleRow(TypedDict):
    """A way to get a model, compared with the proven selection."""

    rule: str
    is_own: bool
    is_limited: bool
    definition: str
    penalty: float
    n_resamples: int
    predictors: list[str]
    cost: float
    excess: Number
    same_share: Number
    corrected: dict[str, Number]
    differences: list[DifferenceRow]
    stability: Number


class InclusionRow(TypedDict):
    """How often resamples select a predictor."""

    predictor: str
    frequency: float
    lower: float
    upper: float
    is_bought: bool


class ModelFrequency(TypedDict):
    """How often resamples select a model."""

    predictors: list[str]
    frequency: float
    is_chosen: bool


class PatientRisk(TypedDict):
    """The variation of a patient's risk over the models of resamples."""

    risk: float
    difference: float
    lower: Number
    upper: Number


class RiskGroup(TypedDict):
    """The mean variation of the risks of a group."""

    n: int
    risk: float
    difference: float
    lower: Number
    upper: Number


class EffectRow(TypedDict):
    """A contrast of the model; its odds ratio over the resamples that select the predictor."""

    predictor: str
    contrast: str
    coefficient: float
    odds_ratio: Number
    lower: NotRequired[Number]
    upper: NotRequired[Number]
    frequency: NotRequired[float]


class SplinePoint(TypedDict):
    """The odds at a value of a spline, with a band if there are resamples."""

    value: float
    odds_ratio: float
    lower: NotRequired[Number]
    upper: NotRequired[Number]


class SplineRow(TypedDict):
    """The odds along a spline, relative to those at the median."""

    predictor: str
    reference: float
    points: list[SplinePoint]
    at_knots: list[SplinePoint]
    histogram: list[Bar]


class MissingColumn(TypedDict):
    """The missing values of a candidate."""

    predictor: str
    is_bought: bool
    missing: int
    share: float


class Facts(TypedDict, total=False):
    """A candidate in a group of patients: quartiles of a number, else how many have a level."""

    n: int
    missing: int
    missing_share: float
    q1: Number
    median: Number
    q3: Number
    count: int
    share: Number


class BaselineRow(TypedDict):
    """A candidate, or a level of it, for all patients, with and without the event."""

    predictor: str
    is_bought: bool
    kind: str
    level: str | None
    all: Facts
    event: Facts
    no_event: Facts


class FindingRow(TypedDict):
    """A finding, as `patients.Finding` has it."""

    level: str
    topic: str
    text: str
    columns: list[str]


class ColumnShares(TypedDict):
    """The shares of new patients whose value was replaced, or lies outside the development's."""

    predictor: str
    imputed: float
    outside: float


class EffectOfUpdate(TypedDict):
    """A coefficient of an updated model."""

    predictor: str
    contrast: str
    coefficient: float


class UpdateRow(TypedDict):
    """An update with its performance on the patients that it was made from, or why it failed."""

    name: str
    text: str
    reason: str | None
    intercept: NotRequired[float]
    deviance: NotRequired[float]
    p_value: NotRequired[Number]
    auc: NotRequired[Number]
    brier: NotRequired[Number]
    effects: NotRequired[list[EffectOfUpdate]]


class Section(BaseModel):
    """A part of a report: JSON values without numpy's types, None for NaN and infinity."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _clean(cls, values: Any) -> Any:
        return json_value(values)


class Purchase(Section):
    """The predictors bought and not bought, with prices."""

    bought: list[PricedPredictor]
    not_bought: list[PricedPredictor]
    fees: list[FeeRow]
    not_bought_fees: list[FeeRow]
    n_bought: int
    n_candidates: int
    cost: float
    budget: Number
    max_features: int | None
    include: tuple[str, ...]


class Equation(Section):
    """The intercept and everything that is added to it."""

    intercept: float
    parts: list[EquationPart]
    splines: list[Knots]


class WorkedExample(Section):
    """The prediction for a made-up patient, step by step."""

    terms: list[ExampleTerm]
    intercept: float
    log_odds: float
    probability: float
    odds: Number


class PersonCount(Section):
    """The numbers of rows and persons; without persons each row is a patient."""

    rows: int
    persons: int
    with_event: int
    without_event: int
    has_several_rows: bool
    unit: str
    row_unit: str
    text: str


class ProofCheck(Section):
    """The proof, and the verdict of the independent checker."""

    status: str
    is_optimal: bool
    objective: float
    lower_bound: float
    gap: float
    gap_target: float
    nodes: int
    ridge: float
    checked: bool = False
    valid: bool = False
    reason: str = ""
    checked_lower_bound: Number = None
    checked_upper_bound: Number = None
    checked_gap: Number = None
    problem_digest: str


class Staircase(Section):
    """The best selection for every budget, or for every number of predictors."""

    limit_name: str
    own_limit: Number
    highest_limit: Number
    is_proven: bool
    n_folds: int
    best_limit: float
    enough: float
    steps: list[StepRow]
    n_hidden: int
    threshold: Number  # of the test tradeoff


class Alternatives(Section):
    """Models that are nearly as good, and the substitute of each predictor."""

    tolerance: float = TOLERANCE
    most: int = MOST_MODELS
    is_complete: bool
    models: list[AlternativeRow]
    n_ties: int
    ties_are_known: bool
    substitutes: list[SubstituteRow]


class Curves(Section):
    """ROC, calibration and decision curves of predictions."""

    level: float = LEVEL
    roc: list[RocPoint]
    thresholds: list[ThresholdRow]
    thresholds_are_given: bool
    calibration: list[CalibrationGroup]
    smooth: list[CalibrationPoint]
    ici: Number
    e90: Number
    histogram: list[Bar]
    decision_curve: list[NetBenefit]


class Performance(Section):
    """Measures with and without optimism, and the curves of cross-validated predictions."""

    level: float = LEVEL
    n_resamples: int
    n_folds: int
    tuning_folds: int  # 0 if the ridge was given
    corrected: list[CorrectedRow]
    log_loss: Number
    n_unproven: int
    n_solves: int
    curves: Curves | None

    def row(self, metric: str) -> CorrectedRow:
        """Return the row of a measure."""
        return next(row for row in self.corrected if row["metric"] == metric)


class Centres(Section):
    """Performance by centre, and its random-effects summary.

    `is_internal`: each centre was predicted by a model that was fitted to the others.
    """

    level: float = LEVEL
    fewest: int = FEWEST_OF_GROUP
    is_internal: bool
    rows: list[CentreRow]
    pooled: list[PooledRow]

    @property
    def n_measured(self) -> int:
        """How many centres are large enough."""
        return sum(not row["reason"] for row in self.rows)


class Stability(Section):
    """The frequencies of predictors and of models on resamples."""

    n_resamples: int
    n_not_competing: int
    stability: Number
    lower: Number
    upper: Number
    inclusion: list[InclusionRow]
    models: list[ModelFrequency]
    n_models: int
    own_frequency: float


class IndividualRisks(Section):
    """The variation of predicted risks over the models of resamples, by groups and by patient."""

    level: float = LEVEL
    n_resamples: int
    n_patients: int
    difference: float
    groups: list[RiskGroup]
    patients: list[PatientRisk]


class SampleSize(Section):
    """Events per candidate parameter, and the criteria of Riley."""

    patients: int
    events: int
    prevalence: float
    n_parameters: int
    rarer: int
    events_per_parameter: float
    r2: float
    is_default: bool
    default_share: float = DEFAULT_SHARE
    shrinkage: float = SHRINKAGE
    r2_difference: float = R2_DIFFERENCE
    risk_margin: float = RISK_MARGIN
    prediction_error: float = PREDICTION_ERROR
    is_beyond: bool
    needed: dict[str, int]
    needed_overall: int


class MissingValues(Section):
    """The number of missing values of each candidate."""

    columns: list[MissingColumn]
    complete_rows: int
    complete_rows_bought: int


class Enough(Section):
    """The cheapest step that is within a standard error of the best one, below the limit."""

    limit: float
    predictors: list[str]


class Decision(Section):
    """The lines above all else, beside what the page has elsewhere.

    The scores of a model that gives everyone the share of events, calibration in a phrase, the
    worst caution.
    """

    brier_of_none: float
    log_loss_of_none: float
    calibration: str
    enough: Enough | None
    caution: FindingRow | None


class ReportContent(Section):
    """The content of a report about a fitted model."""

    format: Literal["shortlist report"] = "shortlist report"
    format_version: Literal[1] = 1
    versions: dict[str, str]
    model: Card
    purchase: Purchase
    equation: Equation
    example: WorkedExample
    persons: PersonCount
    proof: ProofCheck
    staircase: Staircase
    alternatives: Alternatives
    performance: Performance
    centres: Centres | None
    subgroups: list[SubgroupRow]
    comparison: list[RuleRow]
    evaluated: list[str]
    stability: Stability | None
    individual_risks: IndividualRisks | None
    effects: list[EffectRow]
    splines: list[SplineRow]
    sample_size: SampleSize
    missing: MissingValues
    baseline: list[BaselineRow]
    fewest_of_group: int = FEWEST_OF_GROUP
    findings: list[FindingRow]
    title: str
    is_unfolded: bool
    checks: list[FindingRow] = []
    decision: Decision | None = None


class ExternalContent(Section):
    """The content of a page about an external validation."""

    format: Literal["shortlist external validation"] = "shortlist external validation"
    format_version: Literal[1] = 1
    versions: dict[str, str]
    model: Card
    level: float = LEVEL
    persons: PersonCount
    events: int
    prevalence: float
    development_prevalence: float
    mean_risk: float
    enough: int = ENOUGH
    is_enough: bool
    rarer: int
    measures: list[MeasureRow]
    curves: Curves
    centres: Centres | None
    subgroups: list[SubgroupRow]
    fewest_of_group: int = FEWEST_OF_GROUP
    columns: list[ColumnShares]
    development: Literal["none", "most", "all"]
    findings: list[FindingRow]
    updates: list[UpdateRow]
    title: str
    is_unfolded: bool


def finding_rows(findings: Iterable[Finding]) -> list[FindingRow]:
    """Return findings as JSON values."""
    return [
        FindingRow(level=found.level, topic=found.topic, text=found.text, columns=[*found.columns])
        for found in findings
    ]


def json_rows(frame: pd.DataFrame, key: str = "metric") -> list[Any]:
    """Return the rows of a table as JSON values; `key` is the name of its index."""
    return [json_value(row) for row in frame.reset_index(names=key).to_dict("records")]


def json_value(value: Any) -> Any:
    """Return a value, or nested ones, for JSON: no numpy, and None for NaN and infinity."""
    if isinstance(value, dict):
        return {name: json_value(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not isfinite(value) else value


AnyContent = TypeVar("AnyContent", bound=ReportContent | ExternalContent)
# Fields whose texts are no names of columns, even if they are equal to one.
_TEXTS = frozenset(
    {"codebook", "event", "format", "kind", "level", "metric", "no_event", "status", "text", "what"}
)


def labelled(content: AnyContent) -> AnyContent:
    """Return content whose predictors and outcome have the labels and units of the codebook.

    It stays as it is if two of them would have the same name.
    """
    book = content.model.codebook
    names = {name: book.heading(name) for name in {**book.labels, **book.units}}
    known = {*content.model.costs, content.model.outcome.name}
    if not names or len({names.get(name or "", name) for name in known}) < len(known):
        return content

    def renamed(value: Any) -> Any:
        if isinstance(value, dict):
            by_column = known.issuperset(value)  # its keys are columns, not fields
            return {
                names.get(key, key) if by_column else key: own
                if key in _TEXTS and not by_column
                else renamed(own)
                for key, own in value.items()
            }
        if isinstance(value, list):
            return [renamed(own) for own in value]
        return names.get(value, value) if isinstance(value, str) else value

    said = Codebook(
        title=book.title,
        units={names[name]: unit for name, unit in book.units.items()},
        references={names.get(name, name): level for name, level in book.references.items()},
    )
    record = renamed(content.model_dump(mode="json"))
    record["model"]["codebook"] = said.model_dump(mode="json")
    return cast(AnyContent, type(content).model_validate(record))
