"""What a practitioner should take from a study: advice, each with the figures it rests on."""

from __future__ import annotations

from itertools import product
from statistics import mean
from textwrap import fill

import pandas as pd

from .claims import STABLE
from .draw import EPVS, NOISES, Draw, complete_draws


def lessons(summary: pd.DataFrame, variants: pd.DataFrame | None) -> str:
    """Return the lessons of a study as a list in Markdown, as far as its parts were run.

    Parameters
    ----------
    summary : DataFrame
        As in `summary.csv`.
    variants : DataFrame, optional
        As in `parkinson_summary.csv`.

    Returns
    -------
    str
        Markdown.
    """
    found = []
    draws = complete_draws(summary, "cardinality")
    if draws and draws[0].name == "seed 0":
        found += [_events(draws[0]), _noise(draws), _stability(summary), _seeds(draws)]
    found += [_leak(summary), _persons(variants)]
    return "\n".join(
        fill(text, 100, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False)
        for text in found
        if text
    )


def _events(draw: Draw) -> str:
    few, many = EPVS[0], EPVS[-1]
    optimal, greedy = (draw.fraction(m, "informative", 0.0) for m in ("optimal", "univariable"))
    return (
        "Count events per variable before you choose a method. Without label noise and with a "
        f"limit on their number, optimal selection finds {optimal[few]:.0%} of the informative "
        f"features at EPV {few} and {optimal[many]:.0%} at {many}; the greedy rule finds "
        f"{greedy[few]:.0%} and {greedy[many]:.0%}."
    )


def _noise(draws: list[Draw]) -> str:
    many = EPVS[-1]
    clean, noisy = (
        mean(draw.fraction("optimal", "informative", noise)[many] for draw in draws)
        for noise in NOISES
    )
    lower = sum(
        draw.fraction("optimal", "informative", NOISES[1])[many]
        < draw.fraction("optimal", "informative", NOISES[0])[many]
        for draw in draws
    )
    return (
        "Do not expect clean labels alone to make a selection interpretable: with 5 % of labels "
        f"wrong, optimal selection finds {noisy:.0%} instead of {clean:.0%} of the informative "
        f"features at EPV {many}, on average over {len(draws)} draws; fewer in {lower} of them."
    )


def _stability(summary: pd.DataFrame) -> str:
    counts = {"optimal": 0, "univariable": 0}
    total = 0
    for study, noise in product(("cardinality", "budget"), NOISES):
        draw = Draw(summary, 0, study)
        if draw.is_complete:
            total += len(EPVS)
            for method in counts:
                counts[method] += int((draw.stability(method, noise) >= STABLE).sum())
    return (
        "Report how often each predictor is selected, and the stability, with every selected "
        f"model: the mean stability is {STABLE} or more in {counts['optimal']} of {total} cases "
        f"(study, noise, EPV) with optimal selection and in {counts['univariable']} with the "
        "greedy rule."
    )


def _seeds(draws: list[Draw]) -> str:
    if len(draws) < 2:
        return ""
    few = EPVS[0]
    values = [draw.fraction("optimal", "informative", 0.0)[few] for draw in draws]
    main = draws[0].fraction("univariable", "informative", 0.0)[few]
    return (
        f"Do not judge by one synthetic data set: at EPV {few} the informative fraction of optimal "
        f"selection goes from {min(values):.0%} to {max(values):.0%} over {len(draws)} draws of "
        f"the data, while the two methods differ by {abs(values[0] - main):.0%} on the first."
    )


def _leak(summary: pd.DataFrame) -> str:
    rows = summary[(summary["seed"] == 0) & (summary["method"] == "optimal")]
    rows = rows[rows["epv"] == rows["epv"].min()]
    shift = (rows["auc_mean"] - rows["auc"]).groupby(rows["protocol"]).mean()
    if len(shift) < 2:
        return ""
    return (
        "Keep all copies of a row on one side of every split of a resample. With the fewest events "
        f"the mean AUC over resamples is {shift['paper']:+.2f} from the AUC of the data if copies "
        f"are split, and {shift['clean']:+.2f} if they are not."
    )


def _persons(variants: pd.DataFrame | None) -> str:
    if variants is None:
        return ""
    accuracy = variants.set_index("variant")["accuracy"]
    pairs = [
        (accuracy[name], accuracy[other])
        for name in accuracy.index
        if name.endswith("-rows")
        for other in [name.replace("-rows", "-persons")]
        if other in accuracy.index
    ]
    if not pairs:
        return ""
    told = ", ".join(f"{rows:.2f} and {persons:.2f}" for rows, persons in pairs)
    return (
        "If persons have several rows, draw and split persons: the accuracy on the Parkinson data "
        f"is {told} by rows and by persons."
    )
