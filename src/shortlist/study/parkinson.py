"""The paper's experiment on the Oxford Parkinson's data, and variants of it.

Each measure becomes 4 cubic spline columns with 3 knots (minimum, median and maximum), scaled to
[0, 1]; 4 predictors are selected. A variant says what a predictor is (a column, or a measure
with all its columns), which measures there are (all 22, or the 17 of Little et al.), and what is
drawn and split: single recordings, as the paper did, or persons with all their recordings.

Splitting recordings puts some of a person's recordings into the training part and others into the
test part, which flatters the model. The person-wise variants avoid that, and place the knots and
the scales on the training part alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, SplineTransformer

from ..errors import InvalidProblemError
from ..evaluation import Evaluation, Experiment, evaluate, inclusion_frequencies
from ..files import make_folder, write_whole
from .provenance import timing, write_provenance
from .recordings import Recordings

N_PREDICTORS = 4
N_SPLINES = 4  # of 3 knots 5 cubic B-splines, of which the intercept replaces one


class Kind(NamedTuple):
    """What a variant selects, from what, and what is drawn and split."""

    selection: str
    n_measures: int
    split: str


VARIANTS: Mapping[str, Kind] = {
    f"{selection}-{n_measures}-{split}": Kind(selection, n_measures, split)
    for split in ("rows", "persons")
    for n_measures in (22, 17)
    for selection in ("columns", "features")
}
PAPER_VARIANT = "columns-22-rows"


def parkinson_experiment(recordings: Recordings, variant: str = PAPER_VARIANT) -> Experiment:
    """Return the experiment of a variant.

    Parameters
    ----------
    recordings : Recordings
        The data.
    variant : str
        One of `VARIANTS`, such as "columns-22-rows", the paper's.

    Returns
    -------
    Experiment
        To be given to `evaluate`.
    """
    kind = _kind(variant)
    data = recordings.of_little() if kind.n_measures == 17 else recordings
    names = [str(name) for name in data.measures.columns]
    X = data.measures.to_numpy()
    preprocessor = splines()
    by_feature = kind.selection == "features"
    row_wise = kind.split == "rows"
    return Experiment(
        preprocessor.fit_transform(X) if row_wise else X,
        data.status,
        max_features=N_PREDICTORS,
        groups=np.repeat(np.arange(len(names)), N_SPLINES) if by_feature else None,
        names=names
        if by_feature
        else [f"{name} {i + 1}" for name in names for i in range(N_SPLINES)],
        protocol="paper" if row_wise else "clean",
        persons=None if row_wise else data.persons,
        preprocessor=None if row_wise else preprocessor,
    )


def splines() -> Pipeline:
    """Return what turns each measure into its spline columns, scaled to [0, 1]."""
    return make_pipeline(
        SplineTransformer(n_knots=3, degree=3, knots="quantile", include_bias=False),
        MinMaxScaler(),
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
    """Run variants of the experiment and write their tables; what is interrupted can go on.

    `parkinson.csv` has a row per variant and resample, `parkinson_summary.csv` a row per variant,
    and `parkinson_measures.csv` says how often each measure is selected. Variants that are there
    already and are not run again are kept. `provenance.json` says how long they took.

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
        Told in words which variant begins.

    Returns
    -------
    DataFrame
        The summary of all variants in the folder.
    """
    folder = Path(out)
    experiments = {name: parkinson_experiment(recordings, name) for name in variants}
    if n_resamples < 1:
        raise InvalidProblemError(f"n_resamples: must be at least 1, not {n_resamples!r}.")
    make_folder(folder)
    for name, experiment in experiments.items():
        announce(f"{name}: {n_resamples} resamples")
        journal = folder / "journals" / f"parkinson-{name}.jsonl"
        with timing(folder, journal, arm=f"parkinson {name}", n_jobs=n_jobs, dask=dask):
            evaluation = evaluate(
                experiment,
                n_resamples,
                journal=journal,
                n_jobs=n_jobs,
                dask=dask,
                progress=progress,
            )
        keys = {"variant": name} | _kind(name)._asdict()
        for file, part in (
            ("parkinson.csv", evaluation.rows),
            ("parkinson_measures.csv", _measures(evaluation)),
            ("parkinson_summary.csv", _summary(evaluation)),
        ):
            _merge(folder / file, pd.DataFrame(keys, index=part.index).join(part))
    write_provenance(folder)
    return pd.read_csv(folder / "parkinson_summary.csv")


def _kind(variant: str) -> Kind:
    if variant not in VARIANTS:
        raise InvalidProblemError(
            f"variant: there is no {variant!r}; use one of {', '.join(VARIANTS)}."
        )
    return VARIANTS[variant]


def _measure(predictor: str) -> str:
    """Return the measure of a predictor, which is itself or one of its columns."""
    return predictor.rsplit(" ", 1)[0]


def _measures(evaluation: Evaluation) -> pd.DataFrame:
    """Return how often each measure is selected, with any of its columns."""
    of_measure = evaluation.selection.T.groupby(_measure, sort=False).any().T
    frame = inclusion_frequencies(of_measure).rename_axis("measure").reset_index()
    chosen = {_measure(name) for name in evaluation.selected}
    return frame.assign(selected=frame["measure"].isin(chosen))


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
    line |= {name: evaluation.rows[name].sum() for name in ("solves", "nodes", "unproven")}
    return pd.DataFrame([line])


def _merge(path: Path, rows: pd.DataFrame) -> None:
    """Put the rows of a variant into a table, in the place of those it has of that variant."""
    variant = rows["variant"].iloc[0]
    if path.is_file():
        kept = pd.read_csv(path, dtype=str, keep_default_na=False)  # so that no digit changes
        kept = kept[kept["variant"] != variant]
        rows = pd.concat([kept, rows]) if len(kept) else rows
    order = rows["variant"].map({name: i for i, name in enumerate(VARIANTS)})
    rows = rows.iloc[order.argsort(kind="stable")]
    write_whole(path, rows.to_csv(index=False))
