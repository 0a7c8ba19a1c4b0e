"""A problem as the structs of the kernels, and coefficients in its own order again."""

from __future__ import annotations

from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..limits import Limits as ProblemLimits
from ..problem import SubsetProblem
from .kernels.endgame import LARGEST_BATCH
from .kernels.layout import IN, OUT, Data, Loss
from .kernels.oracle import Limits
from .kernels.search import Search
from .packed import Packed, packed_of, uncentred
from .scratch import Memory, Scratch, Shape, make_listing, take_scratch

_LARGEST_MODEL = 1000  # columns that a working set may hold


class Prepared(NamedTuple):
    """One problem in the layout of the kernels."""

    search: Search
    columns: NDArray[np.int64]  # the problem's column at each place
    centre: NDArray[np.float64]  # what was taken off it
    distance: float  # of centred columns from zero, in spreads, at most
    rounding: float  # of a bound, at most: see `confirmation`
    scratch: Scratch  # give it back when the search has ended and nothing of it is needed any more

    def model(
        self, theta: NDArray[np.float64], intercept: float
    ) -> tuple[NDArray[np.float64], float]:
        """Return coefficients and intercept for the problem's own columns, in their order."""
        coef = np.empty(len(theta))
        coef[self.columns] = theta
        return coef, uncentred(float(intercept), theta.tolist(), self.centre.tolist())[0]


def prepare(
    problem: SubsetProblem,
    threshold: float = inf,
    n_places: int = 0,
    packed: Packed | None = None,
) -> Prepared:
    """Bring a problem's data, limits and ridge together with what a search works on.

    With places, the search lists the models below the threshold. `packed` are the problem's data if
    they are at hand.
    """
    packed = packed_of(problem) if packed is None else packed
    weighted = packed.weighted(problem)
    constraints = problem.limits
    n_columns = problem.n_columns
    shape = Shape(
        n_rows=len(weighted.data.w),
        n_columns=n_columns,
        n_predictors=problem.n_predictors,
        # The largest support, and a batch of the endgame on top of it.
        n_fit=min(n_columns, packed.widest * (constraints.max_features + LARGEST_BATCH)),
        n_model=min(n_columns, _LARGEST_MODEL),
    )
    scratch = take_scratch(shape)
    scratch.search.incumbent.score["objective"] = threshold
    root: Any = scratch.search.root
    root[:] = weighted.decided
    root[list(constraints.exclude)] = OUT
    root[list(constraints.include)] = IN
    data = _with_loss(weighted.data, problem)
    if problem.limits.has_intervals:
        data = data._replace(
            lower=problem.limits.lower[packed.columns],
            upper=problem.limits.upper[packed.columns],
            is_limited=True,
        )
    search = scratch.search._replace(data=data, limits=limits_of(constraints))
    if n_places:
        search = search._replace(listing=make_listing(Memory(), shape, n_places))
    return Prepared(
        search=search,
        columns=packed.columns,
        centre=weighted.centre,
        distance=weighted.distance,
        rounding=weighted.rounding / sqrt(problem.ridge),
        scratch=scratch,
    )


def alongside(prepared: Prepared) -> Prepared:
    """Return the same problem with scratch of its own, for a part of the search.

    Only what is never written is shared: data, limits, and what is decided from the start.
    """
    scratch, search = Scratch(prepared.scratch.shape), prepared.search
    search = scratch.search._replace(data=search.data, limits=search.limits, root=search.root)
    return prepared._replace(search=search, scratch=scratch)


def _with_loss(data: Data, problem: SubsetProblem) -> Data:
    """Return the data with the ridge and the loss of a problem."""
    n, loss = data.n_positive, problem.loss
    positive, negative = float(data.w[:n].sum()), float(data.w[n:].sum())
    intercept = loss.best_intercept(positive, negative)
    losses = loss.value(np.array([intercept, -intercept]))
    return data._replace(
        ridge=problem.ridge,
        loss=int(Loss[loss.name.upper()]),
        width=loss.smoothing,
        null_intercept=intercept,
        null_objective=float(losses @ (positive, negative)),
    )


def limits_of(constraints: ProblemLimits) -> Limits:
    """Return what is affordable in the layout of the kernels."""
    n_predictors, n_fees = constraints.n_predictors, len(constraints.fees)
    pays = np.zeros((n_fees, n_predictors), dtype=np.bool_)
    charged = np.full(n_predictors, -1)
    for f, fee in enumerate(constraints.fees):
        members = list(fee.members)
        pays[f, members] = True
        # A predictor in several groups is charged the largest fee: dropping the others from the
        # oracle leaves it an upper bound.
        dearer = [
            g for g in members if charged[g] < 0 or constraints.fees[charged[g]].amount < fee.amount
        ]
        charged[dearer] = f
    return Limits(
        cost=constraints.unit_costs,
        fee=constraints.unit_fees,
        pays=pays,
        charged=charged,
        order=charged.argsort(kind="stable"),
        budget=constraints.unit_budget,
        max_features=constraints.max_features,
        integral=constraints.integral,
        has_budget=constraints.budget < inf,
    )
