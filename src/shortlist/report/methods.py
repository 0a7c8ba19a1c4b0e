"""Text for the methods section of a paper, by items of TRIPOD+AI (Collins et al. 2024)."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from .. import __version__

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "pandas", "python-flint")
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
    card, size = content["model"], content["sample_size"]
    needed = size["needed"]
    n_resamples = content["performance"]["n_resamples"]
    source = (
        f"taken as {size['default_share']:.0%} of its largest value"
        if size["r2_is_default"]
        else "measured by cross-validation"
    )
    return [
        _item("7", "Data preparation", _preparation(card)),
        _item("9a", "Predictors", _predictors(card)),
        _item(
            "10",
            "Sample size",
            f"All {content['persons']['text']} were used, {size['events']} with the event, "
            f"{size['events_per_parameter']:.1f} of the rarer outcome per candidate parameter. "
            f"With a Cox-Snell R2 of {size['cox_snell_r2']:.3f} ({source}), the criteria of Riley "
            f"et al. (2019, 2020), applied post hoc, require {needed['shrinkage']} patients "
            f"for a shrinkage of {size['shrinkage']:g}, "
            f"{needed['r2_difference']} for a difference of {size['r2_difference']:g} in "
            f"Nagelkerke's R2, {needed['overall_risk']} for an overall risk to within "
            f"{size['risk_margin']:g} and {needed['prediction_error']} for a mean absolute error "
            f"of predicted risks of {size['prediction_error']:g}.",
        ),
        _item("11", "Missing data", _missing(card, content)),
        _item(
            "12a",
            "Use of the data",
            "All patients were used to develop the model; it was validated internally, "
            + ("on resamples of" if n_resamples else "by cross-validation in")
            + " the same patients. None were held out.",
        ),
        _item("12b", "Handling of predictors", _handling(card)),
        _item("12c", "Model building and internal validation", _building(card, content)),
        _item(
            "12e",
            "Performance measures",
            "Discrimination: area under the ROC curve (AUC). Overall: Brier score. Calibration: "
            "intercept and slope of a logistic regression of the outcome on the log-odds, its "
            "intercept with the slope fixed at 1 (calibration in the large), observed / expected "
            "events, and a smooth curve (natural cubic spline of the log-odds) with its "
            "integrated calibration index. Usefulness: net benefit. Intervals come from "
            "influence values of cross-validated predictions.",
        ),
        _item(
            "13",
            "Class imbalance",
            "Outcomes were neither weighted nor resampled to other shares, so the probabilities "
            f"refer to the share of events in the data, {size['prevalence']:.1%}.",
        ),
        _item("15", "Output", "The probability of the event. No risk groups were defined."),
        _item("21", "Development", f"{content['persons']['text']}, {size['events']} events."),
        _item("22", "Model", "The full equation is in this report, and in the file of the model."),
        _item("23a", "Performance", _performance(content["performance"])),
        _item(
            "12f, 12g, 16, 20c, 23b, 24",
            "Other data",
            "Evaluation in other data or across clusters: not applicable here.",
        ),
    ]


def _item(number: str, heading: str, text: str) -> dict[str, str]:
    return {"item": number, "heading": heading, "text": text}


def _preparation(card: dict[str, Any]) -> str:
    excluded = card["limits"]["exclude"]
    left_out = (
        f" Columns excluded, deliberately or because they are constant: {', '.join(excluded)}."
        if excluded
        else ""
    )
    return (
        f"The table has {card['data']['rows']} rows; none was excluded.{left_out} Columns were "
        "treated as numbers, truth values or factors, and each is bought as a whole."
    )


def _predictors(card: dict[str, Any]) -> str:
    limits = card["limits"]
    names = ", ".join(f"{item['name']} ({item['kind']})" for item in card["candidates"])
    return f"Candidates: {names}; their choice is for the authors to justify." + (
        " Prices are those in the table of this report." if limits["budget"] is not None else ""
    )


def _missing(card: dict[str, Any], content: dict[str, Any]) -> str:
    missing = content["missing"]
    if not missing["columns"]:
        return "No candidate has a missing value."
    indicator = (
        " An indicator of missing values was added."
        if card["preprocessing"]["missing_indicator"]
        else ""
    )
    return (
        "Missing numbers were replaced by the median, other missing values by the most frequent "
        f"one, measured anew in every resample and fold.{indicator} {missing['complete_rows']} "
        f"{content['persons']['row_unit']} have all candidates."
    )


def _handling(card: dict[str, Any]) -> str:
    knots = card["preprocessing"]["spline_knots"]
    shape = (
        "enter linearly"
        if knots is None
        else f"enter as natural cubic splines with {knots} knots at fixed quantiles"
    )
    return (
        f"Numbers {shape}; for the penalty they are centred and divided by two standard "
        "deviations. Truth values are 0 and 1; a factor has a column per level."
    )


def _building(card: dict[str, Any], content: dict[str, Any]) -> str:
    search, performance = card["search"], content["performance"]
    ridge = f"The ridge is {search['ridge']:g}"
    if search["tuning"]:
        tried = ", ".join(f"{entry['ridge']:g}" for entry in search["tuning"])
        ridge += (
            f", the best of {tried} by {search['folds']}-fold cross-validation "
            f"({search['scoring']})"
        )
    text = (
        "Logistic regression with an L2 penalty on the best affordable selection of predictors: "
        "the one with the smallest penalised loss of all, "
        + ("found and proven" if content["proof"]["is_optimal"] else "searched for but not proven,")
        + f" by {'branch and bound' if search['backend'] == 'native' else search['backend']}. "
        f"{ridge}. {_coef_limits(card)}"
    )
    if content["persons"]["has_several_rows"]:
        everywhere = "folds and resamples" if performance["n_resamples"] else "folds"
        text += f"The rows of a person were kept together in all {everywhere}. "
    identity = (
        f" Computed with {', '.join(f'{k} {v}' for k, v in content['versions'].items())}. SHA-256 "
        f"of the candidates and the outcome: {card['data']['sha256']}. Digest of the optimisation "
        f"problem: {content['proof']['problem_digest']}."
    )
    if not performance["n_resamples"]:
        alone = (
            f"The selection was validated by {performance['n_folds']}-fold cross-validation alone."
        )
        return text + alone + identity
    return text + (
        f"Internal validation: {performance['n_resamples']} bootstrap resamples, on each of which "
        "imputation, scaling, selection and fit were repeated with this ridge; Harrell's optimism "
        "was subtracted from the apparent performance. The ridge was not re-tuned in the "
        "resamples. The "
        f"curves show predictions of {performance['n_folds']}-fold cross-validation.{identity}"
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
    has_intervals = any(row["lower"] is not None for row in performance["corrected"])
    return "Corrected for optimism, in this report, " + (
        "with intervals."
        if has_intervals
        else "without intervals, for which there are too few resamples."
    )
