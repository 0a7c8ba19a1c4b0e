"""The page about a study: words from `page.md`, numbers from the study's tables."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pandas as pd

from ..errors import MissingDependencyError
from . import claims, paper
from .compare import DEPENDS, FALSE, INSIDE, OUTSIDE, RARE, TRUE, USUAL, compare
from .draws import READINGS, Draws
from .methods import METHOD_NAMES, differences
from .parkinson import PAPER_VARIANT, VARIANTS, describe
from .plan import MAIN_SEED
from .provenance import read_provenance
from .tables import FILES, ROLES, STABILISED, read_summary, read_table

Rows = list[list[Any]]
_LISTS = {
    "Right, or as good as": {INSIDE, USUAL, TRUE},
    "Depends on the draw of the data": {DEPENDS},
    "Not reproduced": {OUTSIDE, RARE, FALSE},
}
_PLACES = {
    "5.1": "Parkinson data (section 5.1)",
    "5.2": "With a limit on the number of features (section 5.2)",
    "5.3": "With a budget (section 5.3)",
}


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
        Markdown. What was not run, or not drawn, is left out.
    """
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise MissingDependencyError(
            "page: the package jinja2 is not installed; pip install 'shortlist[report]'."
        ) from None
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["percent"] = _percent
    source = Path(folder)
    summary, comparison = read_summary(source), compare(source)
    page: str = environment.get_template("page.md").render(
        folder=Path(os.path.relpath(source.resolve(), Path(place).resolve())).as_posix(),
        drawn={path.stem for path in (source / "figures").glob("*.svg")},
        seed=MAIN_SEED,
        n_main=max([0, *summary.loc[summary["arm"] == "paper", "n_resamples"]]),
        noise_share=_noise_share(summary),
        unfinished=[
            f"{name} {done:,} of {total:,}"
            for name, (done, total) in read_provenance(source).get("parts", {}).items()
            if done < total
        ],
        words=claims,
        counts=_counts(comparison),
        lists=_lists(comparison),
        numbers=_number_rows(comparison),
        claims=_claim_rows(comparison),
        readings=_readings(comparison),
        parkinson=_parkinson(source),
        differences=_differences(summary),
        leak=_leak(source),
        methods=_methods(summary),
        plan=_plan(summary),
        work=_work(source),
    )
    return page


def _noise_share(summary: pd.DataFrame) -> str:
    draws = Draws(summary, "cardinality")
    return _percent(draws.noise_share("informative")) if len(draws.seeds) > 2 else ""


def _counts(comparison: pd.DataFrame) -> dict[str, int]:
    """Return how many numbers and claims have which verdict."""
    counts = comparison.groupby("kind")["verdict"].value_counts()
    numbers = {name: int(counts.get(("number", name), 0)) for name in (INSIDE, OUTSIDE)}
    return numbers | {
        "open": int((comparison["kind"] == "number").sum()) - sum(numbers.values()),
        "usual": sum(int(counts.get(("claim", verdict), 0)) for verdict in (USUAL, TRUE)),
        "depends": int(counts.get(("claim", DEPENDS), 0)),
        "rare": sum(int(counts.get(("claim", verdict), 0)) for verdict in (RARE, FALSE)),
    }


def _lists(comparison: pd.DataFrame) -> dict[str, dict[str, list[str]]]:
    """Return what is right, what depends on the draw and what is not reproduced, by section."""
    lists: dict[str, dict[str, list[str]]] = {}
    for title, verdicts in _LISTS.items():
        rows = comparison[comparison["verdict"].isin(verdicts)]
        lists[title] = {}
        for place, name in _PLACES.items():
            part = rows[rows["place"] == place]
            told = [_told(row) for row in part.to_dict("records") if row["verdict"] != INSIDE]
            n_inside = int((part["verdict"] == INSIDE).sum())
            n_numbers = int((comparison["place"] == place).sum())
            n_numbers -= int((comparison.query("kind == 'claim'")["place"] == place).sum())
            if n_inside:
                told.insert(0, f"{n_inside} of {n_numbers} numbers")
            if told:
                lists[title][name] = told
    return lists


