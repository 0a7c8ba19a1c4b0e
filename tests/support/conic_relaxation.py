"""The continuous relaxation of the conic model, solved by Clarabel.

It is the relaxation of the paper, computed by an interior-point method that shares nothing with the
solver of this package: what the bounds of the search are checked against.
"""

from __future__ import annotations

from math import sqrt

import pytest
from scipy import sparse

from shortlist import SubsetProblem
from shortlist.conic.affine import Affine, combine, stack
from shortlist.conic.loss import Cone
from shortlist.conic.model import ConicModel, conic_model

_TOLERANCE = 1e-9


def solve_relaxation(problem: SubsetProblem) -> float:
    """Return the least objective when z and s may be fractions, to about 7 digits."""
    clarabel = pytest.importorskip("clarabel")
    model = conic_model(problem, scaled=True)
    at_most = model.rows_and_bounds()
    functions = stack([-at_most, _in_clarabels_order(model)], model.n_variables)
    shapes = {
        Cone.EXPONENTIAL: lambda size: clarabel.ExponentialConeT(),
        Cone.ROTATED: clarabel.SecondOrderConeT,
    }
    # Clarabel's form is A x + s = b with s in the cones.
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _TOLERANCE
    solver = clarabel.DefaultSolver(
        sparse.csc_array((model.n_variables, model.n_variables)),
        model.cost,
        sparse.csc_array(-functions.matrix),
        functions.offset,
        [clarabel.NonnegativeConeT(len(at_most)), *(shapes[k](size) for k, size in model.cones)],
        settings,
    )
    solution = solver.solve()
    if str(solution.status) not in ("Solved", "AlmostSolved"):
        raise RuntimeError(f"Clarabel ended with {solution.status}.")
    return float(solution.obj_val)


def _in_clarabels_order(model: ConicModel) -> Affine:
    """Return the cones' functions as Clarabel has them.

    Its exponential cone is reversed. Its second-order cone takes (a + b) / sqrt(2) and
    (a - b) / sqrt(2) in the place of the a and b of a rotated one.
    """
    entries: list[tuple[int, int, float]] = []
    first = 0
    half = 1.0 / sqrt(2.0)
    for kind, size in model.cones:
        a, b, last = first, first + 1, first + size
        if kind is Cone.EXPONENTIAL:
            entries += [(a, a + 2, 1.0), (b, b, 1.0), (a + 2, a, 1.0)]
        else:
            entries += [(a, a, half), (a, b, half), (b, a, half), (b, b, -half)]
            entries += [(i, i, 1.0) for i in range(first + 2, last)]
        first = last
    to, of, factor = zip(*entries, strict=True)
    n = len(model.conic)
    return combine(sparse.coo_array((factor, (to, of)), (n, n)), model.conic)
