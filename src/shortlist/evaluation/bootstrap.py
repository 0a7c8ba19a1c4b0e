"""Experiments evaluated on bootstrap resamples, and the results."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from math import nan, sqrt
from typing import Any, Literal

import numpy as np
import pandas as pd
from joblib import hash as joblib_hash
from scipy.special import expit

from .. import __version__
from ..arguments import Int, check_integer
from ..errors import InvalidProblemError
from .experiment import Experiment, draw
from .metric import (
    METRICS,
    Measure,
    interval,
    measure,
    percentile_ends,
    percentile_interval,
    point_632_plus,
    tail_of,
)
from .procedure import TEST_METRICS, Procedure, evaluate_resample
from .task import Journal, run_tasks

_Measured = tuple[dict[str, Measure], Int, Int]

_SURE = 50.0  # log-odds beyond which a risk is 0 or 1 to any number of digits
_FEWEST = 20  # resamples, for the mean of their optimism to be the middle of an interval


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The results of an experiment.

    Parameters
    ----------
    rows : DataFrame
        One row per resample, number 0 being the data as they are, with the columns that
        `evaluate_resample` describes. `support` is the indices of the predictors selected on
        the whole resample, in a string such as "0 3 5", so that a CSV file can hold the rows.
    names : sequence of str
        Names of all predictors.
    predictions : DataFrame, optional
        For each row of the data the label `y`, the `log_odds` and the `probability` that the model
        of the outer fold that had the row in its test part predicts, and its `person`, a number:
        what intervals and curves come from. NaN in a fold that was not scored.
    probes : DataFrame, optional
        The log-odds of the probes of the experiment, a row per resample and a column per probe.
    followed : DataFrame, optional
        The log-odds of the rows that the experiment follows, a row per resample and a column each.

    See Also
    --------
    evaluate : Makes one.
    """

    rows: pd.DataFrame
    names: Sequence[str]
    predictions: pd.DataFrame | None = None
    probes: pd.DataFrame | None = None
    followed: pd.DataFrame | None = None

    @property
    def resamples(self) -> pd.DataFrame:
        """The rows of the resamples alone."""
        return self.rows[self.rows["resample"] > 0]

    @property
    def selected(self) -> tuple[str, ...]:
        """Names of the predictors selected on the data as they are."""
        return tuple(self.names[int(g)] for g in self._own["support"].split())

    @property
    def _own(self) -> pd.Series[Any]:
        """The row of the data as they are."""
        return self.rows[self.rows["resample"] == 0].iloc[0]

    @property
    def selection(self) -> pd.DataFrame:
        """Which predictors each resample selects: bool, a row per resample, a column per name."""
        resamples = self.resamples
        chosen = np.zeros((len(resamples), len(self.names)), dtype=bool)
        for row, support in zip(chosen, resamples["support"], strict=True):
            row[[int(g) for g in support.split()]] = True
        index = pd.Index(resamples["resample"], name="resample")
        return pd.DataFrame(chosen, columns=list(self.names), index=index)

    def summary(self, level: float = 0.95) -> pd.DataFrame:
        """Return the nested cross-validated performance.

        Parameters
        ----------
        level : float
            Coverage of the intervals.

        Returns
        -------
        DataFrame
            Per metric the `estimate` on the data as they are, the `mean` over resamples, the
            percentile interval from `lower` to `upper`, and `n_resamples`, how many define it.
        """
        own = self._own
        lines = []
        for metric in TEST_METRICS:
            values = self.resamples[f"test_{metric}"].dropna()
            lower, upper = percentile_interval(values, level)
            lines.append((metric, own[f"test_{metric}"], values.mean(), lower, upper, len(values)))
        columns = ["metric", "estimate", "mean", "lower", "upper", "n_resamples"]
        return pd.DataFrame(lines, columns=columns).set_index("metric")

    def optimism(self, level: float = 0.95) -> pd.DataFrame:
        """Return the performance corrected for optimism by the bootstrap, all of it repeated.

        AUC and Brier score are corrected by the .632+ bootstrap (Efron and Tibshirani 1997), from
        the performance of each resample's model on the rows outside the resample. From measures of
        calibration, Harrell's optimism is subtracted: the mean, over resamples, of the performance
        of a resample's model on its resample less that on the data as they are. The interval is for
        the performance of the model on new patients. Its middle is the corrected performance, and
        its width comes from the influence values of the cross-validated predictions (see
        `shortlist.evaluation.measure`).

        Parameters
        ----------
        level : float
            Coverage of the intervals; docs/evaluation.md has what simulations found.

        Returns
        -------
        DataFrame
            Per metric `apparent` performance, of the model and on the data as they are,
            `corrected` performance, its Monte-Carlo standard `error`, which more resamples make
            smaller, its interval from `lower` to `upper` (NaN without 20 resamples and
            predictions), `optimism`, by how much the apparent one is higher, `n_resamples`, how
            many define it, and `cross_validated`, the score of all cross-validated predictions
            together.
        """
        tail_of(level)
        own, measured = self._own, self._measured()
        lines = []
        for metric in METRICS:
            apparent = own[f"data_{metric}"]
            corrected, error, n_resamples = self._corrected(metric)
            value, lower, upper = nan, nan, nan
            if measured is not None:
                found, y, persons = measured[0][metric], *measured[1:]
                value = found.value
                if n_resamples >= _FEWEST:
                    lower, upper = interval(metric, corrected, found, y, persons, level)
            of_resamples = (apparent, apparent - corrected, corrected, error)
            lines.append((metric, *of_resamples, lower, upper, n_resamples, value))
        columns = [
            "metric", "apparent", "optimism", "corrected", "error", "lower", "upper", "n_resamples",
            "cross_validated",
        ]  # fmt: skip
        return pd.DataFrame(lines, columns=columns).set_index("metric")

    def _corrected(self, metric: str) -> tuple[float, float, int]:
        """Return a metric corrected for optimism, its Monte-Carlo error, and of how many resamples.

        The error is that of a mean over resamples, in .632+ by way of a difference.
        """
        apparent = self._own[f"data_{metric}"]
        if metric in ("auc", "brier"):
            outside = self.resamples[f"outside_{metric}"].dropna()
            chance = 0.5 if metric == "auc" else self._own["brier_by_chance"]
            mean, error = float(outside.mean()), _error_of_mean(outside)
            low, middle, high = (
                point_632_plus(apparent, value, chance)
                for value in (mean - error, mean, mean + error)
            )
            return middle, abs(high - low) / 2, len(outside)
        pairs = self.resamples[[f"resample_{metric}", f"data_{metric}"]].dropna()
        optimism = pairs[f"resample_{metric}"] - pairs[f"data_{metric}"]
        return apparent - optimism.mean(), _error_of_mean(optimism), len(pairs)

    def corrected_difference(self, other: Evaluation, level: float = 0.95) -> pd.DataFrame:
        """Return the optimism-corrected performance less another evaluation's, paired.

        Both need the same data, folds and resamples, as two experiments have that differ in the
        backend or the limits. The width of the interval comes from the differences of the
        influence values, row by row.

        Parameters
        ----------
        other : Evaluation
            What to compare with.
        level : float
            Coverage of the intervals.

        Returns
        -------
        DataFrame
            Per metric the `estimate`, its interval from `lower` to `upper`, and `n_resamples`, on
            how many both are defined at most.
        """
        self._check_resamples(other)
        ours, theirs = self._measured(), other._measured()
        lines = []
        for metric in METRICS:
            own, _, n_own = self._corrected(metric)
            rival, _, n_rival = other._corrected(metric)
            lower, upper, n_resamples = nan, nan, min(n_own, n_rival)
            if ours is not None and theirs is not None and n_resamples >= _FEWEST:
                influence = ours[0][metric].influence - theirs[0][metric].influence
                measured, of_rows = Measure(nan, influence), ours[1:]
                lower, upper = interval("difference", own - rival, measured, *of_rows, level)
            lines.append((metric, own - rival, lower, upper, n_resamples))
        columns = ["metric", "estimate", "lower", "upper", "n_resamples"]
        return pd.DataFrame(lines, columns=columns).set_index("metric")

    def individual_risks(self, level: float = 0.95) -> pd.DataFrame:
        """Return how much the predicted risks of patients vary over the models of resamples.

        The models of resamples stand for those that other samples of the same size would have led
        to (Riley and Collins 2023).

        Parameters
        ----------
        level : float
            Coverage of the ranges.

        Returns
        -------
        DataFrame
            Per row that the experiment follows, the `risk` that the model of the data as they are
            predicts, the mean absolute `difference` between it and the resamples' models,
            and the range of these from `lower` to `upper`, percentiles, NaN for too few resamples.
        """
        if self.followed is None:
            raise InvalidProblemError("followed: the experiment follows no rows; give some.")
        risks = expit(self.followed.to_numpy())
        own, others = risks[0], risks[1:]
        lower, upper = percentile_ends(others, level)
        return pd.DataFrame(
            {
                "risk": own,
                "difference": np.abs(others - own).mean(axis=0) if len(others) else nan,
                "lower": lower,
                "upper": upper,
            },
            index=self.followed.columns,
        )

    def _measured(self) -> _Measured | None:
        """Return the measures of the cross-validated predictions, their outcomes and persons."""
        if self.predictions is None:
            return None
        known = self.predictions.dropna()
        y = known["y"].to_numpy()
        if len(np.unique(y)) < 2:
            return None
        log_odds = known["log_odds"].clip(-_SURE, _SURE).to_numpy()
        return measure(y, log_odds), y, known["person"].to_numpy()

    def difference(self, other: Evaluation, level: float = 0.95) -> pd.DataFrame:
        """Return the nested cross-validated performance less another evaluation's.

        Meant for two experiments on the same data with the same protocol and seed, which then
        have the same resamples and folds. The interval of the difference is far narrower than
        the intervals of the two suggest: these may overlap although one is always better.

        Parameters
        ----------
        other : Evaluation
            What to compare with; it needs the same number of resamples.
        level : float
            Coverage of the intervals.

        Returns
        -------
        DataFrame
            The columns of `summary`, for the differences.
        """
        self._check_resamples(other)
        columns = [f"test_{metric}" for metric in TEST_METRICS]
        rows = self.rows[["resample", *columns]].copy()
        rows[columns] -= other.rows[columns]
        return Evaluation(rows, self.names).summary(level)

    def _check_resamples(self, other: Evaluation) -> None:
        if self.rows["resample"].tolist() != other.rows["resample"].tolist():
            raise InvalidProblemError(
                "other: has other resamples; evaluate both with the same n_resamples."
            )


