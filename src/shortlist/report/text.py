"""The sentences of a report: checks and cautions, and a draft of the methods of a paper.

The draft goes by items of TRIPOD+AI (Collins et al. 2024).
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pandas as pd

from .. import __version__
from ..page import template_environment
from ..patients import Finding, ModelCard
from .content import (
    Alternatives,
    FindingRow,
    MethodRow,
    MissingValues,
    PersonCount,
    ProofCheck,
    ReportContent,
    Stability,
    finding_rows,
    json_rows,
)

UNSTABLE = 0.5  # of the resamples select the model
SMALL_SLOPE, LARGE_SLOPE = 0.9, 1.1
_METHODS = Path(__file__).with_name("methods.txt")
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


def describe_checks(content: ReportContent) -> list[FindingRow]:
    """Return findings about everything that limits the model, from the rest of the report."""
    among = "" if content.model.search.stable is None else f" among {content.model.among}"
    of_proof = [*_check_proof(content.proof, among), *_check_persons(content.persons)]
    of_evaluation = [
        *_check_ties(content.alternatives),
        *_check_stability(content.stability),
        *_check_evaluation(content),
        *_check_performance(content),
    ]
    said_elsewhere = {"Search"}  # by the proof
    if _ridge_contradicts_slope(content):
        said_elsewhere.add("Ridge")  # which would advise the opposite of what calibration needs
    return [
        *finding_rows(of_proof),
        *(row for row in content.findings if row["topic"] not in said_elsewhere),
        *finding_rows(of_evaluation),
    ]


def _check_proof(proof: ProofCheck, among: str) -> Iterator[Finding]:
    if not proof.is_optimal:
        text = (
            f"The search stopped ({proof.status.replace('_', ' ')}) before the proof was "
            f"complete: a better selection may exist, by at most {proof.gap:.2%} of the loss."
        )
    elif not proof.valid:
        why = proof.reason or "there is no certificate to check."
        text = f"The independent checker did not confirm the proof: {why}"
    else:
        text = f"The selection is proven optimal{among}, and the proof was verified independently."
    yield Finding("good" if proof.is_optimal and proof.valid else "warning", "Proof", text)


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
    elif are_known:
        yield Finding("good", "Ties", "No other selection is exactly as good.")
    else:
        text = "Unknown: a limit was reached before the list of other selections was complete."
        yield Finding("note", "Ties", text)


def _check_stability(stability: Stability | None) -> Iterator[Finding]:
    if stability is not None:
        is_stable = stability.own_frequency >= UNSTABLE
        yield Finding(
            "good" if is_stable else "warning",
            "Stability",
            f"{stability.own_frequency:.0%} of {stability.n_resamples} resamples select exactly "
            f"these predictors; {_counted(stability.n_models, 'different selection')} "
            f"{'occurs' if stability.n_models == 1 else 'occur'}. Do not interpret the selection "
            "as causal, however stable it is.",
        )


def _counted(n: int, noun: str) -> str:
    """Return a number with its noun in singular or plural."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


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


def _ridge_contradicts_slope(content: ReportContent) -> bool:
    """Whether the ridge is at the end of those tried beyond which calibration would get worse."""
    slope = content.performance.row("calibration_slope")["corrected"]
    tried = content.model.search.tried
    if slope is None or not tried:
        return False
    ridge = content.model.search.ridge
    return (slope < SMALL_SLOPE and ridge == min(tried)) or (
        slope > LARGE_SLOPE and ridge == max(tried)
    )


def _check_performance(content: ReportContent) -> Iterator[Finding]:
    performance, search = content.performance, content.model.search
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
    slope = performance.row("calibration_slope")["corrected"]
    if slope is not None and not SMALL_SLOPE <= slope <= LARGE_SLOPE:
        is_small = slope < SMALL_SLOPE
        problem = "too extreme" if is_small else "too close to the overall event rate"
        text = f"The corrected calibration slope is {slope:.2f}: predictions are {problem}"
        if _ridge_contradicts_slope(content):
            end = "weak" if is_small else "strong"
            text += f"; the ridge is the {end}est tried, and a {end}er one would not help."
        else:
            other = "stronger" if is_small else "weaker"
            text += "." if search.tuning else f"; a {other} ridge may help."
        yield Finding("warning", "Calibration", text)


def describe_versions() -> dict[str, str]:
    """Return the versions of the packages that the numbers depend on."""
    versions = {"shortlist": __version__, "Python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:  # installed without its metadata
            versions[package] = "unknown"
    return versions


def describe_methods(content: ReportContent) -> list[MethodRow]:
    """Return the draft of the methods, each section with the item that it belongs to."""
    known = dict(content) | {"card": content.model, "size": content.sample_size}
    return [
        {"item": item, "heading": heading, "text": _filled(template, known)}
        for item, heading, template in _methods()
    ]


def _methods() -> Iterator[tuple[str, str, Any]]:
    """Yield item, heading and template of each section of `methods.txt`."""
    environment = template_environment(_METHODS.parent, {"f": format}, is_html=False)
    for section in _METHODS.read_text(encoding="utf-8").removeprefix("## ").split("\n## "):
        title, _, words = section.partition("\n")
        item, _, heading = title.partition(" | ")
        yield item, heading, environment.from_string(words)


def _filled(template: Any, known: Mapping[str, Any]) -> str:
    """Return the text of a section; its lines are parts of it."""
    return " ".join(line for line in template.render(known).split("\n") if line)
