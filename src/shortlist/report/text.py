"""The sentences of a report: checks and cautions, and a draft of the methods of a paper.

The draft goes by items of TRIPOD+AI (Collins et al. 2024).
"""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

import pandas as pd

from .. import __version__
from ..patients import Finding, ModelCard
from .content import (
    Alternatives,
    Centres,
    MissingValues,
    Performance,
    PersonCount,
    ProofCheck,
    ReportContent,
    Rows,
    SampleSize,
    Stability,
    json_rows,
    json_value,
)

UNSTABLE = 0.5  # of the resamples select the model
SMALL_SLOPE, LARGE_SLOPE = 0.9, 1.1
_SCORES = {"neg_log_loss": "log loss", "roc_auc": "AUC"}
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


def describe_checks(content: ReportContent) -> Rows:
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
    rows: Rows = [
        *(finding._asdict() for finding in of_proof),
        *(row for row in content.findings if row["topic"] not in said_elsewhere),
        *(finding._asdict() for finding in of_evaluation),
    ]
    return [json_value(row) for row in rows]


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
    tried = [entry.ridge for entry in content.model.search.tuning]
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


def describe_methods(content: ReportContent) -> Rows:
    """Return sentences with the item that each belongs to."""
    card, size, performance = content.model, content.sample_size, content.performance
    persons = content.persons.text
    where = "on resamples of" if performance.n_resamples else "by cross-validation in"
    texts = {
        ("7", "Data preparation"): _preparation(card),
        ("9a", "Predictors"): _predictors(card),
        ("10", "Sample size"): _sample_size(size, persons),
        ("11", "Missing data"): _missing(card, content),
        ("12a", "Use of the data"): (
            "All patients were used to develop the model; it was validated internally, "
            f"{where} the same patients. None were held out."
        ),
        ("12b", "Handling of predictors"): _handling(card),
        ("12c", "Model building and internal validation"): _building(card, content),
        ("12d, 23b", "Centres"): _centres(content.centres, bool(content.model.search.tuning)),
        ("12e", "Performance measures"): (
            "Discrimination: area under the ROC curve (AUC). Overall: Brier score. Calibration: "
            "intercept and slope of a logistic regression of the outcome on the log-odds, its "
            "intercept with the slope fixed at 1 (calibration in the large), observed / expected "
            "events, and a smooth curve (natural cubic spline of the log-odds) with its "
            "integrated calibration index. Usefulness: net benefit. Intervals come from "
            "influence values of cross-validated predictions."
        ),
        ("13", "Class imbalance"): (
            "Outcomes were neither weighted nor resampled to other shares, so the probabilities "
            f"refer to the share of events in the data, {size.prevalence:.1%}."
        ),
        ("15", "Output"): "The probability of the event. No risk groups were defined.",
        ("20b", "Characteristics"): (
            "Candidates by outcome, with missing values, are in a table of this report. Dates, "
            "treatments and follow-up are for the authors to report."
        ),
        ("21", "Development"): f"{persons}, {size.events} events.",
        ("22", "Model"): "The full equation is in this report, and in the file of the model.",
        ("23a", "Performance"): _performance(performance) + _subgroups(content.subgroups),
        ("12f, 12g, 16, 20c, 24", "Other data"): (
            "Evaluation in other data, and updating to them: not applicable here."
        ),
    }
    return [
        {"item": item, "heading": heading, "text": text} for (item, heading), text in texts.items()
    ]


def _centres(centres: Centres | None, is_tuned: bool) -> str:
    if centres is None:
        return "Heterogeneity between centres (clusters): not assessed."
    auc = next(row for row in centres.pooled if row["metric"] == "auc")
    text = (
        "Heterogeneity between centres (clusters): assessed by internal-external validation, in "
        f"the section on performance by centre. Of {_counted(len(centres.rows), 'centre')}, "
        f"{centres.n_measured} were left out, one at a time, and predicted by a model that was "
        f"{'tuned, ' if is_tuned else ''}selected and fitted without them; estimates were "
        "summarised by random effects (restricted maximum likelihood, Hartung-Knapp)."
    )
    if auc["prediction_lower"] is not None:
        text += (
            f" The AUC of a new centre is expected from {auc['prediction_lower']:.2f} to "
            f"{auc['prediction_upper']:.2f}."
        )
    return text


