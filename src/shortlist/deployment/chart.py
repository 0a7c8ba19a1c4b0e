"""Points: whole numbers per band whose total gives the risk, within the limits of the model.

A points model is a point of the problem of its bands: coefficients that are whole points times a
scale. So the lower bound of that problem, which holds for all real coefficients, holds for every
points model, and the loss of rounding is certified. With points p, columns x, a scale s and an
intercept b the objective is `problem.objective` at theta = s p and theta_0 = b; s and b are
refitted.

`choice.points` has the search for them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pydantic import Field, ValidationError
from scipy.special import expit
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from .. import __version__
from ..arguments import Float, Int, check_integer
from ..choice.points import FoundPoints, PointsFinder
from ..errors import InvalidFileError, InvalidProblemError
from ..evaluation.metric import calibration
from ..files import write_whole
from ..limits import given_limits, limits_without
from ..page import render
from ..patients import PrognosticModel
from ..patients.record import Codebook, Outcome
from ..patients.table import PlainTable, check_codebook
from ..patients.term import Finite, StrictModel
from ..problem import SubsetProblem
from .bands import Banded, make_bands
from .calculator import number
from .code import event_of


class PointsTerm(StrictModel):
    """A predictor bought, and the points of each of its bands."""

    bands: Banded
    points: tuple[int, ...]


class TotalRow(StrictModel):
    """A total of points: its risk, and the development patients that have it."""

    total: int
    risk: Finite
    patients: int
    events: int


class PointsSearch(StrictModel):
    """The search for the points.

    `lower_bound` holds for every model of the bands with real coefficients, `points_bound` for
    every points model; `real_objective` is the objective of the best model of the bands that was
    found.
    """

    objective: Finite
    lower_bound: Finite
    points_bound: Finite
    real_objective: Finite
    is_proven: bool
    max_points: int
    ridge: Finite
    n_selections: int
    nodes: int
    seconds: Finite


class PointsChart(StrictModel):
    """Whole-number points that add up to a risk; what `points` returns.

    Attributes
    ----------
    outcome : Outcome
        `name`, `event` and `no_event`.
    codebook : Codebook
        What the columns mean.
    terms : tuple of PointsTerm
        The predictors bought, their bands and points.
    intercept, scale : float
        The log-odds are `intercept + scale * total`.
    cost : float or None
        The price of the predictors, fees included; None if the model has no prices.
    totals : tuple of TotalRow
        The risk of every total that is possible, and the observed events.
    auc, auc_corrected : float
        Of the development patients; corrected for optimism by the bootstrap, if asked for.
    search : PointsSearch
        The objective, its certified bounds, and whether the points are proven optimal.
    """

    format: Literal["shortlist points"] = "shortlist points"
    shortlist_version: str = __version__
    outcome: Outcome
    codebook: Codebook = Field(default_factory=Codebook)
    terms: tuple[PointsTerm, ...]
    intercept: Finite
    scale: Finite
    cost: Finite | None
    totals: tuple[TotalRow, ...]
    auc: Finite
    auc_corrected: Finite | None
    slope_corrected: Finite | None
    search: PointsSearch

    @property
    def loss_of_rounding(self) -> float:
        """The certified relative loss: no real coefficients are better by more than this."""
        return self.search.objective / self.search.lower_bound - 1.0

    def total(self, table: pd.DataFrame) -> Int:
        """Return the total of points of each row."""
        total = np.zeros(len(table), dtype=np.int64)
        for term in self.terms:
            if term.bands.name not in table.columns:
                raise InvalidProblemError(f"The chart needs the column {term.bands.name!r}.")
            band, _ = term.bands.band_of(table[term.bands.name])
            total += np.array(term.points)[band]
        return total

    def probability(self, table: pd.DataFrame) -> Float:
        """Return the risk of each row."""
        risk: Float = expit(self.intercept + self.scale * self.total(table))
        return risk

    def page(self) -> str:
        """Return the chart as an HTML page, which prints on one sheet; needs the extra `report`."""
        rows = len(self.totals)
        n_parts = min(4, max(1, -(-rows // 6)))
        size = -(-rows // n_parts)
        return render(
            Path(__file__).with_name("chart.html"),
            filters={"number": number},
            chart=self,
            event=event_of(self),
            most=sum(max(term.points) for term in self.terms),
            parts=[self.totals[i : i + size] for i in range(0, rows, size)],
            n_patients=sum(row.patients for row in self.totals),
            has_stand_in=not all(term.bands.is_indicated for term in self.terms),
        )

    def save(self, path: str | Path) -> None:
        """Write the chart as JSON, whole or not at all."""
        write_whole(Path(path), self.model_dump_json(indent=2) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> PointsChart:
        """Read a chart that `save` wrote."""
        try:
            return cls.model_validate_json(Path(path).read_text(encoding="utf-8"))
        except (ValidationError, json.JSONDecodeError, UnicodeDecodeError):
            raise InvalidFileError(f"{path}: is not a file of points.") from None


def points(
    model: PrognosticModel,
    X: Any,
    y: Any,
    persons: ArrayLike | None = None,
    *,
    max_points: int = 5,
    n_bands: int = 4,
    limit: int = 200,
    time_limit: float = 60.0,
    n_resamples: int = 0,
    random_state: int = 0,
    outcome: Outcome | None = None,
    announce: Callable[[str], None] = lambda text: None,
) -> PointsChart:
    """Find the best whole-number points within the limits of a model.

    Parameters
    ----------
    model : PrognosticModel
        The limits, prices and columns. Its ridge is used, or chosen by fitting it.
    X, y, persons
        Patients, outcomes and the person of each row, as in `PrognosticModel.fit`.
    max_points : int
        The most points of a predictor; the fewest are 0.
    n_bands : int
        The largest number of bands of a number.
    limit : int
        The largest number of selections to search.
    time_limit : float
        Seconds for the search; what is proven by then is reported.
    n_resamples : int
        Bootstrap resamples on which the search is repeated, to correct for optimism.
    random_state : int
        Seed of the resamples.
    outcome : Outcome, optional
        The names of the outcome and its values; by default as in y.
    announce : callable
        Called with a sentence on the progress, now and then.

    Returns
    -------
    PointsChart
        The points, with the certified loss of rounding.

    Examples
    --------
    >>> import pandas as pd, shortlist as sl
    >>> patients = pd.DataFrame({"age": [40, 50, 60, 70] * 9, "smoker": [True, False] * 18})
    >>> fate = [0, 0, 1, 1, 0, 1, 1, 1, 0, 0, 0, 1] * 3
    >>> chart = sl.points(sl.PrognosticModel(max_features=1, ridge=1.0), patients, fate)
    >>> [(term.bands.name, term.bands.labels, term.points) for term in chart.terms]
    [('age', ['<50', '50 to <60', '60 to <70', '≥70'], (0, 1, 2, 3))]
    >>> chart.search.is_proven, bool(chart.loss_of_rounding < 0.01)
    (True, True)
    """
    for name, value, least in (
        ("max_points", max_points, 1),
        ("n_bands", n_bands, 2),
        ("limit", limit, 1),
        ("n_resamples", n_resamples, 0),
    ):
        check_integer(name, value, least)
    plain = model.check(X, y)
    ridge = getattr(model, "ridge_", model.ridge)
    if ridge is None:
        announce("Choosing the ridge")
        ridge = clone(model).fit(plain, plain.labels, persons).ridge_
    banded = make_bands(plain, n_bands, model.unfitted_design(plain).missing_indicator)
    problem = band_problem(model, plain, banded, ridge)
    effects = [item.effects for item in banded]
    found = PointsFinder(problem, effects, max_points, limit, time_limit, announce).find()
    outcome = outcome or plain.outcome(getattr(y, "name", None))
    has_prices = model.costs is not None
    codebook = check_codebook(model.codebook, plain, outcome.name)
    chart = _chart(problem, banded, found, plain, outcome, has_prices)
    chart = chart.model_copy(update={"codebook": codebook.of({*plain.kinds, outcome.name})})
    if n_resamples:
        owners = np.arange(len(plain.labels)) if persons is None else np.asarray(persons)
        chart = _corrected(
            chart, model, plain, owners, n_resamples, random_state, announce,
            max_points=max_points, n_bands=n_bands, limit=1, time_limit=min(5.0, time_limit),
        )  # fmt: skip
    return chart


def band_problem(
    model: PrognosticModel, plain: PlainTable, banded: list[Banded], ridge: float
) -> SubsetProblem:
    """Return the problem of the bands, within the limits of the model."""
    columns, owners = [], []
    for item in banded:
        band, _ = item.band_of(plain.frame[item.name])
        columns.append(item.effects[band])
        owners += [item.name] * item.effects.shape[1]
    absent = frozenset(plain.names).difference(item.name for item in banded)
    return SubsetProblem(
        np.column_stack(columns).astype(np.float64),
        plain.labels,
        ridge=ridge,
        groups=owners,
        sample_weight=plain.weights,
        **limits_without(given_limits(model), absent),
    )


def _chart(
    problem: SubsetProblem,
    banded: list[Banded],
    found: FoundPoints,
    plain: PlainTable,
    outcome: Outcome,
    has_prices: bool,
) -> PointsChart:
    """Return the chart of some points; a predictor's start at 0."""
    terms, intercept, bought = [], found.intercept, []
    for item in banded:
        g = problem.predictors.index_of("predictor", item.name)
        own = found.points[problem.columns_of([g])]
        bands = item.effects @ own
        if not bands.any() and g not in problem.limits.include:
            continue
        intercept += found.scale * int(bands.min())
        bought.append(g)
        terms.append(PointsTerm(bands=item, points=tuple((bands - bands.min()).tolist())))
    chart = PointsChart(
        outcome=outcome,
        terms=tuple(terms),
        intercept=intercept,
        scale=found.scale,
        cost=problem.limits.cost_of(tuple(bought)) if has_prices else None,
        totals=(),
        auc=0.5,
        auc_corrected=None,
        slope_corrected=None,
        search=PointsSearch(**found.search),
    )
    totals = chart.total(plain.frame)
    n_totals = sum(max(term.points) for term in chart.terms) + 1
    patients = np.bincount(totals, minlength=n_totals).tolist()
    events = np.bincount(totals[plain.labels == 1], minlength=n_totals).tolist()
    risks = expit(chart.intercept + chart.scale * np.arange(n_totals)).tolist()
    rows = [
        TotalRow(total=total, risk=risks[total], patients=patients[total], events=events[total])
        for total in range(n_totals)
    ]
    auc = float(roc_auc_score(plain.labels, totals))
    return chart.model_copy(update={"totals": tuple(rows), "auc": auc})