def _told(row: Any) -> str:
    if row["kind"] == "number":
        spread = f"{row['lower']:.2f} to {row['upper']:.2f}"
        return f"{row['meaning']}: the paper has {row['paper']}, our draws {spread}"
    share = "" if row["n_draws"] == 1 else f" ({_percent(row['share'])} of draws)"
    return f"{row['meaning']}{share}"


def _number_rows(comparison: pd.DataFrame) -> Rows:
    return [
        [
            *(row[name] for name in ("place", "meaning", "paper")),
            "" if pd.isna(row["ours"]) else f"{row['ours']:.2f}",
            "" if pd.isna(row["lower"]) else f"{row['lower']:.2f} to {row['upper']:.2f}",
            row["n_draws"],
            _percent(row["percentile"]),
            row["verdict"],
        ]
        for row in comparison[comparison["kind"] == "number"].to_dict("records")
    ]


def _claim_rows(comparison: pd.DataFrame) -> Rows:
    return [
        [row["place"], row["meaning"], _percent(row["share"]), row["n_draws"], row["verdict"]]
        for row in comparison[comparison["kind"] == "claim"].to_dict("records")
    ]


def _readings(comparison: pd.DataFrame) -> Rows:
    """Return the verdicts that another reading of the paper would change."""
    judged = set().union(*_LISTS.values())
    rows = []
    for reading, words in READINGS.items():
        for row in comparison.to_dict("records"):
            verdicts = [row["verdict"], row[f"verdict_{reading}"]]
            if set(verdicts) <= judged and verdicts[0] != verdicts[1]:
                value = "share" if row["kind"] == "claim" else "percentile"
                shares = [row[value], row[f"{value}_{reading}"]]
                cells = [f"{_percent(s)}, {v}" for s, v in zip(shares, verdicts, strict=True)]
                rows.append([words, f"{row['place']} {row['meaning']}", *cells])
    return rows


def _parkinson(folder: Path) -> dict[str, Any] | None:
    if not (folder / "parkinson_summary.csv").is_file():
        return None
    variants = read_table(folder, "parkinson_summary.csv").set_index("variant")
    variants = variants.loc[[name for name in VARIANTS if name in variants.index]]
    if PAPER_VARIANT not in variants.index:
        return None
    optima = read_table(folder, "parkinson_optima.csv").groupby("variant")["measures"]
    readings = [name for name in VARIANTS if name in optima.groups]
    own: Any = variants.loc[PAPER_VARIANT]
    return {
        "measures": ", ".join(sorted(paper.MEASURES)),
        "n_readings": len(readings),
        "agreeing": [
            describe(name)
            for name in readings
            if all(set(m.split("; ")) == paper.MEASURES for m in optima.get_group(name))
        ],
        "accuracy": _interval(own, "accuracy"),
        "mean": f"{own['accuracy_mean']:.2f}",
        "n_resamples": int(own["n_resamples"]),
        "solves": f"{own['solves']:,.0f}",
        "unproven": int(own["unproven"]),
        "variants": [
            [
                describe(str(name)),
                _interval(row, "accuracy"),
                _interval(row, "auc"),
                row["n_resamples"],
                row["measures"],
            ]
            for name, row in variants.iterrows()
        ],
    }


def _differences(summary: pd.DataFrame) -> list[str]:
    """Say in how many runs the paired interval of the difference excludes 0."""
    parts = []
    for study, name in (("cardinality", "a limit on the number"), ("budget", "a budget")):
        rows = summary[(summary["arm"] == "paper") & (summary["study"] == study)]
        rows = rows.dropna(subset=["difference_lower"])
        better, worse = (rows["difference_lower"] > 0).sum(), (rows["difference_upper"] < 0).sum()
        parts.append(
            f"{better + worse} of {len(rows)} runs with {name} (optimal is better in {better}, "
            f"greedy in {worse})"
        )
    return parts