def _subgroups(subgroups: Rows) -> str:
    if not subgroups:
        return " Subgroups: not assessed."
    by = dict.fromkeys(row["by"] for row in subgroups)
    return f" Subgroups by {', '.join(by)}: in this report, of cross-validated predictions."


def _preparation(card: ModelCard) -> str:
    excluded = ", ".join(card.limits.exclude)
    left_out = f" Columns excluded, deliberately or because they are constant: {excluded}."
    return (
        f"The table has {card.data.rows} rows; none was excluded."
        f"{left_out if excluded else ''} Columns were "
        "treated as numbers, truth values or factors, and each is bought as a whole."
    )


def _predictors(card: ModelCard) -> str:
    names = ", ".join(f"{item.name} ({item.kind})" for item in card.candidates)
    text = f"Candidates: {names}; their choice is for the authors to justify."
    if card.limits.budget is not None:
        text += " Prices are those in the table of this report."
    return text


def _sample_size(size: SampleSize, persons: str) -> str:
    needed = size.needed
    source = "measured by cross-validation"
    if size.r2_is_default:
        source = f"taken as {size.default_share:.0%} of its largest value"
    return (
        f"All {persons} were used, {size.events} with the event, "
        f"{size.events_per_parameter:.1f} of the rarer outcome per candidate parameter. With a "
        f"Cox-Snell R2 of {size.cox_snell_r2:.3f} ({source}), the criteria of Riley et al. "
        f"(2019, 2020), applied post hoc, require {needed['shrinkage']} patients for a shrinkage "
        f"of {size.shrinkage:g}, {needed['r2_difference']} for a difference of "
        f"{size.r2_difference:g} in Nagelkerke's R2, {needed['overall_risk']} for an overall "
        f"risk to within {size.risk_margin:g} and {needed['prediction_error']} for a mean "
        f"absolute error of predicted risks of {size.prediction_error:g}."
    )


def _missing(card: ModelCard, content: ReportContent) -> str:
    missing = content.missing
    if not missing.columns:
        return "No candidate has a missing value."
    has_indicator = card.preprocessing.missing_indicator
    draws = card.preprocessing.draws
    bought = "selected" if card.limits.budget is None else "bought"
    if draws is not None:
        replaced = (
            f"Missing values were imputed {draws.number} times, by chained equations of all "
            "candidates and the outcome (numbers and truth values by predictive mean matching, "
            "levels by predicted shares); the model was selected and fitted on all imputations "
            f"together, each of weight 1/{draws.number}. Predictions replace missing numbers and "
            f"truth values by linear equations of the predictors {bought}, levels by the most "
            "frequent one"
        )
    elif card.preprocessing.imputation == "conditional":
        replaced = (
            "Missing numbers and truth values were replaced by their expected values given the "
            "other candidates (linear equations, without the outcome), those of factors by the "
            f"most frequent level; predictions use equations of the predictors {bought} alone"
        )
    else:
        replaced = (
            "Missing numbers were replaced by the median, other missing values by the most "
            "frequent one"
        )
    return (
        f"{replaced}. All of it was fitted anew in every resample and fold."
        f"{_codes(card)}"
        f"{' An indicator of missing values was added.' if has_indicator else ''} "
        f"{missing.complete_rows} {content.persons.row_unit} have all candidates."
    )


def _codes(card: ModelCard) -> str:
    codes = card.preprocessing.missing_codes
    if not codes:
        return ""
    declared = "; ".join(f"{', '.join(values)} of {name}" for name, values in codes.items())
    return f" Values declared as missing: {declared}."