def _error_of_mean(values: pd.Series[Any]) -> float:
    n = len(values)
    return float(np.std(values.to_numpy(np.float64), ddof=1)) / sqrt(n) if n > 1 else nan


def evaluate(
    experiment: Experiment,
    n_resamples: int = 399,
    *,
    journal: str | os.PathLike[str] | None = None,
    n_jobs: int | Literal["auto"] | None = None,
    dask: str | None = None,
    progress: bool | str = True,
    cross_validate_resamples: bool = True,
) -> Evaluation:
    """Evaluate an experiment: nested cross-validation inside the nonparametric bootstrap.

    Parameters
    ----------
    experiment : Experiment
        The procedure, the data and the protocol.
    n_resamples : int
        Number of bootstrap resamples, beside the data as they are. With 399 the ends of a 95 %
        percentile interval are the tenth values from both ends.
    journal : path-like, optional
        A file that keeps the results as they come. A run that was interrupted, even by kill -9,
        goes on from there and ends with the same results; more resamples can be added later.
    n_jobs : int, optional
        Number of processes, as in joblib: -1 for one per core, "auto" for that if it pays. Does not
        change the results.
    dask : str, optional
        Address of the scheduler of a Dask cluster to run on instead; needs `shortlist[dask]`.
    progress : bool or str
        Whether to show a bar with the time left, or what it calls the resamples; without a
        terminal, a line now and then.
    cross_validate_resamples : bool
        Whether the procedure is cross-validated on every resample, which `summary` has its
        intervals from, or only on the data as they are, which takes a quarter of the time.

    Returns
    -------
    Evaluation
        Rows, summary, optimism-corrected performance, and the selections.

    Examples
    --------
    >>> import shortlist as sl
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import minmax_scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> problem = sl.SubsetProblem(minmax_scale(X[:, :10]), y, ridge=1.0, max_features=3)
    >>> experiment = sl.Experiment(problem)
    >>> evaluation = sl.evaluate(experiment, n_resamples=19)
    >>> evaluation.summary(level=0.8).loc["auc", ["estimate", "lower", "upper"]].round(2).tolist()
    [0.98, 0.97, 0.99]
    """
    return evaluate_all(
        {"": experiment},
        n_resamples,
        journal=journal,
        n_jobs=n_jobs,
        dask=dask,
        progress=progress,
        cross_validate_resamples=cross_validate_resamples,
    )[""]


