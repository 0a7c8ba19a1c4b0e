"""The conic model of Knauer and Rodner (2023), with the fees and groups of this package.

The paper's eq. 8, with the limits of eq. 7 and eq. 9, in this package's symbols: rows m with
weights w_m, columns n, predictors g with columns theta_g, fees f.

    minimise    sum_m w_m t_m + ridge sum_g r_g
    subject to  t_m >= loss(y_m, x_m' theta + theta_0), as `loss` has it                   (eq. 4)
                [z_g, r_g, theta_g]                          in the rotated quadratic cone (eq. 6)
                sum_g z_g <= max_features                                                  (eq. 7)
                sum_g c_g z_g + sum_f fee_f s_f <= budget                                  (eq. 9)
                z_g <= s_f                                   for every member g of fee f
                lower_n z_g <= theta_n <= upper_n z_g        for every column n of g with a limit
                z_g, s_f in {0, 1}

The exponential cone holds a, b, c with a >= b exp(c / b) and b > 0, and its closure; the rotated
quadratic cone a, b, c.. with 2 a b >= ||c||^2 and a, b >= 0 (eq. 3 and 5). A predictor that must be
bought has z_g = 1; one that must not, or that is not affordable next to those, has z_g = 0. Cox's
partial likelihood has terms in the place of rows, and no theta_0: `loss` has them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..arguments import Float, Int
from ..problem import SubsetProblem
from .affine import Affine, combine, constant, stack
from .loss import Cone, Loss, loss_of

_FAR = 1e3


@dataclass(frozen=True)
class ConicModel:
    """Minimise `cost @ x` over x within bounds, some whole numbers, subject to rows and cones.

    Attributes
    ----------
    cost : ndarray of shape (n_variables,)
        The objective.
    lower, upper : ndarray of shape (n_variables,)
        Bounds, infinite where there is none.
    integer : ndarray of shape (n_variables,), bool
        Which variables are whole numbers: z and s.
    blocks : dict from str to slice
        Where the variables theta, theta_0, t, those of the loss, r, z and s are.
    loss : Loss
        What holds t above the loss.
    predictor : Affine
        The functions u_m = x_m' theta + theta_0 of the rows that count.
    rows : Affine
        Functions that must not be positive.
    conic : Affine
        Functions that must lie in the cones, which take them in order.
    cones : tuple of (Cone, int)
        Kind and dimension of each cone.
    owner : ndarray of shape (n_columns,)
        The predictor of each column.
    scale : float
    shift : ndarray of shape (n_columns,)
        A column x of the problem is (x - shift) / scale in the model: theta is scale times the
        coefficients, theta_0 the intercept plus shift times the coefficients.
    middle : float
        By how much outcomes of the model, and so theta_0, are less than in the problem.
    largest_exponent : float
        Of the exponential cones.
    """

    cost: Float
    lower: Float
    upper: Float
    integer: NDArray[np.bool_]
    blocks: dict[str, slice]
    loss: Loss
    predictor: Affine
    rows: Affine
    conic: Affine
    cones: tuple[tuple[Cone, int], ...]
    owner: Int
    scale: float
    shift: Float
    middle: float
    largest_exponent: float = 0.0

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.cost)

    def block(self, name: str) -> Affine:
        """Return the variables of a block as functions."""
        return _block(self.blocks[name], self.n_variables)

    def rows_and_bounds(self) -> Affine:
        """Return the rows, then the bounds, as functions that must not be positive."""
        x = _block(slice(0, self.n_variables), self.n_variables)
        below, above = np.isfinite(self.lower), np.isfinite(self.upper)
        return stack(
            [
                self.rows,
                Affine(-x.matrix[below], self.lower[below]),
                Affine(x.matrix[above], -self.upper[above]),
            ],
            self.n_variables,
        )

    def names(self) -> list[str]:
        """Return a name for each variable: `theta_0`, and `z[3]` for the fourth of a block."""
        return [
            block if block == "theta_0" else f"{block}[{i}]"
            for block, place in self.blocks.items()
            for i in range(place.stop - place.start)
        ]

    def support_of(self, x: Float) -> tuple[int, ...]:
        """Return the predictors that a solution buys."""
        return tuple(np.flatnonzero(x[self.blocks["z"]] > 0.5).tolist())


def conic_model(problem: SubsetProblem, *, scaled: bool = False) -> ConicModel:
    """Write a problem as a conic model.

    Parameters
    ----------
    problem : SubsetProblem
        Data, prices and limits.
    scaled : bool
        Whether to scale by sqrt(ridge), so that the ridge is 1, and to centre columns and numbers,
        which moves theta_0 alone: the same model, for solvers whose tolerances are absolute.

    Returns
    -------
    ConicModel
        The model; rows of weight 0 are left out.

    Examples
    --------
    >>> import shortlist as sl
    >>> from shortlist.conic import conic_model
    >>> problem = sl.SubsetProblem([[0.0], [1.0], [2.0]], [0, 1, 1], ridge=0.1, max_features=1)
    >>> model = conic_model(problem)
    >>> model.names()[:3], len(model.cones)
    (['theta[0]', 'theta_0', 't[0]'], 7)
    """
    limits = problem.limits
    used = problem.response.at_risk(problem.weights)
    w, X, scale, shift = problem.weights[used], problem.X[used], 1.0, np.zeros(problem.n_columns)
    response, middle = problem.response.rows(used), 0.0
    if scaled:
        scale, shift = sqrt(problem.ridge), w / w.sum() @ X
        X = (X - shift) / scale
        if response.kind == "numbers":
            middle = float(w / w.sum() @ response.values)
    loss = loss_of(problem.family, response, w, middle)
    n_predictors, n_fees = problem.n_predictors, len(limits.fees)

    blocks = _consecutive(
        theta=problem.n_columns, theta_0=int(problem.family.has_intercept), **loss.sizes,
        r=n_predictors, z=n_predictors, s=n_fees,
    )  # fmt: skip
    n_variables = blocks["s"].stop
    of_blocks = {name: _block(place, n_variables) for name, place in blocks.items()}
    theta, theta_0, r, z, s = (of_blocks[name] for name in ("theta", "theta_0", "r", "z", "s"))

    # eq. 4: t_m >= loss of the row
    u = combine(X, theta) + combine(np.ones((len(X), len(theta_0))), theta_0)
    rows, losses = loss.constraints(u, of_blocks)
    # eq. 6: z_g r_g >= ||theta_g||^2 / 2
    columns = [np.flatnonzero(problem.column_predictor == g) for g in range(n_predictors)]
    perspective = [
        stack([z[[g]], r[[g]], theta[members]], n_variables) for g, members in enumerate(columns)
    ]
    rows += _limits(problem, z, s)

    # limits on coefficients, which z makes as tight as the relaxation can have them; those far
    # beyond any optimum, which is at most the loss of no model, would only be large numbers
    owned = z[problem.column_predictor]
    null = np.full(len(X), problem.family.null_intercept(response.values, w))
    most_to_gain = problem.family.of_rows(response, w).loss(null) - problem.scale.least
    reach = _FAR * sqrt(2.0 * most_to_gain / problem.ridge)
    for sign, largest in ((1.0, limits.upper), (-1.0, -limits.lower)):
        given = np.flatnonzero(largest < reach)
        most = combine(sparse.diags_array(scale * largest[given]), owned[given])
        rows.append(combine(sign * sparse.eye_array(len(given)), theta[given]) - most)

    model = ConicModel(
        cost=np.zeros(n_variables),
        lower=np.full(n_variables, -inf),
        upper=np.full(n_variables, inf),
        integer=np.zeros(n_variables, dtype=bool),
        blocks=blocks,
        loss=loss,
        predictor=u,
        rows=stack(rows, n_variables),
        conic=stack([*(part for _, part in losses), *perspective], n_variables),
        cones=(
            *((kind, 3) for kind, part in losses for _ in range(len(part) // 3)),
            *[(Cone.ROTATED, 2 + len(members)) for members in columns],
        ),
        owner=problem.column_predictor,
        scale=scale,
        shift=shift,
        middle=middle,
    )
    for name, costs in loss.costs.items():
        model.cost[blocks[name]] = costs
    model.cost[blocks["theta"]] = loss.of_events @ X
    model.cost[blocks["r"]] = problem.ridge / scale**2
    for block in ("r", *loss.positive):
        model.lower[blocks[block]] = 0.0
    for binary in (blocks["z"], blocks["s"]):
        model.lower[binary], model.upper[binary] = 0.0, 1.0
        model.integer[binary] = True
    model.lower[blocks["z"]][list(limits.include)] = 1.0
    for g in range(n_predictors):
        if not limits.is_affordable(tuple({*limits.include, g})):
            model.upper[blocks["z"]][g] = 0.0
    return model


def _limits(problem: SubsetProblem, z: Affine, s: Affine) -> list[Affine]:
    limits, n_variables, rows = problem.limits, z.matrix.shape[1], []
    # eq. 7
    if limits.max_features < problem.n_predictors:
        limit = constant(limits.max_features, 1, n_variables)
        rows.append(combine(np.ones((1, len(z))), z) - limit)
    # eq. 9, with the fees
    if limits.budget < inf:
        costs, fees, budget = limits.prices.row()
        limit = constant(budget, 1, n_variables)
        rows.append(combine(costs[np.newaxis], z) + combine(fees[np.newaxis], s) - limit)
        rows += [z[[g]] - s[[f]] for f, fee in enumerate(limits.fees) for g in fee.members]
    return rows


def point_of(
    problem: SubsetProblem,
    model: ConicModel,
    support: tuple[int, ...],
    coef: Float,
    intercept: float,
) -> Float:
    """Return the variables of a model that say the same as the coefficients of a selection.

    Their cost is the objective of these coefficients.
    """
    theta = model.scale * coef
    intercept_there = intercept + float(model.shift @ coef) - model.middle
    x = np.zeros(model.n_variables)

    def fill(**values: Any) -> None:
        for name, value in values.items():
            x[model.blocks[name]] = value

    fill(
        theta=theta,
        theta_0=intercept_there,
        r=0.5 * np.bincount(model.owner, theta**2, problem.n_predictors),
        z=np.isin(np.arange(problem.n_predictors), support),
        s=[not set(support).isdisjoint(fee.members) for fee in problem.limits.fees],
    )
    fill(**model.loss.values(model.predictor.matrix @ x + model.predictor.offset))
    return x


def _consecutive(**sizes: int) -> dict[str, slice]:
    blocks, start = {}, 0
    for name, size in sizes.items():
        blocks[name] = slice(start, start + size)
        start += size
    return blocks


def _block(place: slice, n_variables: int) -> Affine:
    size = place.stop - place.start
    matrix = sparse.csr_array(
        (np.ones(size), (np.arange(size), np.arange(place.start, place.stop))), (size, n_variables)
    )
    return Affine(matrix, np.zeros(size))
