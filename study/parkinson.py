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

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, SplineTransformer

import shortlist as sl
from shortlist.evaluation import Evaluation, evaluate_all, percentile_interval

from .provenance import write_provenance
from .recordings import Recordings
from .tables import write_whole

Float = NDArray[np.float64]

N_PREDICTORS = 4
N_SPLINES = 4  # of 3 knots 5 cubic B-splines, of which the intercept replaces one
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
PAPER_VARIANT, BY_PERSON = "columns-17-rows", "columns-17-persons"  # those with resamples


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
    curves = [f"{name} {i + 1}" for name in names for i in range(N_SPLINES)]
    problem = sl.SubsetProblem(
        preprocessor.fit_transform(X),
        data.status,
        ridge=1.0,
        max_features=N_PREDICTORS,
        groups=np.repeat(names, N_SPLINES).tolist() if by_feature else curves,
    )
    return sl.Experiment(
        problem,
        scoring="roc_auc",
        protocol="paper" if row_wise else "clean",
        persons=None if row_wise else data.persons,
        preprocessor=None if row_wise else preprocessor,
        table=None if row_wise else X,
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
    """Return the results of the paper's variant; None if they are not in the folder."""
    place = Path(folder)
    if not (place / "parkinson_accuracy.csv").is_file():
        return None
    accuracy = pd.read_csv(place / "parkinson_accuracy.csv").groupby("of")["accuracy"]
    optima = pd.read_csv(place / "parkinson_optima.csv").query("variant == @PAPER_VARIANT")
    return Findings(
        accuracy.get_group("split").to_numpy(),
        accuracy.get_group("resample").to_numpy(),
        [frozenset(measures.split("; ")) for measures in optima["measures"]],
    )


def run_parkinson(
    recordings: Recordings,
    out: str | os.PathLike[str],
    n_resamples: int = 399,
    n_by_person: int = 39,
    *,
    n_jobs: int | None = None,
    dask: str | None = None,
    progress: bool = True,
    announce: Callable[[str], None] = lambda text: None,
) -> pd.DataFrame:
    """Run the experiment and write its tables; an interrupted run can go on.

    `parkinson.csv` has a row per variant with resamples, the paper's and the same split by person,
    `parkinson_accuracy.csv` the accuracies of the paper's one, on resamples and on the data as they
    are for several splits into folds, and `parkinson_optima.csv` the proven optimum on all
    recordings at each ridge, for all readings.
    `provenance.json` says how long they took.

    Parameters
    ----------
    recordings : Recordings
        The data.
    out : path-like
        Folder of the tables and of the journals.
    n_resamples, n_by_person : int
        Number of bootstrap resamples of the paper's variant, and of that split by person.
    n_jobs, dask, progress
        As in `evaluate`.
    announce : callable
        Called with a sentence when a part begins.

    Returns
    -------
    DataFrame
        The variants.
    """
    folder = Path(out)
    for argument, value in (("n_resamples", n_resamples), ("n_by_person", n_by_person)):
        if value < 1:
            raise sl.InvalidProblemError(f"{argument}: must be at least 1, not {value!r}.")
    folder.mkdir(parents=True, exist_ok=True)
    own = parkinson_experiment(recordings)
    parts = {
        "own": ({PAPER_VARIANT: own}, n_resamples),
        "persons": ({BY_PERSON: parkinson_experiment(recordings, BY_PERSON)}, n_by_person),
        "splits": ({str(i): replace(own, seed=i) for i in range(1, N_SPLITS + 1)}, 0),
    }
    done: dict[str, Evaluation] = {}
    for part, (experiments, n) in parts.items():
        announce(f"parkinson {part}: {n} resamples of {len(experiments)} experiments each")
        journal = folder / "journals" / f"parkinson-{part}.jsonl"
        done |= evaluate_all(
            experiments, n, journal=journal, n_jobs=n_jobs, dask=dask, progress=progress
        )
    accuracy = {name: evaluation.rows["test_accuracy"] for name, evaluation in done.items()}
    splits = [accuracy[name].iloc[0] for name in (PAPER_VARIANT, *parts["splits"][0])]
    resamples = accuracy[PAPER_VARIANT].iloc[1:].tolist()
    of = ["split"] * len(splits) + ["resample"] * len(resamples)
    variants = pd.DataFrame([_summary(name, done[name]) for name in (PAPER_VARIANT, BY_PERSON)])
    for file, table in (
        ("parkinson.csv", variants),
        ("parkinson_accuracy.csv", pd.DataFrame({"of": of, "accuracy": [*splits, *resamples]})),
        ("parkinson_optima.csv", _optima(recordings)),
    ):
        write_whole(folder / file, table.to_csv(index=False, float_format="%.10g"))
    write_provenance(folder)
    return variants


def _measure(predictor: str) -> str:
    """Return the measure of a predictor, which is itself or one of its columns."""
    return predictor.rsplit(" ", 1)[0]


def _optima(recordings: Recordings) -> pd.DataFrame:
    """Return the optimum on all recordings at each ridge; how they are split plays no part."""
    lines = []
    for variant in [name for name, kind in VARIANTS.items() if kind.split == "rows"]:
        experiment = parkinson_experiment(recordings, variant)
        problem = experiment.problem
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


def _summary(variant: str, evaluation: Evaluation) -> dict[str, object]:
    scores = evaluation.summary()
    line: dict[str, object] = {"variant": variant}
    for metric in ("accuracy", "auc"):
        estimate, _, lower, upper, _ = scores.loc[metric]
        line |= {metric: estimate, f"{metric}_lower": lower, f"{metric}_upper": upper}
    line["n_resamples"] = len(evaluation.resamples)
    line["measures"] = "; ".join(dict.fromkeys(map(_measure, evaluation.selected)))
    return line | {name: evaluation.rows[name].sum() for name in ("solves", "unproven")}
