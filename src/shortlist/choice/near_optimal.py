"""Every model that is nearly as good as the best one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, isfinite

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..backends import solve
from ..errors import InvalidProblemError
from ..problem import SubsetProblem
from ..solver.listing import list_selections

# Objectives that differ by less, relatively, count as equal.
TIE = 1e-9
# The optimum that the tolerance refers to is found more precisely than ties are told apart.
GAP = 1e-9


@dataclass(frozen=True)
class Model:
    """One selection, and the ridge fit on it.

    Attributes
    ----------
    support : tuple of int
        Sorted indices of the predictors bought.
    cost : float
        What they cost, fees included.
    objective : float
        Penalised loss.
    coef : ndarray of shape (n_columns,)
        One coefficient per column of X.
    intercept : float
        The unpenalised intercept.
    """

    support: tuple[int, ...]
    cost: float
    objective: float
    coef: NDArray[np.float64]
    intercept: float


@dataclass(frozen=True)
class NearOptimal:
    """The near-optimal models, best first: a sequence of `Model`.

    Attributes
    ----------
    models : tuple of Model
        Sorted by objective, ties by cost and then by support.
    is_complete : bool
        Whether these are all models within the tolerance. If not, a limit was reached: at the
        limit on their number they are the best ones, at the time limit those that were found.
    tolerance : float
        The tolerance asked for.
    names : tuple of str
        Names of the predictors.
    """

    models: tuple[Model, ...]
    is_complete: bool
    tolerance: float
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.models)

    def __iter__(self) -> Iterator[Model]:
        return iter(self.models)

    def __getitem__(self, position: int) -> Model:
        return self.models[position]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per model: objective, excess over the best, cost, and what it buys."""
        best = self.models[0].objective
        bought = np.zeros((len(self.models), len(self.names)), dtype=bool)
        for row, model in zip(bought, self.models, strict=True):
            row[list(model.support)] = True
        summary = pd.DataFrame(
            {
                "objective": [model.objective for model in self.models],
                "excess": [model.objective / best - 1.0 for model in self.models],
                "cost": [model.cost for model in self.models],
                "n_predictors": [len(model.support) for model in self.models],
            }
        )
        return pd.concat([summary, pd.DataFrame(bought, columns=list(self.names))], axis=1)


def near_optimal(
    problem: SubsetProblem,
    tolerance: float = 0.01,
    limit: int = 1000,
    *,
    time_limit: float | None = None,
) -> NearOptimal:
    """List every affordable selection whose objective is within a tolerance of the optimum.

    A selection is left out if one of its predictors adds nothing: without it, it is in the list
    already. Exact ties, as between duplicated columns, are all listed.

    Parameters
    ----------
    problem : SubsetProblem
        Data, prices and limits.
    tolerance : float
        Relative to the optimum: 0.01 lists what is at most 1 % worse. 0 lists ties.
    limit : int
        The largest number of models to return. If there are more, the best ones are returned and
        `is_complete` is False.
    time_limit : float, optional
        Seconds after which what was found is returned, with `is_complete` False.

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
    if isinstance(tolerance, bool) or not isfinite(tolerance) or tolerance < 0:
        raise InvalidProblemError(
            f"tolerance: must be a number of at least 0, such as 0.01, not {tolerance!r}."
        )
    if not isinstance(limit, int | np.integer) or isinstance(limit, bool) or limit < 1:
        raise InvalidProblemError(f"limit: must be an integer of at least 1, not {limit!r}.")
    best = solve(problem, gap=GAP, time_limit=time_limit)
    seconds = inf if time_limit is None else max(0.0, time_limit - best.seconds)
    factor = 1.0 + max(float(tolerance), TIE)
    # The search stops a little above the tolerance, so that rounding does not decide what is in.
    threshold = best.objective * factor * (1.0 + TIE)
    listed, is_complete = list_selections(problem, threshold, int(limit), seconds)
    lowest = min((model.objective for model in listed), default=best.objective)
    models = [
        Model(
            model.support,
            problem.constraints.cost_of(model.support),
            model.objective,
            model.coef,
            model.intercept,
        )
        for model in listed
        if model.objective <= lowest * factor
    ]
    if not models:  # out of time before the first one
        cost = problem.constraints.cost_of(best.support)
        models = [Model(best.support, cost, best.objective, best.coef, best.intercept)]
    models.sort(key=lambda model: (model.objective, model.cost, model.support))
    names = tuple(problem.name_of(g) for g in range(problem.n_predictors))
    kept = tuple(_without_idle_predictors(problem, models))
    return NearOptimal(kept, is_complete, float(tolerance), names)


def _without_idle_predictors(problem: SubsetProblem, models: list[Model]) -> Iterator[Model]:
    """Leave out models that are no better than without one of their predictors."""
    objective = {model.support: model.objective for model in models}
    required = set(problem.constraints.include)
    for model in models:
        smaller = (
            tuple(h for h in model.support if h != g) for g in model.support if g not in required
        )
        if not any(objective.get(s, inf) <= model.objective * (1.0 + 1e-12) for s in smaller):
            yield model