def _leak(folder: Path) -> dict[str, Any] | None:
    """Return how far resamples are from the data under both protocols, on the same runs."""
    rows = read_table(folder, FILES["rows"])
    keys = ["study", "n_samples", "n_features", "label_noise", "run", "method", "resample"]
    auc = {arm: part.set_index(keys)["test_auc"] for arm, part in rows.groupby("arm")}
    if "clean" not in auc or "paper" not in auc:
        return None
    told: dict[str, Any] = {}
    for arm in ("paper", "clean"):
        values = auc[arm].reindex(auc["clean"].index).unstack("resample")
        told[arm] = f"{(values.drop(columns=0).mean(axis=1) - values[0]).mean():+.3f}"
    return told | {"n_runs": len(values), "n_resamples": values.shape[1] - 1}


def _methods(summary: pd.DataFrame) -> dict[str, Any] | None:
    frame = differences(summary)
    if frame.empty:
        return None
    lines = frame.set_index(["method", "measure"]).apply(
        lambda line: f"{line['estimate']:+.3f} [{line['lower']:+.3f}, {line['upper']:+.3f}]", axis=1
    )
    main = summary[summary["arm"] == "paper"].groupby("method")[list(ROLES)].mean()
    shares = main.apply(lambda row: ", ".join(_percent(row[role]) for role in ROLES), axis=1)
    return {
        "n_seeds": int(frame["n_seeds"].max()),
        "rows": [
            [METHOD_NAMES[method], *(lines[method, what] for what in ("auc", *ROLES[::2]))]
            for method in frame["method"].unique()
        ],
        "stable": shares.get(STABILISED, "not run"),
        "optimal": shares.get("optimal", "not run"),
    }


def _plan(summary: pd.DataFrame) -> Rows:
    """Return what was run, a line per arm."""
    lines = []
    for arm, rows in summary[summary["method"] != STABILISED].groupby("arm", sort=False):
        optimal = rows[rows["method"] == "optimal"]
        lines.append(
            [
                arm,
                ", ".join(METHOD_NAMES[method] for method in rows["method"].unique()),
                rows["seed"].nunique(),
                len(rows),
                int(rows["n_resamples"].max()),
                f"{optimal['solves'].sum():,.0f}",
                f"{optimal['unproven'].sum():,.0f}",
                f"{rows['solves'].sum() - optimal['solves'].sum():,.0f}",
            ]
        )
    return lines


def _work(folder: Path) -> dict[str, Any] | None:
    provenance = read_provenance(folder)
    if not provenance.get("journals"):
        return None
    journals, times = provenance["journals"], provenance["times"]
    minutes = {name: part["core_seconds"] / 60 for name, part in journals.items()}
    # A run that was killed did not note the time on the clock.
    is_timed = sum(part["tasks"] for part in times) >= sum(p["tasks"] for p in journals.values())
    return {
        "core": f"{sum(minutes.values()):.0f}",
        "parts": ", ".join(f"{name} {value:.0f}" for name, value in minutes.items()),
        "clock": f"{sum(part['seconds'] for part in times) / 60:.0f}" if is_timed else "",
        "machine": provenance["machine"],
        "versions": provenance["versions"],
    }


def _interval(row: Any, metric: str) -> str:
    estimate, lower, upper = (row[f"{metric}{end}"] for end in ("", "_lower", "_upper"))
    # Fewer than 39 resamples have no 95 % interval.
    return f"{estimate:.2f}" + ("" if pd.isna(lower) else f" [{lower:.2f}, {upper:.2f}]")


def _percent(share: float) -> str:
    return "" if pd.isna(share) else f"{100 * share:.0f} %"
