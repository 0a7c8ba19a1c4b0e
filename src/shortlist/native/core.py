"""The compiled core, in the variant that this processor can run, and problems as it takes them."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from importlib import import_module
from math import inf, isfinite, sqrt
from typing import Any, NamedTuple

from ..arguments import Float
from ..limits import Limits
from ..problem import SubsetProblem

try:
    core: Any = import_module("._core", __package__)
    if core.runs_v3():
        core = import_module("._core_v3", __package__)
except ImportError as error:
    raise ImportError(
        "shortlist: the compiled core is missing or belongs to another Python; "
        "install the package again with `pip install .`, which needs a C++ compiler."
    ) from error


class Prepared(NamedTuple):
    """A problem as the core takes it."""

    problem: Any  # core.Problem
    limits: Any  # core.Limits
    data: Any  # core.Data
    rounding: float  # of a bound, at most: see `confirmation`

    def model(self, coef: Float, intercept: float) -> tuple[Float, float]:
        """Return coefficients with the intercept for columns that are not centred."""
        if self.data.distance == 0.0:
            return coef, float(intercept)
        return coef, uncentred(float(intercept), coef.tolist(), self.data.centre.tolist())[0]


def prepare(problem: SubsetProblem) -> Prepared:
    """Bring a problem to the core; what the problem shares with others is packed once."""
    packed, limits = problem.packed, problem.limits
    if packed.table is None:
        owner, n_predictors = problem.column_predictor, problem.n_predictors
        packed.table = core.Table(problem.X, problem.signs, owner, n_predictors)
    weights, data = packed.weighted
    if weights is not problem.weights:
        data = core.Data(packed.table, problem.weights)
        packed.weighted = problem.weights, data
    intervals = (limits.lower, limits.upper) if limits.has_intervals else ()
    made = core.Problem(data, problem.ridge, problem.loss.name, *intervals)
    return Prepared(made, core_limits(limits), data, data.rounding / sqrt(problem.ridge))


def core_limits(limits: Limits) -> Any:
    """Return the limits as the core takes them."""
    return core.Limits(
        limits.unit_costs,
        limits.unit_fees.tolist(),
        [fee.members for fee in limits.fees],
        limits.unit_budget if limits.budget < inf else inf,
        limits.max_features,
        limits.integral,
        limits.include,
        limits.exclude,
    )


def uncentred(
    intercept: float, values: Iterable[float], centres: Iterable[float]
) -> tuple[float, float]:
    """Return the intercept for columns that are not centred, and the rounding error of that."""
    pairs = [(value, centre) for value, centre in zip(values, centres, strict=True) if centre != 0]
    if not pairs or not isfinite(intercept + sum(abs(v * c) for v, c in pairs)):
        return float(intercept), 0.0
    exact = Fraction(intercept) - sum(Fraction(v) * Fraction(c) for v, c in pairs)
    return float(exact), float(exact - Fraction(float(exact)))