def evaluate_all(
    experiments: Mapping[str, Experiment],
    n_resamples: int = 399,
    *,
    journal: str | os.PathLike[str] | None = None,
    n_jobs: int | Literal["auto"] | None = None,
    dask: str | None = None,
    progress: bool | str = True,
    cross_validate_resamples: bool = True,
    procedures: Mapping[str, type[Procedure]] | None = None,
) -> dict[str, Evaluation]:
    """Evaluate several experiments in one run, with one journal and one progress bar.

    Parameters
    ----------
    experiments : mapping
        The experiments by name.
    n_resamples, journal, n_jobs, dask, progress, cross_validate_resamples
        As in `evaluate`; a journal belongs to these experiments under these names.
    procedures : mapping, optional
        For names of experiments, subclasses of `Procedure` that select in another way.

    Returns
    -------
    dict
        Evaluations by name.
    """
    check_integer("n_resamples", n_resamples, 0)
    for experiment in experiments.values():
        draw(experiment, 0)  # fails here, not in some process, when there are too few rows
    resamples = range(n_resamples + 1)
    chosen = {name: (procedures or {}).get(name, Procedure) for name in experiments}
    tasks = {
        f"{name}/{resample}": (
            experiment,
            resample,
            cross_validate_resamples or resample == 0,
            chosen[name],
        )
        for name, experiment in experiments.items()
        for resample in resamples
    }
    fingerprints = {name: experiment.fingerprint for name, experiment in experiments.items()}
    work = joblib_hash((__version__, fingerprints), hash_name="sha1")
    others = [f"{n}: {each.__qualname__}" for n, each in chosen.items() if each is not Procedure]
    if others:
        work += f" {', '.join(others)}"
    if not cross_validate_resamples:
        work += " without cross-validation of resamples"
    with Journal(journal, work) if journal is not None else nullcontext() as book:
        results = run_tasks(
            evaluate_resample,
            tasks,
            journal=book,
            n_jobs=n_jobs,
            dask=dask,
            progress=progress,
        )
    return {
        name: gather(experiment, [results[f"{name}/{resample}"] for resample in resamples])
        for name, experiment in experiments.items()
    }


