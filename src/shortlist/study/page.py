"""The page about a study: words from `page.md`, numbers from the study's tables."""

from __future__ import annotations

import json
import os
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import pandas as pd

from .compare import compare, to_markdown
from .draw import METHODS
from .lessons import lessons
from .markdown import table
from .paper import LITTLE, PARKINSON
from .results import ROLES, STABILISED
from .saved import METHOD_NAMES, read_features, read_parkinson, read_summary, rows_of

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
    template = Template((files(__package__) / "page.md").read_text(encoding="utf-8"))
    return template.substitute(
        folder=link,
        n_resamples=_listed(rows_of(summary[summary["method"].isin(METHODS)])["n_resamples"]),
        seeds=_seeds(summary),
        arms=_arms(summary),
        work=_work(summary, Path(folder)),
        fractions=_fractions(summary, METHODS),
        separation=_separation(read_features(folder)),
        stability=_stability(summary),
        appendix=_appendix(summary, link),
        verdicts=_verdicts(comparison),
        comparison=to_markdown(comparison),
        leak=_leak(summary),
        beyond=_fractions(summary, ("optimal", "forward", "lasso", STABILISED)),
        parkinson=_parkinson(variants, link),
        lessons=lessons(summary, variants),
    )


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
                f"{part['unproven'].sum():,.0f}",
            ]
        )
    header = ["method", "protocol", "data", "runs", "resamples", "solves", "without a proof"]
    return table(header, lines)


def _work(summary: pd.DataFrame, folder: Path) -> str:
    text = f"These are {summary['solves'].sum():,.0f} solves."
    path = folder / "provenance.json"
    if not path.is_file():
        return text
    provenance = json.loads(path.read_text(encoding="utf-8"))
    minutes: dict[str, float] = {}
    for part in provenance["times"]:
        minutes[part["arm"]] = minutes.get(part["arm"], 0.0) + part["seconds"] / 60
    parts = ", ".join(f"{name} {time:.0f}" for name, time in minutes.items())
    machine, versions = provenance["machine"], provenance["versions"]
    return (
        f"{text} Minutes on the clock: {parts}, on {machine['cores']} cores "
        f"({machine['processor']}); shortlist {versions['shortlist']}, Python "
        f"{versions['python']}, numpy {versions['numpy']}, scikit-learn "
        f"{versions['scikit-learn']}."
    )


def _seeds(summary: pd.DataFrame) -> str:
    n_seeds = summary["seed"].nunique()
    if n_seeds == 1:
        return "No other seed was run."
    others = summary.loc[(summary["seed"] != 0) & summary["method"].isin(METHODS), "n_resamples"]
    return (
        f"The spread is over {n_seeds} seeds; those other than 0 have {_listed(others)} resamples. "
        f"One more draw of the same kind would lie outside the range of {n_seeds} with a "
        f"probability of {2 / (n_seeds + 1):.0%}, so that many differences need no other reason."
    )


def _fractions(summary: pd.DataFrame, methods: tuple[str, ...]) -> str:
    rows = rows_of(summary)
    rows = rows[rows["method"].isin(methods)]
    if set(rows["method"]) <= {"optimal", STABILISED} and len(methods) > len(METHODS):
        return _NOT_RUN
    means = rows.groupby(["study", "label_noise", "epv", "method"])[list(ROLES)].mean()
    lines: list[list[str]] = []
    for study in ("cardinality", "budget"):
        for (_, noise, epv), part in means[means.index.get_level_values(0) == study].groupby(
            level=[0, 1, 2]
        ):
            of_method = {key[-1]: row for key, row in zip(part.index, part.to_numpy(), strict=True)}
            cells = [
                " / ".join(f"{fraction:.0%}" for fraction in of_method.get(method, ()))
                for method in methods
            ]
            lines.append([study, f"{noise:.0%}", f"{epv:.2f}", *cells])
    header = ["study", "label noise", "EPV", *(METHOD_NAMES[method] for method in methods)]
    return "Informative / redundant / uninformative:\n\n" + table(header, lines)


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


def _stability(summary: pd.DataFrame) -> str:
    rows = rows_of(summary[summary["method"].isin(METHODS)])
    means = rows.pivot_table("stability", ["study", "label_noise", "epv"], "method").reset_index()
    means = means.sort_values(["study", "label_noise", "epv"], ascending=[False, True, True])
    return table(
        ["study", "label noise", "EPV", *(METHOD_NAMES[method] for method in METHODS)],
        [
            [
                line["study"],
                f"{line['label_noise']:.0%}",
                f"{line['epv']:.2f}",
                *(f"{line[method]:.2f}" for method in METHODS),
            ]
            for line in means.to_dict("records")
        ],
    )


