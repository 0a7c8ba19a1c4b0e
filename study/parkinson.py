"""The paper's experiment on the Oxford Parkinson's data, in several readings.

Each measure becomes 4 cubic spline columns with 3 knots, scaled to [0, 1]; 4 predictors are
selected. A variant says what a predictor is (a column, or a measure with all its columns), which
measures there are (the 17 of Little et al., of which the paper speaks, or all 22), what is drawn
and split (single recordings, as in the paper, or persons with all their recordings), and where the
knots are: at minimum, median and maximum, or at the three quartiles, beyond which the splines go on
in one of the ways that scikit-learn has.

Splitting recordings puts some of a person's recordings into the training part and others into the
test part, which flatters the model. The person-wise variants avoid that, and place the knots and
the scales on the training part alone.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, SplineTransformer

import shortlist as sl
from shortlist.evaluation import (
    Evaluation,
    evaluate_all,
    inclusion_frequencies,
    percentile_interval,
)

from .provenance import timing, write_provenance
from .recordings import Recordings
from .tables import write_whole

Float = NDArray[np.float64]

N_PREDICTORS = 4
N_SPLINES = 4  # of 3 knots 5 cubic B-splines, of which the intercept replaces one
_COLUMNS_KEPT = ("resample", "ridge", "support", "test_accuracy", "test_auc", "solves", "unproven")
_N_REDRAWN = 999
N_SPLITS = 39  # other splits into folds of the data as they are


class Variant(NamedTuple):
    """Unit and range of the selection, unit of the splits, tails of the splines.

    Without tails the outer knots are at minimum and maximum; else all knots are at quartiles.
    """

    selection: str
    n_measures: int
    split: str
    tails: str = ""


VARIANTS: Mapping[str, Variant] = {
    f"{selection}-{n_measures}-{split}": Variant(selection, n_measures, split)
    for split in ("rows", "persons")
    for n_measures in (17, 22)
    for selection in ("columns", "features")
} | {
    f"columns-17-rows-quartiles-{tails}": Variant("columns", 17, "rows", tails)
    for tails in ("linear", "constant", "continue")
}
PAPER_VARIANT = "columns-17-rows"


def describe(variant: str) -> str:
    """Return a variant in plain words."""
    kind = VARIANTS[variant]
    of = f"{kind.n_measures} measures"
    if kind.selection == "columns":
        of = f"the {N_SPLINES * kind.n_measures} spline columns of {of}"
    return f"4 of {of}, split by {'recording' if kind.split == 'rows' else 'person'}" + (
        f", knots at quartiles, {kind.tails} tails" if kind.tails else ""
    )


def parkinson_experiment(recordings: Recordings, variant: str = PAPER_VARIANT) -> sl.Experiment:
    """Return the experiment of a variant.

    Parameters
    ----------
    recordings : Recordings
        The data.
    variant : str
        One of `VARIANTS`, such as "columns-17-rows", the paper's.

    Returns
    -------
    Experiment
        To be given to `evaluate`.
    """
    if variant not in VARIANTS:
        known = ", ".join(VARIANTS)
        raise sl.InvalidProblemError(f"variant: there is no {variant!r}; use one of {known}.")
    kind = VARIANTS[variant]
    data = recordings.of_little() if kind.n_measures == 17 else recordings
    names = [str(name) for name in data.measures.columns]
    X = data.measures.to_numpy()
    knots = np.quantile(X, (0.25, 0.5, 0.75), axis=0) if kind.tails else "quantile"
    preprocessor = make_pipeline(
        SplineTransformer(
            n_knots=3, knots=knots, extrapolation=kind.tails or "constant", include_bias=False
        ),
        MinMaxScaler(),
    )
    by_feature = kind.selection == "features"
    row_wise = kind.split == "rows"
    return sl.Experiment(
        preprocessor.fit_transform(X) if row_wise else X,
        data.status,
        max_features=N_PREDICTORS,
        groups=np.repeat(np.arange(len(names)), N_SPLINES) if by_feature else None,
        names=names
        if by_feature
        else [f"{name} {i + 1}" for name in names for i in range(N_SPLINES)],
        scoring="roc_auc",
        protocol="paper" if row_wise else "clean",
        persons=None if row_wise else data.persons,
        preprocessor=None if row_wise else preprocessor,
    )


class Findings(NamedTuple):
    """Results of the paper's variant: accuracy, and the measures of the optimum at each ridge.

    `splits` are accuracies on the data as they are, for the folds of the study and for others, and
    `resamples` those of the bootstrap.
    """

    splits: Float
    resamples: Float
    optima: list[frozenset[str]]

    @property
    def own(self) -> tuple[float, float, float]:
        """The accuracy with its interval."""
        return (float(self.splits[0]), *percentile_interval(self.resamples))

    def draws(self) -> tuple[Float, Float, Float]:
        """Return the estimate of each split, and ends of the interval for resamples drawn again."""
        rng = np.random.default_rng(0)
        again = rng.choice(self.resamples, size=(_N_REDRAWN, len(self.resamples)))
        ends = np.array([self.own[1:], *(percentile_interval(values) for values in again)])
        return self.splits, ends[:, 0], ends[:, 1]


def read_findings(folder: str | os.PathLike[str]) -> Findings | None:
    """Return the results of the paper's variant; None if it is not in the folder.

    Parameters
    ----------
    folder : path-like
        The folder of the study.
    """
    place = Path(folder)
    if not (place / "parkinson_splits.csv").is_file():
        return None
    rows = pd.read_csv(place / "parkinson.csv.gz").query("variant == @PAPER_VARIANT")
    accuracy = rows.set_index("resample")["test_accuracy"]
    splits = pd.read_csv(place / "parkinson_splits.csv")["test_accuracy"]
    optima = pd.read_csv(place / "parkinson_optima.csv").query("variant == @PAPER_VARIANT")
    return Findings(
        np.array([accuracy[0], *splits]),
        accuracy.drop(0).to_numpy(),
        [frozenset(measures.split("; ")) for measures in optima["measures"]],
    )


def run_parkinson(
    recordings: Recordings,
    out: str | os.PathLike[str],
    variants: Iterable[str] = (PAPER_VARIANT,),
    n_resamples: int = 399,
    *,
    n_jobs: int | None = None,
    dask: str | None = None,
    progress: bool = True,
    announce: Callable[[str], None] = lambda text: None,
) -> pd.DataFrame:
    """Run variants of the experiment and write their tables; an interrupted run can go on.

    `parkinson.csv.gz` has a row per variant and resample, `parkinson_summary.csv` a row per
    variant, and `parkinson_measures.csv` says how often each measure is selected. Variants that are
    there already and are not run again are kept. `parkinson_optima.csv` has, for all readings, the
    proven optimum on all recordings at each ridge. For the paper's variant `parkinson_splits.csv`
    has the accuracy on the data as they are for other splits into folds. `provenance.json` says how
    long they took.

    Parameters
    ----------
    recordings : Recordings
        The data.
    out : path-like
        Folder of the tables and of the journals, one per variant.
    variants : iterable of str
        Some of `VARIANTS`.
    n_resamples : int
        Number of bootstrap resamples.
    n_jobs, dask, progress
        As in `evaluate`.
    announce : callable
        Called with a sentence when a variant begins.

    Returns
    -------
    DataFrame
        The summary of all variants in the folder.
    """
    folder = Path(out)
    experiments = {name: parkinson_experiment(recordings, name) for name in variants}
    if n_resamples < 1:
        raise sl.InvalidProblemError(f"n_resamples: must be at least 1, not {n_resamples!r}.")
    folder.mkdir(parents=True, exist_ok=True)
    how: dict[str, Any] = {"n_jobs": n_jobs, "dask": dask}
    for name, experiment in experiments.items():
        announce(f"{name}: {n_resamples} resamples")
        journal = folder / "journals" / f"parkinson-{name}.jsonl"
        with timing(folder, journal, arm=f"parkinson {name}", **how):
            evaluation = sl.evaluate(
                experiment, n_resamples, journal=journal, progress=progress, **how
            )
        for file, part in (
            ("parkinson.csv.gz", evaluation.rows[list(_COLUMNS_KEPT)]),
            ("parkinson_measures.csv", _measures(evaluation)),
            ("parkinson_summary.csv", _summary(evaluation)),
        ):
            _merge(folder / file, pd.DataFrame({"variant": name}, index=part.index).join(part))
    optima = _optima(recordings)
    write_whole(folder / "parkinson_optima.csv", optima.to_csv(index=False))
    if PAPER_VARIANT in experiments:
        announce(f"{PAPER_VARIANT}: {N_SPLITS} other splits into folds")
        journal = folder / "journals" / "parkinson-splits.jsonl"
        seeds = {
            str(seed): replace(experiments[PAPER_VARIANT], seed=seed)
            for seed in range(1, N_SPLITS + 1)
        }
        with timing(folder, journal, arm="parkinson splits", **how):
            splits = evaluate_all(seeds, 0, journal=journal, progress=progress, **how)
        accuracy = [split.rows["test_accuracy"].iloc[0] for split in splits.values()]
        table = pd.DataFrame({"seed": list(splits), "test_accuracy": accuracy})
        write_whole(folder / "parkinson_splits.csv", table.to_csv(index=False))
    write_provenance(folder)
    return pd.read_csv(folder / "parkinson_summary.csv")


def _measure(predictor: str) -> str:
    """Return the measure of a predictor, which is itself or one of its columns."""
    return predictor.rsplit(" ", 1)[0]


def _measures(evaluation: Evaluation) -> pd.DataFrame:
    """Return how often each measure is selected, with any of its columns."""
    of_measure = evaluation.selection.T.groupby(_measure, sort=False).any().T
    frame = inclusion_frequencies(of_measure).rename_axis("measure").reset_index()
    chosen = {_measure(name) for name in evaluation.selected}
    return frame.assign(selected=frame["measure"].isin(chosen))


def _optima(recordings: Recordings) -> pd.DataFrame:
    """Return the optimum on all recordings at each ridge; how they are split plays no part."""
    lines = []
    for variant in [name for name, kind in VARIANTS.items() if kind.split == "rows"]:
        experiment = parkinson_experiment(recordings, variant)
        problem = experiment.problem(experiment.columns(np.arange(experiment.n_rows)))
        for ridge in experiment.ridges:
            solution = sl.solve(problem.with_ridge(ridge), threads=1)
            if solution.status is sl.Status.INTERRUPTED:
                raise KeyboardInterrupt
            names = [experiment.names[g] for g in solution.support]
            lines.append(
                {
                    "variant": variant,
                    "ridge": ridge,
                    "predictors": "; ".join(names),
                    "measures": "; ".join(dict.fromkeys(map(_measure, names))),
                    "objective": solution.objective,
                    "lower_bound": solution.lower_bound,
                    "status": solution.status.value,
                }
            )
    return pd.DataFrame(lines)


def _summary(evaluation: Evaluation) -> pd.DataFrame:
    scores = evaluation.summary()
    line: dict[str, object] = {}
    for metric in ("accuracy", "auc"):
        estimate, mean, lower, upper, _ = scores.loc[metric]
        line |= {
            metric: estimate,
            f"{metric}_mean": mean,
            f"{metric}_lower": lower,
            f"{metric}_upper": upper,
        }
    line |= {
        "n_resamples": len(evaluation.resamples),
        "predictors": "; ".join(evaluation.selected),
        "measures": "; ".join(dict.fromkeys(map(_measure, evaluation.selected))),
    }
    line |= {name: evaluation.rows[name].sum() for name in ("solves", "unproven")}
    return pd.DataFrame([line])


def _merge(path: Path, rows: pd.DataFrame) -> None:
    """Put the rows of a variant into a table, in the place of those it has of that variant."""
    variant = rows["variant"].iloc[0]
    if path.is_file():
        kept = pd.read_csv(path, dtype=str, keep_default_na=False)  # so that no digit changes
        kept = kept[kept["variant"] != variant]
        rows = pd.concat([kept, rows]) if len(kept) else rows
    order = rows["variant"].map({name: i for i, name in enumerate(VARIANTS)})
    text = rows.iloc[order.argsort(kind="stable")].to_csv(index=False)
    is_compressed = path.suffix == ".gz"
    write_whole(path, gzip.compress(text.encode(), mtime=0) if is_compressed else text)
