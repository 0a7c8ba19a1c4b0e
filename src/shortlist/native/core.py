"""The compiled core, in the variant that this processor can run, and problems as it takes them."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from importlib import import_module
from math import inf, isfinite, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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

FREE, IN, OUT = 0, 1, 2  # decisions about a predictor, as in core/data.hpp


class Prepared(NamedTuple):
    """A problem as the core takes it."""

    problem: Any  # core.Problem
    limits: Any  # core.Limits
    data: Any  # core.Data
    centre: float  # what was taken off the outcomes
    distance: float  # how far from zero a column is, or the outcomes are, in spreads
    rounding: float  # of a bound, at most: see `confirmation`

    def model(self, coef: Float, intercept: float) -> tuple[Float, float]:
        """Return coefficients with the intercept for columns that are not centred."""
        intercept = float(intercept)
        if self.data.distance > 0.0:
            intercept = uncentred(intercept, coef.tolist(), self.data.centre.tolist())[0]
        return coef, intercept + self.centre


def prepare(problem: SubsetProblem) -> Prepared:
    """Bring a problem to the core; what the problem shares with others is packed once."""
    packed, limits = problem.packed, problem.limits
    if packed.table is None:
        owner, n_predictors = problem.column_predictor, problem.n_predictors
        factor, value, times = problem.response.for_core
        packed.table = core.Table(problem.X, factor, value, owner, n_predictors, *times)
    weights, data = packed.weighted
    if weights is not problem.weights:
        data = core.Data(packed.table, problem.weights)
        packed.weighted = problem.weights, data
    intervals = (limits.lower, limits.upper) if limits.has_intervals else ()
    made = core.Problem(data, problem.ridge, problem.family.name, *intervals)
    of_slopes = float(data.rounding) / sqrt(problem.ridge)
    rounding = rounding_of(problem, of_slopes, made.null_objective)
    centre, distance = problem.response.centre, data.distance
    if centre != 0.0:
        distance = max(distance, abs(centre) / float(np.ptp(problem.response.values)))
    return Prepared(made, core_limits(limits), data, centre, distance, rounding)


def rounding_of(problem: SubsetProblem, of_slopes: float, null_objective: float) -> float:
    """Return what rounding may change a bound by, about; see `confirmation`.

    The rounding of slopes is given for rows with an a of at most about 1, as labels have them. Else
    the square of a row's a is about twice its loss, times its mean if it is a count. All losses are
    at most the total loss of the model without coefficients.
    """
    if problem.response.kind == "labels":
        return of_slopes
    if problem.response.kind == "times":  # given for a gain of 1/2
        return of_slopes * sqrt(2.0 * max(null_objective - problem.scale.least, 0.0))
    weights, y = problem.weights, problem.response.for_core.value
    share = 2.0 * null_objective / float(weights.sum())
    if problem.response.kind == "numbers":
        of_entropy = sqrt(2.0 * null_objective * float(weights @ y**2))
    else:
        share *= sqrt(float(weights @ y / weights.sum()))
        of_entropy = float(weights @ (y * (1.0 + np.abs(np.log(np.maximum(y, 1.0))))))
    return of_slopes * share + 2.0**-53 * of_entropy


def core_limits(limits: Limits) -> Any:
    """Return the limits as the core takes them."""
    n = len(limits.costs)
    if limits.budget < inf:
        words = _in_words([amount for part in limits.prices.relevant for amount in part])
    else:  # no price matters
        words = np.zeros((n + len(limits.fees) + 1, 4), dtype=np.uint64)
    return core.Limits(
        words[:n],
        words[n:-1],
        [fee.members for fee in limits.fees],
        words[-1:] if limits.budget < inf else None,
        limits.max_features,
        limits.include,
        limits.exclude,
    )


def _in_words(amounts: list[int]) -> NDArray[np.uint64]:
    """Return whole numbers in 256 bits: four words each, the lowest first."""
    if sum(amounts) < 2**62:
        small = np.zeros((len(amounts), 4), dtype=np.uint64)
        small[:, 0] = amounts
        return small
    words = b"".join(amount.to_bytes(32, "little") for amount in amounts)
    return np.frombuffer(words, dtype="<u8").reshape(-1, 4)


def uncentred(
    intercept: float, values: Iterable[float], centres: Iterable[float]
) -> tuple[float, float]:
    """Return the intercept for columns that are not centred, and the rounding error of that."""
    pairs = [(value, centre) for value, centre in zip(values, centres, strict=True) if centre != 0]
    if not pairs or not isfinite(intercept + sum(abs(v * c) for v, c in pairs)):
        return float(intercept), 0.0
    exact = Fraction(intercept) - sum(Fraction(v) * Fraction(c) for v, c in pairs)
    return float(exact), float(exact - Fraction(float(exact)))