def _appendix(summary: pd.DataFrame, link: str) -> str:
    rows = rows_of(summary).drop_duplicates(["study", "n_samples", "n_features", "label_noise"])
    lines = []
    for row in rows.to_dict("records"):
        shape = f"{row['n_samples']}x{row['n_features']}"
        noise = round(100 * row["label_noise"])
        path = f"{link}/figures/appendix-{row['study']}-{shape}-noise{noise}.svg"
        lines.append(f"[{row['study']}, EPV {row['epv']:.2f}, noise {noise} %]({path})")
    return ",\n".join(lines) + "."


def _verdicts(comparison: pd.DataFrame) -> str:
    names = {"value": "numbers", "claim": "claims", "setting": "settings"}
    counts = comparison.groupby(["kind", "verdict"]).size()
    return table(
        ["", "agree", "differ", "not run"],
        [
            [name, *(counts.get((kind, verdict), 0) for verdict in ("agree", "differ", "not run"))]
            for kind, name in names.items()
        ],
    )


def _leak(summary: pd.DataFrame) -> str:
    rows = summary[(summary["seed"] == 0) & (summary["method"] == "optimal")]
    if rows["protocol"].nunique() < 2:
        return _NOT_RUN
    rows = rows.assign(
        shift=rows["auc_mean"] - rows["auc"], is_below=rows["auc"] < rows["auc_lower"]
    )
    lines = []
    for (epv, noise), part in rows.groupby(["epv", "label_noise"]):
        line: list[Any] = [f"{epv:.2f}", f"{noise:.0%}"]
        for protocol in ("paper", "clean"):
            own = part[part["protocol"] == protocol]
            means = own[["auc", "auc_lower", "auc_upper", "shift"]].mean()
            line += [
                f"{means['auc']:.2f} [{means['auc_lower']:.2f}, {means['auc_upper']:.2f}]",
                f"{means['shift']:+.3f}",
                f"{own['is_below'].sum()} of {len(own)}",
            ]
        lines.append(line)
    counts = [
        f"{own['is_below'].sum()} of {len(own)} runs with the {protocol} protocol"
        for protocol in ("paper", "clean")
        for own in [rows[rows["protocol"] == protocol]]
    ]
    text = (
        "Optimal selection, means over the runs of both studies: the AUC on the data as they are, "
        "its interval, how much higher the mean over resamples is, and the number of runs whose "
        f"estimate is below its own interval. In all that happens in {' and in '.join(counts)}."
    )
    header = ["EPV", "noise", "paper", "shift", "below", "clean", "shift", "below"]
    return f"{text}\n\n{table(header, lines)}"


def _parkinson(variants: pd.DataFrame | None, link: str) -> str:
    if variants is None:
        return _NOT_RUN
    known = [
        [
            "Knauer and Rodner",
            *_accuracy(PARKINSON.accuracy),
            ", ".join(sorted(PARKINSON.measures)),
        ],
        ["Little et al. 2008", *_accuracy(LITTLE.accuracy), ", ".join(sorted(LITTLE.measures))],
    ]
    columns = ["accuracy", "accuracy_lower", "accuracy_upper"]
    ours = [
        [line["variant"], *_accuracy([line[name] for name in columns]), line["measures"]]
        for line in variants.to_dict("records")
    ]
    return (
        "195 recordings of 32 people (Little et al. 2008, UCI repository). Each measure becomes 4 "
        "cubic spline columns, 4 predictors are selected: columns or features (a measure with all "
        "its columns), of 22 measures or of the 17 of Little et al., drawn and split by rows, as "
        "in the paper, or by persons. A row-wise split has recordings of the same person in the "
        "training and the test part, which flatters the model.\n\n"
        f"![Accuracy of the variants]({link}/figures/parkinson.svg)\n\n"
        + table(["", "accuracy", "95 % interval", "measures selected on the data"], known + ours)
    )


def _accuracy(values: Any) -> tuple[str, str]:
    estimate, lower, upper = values
    return f"{estimate:.2f}", f"[{lower:.2f}, {upper:.2f}]"


def _listed(values: pd.Series[int]) -> str:
    return " or ".join(f"{value:g}" for value in sorted(values.dropna().unique()))