def gather(experiment: Experiment, results: list[dict[str, Any]]) -> Evaluation:
    """Return the evaluation that results of `evaluate_resample` make, resample 0 first."""
    rows = pd.DataFrame(
        [
            {"resample": resample}
            | {name: value for name, value in result.items() if not name.endswith("log_odds")}
            | {"support": " ".join(map(str, result["support"]))}
            for resample, result in enumerate(results)
        ]
    )
    places = ("test_", "resample_", "data_", "outside_")
    scores = [name for name in results[0] if name.startswith(places)]
    rows = rows.astype(dict.fromkeys(scores, np.float64) | {"test_folds": np.int64})
    predictions = probes = None
    if "log_odds" in results[0]:
        log_odds = np.array(results[0]["log_odds"], dtype=np.float64)
        persons = np.arange(experiment.n_rows) if experiment.persons is None else experiment.persons
        predictions = pd.DataFrame({"y": experiment.y, "log_odds": log_odds})
        predictions = predictions.assign(probability=expit(log_odds), person=persons)
    if experiment.probes is not None:
        probes = pd.DataFrame([result["probe_log_odds"] for result in results])
    followed = None
    if len(experiment.followed):
        values = [result["followed_log_odds"] for result in results]
        followed = pd.DataFrame(values, columns=list(experiment.followed))
    return Evaluation(rows, experiment.names, predictions, probes, followed)
