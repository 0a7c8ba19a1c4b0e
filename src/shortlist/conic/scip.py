"""The conic model as SCIP takes it: nonlinear constraints, and bounds on all variables."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
from scipy import sparse

from ..errors import import_extra
from .affine import Affine, combine, stack
from .loss import Cone
from .model import ConicModel

# Known solutions stay well inside their bounds: SCIP has cut off better ones where they did not.
_MARGIN = 1.01
# Adds exp(-50) = 2e-22 to a loss.
_LEAST_EXPONENT = -50.0


def build_scip(model: ConicModel) -> tuple[Any, list[Any]]:
    """Return a `pyscipopt.Model` that says the same, and its variables in the model's order.

    A rotated cone is 2 a b >= ||c||^2. The exponential cones of the model have 1 as second
    coordinate: each becomes a >= exp(e) with a variable e >= c between bounds.
    Without them SCIP has met exp of numbers in the thousands, and called wrong solutions optimal.
    """
    pyscipopt = import_pyscipopt()
    scip = pyscipopt.Model("shortlist")
    scip.hideOutput()
    x = [
        scip.addVar(
            name,
            vtype="I" if model.integer[j] else "C",
            lb=model.lower[j] if np.isfinite(model.lower[j]) else None,
            ub=model.upper[j] if np.isfinite(model.upper[j]) else None,
        )
        for j, name in enumerate(model.names())
    ]
    scip.setObjective(pyscipopt.quicksum(model.cost[j] * x[j] for j in np.flatnonzero(model.cost)))
    for function in _expressions(model.rows, x):
        scip.addCons(function <= 0)
    coordinates = _expressions(model.conic, x)
    first = 0
    for kind, size in model.cones:
        a, b, *c = coordinates[first : first + size]
        if kind is Cone.EXPONENTIAL:
            exponent = scip.addVar(lb=_LEAST_EXPONENT, ub=model.largest_exponent)
            scip.addCons(c[0] <= exponent)
            scip.addCons(pyscipopt.exp(exponent) <= a)
        elif c:
            scip.addCons(pyscipopt.quicksum(value * value for value in c) <= 2 * a * b)
        first += size
    return scip, x


def with_bounds(model: ConicModel, objective: float, least: float) -> ConicModel:
    """Add bounds that hold for every solution that is not worse than a known objective.

    By how much it exceeds the least loss bounds r and so, by eq. 6 with z <= 1, theta. The loss
    bounds its variables and theta_0. The rows -largest z_g <= theta_n <= largest z_g follow too.
    They make theta_n = 0 if z_g = 0 within a solver's tolerance, where the cone alone leaves it the
    square root of that.

    Parameters
    ----------
    model : ConicModel
        The model.
    objective : float
        The objective of any affordable selection.
    least : float
        No loss is below it.

    Returns
    -------
    ConicModel
        The same with bounds on all variables.
    """
    blocks = model.blocks
    lower, upper = model.lower.copy(), model.upper.copy()
    to_lose = _MARGIN * (objective - least)
    lower[blocks["r"]], upper[blocks["r"]] = 0.0, to_lose / model.cost[blocks["r"]]
    largest = sqrt(2.0 * upper[blocks["r"]][0])
    lower[blocks["theta"]], upper[blocks["theta"]] = -largest, largest
    slopes = model.predictor.matrix[:, blocks["theta"]].toarray()
    farthest = largest * np.linalg.norm(slopes, axis=1)
    of_loss, largest_exponent = model.loss.bounds(to_lose, farthest)
    for name, (least_values, most_values) in of_loss.items():
        lower[blocks[name]], upper[blocks[name]] = least_values, most_values
    theta = model.block("theta")
    reach_of_z = combine(largest * sparse.eye_array(len(theta)), model.block("z")[model.owner])
    rows = stack([model.rows, theta - reach_of_z, -theta - reach_of_z], model.n_variables)
    return replace(model, lower=lower, upper=upper, rows=rows, largest_exponent=largest_exponent)


def import_pyscipopt() -> Any:
    """Return the package, or raise a sentence that names the extra to install."""
    return import_extra("pyscipopt", "scip", ", or use the backend 'native'")


def _expressions(functions: Affine, x: list[Any]) -> list[Any]:
    """Return functions as expressions of SCIP's variables."""
    quicksum = import_pyscipopt().quicksum
    matrix = functions.matrix
    rows = zip(matrix.indptr[:-1], matrix.indptr[1:], functions.offset, strict=True)
    return [
        quicksum(matrix.data[k] * x[matrix.indices[k]] for k in range(start, stop)) + offset
        for start, stop, offset in rows
    ]