def _corrected(
    chart: PointsChart,
    model: PrognosticModel,
    plain: PlainTable,
    persons: NDArray[Any],
    n_resamples: int,
    random_state: int,
    announce: Callable[[str], None],
    **options: Any,
) -> PointsChart:
    """Correct AUC and slope for optimism: the search is repeated on resamples of the persons.

    As Harrell (1996) does; a resample with one outcome only is drawn again.
    """
    rng = np.random.default_rng(random_state)
    optimism: list[float] = []
    slopes: list[float] = []
    _, person = np.unique(persons, return_inverse=True)
    rows_of = np.split(np.argsort(person, kind="stable"), np.cumsum(np.bincount(person))[:-1])
    fixed = clone(model).set_params(ridge=chart.search.ridge)
    while len(optimism) < n_resamples:
        announce(f"Resample {len(optimism) + 1} of {n_resamples}")
        rows = np.concatenate([rows_of[i] for i in rng.integers(0, len(rows_of), len(rows_of))])
        resample = plain.rows(rows)
        if len(np.unique(resample.labels)) < 2:
            continue
        again = points(fixed, resample, resample.labels, **options)
        totals = again.total(plain.frame)
        optimism.append(again.auc - float(roc_auc_score(plain.labels, totals)))
        log_odds: Float = again.intercept + again.scale * totals.astype(np.float64)
        slopes.append(calibration(plain.labels, log_odds, np.ones_like(plain.labels))[1])
    return chart.model_copy(
        update={
            "auc_corrected": chart.auc - float(np.mean(optimism)),
            "slope_corrected": float(np.nanmean(slopes)),
        }
    )
