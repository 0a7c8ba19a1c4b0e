"""The page about a study: words from `page.md` or `published.md`, numbers from its tables."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pandas as pd

from .claims import ALMOST_ALWAYS, FALSE, FEW_DRAWS, OPEN, STABLE, TRUE
from .compare import INSIDE, NOT_RUN, OTHER_VERDICTS, OUTSIDE, PaperComparison, compare
from .draws import EPVS, Draws, read_draws
from .paper import MEASURES
from .parkinson import BY_PERSON, PAPER_VARIANT, VARIANTS, describe
from .plan import EVENT_SHARE, LABEL_NOISE, MAIN_SEED, OPTIMAL, PRESETS, SHAPES
from .provenance import read_provenance
from .published import ARM, auc_rows, is_published
from .tables import read_table

Rows = list[list[Any]]
_VERDICTS = (TRUE, FALSE, OPEN, FEW_DRAWS, NOT_RUN)
_PLACES = (INSIDE, OUTSIDE, FEW_DRAWS, NOT_RUN)


def render(
    folder: str | os.PathLike[str],
    figures: str | os.PathLike[str],
    place: str | os.PathLike[str],
) -> str:
    """Return the page about a study.

    Parameters
    ----------
    folder : path-like
        The folder of the study.
    figures : path-like
        The folder of its figures.
    place : path-like
        The folder that the page is for; its links start there.

    Returns
    -------
    str
        Markdown. Parts that were not run or not drawn are left out.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    source = Path(folder)
    tables = compare(source)
    draws = read_draws(source)
    name, facts = "page.md", _averages
    if is_published(source):
        name, facts = "published.md", _draw
    page: str = environment.get_template(name).render(
        folder=source.as_posix(),
        figures=Path(os.path.relpath(Path(figures).resolve(), Path(place).resolve())).as_posix(),
        drawn={path.stem for path in Path(figures).glob("*.svg")},
        seed=MAIN_SEED,
        parkinson=_parkinson(source),
        work=_work(source),
        **facts(tables, draws),
    )
    return page


def _draw(tables: PaperComparison, draws: dict[str, Draws]) -> dict[str, Any]:
    """Return what the page about a single draw shows."""
    numbers, claims = (table[table["place"] != "5.1"] for table in (tables.numbers, tables.claims))
    holds = claims["share_with_ties"] > 0
    return {
        "n_resamples": PRESETS["as-published"].arms[ARM].resamples[-1],
        "n_draws": len(PRESETS["paper"].arms["aucs"].seeds),
        "numbers": numbers[["place", "meaning", "paper"]]
        .assign(own=numbers["mean"].map("{:.2f}".format))
        .to_numpy()
        .tolist(),
        "claims": claims[["place", "meaning"]]
        .assign(own=np.where(holds, "holds", "does not hold"))
        .to_numpy()
        .tolist(),
        "n_holding": int(holds.sum()),
        "aucs": {study: auc_rows(own, study) for study, own in draws.items()},
    }


def _averages(tables: PaperComparison, draws: dict[str, Draws]) -> dict[str, Any]:
    """Return what the page about many draws shows."""
    return {
        "epvs": EPVS,
        "stable": STABLE,
        "almost_always": ALMOST_ALWAYS,
        "n_draws": len(draws["budget"].seeds),
        "n_intervals": len(draws["budget"].overlaps(0.5)),
        "counts": _counts(tables),
        "width": _widths(tables.numbers),
        "claims": _claims(tables.claims),
        "numbers": _numbers(tables.numbers),
        "average": _finder(tables.averages, "study", "measure", "method", "label_noise", "epv"),
        "effect": _finder(tables.effects, "study", "measure", "method", "effect"),
        "methods": _finder(tables.methods, "study", "method", "measure"),
        "n_methods": 0 if tables.methods.empty else int(tables.methods["n_draws"].max()),
        "cells": _cells(tables.averages),
        "doubling": _doubling(tables.effects),
        "ceiling": _auc_of_true_labels(),
        "shift": pd.concat(
            [own.intervals.query("arm == 'intervals'")["shift"] for own in draws.values()]
        ).mean(),
    }


def _widths(numbers: pd.DataFrame) -> dict[str, float]:
    """Return how wide the central 95 % of draws are in the median, of fractions and of AUCs."""
    widths = (numbers["upper"] - numbers["lower"])[numbers["place"] != "5.1"]
    is_auc = numbers["key"].str.contains("auc")
    return {"aucs": widths[is_auc].median(), "fractions": widths[~is_auc].median()}


def _auc_of_true_labels() -> float:
    """Return the AUC that the labels before noise would have for those after it."""
    events, flipped = EVENT_SHARE, LABEL_NOISE[1]
    right_events = events * (1 - flipped) / (events * (1 - flipped) + (1 - events) * flipped)
    right_others = 1 - events * flipped / (events * flipped + (1 - events) * (1 - flipped))
    return (right_events + right_others) / 2


def _counts(tables: PaperComparison) -> dict[str, Any]:
    """Return how many statements have each verdict, those on the Parkinson data apart."""
    counts: dict[str, Any] = {}
    for name, table, verdicts in (
        ("claims", tables.claims, _VERDICTS),
        ("numbers", tables.numbers, _PLACES),
    ):
        is_fixed = table["place"] == "5.1"
        for part, rows in ((name, table[~is_fixed]), (f"fixed_{name}", table[is_fixed])):
            found = rows["verdict"].value_counts()
            counts[part] = {verdict: int(found.get(verdict, 0)) for verdict in verdicts}
            counts[part]["all"] = len(rows)
    synthetic = tables.claims[tables.claims["place"] != "5.1"]
    others = synthetic[OTHER_VERDICTS]
    is_same = others.isna() | others.eq(synthetic["verdict"], axis=0)
    counts["claims"]["robust"] = int(is_same.all(axis=1).sum())
    return counts


