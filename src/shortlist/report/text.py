"""The sentences of a report: what decides, checks and cautions."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from math import log

import pandas as pd

from .. import __version__
from ..patients import Finding, ModelCard
from .content import (
    Alternatives,
    CorrectedRow,
    Decision,
    Enough,
    FindingRow,
    MissingValues,
    PersonCount,
    ProofCheck,
    ReportContent,
    Stability,
    finding_rows,
    json_rows,
)

UNSTABLE = 0.5  # of the resamples select the model
# Topics of cautions, those first that forbid the use of a model most.
_WORST = (
    "Leak", "Nearly perfect", "Patient numbers", "Codes for missing values", "Proof", "Search",
    "Evaluation", "Optimism", "Calibration", "Separation", "Duplicated rows", "Large odds ratios",
    "Sample size", "Excess missingness", "Stability", "Ridge",
)  # fmt: skip
_PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "python-flint")


def describe_missing(card: ModelCard, X: pd.DataFrame) -> MissingValues:
    """Count the missing values of each candidate."""
    bought = card.bought
    gaps = X[[item.name for item in card.candidates]].isna()
    columns = pd.DataFrame(
        {"is_bought": gaps.columns.isin(bought), "missing": gaps.sum(), "share": gaps.mean()}
    )
    return MissingValues(
        columns=json_rows(columns[columns["missing"] > 0], "predictor"),
        complete_rows=(~gaps.any(axis=1)).sum(),
        complete_rows_bought=(~gaps[bought].any(axis=1)).sum(),
    )


def default_title(card: ModelCard) -> str:
    """Return what a report is called: the outcome and the kind of model."""
    outcome = card.outcome
    event = f"{card.outcome_label} = {outcome.event}" if outcome.name else outcome.event
    return card.codebook.title or f"Logistic regression for {event}"


def describe_checks(content: ReportContent) -> list[FindingRow]:
    """Return findings about everything that limits the model: those of the fit, then of the report.

    Those of one kind are one, and those about columns that were not bought come last.
    """
    bought = {row["predictor"] for row in content.purchase.bought}
    found = [
        *finding_rows(_check_proof(content.proof)),
        *content.findings,
        *finding_rows(
            [
                *_check_persons(content.persons),
                *_check_ties(content.alternatives),
                *_check_stability(content.stability),
                *_check_evaluation(content),
                *_check_performance(content),
            ]
        ),
    ]
    kinds: dict[tuple[str, str], FindingRow] = {}
    for row in found:
        kind = (row["level"], row["topic"])
        if kind in kinds:
            earlier = kinds[kind]
            row = row | {
                "text": f"{earlier['text']} {row['text']}",
                "columns": [*earlier["columns"], *row["columns"]],
            }
        kinds[kind] = row

    def is_aside(row: FindingRow) -> bool:
        return bool(row["columns"]) and bought.isdisjoint(row["columns"])

    return sorted(kinds.values(), key=lambda row: (row["level"] != "warning", is_aside(row)))


def describe_decision(content: ReportContent, checks: Sequence[FindingRow]) -> Decision:
    """Return what the page says first, of its content and its checks."""
    share, staircase = content.sample_size.prevalence, content.staircase
    limit = content.purchase.cost if staircase.limit_name == "budget" else content.purchase.n_bought
    enough = None
    if staircase.enough < limit:
        (step,) = (s for s in staircase.steps if s["limit"] == staircase.enough)
        enough = Enough(limit=staircase.enough, predictors=step["predictors"])
    cautions = [row for row in checks if row["level"] == "warning"]
    order = {topic: place for place, topic in enumerate(_WORST)}
    worst = min(cautions, key=lambda row: order.get(row["topic"], len(order)), default=None)
    return Decision(
        brier_of_none=share * (1 - share),
        log_loss_of_none=-(share * log(share) + (1 - share) * log(1 - share)),
        calibration=_calibration(content.performance.row("calibration_slope")),
        enough=enough,
        caution=worst,
    )


def _calibration(slope: CorrectedRow) -> str:
    """Return calibration in a phrase: too extreme only if the interval of the slope excludes 1."""
    value, lower, upper = slope["corrected"], slope["lower"], slope["upper"]
    if value is None:
        return "calibration not known"
    if lower is None or upper is None:
        return f"calibration slope {value:.2f}"
    ends = f"(slope {value:.2f}, {lower:.2f} to {upper:.2f})"
    if upper < 1:
        return f"risks too extreme {ends}"
    if lower > 1:
        return f"risks not extreme enough {ends}"
    return f"calibrated as far as these patients can tell {ends}"


def _check_proof(proof: ProofCheck) -> Iterator[Finding]:
    if proof.is_optimal and not proof.valid:
        why = proof.reason or "there is no certificate to check."
        yield Finding("warning", "Proof", f"The checker did not confirm it: {why}")


def _check_persons(persons: PersonCount) -> Iterator[Finding]:
    if persons.has_several_rows:
        yield Finding(
            "note",
            "Rows and persons",
            f"There are {persons.text}. Resamples draw persons, folds keep them together, and "
            "intervals and sample sizes count them, not rows.",
        )


def _check_ties(alternatives: Alternatives) -> Iterator[Finding]:
    n, are_known = alternatives.n_ties, alternatives.ties_are_known
    if n:
        least = "" if are_known else "At least "
        others = "1 other selection is" if n == 1 else f"{n} other selections are"
        text = f"{others} exactly as good; the choice between them is arbitrary."
        yield Finding("warning", "Ties", least + text)
    elif not are_known:
        text = "Unknown: a limit was reached before the list of other selections was complete."
        yield Finding("note", "Ties", text)


def _check_stability(stability: Stability | None) -> Iterator[Finding]:
    if stability is not None and stability.own_frequency < UNSTABLE:
        yield Finding(
            "warning",
            "Stability",
            f"{stability.own_frequency:.0%} of {stability.n_resamples} resamples select exactly "
            f"these predictors, and {stability.n_models} different selections occur.",
        )


def _check_evaluation(content: ReportContent) -> Iterator[Finding]:
    evaluated = content.evaluated
    if {row["predictor"] for row in content.purchase.bought} != set(evaluated):
        yield Finding(
            "warning",
            "Evaluation",
            "The evaluation selects other predictors on the same patients "
            f"({', '.join(evaluated)}), so performance and stability describe the selection "
            "procedure, not this model.",
        )


def _check_performance(content: ReportContent) -> Iterator[Finding]:
    performance = content.performance
    if not performance.n_resamples:
        text = "No resamples were requested: nothing is corrected for optimism."
        yield Finding("warning", "Optimism", text)
    if performance.n_unproven:
        yield Finding(
            "note",
            "Resamples",
            f"{performance.n_unproven} of {performance.n_solves} selections on resamples "
            "reached a limit before their proof.",
        )
    calibration = _calibration(performance.row("calibration_slope"))
    if calibration.startswith("risks"):
        yield Finding("warning", "Calibration", f"R{calibration[1:]}.")


def describe_versions() -> dict[str, str]:
    """Return the versions of the packages that the numbers depend on."""
    versions = {"shortlist": __version__, "Python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:  # installed without its metadata
            versions[package] = "unknown"
    return versions
