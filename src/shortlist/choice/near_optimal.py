"""Every model that is nearly as good as the best one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from math import inf
from numbers import Real
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

from ..arguments import check_integer
from ..display import panel
from ..errors import InvalidProblemError
from ..families import RELATIVE, Scale
from ..native.search import list_models
from ..problem import SubsetProblem
from ..solution import ListedModel, Progress
from .record import ListOf, best_of, changes, joined, make_record, names_of

_FIRST_PLACES = 1024


@dataclass(frozen=True)
class NearOptimal(ListOf[ListedModel]):
    """The near-optimal models, best first: a sequence of `ListedModel`.

    Attributes
    ----------
    models : tuple of ListedModel
        Sorted by objective; those that are equal but for rounding by cost, then by support.
    is_complete : bool
        Whether these are all models within the tolerance. If not, a limit was reached: at the
        limit on their number they are the best ones, at the time limit those that were found.
        Also False where columns, weights and ridge are so many orders apart that rounding could
        have hidden a model, or has made a fit fail.
    tolerance : float
        The tolerance asked for.
    names : tuple of str
        Names of the predictors.
    scale : Scale
        What the tolerance is a share of.
    """

    models: tuple[ListedModel, ...]
    is_complete: bool
    tolerance: float
    names: tuple[str, ...]
    scale: Scale = RELATIVE

    _listed = "models"

    def to_records(self, compared_with: Collection[str] | None = None) -> list[dict[str, Any]]:
        """Return one record per model, as JSON values.

        Parameters
        ----------
        compared_with : collection of str, optional
            The predictors of the selection that `gained` and `lost` refer to; by default those of
            the best model.

        Returns
        -------
        list of dict
            `excess` over the best model, `cost`, `objective`, `predictors`, `gained`, `lost`.
        """
        best = self.models[0]
        other = set(best.support)
        if compared_with is not None:
            other = {g for g, name in enumerate(self.names) if name in compared_with}
        return [
            {"excess": self.scale.excess(model.objective, best.objective)}
            | make_record(self.names, model, *changes(other, model.support))
            for model in self.models
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per model: objective, excess over the best, cost, and predictors."""
        bought = np.zeros((len(self.models), len(self.names)), dtype=bool)
        for row, model in zip(bought, self.models, strict=True):
            row[list(model.support)] = True
        summary = pd.DataFrame(self.to_records())[["objective", "excess", "cost"]]
        summary["n_predictors"] = bought.sum(axis=1)
        return pd.concat([summary, pd.DataFrame(bought, columns=list(self.names))], axis=1)

    def _repr_html_(self) -> str:
        n, within = len(self.models), f"within {100 * self.tolerance:.3g} % of the best"
        return panel(
            f"All selections {within}: {n}"
            if self.is_complete
            else f"Selections {within}: {n}, perhaps more: a limit was reached",
            is_proven=self.is_complete,
            header=["penalised loss", "excess, %", "cost", "predictors"],
            rows=(
                (row["objective"], round(100 * row["excess"], 2), row["cost"], row["predictors"])
                for row in joined(self.to_records())
            ),
        )


