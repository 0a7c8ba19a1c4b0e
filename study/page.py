"""The page about a study: words from `page.md`, numbers from the study's tables."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from . import claims, paper
from .compare import DEPENDS, FALSE, FEW_DRAWS, INSIDE, NOT_RUN, OUTSIDE, RARE, TRUE, USUAL, compare
from .draws import READINGS, Draws
from .methods import METHOD_NAMES, N_RESAMPLES, differences
from .parkinson import PAPER_VARIANT, VARIANTS, describe
from .plan import MAIN_SEED, MOST_FREQUENT
from .provenance import read_provenance
from .tables import FILES, ROLES, read_summary, read_table

Rows = list[list[Any]]
_GROUPS = {
    "right": "Right, or as good as",
    "draw": "Depends on the draw of the data",
    "wrong": "Not reproduced",
    "one_draw": "Known for one draw alone",
    "open": "Not known yet",
}
_GROUP_OF = dict.fromkeys((INSIDE, USUAL, TRUE), "right")
_GROUP_OF |= {DEPENDS: "draw"} | dict.fromkeys((OUTSIDE, RARE, FALSE), "wrong")
_GROUP_OF |= dict.fromkeys((FEW_DRAWS, NOT_RUN), "open")
_SECTIONS = {
    "5.1": "5.1, Parkinson data",
    "5.2": "5.2, a limit on the number of features",
    "5.3": "5.3, a budget",
}


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
    environment.filters |= {"percent": _percent, "decimals": _decimals}
    source = Path(folder)
    summary, comparison = read_summary(source), compare(source)
    draws = Draws(summary, "cardinality")
    page: str = environment.get_template("page.md").render(
        folder=source.as_posix(),
        figures=Path(os.path.relpath(Path(figures).resolve(), Path(place).resolve())).as_posix(),
        drawn={path.stem for path in Path(figures).glob("*.svg")},
        seed=MAIN_SEED,
        n_main=max([0, *summary.loc[summary["arm"] == "paper", "n_resamples"]]),
        noise_share=_percent(draws.noise_share("informative")) if len(draws.seeds) > 2 else "",
        unfinished=[
            f"{name} {done:,} of {total:,}"
            for name, (done, total) in read_provenance(source).get("parts", {}).items()
            if done < total
        ],
        words=claims,
        groups=_groups(comparison),
        numbers=comparison[comparison["kind"] == "number"].to_dict("records"),
        claims=comparison[comparison["kind"] == "claim"].to_dict("records"),
        readings=_readings(comparison),
        parkinson=_parkinson(source),
        differences=_differences(summary),
        leak=_leak(source),
        methods=_methods(summary),
        plan=_plan(summary),
        work=_work(source),
    )
    return page


def _groups(comparison: pd.DataFrame) -> dict[str, Any]:
    """Return how many statements of each section are right and so on, and which these are."""
    rows = comparison.assign(group=comparison["verdict"].map(_GROUP_OF))
    rows.loc[rows["verdict"].isin([TRUE, FALSE]) & (rows["place"] != "5.1"), "group"] = "one_draw"
    counts = rows.groupby(["place", "kind", "group"]).size()
    total = pd.crosstab(rows["group"], rows["kind"]).reindex(list(_GROUPS), fill_value=0)
    return {
        "total": total.to_dict(),
        "titles": _GROUPS,
        "counts": [
            [section, f"{kind}s", *(counts.get((place, kind, name), "") for name in _GROUPS)]
            for place, section in _SECTIONS.items()
            for kind in ("number", "claim")
        ],
        "statements": {
            name: [
                f"{row['place']}: {_statement(row)}"
                for row in rows[rows["group"] == name].to_dict("records")
                if row["verdict"] != INSIDE
            ]
            for name in _GROUPS
        },
    }


def _statement(row: Any) -> str:
    if row["verdict"] == OUTSIDE:
        spread = f"{row['lower']:.2f} to {row['upper']:.2f}"
        return f"{row['meaning']}: the paper has {row['paper']}, our draws {spread}"
    if row["verdict"] in (USUAL, DEPENDS, RARE):
        return f"{row['meaning']} ({_percent(row['share'])} of draws)"
    return f"{row['meaning']} ({row['verdict']})"


def _readings(comparison: pd.DataFrame) -> Rows:
    """Return the verdicts that another reading of the paper would change."""
    judged = {verdict for verdict, group in _GROUP_OF.items() if group != "open"}
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
        "not_resampled": [describe(name) for name in VARIANTS if name not in variants.index],
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
    shifts: dict[str, Any] = {}
    for arm in ("paper", "clean"):
        values = auc[arm].reindex(auc["clean"].index).unstack("resample")
        shifts[arm] = f"{(values.drop(columns=0).mean(axis=1) - values[0]).mean():+.3f}"
    return shifts | {"n_runs": len(values), "n_resamples": values.shape[1] - 1}


def _methods(summary: pd.DataFrame) -> dict[str, Any] | None:
    frame = differences(summary)
    if frame.empty:
        return None
    lines = frame.set_index(["method", "measure"]).apply(
        lambda line: f"{line['estimate']:+.3f} [{line['lower']:+.3f}, {line['upper']:+.3f}]", axis=1
    )
    return {
        "n_seeds": int(frame["n_seeds"].max()),
        "n_resamples": N_RESAMPLES,
        "rows": [
            [METHOD_NAMES[method], *(lines[method, what] for what in ("auc", *ROLES[::2]))]
            for method in frame["method"].unique()
        ],
    }


def _plan(summary: pd.DataFrame) -> Rows:
    """Return the table of the arms."""
    return [
        [
            arm,
            ", ".join(METHOD_NAMES[method] for method in rows["method"].unique()),
            rows["seed"].nunique(),
            len(rows),
            int(rows["n_resamples"].max()),
            *(f"{part['solves'].sum():,.0f}" for part in (rows[~is_exact], rows[is_exact])),
            f"{rows.loc[is_exact, 'unproven'].sum():,.0f}",
        ]
        for arm, rows in summary.groupby("arm", sort=False)
        for is_exact in [rows["method"].isin(["optimal", MOST_FREQUENT])]
    ]


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


def _decimals(value: float) -> str:
    return "" if pd.isna(value) else f"{value:.2f}"