def _handling(card: ModelCard) -> str:
    knots = card.preprocessing.spline_knots
    shape = f"as natural cubic splines with {knots} knots at fixed quantiles of the observed values"
    fewer = ", ".join(
        f"{term.name} {len(term.knots) or 'none'}"
        for term in card.terms
        if term.kind == "numeric" and knots is not None and len(term.knots) < knots
    )
    if fewer:
        shape += f" (fewer where these coincide: {fewer})"
    return (
        f"Numbers enter {'linearly' if knots is None else shape}; for the penalty they are centred "
        "and divided by two standard deviations. Truth values are 0 and 1; a factor has a column "
        "per level."
    )


def _building(card: ModelCard, content: ReportContent) -> str:
    search, performance = card.search, content.performance
    n_resamples, n_folds = performance.n_resamples, performance.n_folds
    found = "found and proven" if content.proof.is_optimal else "searched for but not proven,"
    by = "branch and bound" if search.backend == "native" else search.backend
    ridge = f"The ridge is {search.ridge:g}"
    if search.tuning:
        tried = ", ".join(f"{entry.ridge:g}" for entry in search.tuning)
        ridge += f", the best of {tried} by {search.cross_validation}"
        ridge += f" ({_SCORES.get(search.scoring or '', search.scoring)})"
    text = (
        "Logistic regression with an L2 penalty on the best affordable selection of predictors: "
        f"the one with the smallest penalised loss, {found} by {by}. "
        f"{ridge}. {_coef_limits(card)}"
    )
    if search.within is not None:
        if search.within.share is None:
            lowest = (
                "the lowest whose cross-validated log loss is within a standard error of the least"
            )
            unproven = ", by searches that were not all proven"
        else:
            lowest = (
                "that of the cheapest selection whose loss is within "
                f"{search.within.share:.3g} of the best one's"
            )
            unproven = " that was found"
        lowest += "" if search.within.is_proven else unproven
        text += f"The limit was then lowered to {lowest}; resamples have the lowered limit. "
    if search.stable is not None:
        text += (
            f"The candidates were first narrowed to {card.among}: these were bootstrap resamples "
            "of the patients, columns as prepared from all of them, with the same limits and "
            "ridge. The rule was repeated, its resamples included, "
            f"{'on every resample and ' if n_resamples else ''}in every fold. "
        )
    if content.persons.has_several_rows:
        everywhere = "folds and resamples" if n_resamples else "folds"
        text += f"The rows of a person were kept together in all {everywhere}. "
    if n_resamples:
        text += (
            f"Internal validation: {n_resamples} bootstrap resamples, on each of which imputation, "
            "scaling, selection and fit were repeated with this ridge. AUC and Brier score were "
            "corrected for optimism by the .632+ bootstrap, measures of calibration by "
            "subtracting Harrell's optimism. The ridge was not re-tuned in the "
            f"resamples. The curves show predictions of {n_folds}-fold cross-validation."
        )
    else:
        text += f"The selection was validated by {n_folds}-fold cross-validation alone."
    return text + (
        f" Computed with {', '.join(f'{k} {v}' for k, v in content.versions.items())}. SHA-256 "
        f"of the candidates and the outcome: {card.data.sha256}. Digest of the optimisation "
        f"problem: {content.proof.problem_digest}."
    )


def _coef_limits(card: ModelCard) -> str:
    """Say which coefficients were limited from the start; nothing if none were."""
    text = ""
    for sign, direction in (("positive", "raise"), ("negative", "lower")):
        names = [item.name for item in card.candidates if item.sign == sign]
        if names:
            text += f"Allowed only to {direction} the risk: {', '.join(names)}. "
    largest = [
        f"{item.max_coefficient:g} ({item.name})"
        for item in card.candidates
        if item.max_coefficient is not None
    ]
    if largest:
        text += (
            "Limits on the size of coefficients, per two standard deviations of a number or per "
            f"level: {', '.join(largest)}. "
        )
    return text


def _performance(performance: Performance) -> str:
    if not performance.n_resamples:
        return (
            "Apparent performance, not corrected for optimism, and cross-validated performance are "
            "in this report; without resamples there are no intervals."
        )
    if any(row["lower"] is not None for row in performance.corrected):
        return "Corrected for optimism, in this report, with intervals."
    return (
        "Corrected for optimism, in this report, without intervals, for which there are too few "
        "resamples."
    )
