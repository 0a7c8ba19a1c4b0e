"""Text for the methods section of a paper, by items of TRIPOD+AI (Collins et al. 2024)."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from .. import __version__

_PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "python-flint")
# Items that only the authors of a study can report.
AUTHORS_ITEMS = "1 to 6, 8, 9b, 9c, 12d, 14, 17 to 19, 20a, 20b and 25 to 27"


def describe_versions() -> dict[str, str]:
    """Return the versions of everything that the numbers depend on."""
    versions = {"shortlist": __version__, "Python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:  # installed without its metadata
            versions[package] = "unknown"
    return versions


def describe_methods(content: dict[str, Any]) -> list[dict[str, str]]:
    """Return sentences with the item that each belongs to."""
    card, size, performance = content["model"], content["sample_size"], content["performance"]
    persons = content["persons"]["text"]
    where = "on resamples of" if performance["n_resamples"] else "by cross-validation in"
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
            f"refer to the share of events in the data, {size['prevalence']:.1%}."
        ),
        ("15", "Output"): "The probability of the event. No risk groups were defined.",
        ("21", "Development"): f"{persons}, {size['events']} events.",
        ("22", "Model"): "The full equation is in this report, and in the file of the model.",
        ("23a", "Performance"): _performance(performance),
        ("12f, 12g, 16, 20c, 23b, 24", "Other data"): (
            "Evaluation in other data or across clusters: not applicable here."
        ),
    }
    return [
        {"item": item, "heading": heading, "text": text} for (item, heading), text in texts.items()
    ]


def _preparation(card: dict[str, Any]) -> str:
    excluded = ", ".join(card["limits"]["exclude"])
    left_out = f" Columns excluded, deliberately or because they are constant: {excluded}."
    return (
        f"The table has {card['data']['rows']} rows; none was excluded."
        f"{left_out if excluded else ''} Columns were "
        "treated as numbers, truth values or factors, and each is bought as a whole."
    )


def _predictors(card: dict[str, Any]) -> str:
    names = ", ".join(f"{item['name']} ({item['kind']})" for item in card["candidates"])
    text = f"Candidates: {names}; their choice is for the authors to justify."
    if card["limits"]["budget"] is not None:
        text += " Prices are those in the table of this report."
    return text


def _sample_size(size: dict[str, Any], persons: str) -> str:
    needed = size["needed"]
    source = "measured by cross-validation"
    if size["r2_is_default"]:
        source = f"taken as {size['default_share']:.0%} of its largest value"
    return (
        f"All {persons} were used, {size['events']} with the event, "
        f"{size['events_per_parameter']:.1f} of the rarer outcome per candidate parameter. With a "
        f"Cox-Snell R2 of {size['cox_snell_r2']:.3f} ({source}), the criteria of Riley et al. "
        f"(2019, 2020), applied post hoc, require {needed['shrinkage']} patients for a shrinkage "
        f"of {size['shrinkage']:g}, {needed['r2_difference']} for a difference of "
        f"{size['r2_difference']:g} in Nagelkerke's R2, {needed['overall_risk']} for an overall "
        f"risk to within {size['risk_margin']:g} and {needed['prediction_error']} for a mean "
        f"absolute error of predicted risks of {size['prediction_error']:g}."
    )


def _missing(card: dict[str, Any], content: dict[str, Any]) -> str:
    missing = content["missing"]
    if not missing["columns"]:
        return "No candidate has a missing value."
    has_indicator = card["preprocessing"]["missing_indicator"]
    return (
        "Missing numbers were replaced by the median, other missing values by the most frequent "
        "one, measured anew in every resample and fold."
        f"{' An indicator of missing values was added.' if has_indicator else ''} "
        f"{missing['complete_rows']} {content['persons']['row_unit']} have all candidates."
    )


def _handling(card: dict[str, Any]) -> str:
    knots = card["preprocessing"]["spline_knots"]
    shape = f"as natural cubic splines with {knots} knots at fixed quantiles"
    return (
        f"Numbers enter {'linearly' if knots is None else shape}; for the penalty they are centred "
        "and divided by two standard deviations. Truth values are 0 and 1; a factor has a column "
        "per level."
    )


def _building(card: dict[str, Any], content: dict[str, Any]) -> str:
    search, performance = card["search"], content["performance"]
    n_resamples, n_folds = performance["n_resamples"], performance["n_folds"]
    found = "found and proven" if content["proof"]["is_optimal"] else "searched for but not proven,"
    by = "branch and bound" if search["backend"] == "native" else search["backend"]
    ridge = f"The ridge is {search['ridge']:g}"
    if search["tuning"]:
        tried = ", ".join(f"{entry['ridge']:g}" for entry in search["tuning"])
        ridge += (
            f", the best of {tried} by {search['folds']}-fold cross-validation "
            f"({search['scoring']})"
        )
    text = (
        "Logistic regression with an L2 penalty on the best affordable selection of predictors: "
        f"the one with the smallest penalised loss of all, {found} by {by}. "
        f"{ridge}. {_coef_limits(card)}"
    )
    if content["persons"]["has_several_rows"]:
        everywhere = "folds and resamples" if n_resamples else "folds"
        text += f"The rows of a person were kept together in all {everywhere}. "
    if n_resamples:
        text += (
            f"Internal validation: {n_resamples} bootstrap resamples, on each of which imputation, "
            "scaling, selection and fit were repeated with this ridge; Harrell's optimism was "
            "subtracted from the apparent performance. The ridge was not re-tuned in the "
            f"resamples. The curves show predictions of {n_folds}-fold cross-validation."
        )
    else:
        text += f"The selection was validated by {n_folds}-fold cross-validation alone."
    return text + (
        f" Computed with {', '.join(f'{k} {v}' for k, v in content['versions'].items())}. SHA-256 "
        f"of the candidates and the outcome: {card['data']['sha256']}. Digest of the optimisation "
        f"problem: {content['proof']['problem_digest']}."
    )


def _coef_limits(card: dict[str, Any]) -> str:
    """Say which coefficients were limited from the start; nothing if none were."""
    text = ""
    for sign, direction in (("positive", "raise"), ("negative", "lower")):
        names = [item["name"] for item in card["candidates"] if item.get("sign") == sign]
        if names:
            text += f"Allowed only to {direction} the risk: {', '.join(names)}. "
    largest = [
        f"{item['max_coefficient']:g} ({item['name']})"
        for item in card["candidates"]
        if "max_coefficient" in item
    ]
    if largest:
        text += (
            "Limits on the size of coefficients, per two standard deviations of a number or per "
            f"level: {', '.join(largest)}. "
        )
    return text


def _performance(performance: dict[str, Any]) -> str:
    if not performance["n_resamples"]:
        return (
            "Apparent performance, not corrected for optimism, and cross-validated performance are "
            "in this report; without resamples there are no intervals."
        )
    if any(row["lower"] is not None for row in performance["corrected"]):
        return "Corrected for optimism, in this report, with intervals."
    return (
        "Corrected for optimism, in this report, without intervals, for which there are too few "
        "resamples."
    )
