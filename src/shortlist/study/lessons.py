"""What a practitioner may take from a study: advice, if the figures bear it out, and the figures.

Each lesson counts cases. The advice is given if more than half of them speak for it; otherwise the
lesson says that the study does not show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from statistics import mean
from textwrap import fill

import pandas as pd

from .claims import STABLE
from .draw import EPVS, Draw, complete_draws
from .plan import LABEL_NOISE, METHODS
from .saved import matched_rows


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
    if draws:
        found += [_events(draws), _method(draws), _noise(draws), _seeds(draws)]
    every = [*draws, *complete_draws(summary, "budget")]
    if every:
        found.append(_stability(every))
    found += [_leak(summary), _persons(variants)]
    return "\n".join(
        fill(text, 100, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False)
        for text in found
        if text
    )


def _lesson(speaking: int, total: int, advice: str, otherwise: str, figures: str) -> str:
    return f"{advice if 2 * speaking > total else otherwise} {figures}"


def _mean_fraction(draws: Sequence[Draw], method: str, noise: float, epv: float) -> float:
    return mean(draw.fraction(method, "informative", noise)[epv] for draw in draws)


def _events(draws: Sequence[Draw]) -> str:
    few, many = EPVS[0], EPVS[-1]
    cases = [draw.fraction("optimal", "informative", noise) for draw, noise in _with_noise(draws)]
    more = sum(series[many] > series[few] for series in cases)
    few_mean, many_mean = (mean(series[epv] for series in cases) for epv in (few, many))
    return _lesson(
        more,
        len(cases),
        "Count events per variable before you choose a method.",
        "The study does not show that more events per variable find more of what is informative.",
        f"With a limit on their number, optimal selection found more of the informative features "
        f"at EPV {many} than at {few} in {more} of {len(cases)} cases (noise, draw): on average "
        f"{many_mean:.0%} and {few_mean:.0%}.",
    )


def _method(draws: Sequence[Draw]) -> str:
    pairs = [
        tuple(float(draw.fraction(method, "informative", noise)[epv]) for method in METHODS)
        for (draw, noise), epv in product(_with_noise(draws), EPVS)
    ]
    more = sum(optimal > greedy for optimal, greedy in pairs)
    fewer = sum(optimal < greedy for optimal, greedy in pairs)
    optimal, greedy = (mean(pair[i] for pair in pairs) for i in (0, 1))
    return _lesson(
        more,
        len(pairs),
        "Prefer optimal selection to the greedy rule if you want the informative features.",
        "The study does not show that optimal selection finds more informative features than the "
        "greedy rule.",
        f"With a limit on the number it found more in {more} and fewer in {fewer} of {len(pairs)} "
        f"cases (EPV, noise, draw): on average {optimal:.0%} and {greedy:.0%}.",
    )


def _noise(draws: Sequence[Draw]) -> str:
    few, many = EPVS[0], EPVS[-1]
    clean, noisy = LABEL_NOISE
    lower = sum(
        draw.fraction("optimal", "informative", noisy)[epv]
        < draw.fraction("optimal", "informative", clean)[epv]
        for draw, epv in product(draws, EPVS)
    )
    total = len(draws) * len(EPVS)
    changes = "; ".join(
        f"at EPV {epv} from {_mean_fraction(draws, 'optimal', clean, epv):.0%} to "
        f"{_mean_fraction(draws, 'optimal', noisy, epv):.0%}"
        for epv in (few, many)
    )
    return _lesson(
        lower,
        total,
        "Check labels before you trust a selection.",
        "The study does not show that label noise harms the selection.",
        f"{noisy:.0%} label noise lowered the informative fraction of optimal selection in {lower} "
        f"of {total} cases (EPV, draw); on average over draws {changes}.",
    )


def _seeds(draws: Sequence[Draw]) -> str:
    if len(draws) < 2:
        return ""
    wider, ranges, gaps = 0, [], []
    cases = list(product(LABEL_NOISE, EPVS))
    for noise, epv in cases:
        values = [draw.fraction("optimal", "informative", noise)[epv] for draw in draws]
        ranges.append(max(values) - min(values))
        gaps.append(abs(mean(values) - _mean_fraction(draws, "univariable", noise, epv)))
        wider += ranges[-1] > gaps[-1]
    return _lesson(
        wider,
        len(cases),
        "Do not judge methods by one synthetic data set.",
        "The draw of the data matters less than the method here.",
        f"From draw to draw the informative fraction of optimal selection goes over a range of "
        f"{100 * mean(ranges):.0f} points on average over EPVs and noise, while the means of the "
        f"two methods over {len(draws)} draws differ by {100 * mean(gaps):.0f}; the range is the "
        f"larger in {wider} of {len(cases)} cases (EPV, noise).",
    )


def _stability(draws: Sequence[Draw]) -> str:
    stable = {
        method: sum(
            int((draw.stability(method, noise) >= STABLE).sum())
            for draw, noise in _with_noise(draws)
        )
        for method in METHODS
    }
    total = len(draws) * len(LABEL_NOISE) * len(EPVS)
    return _lesson(
        total - stable["optimal"],
        total,
        "Report how often each predictor is selected, and the stability, with a selected model.",
        "Most optimal selections are stable here.",
        f"The mean stability is {STABLE} or more in {stable['optimal']} of {total} cases (study, "
        f"EPV, noise, draw) with optimal selection and in {stable['univariable']} with the greedy "
        "rule.",
    )


def _leak(summary: pd.DataFrame) -> str:
    rows = matched_rows(summary)
    if rows.empty:
        return ""
    keys = ["study", "seed", "epv", "label_noise", "run"]
    shift = rows.assign(shift=(rows["matched_mean"] - rows["auc"]).abs()).pivot_table(
        "shift", keys, "protocol"
    )
    closer = int((shift["clean"] < shift["paper"]).sum())
    return _lesson(
        closer,
        len(shift),
        "Keep all copies of a row on one side of every split of a resample.",
        "The study does not show that copies of a row belong on one side of every split of a "
        "resample.",
        f"The mean AUC over resamples is nearer to the AUC of the data that way in {closer} of "
        f"{len(shift)} runs of optimal selection: {shift['clean'].mean():.3f} from it on average, "
        f"and {shift['paper'].mean():.3f} if copies are split.",
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
    return _lesson(
        sum(rows > persons for rows, persons in pairs),
        len(pairs),
        "If persons have several rows, draw and split persons.",
        "The study does not show that it matters whether rows or persons are split.",
        f"The accuracy on the Parkinson data is {told} by rows and by persons.",
    )


def _with_noise(draws: Sequence[Draw]) -> list[tuple[Draw, float]]:
    return list(product(draws, LABEL_NOISE))
