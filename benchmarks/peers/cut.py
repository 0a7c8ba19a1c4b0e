"""The cuts of outer approximation: tangents of the best loss as a function of the selection.

For z in [0, 1]^G, f(z) = max over a of sum_m w_m H(a_m) - sum_g z_g v_g(a), with the a, H and v of
`docs/method.md`. As a maximum of functions that are linear in z it is convex, and each a gives

    f(z) >= sum_m w_m H(a_m) - sum_g z_g v_g(a)       for all z,

a cut that is tight where a is best. This is the method of Bertsimas, Pauphilet and Van Parys,
"Sparse classification: a scalable discrete optimization perspective" (2021).
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import shortlist as sl
from shortlist.backends.support_fit import SupportFits, fit_hinge

Float = NDArray[np.float64]

GAP = 1e-6  # between the best loss found and the bound, at which all of the methods end
SMALLEST_VIOLATION = 1e-7  # relative, of a cut at a selection
FRACTIONAL_VIOLATION = 1e-3  # relative, of a cut at a fractional point
MAX_ROUNDS = 3  # of cuts at a fractional node below the root


class Cut(NamedTuple):
    """f(z) >= constant - slopes @ z, with equality at the point that it was made for."""

    constant: float
    slopes: Float


class Tangents:
    """Makes cuts of one problem."""

    def __init__(self, problem: sl.SubsetProblem) -> None:
        self.problem = problem

    def at(self, z: Float) -> Cut:
        """Return the cut at a point: a fit in which column n is multiplied by sqrt(z_g(n))."""
        problem = self.problem
        z = np.where(z > 1e-9, z, 0.0)
        factor = np.sqrt(z[problem.column_predictor])
        family, y, weights = problem.family, problem.response.values, problem.weights
        if family.is_smoothed:  # the fit itself knows the a of its optimum
            X = (problem.X * factor)[:, factor > 0]
            a = -y * fit_hinge(X, y, weights, problem.ridge)[1]
        else:
            scaled = sl.SubsetProblem(
                problem.X * factor, y, ridge=problem.ridge, sample_weight=weights,
                loss=family.name,
            )  # fmt: skip
            model, _ = SupportFits(scaled).fit(tuple(np.flatnonzero(factor).tolist()))
            scores = scaled.decision_function(model.coef, model.intercept)
            a = family.slope(y, scores, 0.0)
        a = family.feasible(y, a, weights)
        slopes = problem.X.T @ (weights * a)
        values = np.bincount(problem.column_predictor, slopes**2, problem.n_predictors)
        return Cut(float(weights @ family.entropy(y, a)), values / (2.0 * problem.ridge))


def linear_rows(problem: sl.SubsetProblem) -> tuple[Float, Float, Float, Float]:
    """Return what z and the paid fees s must keep: rows @ [z, s] <= limits, and bounds.

    The order is rows, limits, lower and upper bounds.
    """
    constraints = problem.limits
    n, n_fees = problem.n_predictors, len(constraints.fees)
    rows = [np.concatenate([np.ones(n), np.zeros(n_fees)])]
    limits = [float(constraints.max_features)]
    if constraints.budget < inf:
        *prices, budget = constraints.prices.row()
        rows.append(np.concatenate(prices))
        limits.append(budget)
    for f, fee in enumerate(constraints.fees):
        for g in fee.members:
            row = np.zeros(n + n_fees)
            row[g], row[n + f] = 1.0, -1.0
            rows.append(row)
            limits.append(0.0)
    lower, upper = np.zeros(n + n_fees), np.ones(n + n_fees)
    lower[list(constraints.include)] = 1.0
    for g in range(n):
        if not constraints.is_affordable(tuple({*constraints.include, g})):
            upper[g] = 0.0
    return np.array(rows), np.array(limits), lower, upper