def _claims(table: pd.DataFrame) -> Rows:
    """Return the rows of the table of claims."""
    rows = []
    for line in table.to_dict("records"):
        others = [line[f"verdict_{end}_threshold"] for end in ("lower", "higher")]
        sensitivity = ""
        if isinstance(line["word"], str):
            ends = [f"{line[f'{end}threshold']:g}" for end in ("lower_", "", "higher_")]
            sensitivity = (
                f"{line['word']}: {ends[1]}; at {ends[0]} {others[0]}, at {ends[2]} {others[1]}"
            )
        mean = share = ""
        if pd.notna(line["estimate"]):
            mean = f"{line['deciding']}: {_signed(line)}"
            shares = (_percent(line[name]) for name in ("share", "share_with_ties"))
            share = ", ".join(dict.fromkeys(shares))
        verdict = f"**{line['verdict']}**"
        other = line["verdict_of_selected"]
        other = "" if other == line["verdict"] or pd.isna(other) else other
        rows.append([line["place"], line["meaning"], verdict, mean, share, sensitivity, other])
    return rows


def _numbers(table: pd.DataFrame) -> Rows:
    """Return the rows of the table of numbers."""
    return [
        [
            *(line[name] for name in ("place", "meaning", "paper")),
            *(
                ("", "", line["n_draws"], "")
                if line["verdict"] == NOT_RUN
                else (
                    f"{line['mean']:.2f}",
                    f"{line['lower']:.2f} to {line['upper']:.2f}",
                    line["n_draws"],
                    _percent(line["percentile"]),
                )
            ),
            line["verdict"],
        ]
        for line in table.to_dict("records")
    ]


def _finder(table: pd.DataFrame, *keys: str) -> Any:
    """Return a function that gives a mean with its interval as text, by keys."""
    rows = {tuple(line[key] for key in keys): line for line in table.to_dict("records")}

    def find(*values: Any, sign: int = 0) -> str:
        line = rows[values]
        if not sign:
            return f"{line['estimate']:.2f}"
        ends = sorted(sign * line[end] for end in ("lower", "upper"))
        return f"{sign * line['estimate']:.3f} [{ends[0]:.3f}, {ends[1]:.3f}]"

    return find


def _cells(table: pd.DataFrame) -> Any:
    """Return a function that counts the cells in which a method is ahead beyond doubt."""

    def count(study: str, measure: str) -> dict[str, int]:
        rows = table[(table["study"] == study) & (table["measure"] == measure)]
        rows = rows[(rows["method"] == "difference") & (rows["epv"] != "all")]
        ahead = {"optimal": rows["lower"] > 0, "greedy": rows["upper"] < 0}
        return {name: int(holds.sum()) for name, holds in ahead.items()}

    return count


def _doubling(table: pd.DataFrame) -> Any:
    """Return a function that gives the stability of the optimum that twice the EPV adds."""
    rows = table[(table["measure"] == "stability") & (table["method"] == OPTIMAL)]
    estimates = rows.set_index(["study", "effect"])["estimate"].to_dict()
    ratios = {
        effect: max(sizes) / min(sizes)
        for effect, sizes in zip(("rows", "candidates"), zip(*SHAPES, strict=True), strict=True)
    }

    def add(study: str, effect: str, noise: float) -> str:
        return f"{estimates[study, f'{effect}, noise {noise:g}'] / np.log2(ratios[effect]):.3f}"

    return add


def _parkinson(folder: Path) -> dict[str, Any] | None:
    if not (folder / "parkinson.csv").is_file():
        return None
    variants: Any = read_table(folder, "parkinson.csv").set_index("variant")
    optima = read_table(folder, "parkinson_optima.csv").groupby("variant")["measures"]
    agreeing = [
        describe(name)
        for name in VARIANTS
        if name in optima.groups
        and all(set(found.split("; ")) == MEASURES for found in optima.get_group(name))
    ]

    def accuracy(name: str) -> str:
        ends = ("accuracy", "accuracy_lower", "accuracy_upper")
        estimate, lower, upper = (variants.loc[name, end] for end in ends)
        return f"{estimate:.2f} [{lower:.2f}, {upper:.2f}]"

    return {
        "n_readings": len(optima.groups),
        "agreeing": agreeing,
        "literal": describe(PAPER_VARIANT),
        "rows": accuracy(PAPER_VARIANT),
        "persons": accuracy(BY_PERSON),
        "n_resamples": int(variants.loc[PAPER_VARIANT, "n_resamples"]),
    }


def _work(folder: Path) -> dict[str, Any] | None:
    provenance = read_provenance(folder)
    if not provenance.get("journals"):
        return None
    arms = provenance.get("parts", {})
    minutes: dict[str, float] = defaultdict(float)
    for name, part in provenance["journals"].items():
        minutes[name.partition("-")[0]] += part["core_seconds"] / 60
    return {
        "core": f"{sum(minutes.values()):.0f}",
        "parts": ", ".join(f"{name} {value:.0f}" for name, value in minutes.items()),
        "machine": provenance["machine"],
        "versions": provenance["versions"],
        "note": provenance.get("note", ""),
        "arms": arms,
        "solves": f"{sum(part['solves'] for part in arms.values()):,}",
        "unproven": sum(part["unproven"] for part in arms.values()),
        "unfinished": [name for name, part in arms.items() if part["runs"] < part["of_runs"]],
    }


def _signed(line: Any) -> str:
    estimate, lower, upper = (f"{line[name]:+.3f}" for name in ("estimate", "lower", "upper"))
    return f"{estimate} [{lower}, {upper}]"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
