"""The page about a study: words from `page.md`, numbers from the study's tables."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.resources import files
from math import isnan
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

import pandas as pd

from .compare import VERDICTS, compare, to_markdown
from .draw import MIN_RESAMPLES, Draw
from .lessons import lessons
from .markdown import table
from .paper import LITTLE, PARKINSON
from .plan import BEYOND, METHODS
from .provenance import read_provenance
from .results import ROLES, STABILISED
from .saved import (
    METHOD_NAMES,
    data_set_name,
    matched_rows,
    mean_over_runs,
    read_features,
    read_parkinson,
    read_summary,
    rows_of,
)
from .settings import settings

_NOT_RUN = "This part was not run."
_CLOSE = 0.2  # standard deviations between the means of the classes


def render(folder: str | os.PathLike[str], place: str | os.PathLike[str]) -> str:
    """Return the page about a study.

    Parameters
    ----------
    folder : path-like
        The folder of the study, with its figures in it.
    place : path-like
        The folder that the page is for; its links start there.

    Returns
    -------
    str
        Markdown.
    """
    summary = read_summary(folder)
    comparison = compare(folder)
    variants = read_parkinson(folder)
    link = Path(os.path.relpath(Path(folder).resolve(), Path(place).resolve())).as_posix()
    images = _Images(Path(folder) / "figures", f"{link}/figures")
    template = Template((files(__package__) / "page.md").read_text(encoding="utf-8"))
    return template.substitute(
        folder=link,
        n_resamples=_listed(rows_of(summary[summary["method"].isin(METHODS)])["n_resamples"]),
        seeds=_seeds(summary),
        arms=_arms(summary),
        work=_work(summary, Path(folder)),
        settings=table(["section", "", "paper", "ours"], settings(summary, variants)),
        fractions=_fractions(summary, images),
        separation=_separation(read_features(folder)),
        stability=_stability(summary),
        appendix=_appendix(summary, images),
        verdicts=_verdicts(comparison),
        spread=images.show("seeds", "The paper's numbers in the spread over seeds"),
        difference=_difference(summary),
        comparison=to_markdown(comparison),
        leak=_leak(summary, images),
        beyond=_beyond(summary, images),
        parkinson=_parkinson(variants, images),
        lessons=lessons(summary, variants),
    )


class _Images(NamedTuple):
    """The figures of a study, where they are and what links to them begin with."""

    folder: Path
    link: str

    def show(self, name: str, text: str) -> str:
        """Return an image with an empty line after it; nothing if it was not drawn."""
        if not (self.folder / f"{name}.svg").is_file():
            return ""
        return f"![{text}]({self.link}/{name}.svg)\n\n"


def _arms(summary: pd.DataFrame) -> str:
    rows = summary[summary["method"] != STABILISED].copy()
    rows["data"] = rows["seed"].where(rows["seed"] == 0, "other").astype(str)
    lines = []
    keys = ["protocol", "data", "n_resamples", "method"]
    for (protocol, data, n_resamples, method), part in rows.groupby(keys, sort=False):
        lines.append(
            [
                METHOD_NAMES[str(method)],
                protocol,
                "seed 0" if data == "0" else f"{part['seed'].nunique()} other seeds",
                len(part),
                n_resamples,
                f"{part['solves'].sum():,.0f}",
                f"{part['unproven'].sum():,.0f}" if method == "optimal" else "heuristic",
            ]
        )
    header = ["method", "protocol", "data", "runs", "resamples", "fits", "without a proof"]
    return table(header, lines)


def _work(summary: pd.DataFrame, folder: Path) -> str:
    is_optimal = summary["method"] == "optimal"
    solves, unproven = (int(summary.loc[is_optimal, n].sum()) for n in ("solves", "unproven"))
    fits = summary.loc[~is_optimal, "solves"].sum()
    text = f"These are {solves - unproven:,} certified solves and {fits:,.0f} heuristic fits."
    if unproven:
        text += f" {unproven:,} solves of the optimum ended without a proof."
    provenance = read_provenance(folder)
    journals: dict[str, dict[str, float]] = provenance.get("journals", {})
    if not journals:
        return text
    cores = ", ".join(f"{name} {part['core_seconds'] / 60:.0f}" for name, part in journals.items())
    text += f" Minutes summed over processes: {cores}."
    minutes: dict[str, float] = {}
    for part in provenance["times"]:
        minutes[part["arm"]] = minutes.get(part["arm"], 0.0) + part["seconds"] / 60
    timed = sum(part["tasks"] for part in provenance["times"])
    total = sum(int(part["tasks"]) for part in journals.values())
    if timed < total:
        text += f" The clock was read for {timed:,} of {total:,} resamples."
    else:
        clock = ", ".join(f"{name} {time:.0f}" for name, time in minutes.items())
        text += f" Minutes on the clock: {clock}."
    machine, versions = provenance["machine"], provenance["versions"]
    return (
        f"{text} The machine has {machine['cores']} cores ({machine['processor']}); shortlist "
        f"{versions['shortlist']}, Python {versions['python']}, numpy {versions['numpy']}, "
        f"scikit-learn {versions['scikit-learn']}."
    )


def _seeds(summary: pd.DataFrame) -> str:
    n_seeds = summary["seed"].nunique()
    if n_seeds == 1:
        return "No other seed was run."
    others = summary.loc[(summary["seed"] != 0) & summary["method"].isin(METHODS), "n_resamples"]
    text = (
        f"The spread is over {n_seeds} seeds; those other than 0 have {_listed(others)} resamples. "
        "For estimates and fractions, one more draw of the same kind would lie outside the range "
        f"of {n_seeds} with a probability of {2 / (n_seeds + 1):.0%}, so that many differences "
        "need no other reason."
    )
    if others.min() < MIN_RESAMPLES:
        text += (
            f" The ends of intervals, and claims about intervals, need {MIN_RESAMPLES} resamples "
            "or more, and are compared for the seeds that have them alone; a number for which one "
            'seed is left has the verdict "one draw" unless the two are printed alike.'
        )
    return text


def _fractions(summary: pd.DataFrame, images: _Images) -> str:
    return (
        images.show("fig1a", "Fractions with a cardinality constraint")
        + images.show("fig1b", "Fractions with a budget")
        + _fraction_table(summary, METHODS)
    )


def _beyond(summary: pd.DataFrame, images: _Images) -> str:
    if not summary["method"].isin(BEYOND).any():
        return _NOT_RUN
    return (
        images.show("fig1a-beyond", "Fractions of other methods with a cardinality constraint")
        + images.show("fig1b-beyond", "Fractions of other methods with a budget")
        + _fraction_table(summary, ("optimal", *BEYOND, STABILISED))
    )


def _fraction_table(summary: pd.DataFrame, methods: tuple[str, ...]) -> str:
    rows = rows_of(summary)
    return "Informative / redundant / uninformative:\n\n" + _by_data_set(
        mean_over_runs(rows[rows["method"].isin(methods)]),
        methods,
        lambda means: " / ".join(f"{means[role]:.0%}" for role in ROLES),
    )


def _stability(summary: pd.DataFrame) -> str:
    rows = rows_of(summary)
    return _by_data_set(
        mean_over_runs(rows[rows["method"].isin(METHODS)]),
        METHODS,
        lambda means: f"{means['stability']:.2f}",
    )


def _by_data_set(
    means: pd.DataFrame, methods: tuple[str, ...], cell: Callable[[pd.Series[float]], str]
) -> str:
    """Return a table with a line per study, label noise and EPV and a column per method."""
    cells = means.apply(cell, axis=1).unstack("method", fill_value="")
    cells = cells.reindex(columns=list(methods), fill_value="")
    cells = cells.sort_index(level=[0, 1, 2], ascending=[False, True, True])
    header = ["study", "label noise", "EPV", *(METHOD_NAMES[method] for method in methods)]
    return table(
        header,
        [
            [study, f"{noise:.0%}", f"{epv:.2f}", *line]
            for (study, noise, epv), line in zip(cells.index, cells.to_numpy(), strict=True)
        ],
    )


def _separation(features: pd.DataFrame) -> str:
    """Say how often informative features are selected that hardly differ between the classes."""
    rows = features[
        (features["study"] == "cardinality")
        & (features["protocol"] == "paper")
        & (features["label_noise"] == 0)
        & (features["method"] == "optimal")
        & (features["role"] == "informative")
    ]
    rows = rows[rows["epv"] == rows["epv"].max()]
    is_close = rows["separation"] < _CLOSE
    if not is_close.any() or is_close.all():
        return "In no draw that was run are there such features and others."
    return (
        f"At EPV {rows['epv'].iloc[0]:.2f}, without label noise and over all seeds, that concerns "
        f"{is_close.sum()} of {len(rows)} informative features, whose means are less than {_CLOSE} "
        "standard deviations apart. Optimal selection picks "
        f"{rows.loc[is_close, 'frequency'].mean():.0%} of them and "
        f"{rows.loc[~is_close, 'frequency'].mean():.0%} of the others."
    )


def _appendix(summary: pd.DataFrame, images: _Images) -> str:
    rows = rows_of(summary).drop_duplicates(["study", "n_samples", "n_features", "label_noise"])
    links = [
        f"[{row['study']}, EPV {row['epv']:.2f}, noise {row['label_noise']:.0%}]"
        f"({images.link}/{name}.svg)"
        for _, row in rows.iterrows()
        for name in [f"appendix-{data_set_name(row)}"]
        if (images.folder / f"{name}.svg").is_file()
    ]
    return ",\n".join(links) + "." if links else "The figures were not drawn."


def _verdicts(comparison: pd.DataFrame) -> str:
    names = {"value": "numbers", "claim": "claims"}
    counts = comparison.groupby(["kind", "verdict"]).size()
    return table(
        ["", *VERDICTS],
        [
            [name, *(counts.get((kind, verdict), 0) for verdict in VERDICTS)]
            for kind, name in names.items()
        ],
    )


def _difference(summary: pd.DataFrame) -> str:
    """Say in how many runs the paired interval of the difference excludes 0."""
    parts = []
    for study in ("cardinality", "budget"):
        differences = Draw(summary, 0, study).differences()
        better = sum(interval.lower > 0 for interval in differences)
        worse = sum(interval.upper < 0 for interval in differences)
        parts.append(
            f"{better + worse} of {len(differences)} runs with a {study} constraint (optimal is "
            f"better in {better}, greedy in {worse})"
        )
    return f"Its interval excludes 0 in {' and in '.join(parts)}."


def _leak(summary: pd.DataFrame, images: _Images) -> str:
    rows = matched_rows(summary)
    if rows.empty:
        return _NOT_RUN
    rows = rows.assign(
        shift=rows["matched_mean"] - rows["auc"],
        is_below=rows["auc"] < rows["matched_lower"],
        is_above=rows["auc"] > rows["matched_upper"],
    )
    lines = []
    for (epv, noise), part in rows.groupby(["epv", "label_noise"]):
        line: list[Any] = [f"{epv:.2f}", f"{noise:.0%}"]
        for protocol in ("paper", "clean"):
            own = part[part["protocol"] == protocol]
            means = own[["auc", "matched_lower", "matched_upper", "shift"]].mean()
            line += [
                " ".join(_with_interval(means[["auc", "matched_lower", "matched_upper"]])).strip(),
                f"{means['shift']:+.3f}",
                f"{own['is_below'].sum()}, {own['is_above'].sum()} of {len(own)}",
            ]
        lines.append(line)
    counts = [
        f"with the {protocol} protocol {own['is_below'].sum()} estimates of {len(own)} are below "
        f"their interval and {own['is_above'].sum()} above, and the mean over resamples is on "
        f"average {own['shift'].mean():+.3f} from the estimate"
        for protocol in ("paper", "clean")
        for own in [rows[rows["protocol"] == protocol]]
    ]
    text = (
        "Optimal selection, means over the runs of both studies, over the first "
        f"{_listed(rows['matched_resamples'])} resamples of either protocol: the AUC on the data "
        "as they are with its interval, how much higher the mean over resamples is (shift), and "
        "the number of runs whose estimate is below or above its own interval. In all, "
        f"{'; '.join(counts)}."
    )
    header = ["EPV", "noise", "paper", "shift", "below, above", "clean", "shift", "below, above"]
    shown = images.show("protocols", "AUC intervals under both protocols")
    return f"{shown}{text}\n\n{table(header, lines)}"


def _parkinson(variants: pd.DataFrame | None, images: _Images) -> str:
    if variants is None:
        return _NOT_RUN
    known = [
        [
            "Knauer and Rodner",
            *_with_interval(PARKINSON.accuracy),
            ", ".join(sorted(PARKINSON.measures)),
        ],
        [
            "Little et al. 2008",
            *_with_interval(LITTLE.accuracy),
            ", ".join(sorted(LITTLE.measures)),
        ],
    ]
    columns = ["accuracy", "accuracy_lower", "accuracy_upper"]
    ours = [
        [
            f"{line['variant']}, {line['n_resamples']} resamples",
            *_with_interval([line[name] for name in columns]),
            line["measures"],
        ]
        for line in variants.to_dict("records")
    ]
    return (
        "195 recordings of 32 people (Little et al. 2008, UCI repository). Each measure becomes 4 "
        "cubic spline columns, 4 predictors are selected: columns or features (a measure with all "
        "its columns), of 22 measures or of the 17 of Little et al., drawn and split by rows, as "
        "in the paper, or by persons. A row-wise split has recordings of the same person in the "
        "training and the test part. The comparison above judges columns-22-rows, the variant that "
        "is nearest to the paper's words, and lists the others.\n\n"
        'The paper has "3 knots distributed along the quartiles". We take this for the '
        'SplineTransformer(n_knots=3, knots="quantile") of scikit-learn, documented in almost '
        "the same words: it puts the knots at the minimum, the median and the maximum, and 3 knots "
        "give 5 cubic splines, 4 without the one that the intercept replaces, as many as the paper "
        "has. "
        "Knots at the three quartiles themselves are another reading, which was not run.\n\n"
        + images.show("parkinson", "Accuracy of the variants")
        + table(["", "accuracy", "95 % interval", "measures selected on the data"], known + ours)
    )


def _with_interval(values: Any) -> tuple[str, str]:
    estimate, lower, upper = values
    # Fewer than 39 resamples have no 95 % interval.
    return f"{estimate:.2f}", "" if isnan(lower) else f"[{lower:.2f}, {upper:.2f}]"


def _listed(values: pd.Series[int]) -> str:
    return " or ".join(f"{value:g}" for value in sorted(values.dropna().unique()))