def near_optimal(
    problem: SubsetProblem,
    tolerance: float = 0.01,
    limit: int = 1000,
    *,
    time_limit: float | None = None,
    callback: Callable[[Progress], None] | None = None,
    threads: int | None = None,
) -> NearOptimal:
    """List every affordable selection whose objective is within a tolerance of the optimum.

    A selection is left out if one of its predictors adds nothing (less than a relative 1e-12, with
    the hinge 2e-7): without it, it is in the list already. Exact ties, as between duplicated
    columns, are all listed.

    Parameters
    ----------
    problem : SubsetProblem
        Data, prices and limits.
    tolerance : float
        Relative to the optimum: 0.01 lists models that are at most 1 % worse. 0 lists ties. Of a
        partial likelihood it is a share of the weight of the events.
    limit : int
        The largest number of models to return. If there are more, the best ones are returned and
        `is_complete` is False.
    time_limit : float, optional
        Seconds after which the models found so far are returned, with `is_complete` False; as they
        are if memory runs out.
    callback : callable, optional
        As in `solve`. An exception that it raises ends the search.
    threads : int, optional
        As in `solve`, for the optimum; the list is made by one.

    Returns
    -------
    NearOptimal
        The models, best first.

    Examples
    --------
    >>> import shortlist as sl
    >>> X = [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [2.0, 1.0, 2.0], [3.0, 0.0, 3.0]]
    >>> problem = sl.SubsetProblem(X, [0, 0, 1, 1], ridge=0.1, max_features=1)
    >>> [model.support for model in sl.near_optimal(problem)]
    [(0,), (2,)]
    """
    if isinstance(tolerance, bool) or not (isinstance(tolerance, Real) and 0 <= tolerance < inf):
        raise InvalidProblemError(
            f"tolerance: must be a number of at least 0, such as 0.01, not {tolerance!r}."
        )
    check_integer("limit", limit, 1)
    started = perf_counter()
    best = best_of(problem, time_limit=time_limit, callback=callback, threads=threads)
    deadline = inf if time_limit is None else started + time_limit
    tie = problem.family.resolution
    share = max(float(tolerance), tie)
    # The search stops a little above the tolerance, so that rounding decides nothing.
    threshold = problem.scale.above(problem.scale.above(best.objective, share), tie)
    # One place more than asked for shows whether there are more models. If models with a negligible
    # predictor took places, there may be too few others, and more places are tried.
    n_places = min(int(limit) + 1, _FIRST_PLACES)
    while True:
        seconds_left = deadline - perf_counter()
        listing = list_models(problem, threshold, n_places, seconds_left, callback)
        models = _within_tolerance(problem, listing.models, share)
        if listing.is_complete or not listing.has_ended or len(models) > limit:
            break
        n_places *= 2
    if not models:  # out of time before the first one
        models = [ListedModel(best.support, best.cost, best.objective, best.coef, best.intercept)]
    is_complete = listing.is_complete and listing.is_safe and len(models) <= limit
    return NearOptimal(
        tuple(models[:limit]), is_complete, float(tolerance), names_of(problem), problem.scale
    )


def _within_tolerance(
    problem: SubsetProblem, listed: list[ListedModel], share: float
) -> list[ListedModel]:
    """Return the models within a share of the best, best first; no smaller one equals them."""
    objective = {model.support: model.objective for model in listed}
    highest = problem.scale.above(min(objective.values(), default=inf), share)
    models = (
        model
        for model in listed
        if model.objective <= highest and not _is_idle(problem, model, objective)
    )
    return _sorted(problem, models)


def _is_idle(
    problem: SubsetProblem, model: ListedModel, objective: dict[tuple[int, ...], float]
) -> bool:
    """Whether the model is no better than without one of its predictors.

    Without g the objective is what is listed. If that is missing, because there were more models
    than places, it is at most the objective of the same coefficients with zeros for g. It exceeds
    the model's by at least ridge/2 times the square of the coefficients of g.
    """
    equal = problem.scale.above(model.objective, problem.family.rounding)
    for g in model.support:
        if g in problem.limits.include:
            continue
        smaller = objective.get(tuple(h for h in model.support if h != g))
        if smaller is None:
            columns = problem.columns_of((g,))
            if model.objective + problem.ridge / 2 * (model.coef[columns] ** 2).sum() > equal:
                continue
            coef = model.coef.copy()
            coef[columns] = 0.0
            smaller = problem.objective(coef, model.intercept)
        if smaller <= equal:
            return True
    return False


def _sorted(problem: SubsetProblem, models: Iterable[ListedModel]) -> list[ListedModel]:
    """Sort by objective; those that are equal but for rounding by cost and support."""
    ranked, rank = [], -inf
    for model in sorted(models, key=lambda model: model.objective):
        if not model.objective <= problem.scale.above(rank, problem.family.rounding):
            rank = model.objective
        ranked.append((rank, model.cost, model.support, model))
    return [model for *_, model in sorted(ranked, key=lambda entry: entry[:3])]
