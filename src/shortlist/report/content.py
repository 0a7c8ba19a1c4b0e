"""The content of a report, typed: its JSON file holds it, and its page shows nothing else."""

from __future__ import annotations

import json
from math import isfinite
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from ..patients import ModelCard
from ..sample_size import (
    DEFAULT_SHARE,
    PREDICTION_ERROR,
    R2_DIFFERENCE,
    RISK_MARGIN,
    SHRINKAGE,
)

Rows = list[dict[str, Any]]  # a table of JSON values
Number = float | None  # None for NaN and infinity
Card = Annotated[
    ModelCard,
    BeforeValidator(
        lambda card: ModelCard.parse(json.dumps(card), "model") if isinstance(card, dict) else card
    ),
]

LEVEL = 0.95  # of all intervals
TOLERANCE = 0.01  # relative excess of the loss of alternatives
MOST_MODELS = 20  # alternatives
WORTHWHILE = 0.01  # of the loss
ENOUGH = 100  # patients of each outcome in a validation (Collins, Ogundimu and Altman 2016)
FEWEST_OF_GROUP = 10  # patients of each outcome, for a subgroup or centre to be measured
# Items of TRIPOD+AI that only the authors of a study can report.
AUTHORS_ITEMS = "1 to 6, 8, 9b, 9c, 14, 17 to 19, 20a and 25 to 27"


class Section(BaseModel):
    """A part of a report: JSON values without numpy's types, None for NaN and infinity."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _clean(cls, values: Any) -> Any:
        return json_value(values)


class Purchase(Section):
    """The predictors bought and not bought, with prices."""

    bought: Rows
    not_bought: Rows
    fees: Rows
    not_bought_fees: Rows
    n_bought: int
    n_candidates: int
    cost: float
    budget: Number
    max_features: int | None
    include: tuple[str, ...]


class Equation(Section):
    """The intercept and everything that is added to it."""

    intercept: float
    parts: Rows
    splines: Rows


class WorkedExample(Section):
    """The prediction for a made-up patient, step by step."""

    terms: Rows
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


class StaircaseStep(Section):
    """A step beyond the limit: how much it lowers the loss, and the change of predictors."""

    limit: float
    gain: float
    gained: list[str]
    lost: list[str]


class Staircase(Section):
    """The best selection for every budget, or for every number of predictors."""

    limit_name: str
    own_limit: Number
    highest_limit: Number
    is_proven: bool
    n_folds: int
    best_limit: float
    enough: float
    steps: Rows
    n_hidden: int
    next: StaircaseStep | None
    worthwhile: float = WORTHWHILE
    next_worthwhile: StaircaseStep | None


class Alternatives(Section):
    """Models that are nearly as good, and the substitute of each predictor."""

    tolerance: float = TOLERANCE
    most: int = MOST_MODELS
    is_complete: bool
    models: Rows
    n_ties: int
    ties_are_known: bool
    substitutes: Rows


class Curves(Section):
    """ROC, calibration and decision curves of predictions."""

    level: float = LEVEL
    roc: Rows
    thresholds: Rows
    thresholds_are_given: bool
    calibration: Rows
    smooth: Rows
    ici: Number
    e90: Number
    histogram: Rows
    decision_curve: Rows


class Performance(Section):
    """Measures with and without optimism, and the curves of cross-validated predictions."""

    level: float = LEVEL
    n_resamples: int
    n_folds: int
    corrected: Rows
    log_loss: Number
    n_unproven: int
    n_solves: int
    curves: Curves | None

    def row(self, metric: str) -> dict[str, Any]:
        """Return the row of a measure."""
        return next(row for row in self.corrected if row["metric"] == metric)


class Centres(Section):
    """Performance by centre, and its random-effects summary.

    `is_internal`: each centre was predicted by a model that was fitted to the others.
    """

    level: float = LEVEL
    fewest: int = FEWEST_OF_GROUP
    is_internal: bool
    rows: Rows
    pooled: Rows

    @property
    def n_measured(self) -> int:
        """How many centres are large enough."""
        return sum(not row["reason"] for row in self.rows)


class Stability(Section):
    """The frequencies of predictors and of models on resamples."""

    n_resamples: int
    stability: Number
    lower: Number
    upper: Number
    inclusion: Rows
    models: Rows
    n_models: int
    own_frequency: float


class IndividualRisks(Section):
    """The variation of predicted risks over the models of resamples, by groups and by patient."""

    level: float = LEVEL
    n_resamples: int
    n_patients: int
    difference: float
    groups: Rows
    patients: Rows


class SampleSize(Section):
    """Events per candidate parameter, and the criteria of Riley."""

    patients: int
    events: int
    prevalence: float
    n_parameters: int
    rarer: int
    events_per_parameter: float
    cox_snell_r2: float
    nagelkerke_r2: float
    r2_is_default: bool
    default_share: float = DEFAULT_SHARE
    shrinkage: float = SHRINKAGE
    r2_difference: float = R2_DIFFERENCE
    risk_margin: float = RISK_MARGIN
    prediction_error: float = PREDICTION_ERROR
    is_beyond_formula: bool
    needed: dict[str, int]
    needed_overall: int


class MissingValues(Section):
    """The number of missing values of each candidate."""

    columns: Rows
    complete_rows: int
    complete_rows_bought: int


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
    subgroups: Rows
    comparison: Rows
    evaluated: list[str]
    stability: Stability | None
    individual_risks: IndividualRisks | None
    effects: Rows
    splines: Rows
    sample_size: SampleSize
    missing: MissingValues
    baseline: Rows
    fewest_of_group: int = FEWEST_OF_GROUP
    findings: Rows
    checks: Rows = []
    methods: Rows = []
    authors_items: str = AUTHORS_ITEMS


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
    measures: Rows
    curves: Curves
    centres: Centres | None
    subgroups: Rows
    fewest_of_group: int = FEWEST_OF_GROUP
    columns: Rows
    development: Literal["none", "most", "all"]
    findings: Rows
    updates: Rows


def json_rows(frame: pd.DataFrame, key: str = "metric") -> Rows:
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
