"""El0ps on a number of columns: its branch and bound, with its penalty matched to the number.

It penalises the number of columns instead of limiting it. A penalty finds a vertex of the convex
hull of (number, best loss), and a number between two vertices is not found by any: the answer then
is the next smaller vertex, with the status `between_penalties`.

mpi4py, which it would import, is neither installed nor needed in one process.
"""

from functools import partial
from time import process_time

import numpy as np
import pybnb
from el0ps.compilation import CompilableClass
from el0ps.datafit import BaseDatafit
from el0ps.penalty import L2norm
from el0ps.solver import BnbSolver, Status
from el0ps.utils import compute_lmbd_max
from numba import float64
from serve import serve

pybnb.Solver = partial(pybnb.Solver, comm=None)
GAP = 1e-6


class FreeIntercept(CompilableClass, BaseDatafit):
    """The logistic loss at the best intercept: El0ps has none of its own.

    A constant column instead would be penalised, and made it 1.3 to 6 times slower.
    """

    def __init__(self, y):
        self.y = y
        self.intercept = 0.0

    def __str__(self):
        return "FreeIntercept"

    def get_spec(self):
        """Types of the attributes, for numba."""
        return (("y", float64[::1]), ("intercept", float64))

    def params_to_dict(self):
        """Arguments of a compiled copy."""
        return {"y": self.y}

    def residuals(self, w):
        """Newton's method from the last intercept; one step suffices most of the time."""
        a = 1.0 / (1.0 + np.exp(self.y * (w + self.intercept)))
        for _ in range(50):
            slope = np.dot(a, self.y)
            if abs(slope) <= 1e-12 * len(w):
                break
            step = slope / max(np.dot(a, 1.0 - a), 1e-12)
            self.intercept += min(max(step, -1.0), 1.0)
            a = 1.0 / (1.0 + np.exp(self.y * (w + self.intercept)))
        return a

    def value(self, w):
        """The loss of the margins w at the best intercept."""
        self.residuals(w)
        margins = self.y * (w + self.intercept)
        return np.sum(np.maximum(-margins, 0.0) + np.log1p(np.exp(-np.abs(margins))))

    def conjugate(self, w):
        """The conjugate, called with residuals only: they are orthogonal to the constant."""
        a = -w * self.y
        if not np.all((a > 0.0) & (a < 1.0)):
            return np.inf
        return np.dot(a, np.log(a)) + np.dot(1.0 - a, np.log(1.0 - a))

    def gradient(self, w):
        """The gradient in w; the intercept is where it sums to 0."""
        return -self.y * self.residuals(w)

    def gradient_lipschitz_constant(self):
        """That of the logistic loss."""
        return 0.25


def solve(X, signs, request):
    """Halve the penalty until enough columns are bought, then go along the hull."""
    started = process_time()
    k = request["max_features"]
    A = np.asfortranarray(X - X.mean(axis=0))  # changes nothing but the intercept, and is faster
    datafit, penalty = FreeIntercept(signs), L2norm(request["ridge"] / 2.0)
    nodes, best = 0, np.zeros(X.shape[1])

    def run(weight):
        left = request["time_limit"] - (process_time() - started)
        solver = BnbSolver(relative_gap=GAP, time_limit=max(left, 0.0))
        solver.solver._disp.clock = process_time  # the limit is one of CPU time
        result = solver.solve(datafit, penalty, A, weight)
        return result, np.count_nonzero(result.x)

    def loss(result, weight, size):
        return result.objective_value - weight * size

    few, few_loss = 0, datafit.value(np.zeros(len(signs)))
    many, many_loss = None, None
    weight = 0.5 * compute_lmbd_max(datafit, penalty, A)
    status = "between_penalties"
    while True:
        result, size = run(weight)
        nodes += int(result.iter_count)
        if size <= k and result.status == Status.OPTIMAL:
            best = result.x
        if result.status != Status.OPTIMAL:
            status = "time_limit"
            break
        if size == k:
            status = "optimal"
            break
        if size < k and (many is None or size > few):
            few, few_loss = size, loss(result, weight, size)
        elif size > k and (many is None or size < many):
            many, many_loss = size, loss(result, weight, size)
        else:
            break  # no vertex between the two
        if many is None:
            if size == X.shape[1] or weight < 1e-9:
                break
            weight *= 0.5
        else:
            weight = (few_loss - many_loss) / (many - few)
    return {"support": np.flatnonzero(best).tolist(), "status": status, "nodes": nodes}


if __name__ == "__main__":
    serve(solve)
