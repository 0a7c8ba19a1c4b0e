"""The numbers of the paper's set-up in sections 5.1 to 5.3, and where ours come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from inspect import signature
from typing import Any, NamedTuple

import pandas as pd
from scipy.special import expit

from ..evaluation import Experiment, percentile_interval
from .parkinson import N_KNOTS, N_PREDICTORS, N_SPLINES, VARIANTS
from .plan import BUDGET
from .saved import rows_of

_DEFAULTS: dict[str, Any] = {field.name: field.default for field in fields(Experiment)}


class Setting(NamedTuple):
    """A number of the paper's set-up; `ours` finds it in the code or in a study's summary."""

    place: str
    key: str
    meaning: str
    stated: str
    ours: Callable[[pd.DataFrame], str]


def _own(summary: pd.DataFrame) -> pd.DataFrame:
    return rows_of(summary[summary["method"] == "optimal"])


def _listed(values: Any) -> str:
    return ", ".join(f"{value:g}" for value in values)


def _n_data_sets(summary: pd.DataFrame) -> str:
    return str(len(_own(summary).groupby(["n_samples", "n_features", "label_noise"])))


def _n_resamples(summary: pd.DataFrame) -> str:
    return _listed(sorted(_own(summary)["n_resamples"].unique()))


def _numbers_of_features(summary: pd.DataFrame) -> str:
    own = _own(summary)
    return _listed(sorted(own.loc[own["study"] == "cardinality", "run"].unique()))


def _tails(_: pd.DataFrame) -> str:
    tail = (1 - signature(percentile_interval).parameters["level"].default) / 2
    return f"{100 * tail:g} %, {100 - 100 * tail:g} %"


SETTINGS: tuple[Setting, ...] = (
    Setting("5.1", "k", "Parkinson data: predictors to select", "4", lambda _: str(N_PREDICTORS)),
    Setting("5.1", "splines", "spline columns of each measure", "4", lambda _: str(N_SPLINES)),
    Setting("5.1", "knots", "knots of the splines", "3", lambda _: str(N_KNOTS)),
    Setting(
        "5.1",
        "little_measures",
        "measures that Little et al. chose 4 from",
        "17",
        lambda _: str(min(kind.n_measures for kind in VARIANTS.values())),
    ),
    Setting(
        "5.1",
        "threshold",
        "probability above which an event is predicted",
        "0.5",
        lambda _: f"{expit(0.0):g}",  # `accuracy` counts log-odds above 0
    ),
    Setting("5.1", "interval", "quantiles at the ends of intervals", "2.5 %, 97.5 %", _tails),
    Setting(
        "5.1",
        "ridges",
        "strengths of the penalty to choose from",
        "0.1, 0.02, 0.004",
        lambda _: _listed(_DEFAULTS["ridges"]),
    ),
    Setting("5.1", "folds", "folds of either loop", "3", lambda _: str(_DEFAULTS["n_folds"])),
    Setting("5.1", "resamples", "bootstrap resamples", "399", _n_resamples),
    Setting("5.2", "data_sets", "synthetic data sets", "8", _n_data_sets),
    Setting(
        "5.2",
        "features",
        "numbers of informative features, as many of which are selected",
        "2, 3, 4, 5",
        _numbers_of_features,
    ),
    Setting("5.3", "budget", "budget", "10", lambda _: f"{BUDGET:g}"),
)
