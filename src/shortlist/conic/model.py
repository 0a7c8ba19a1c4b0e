"""The conic model of Knauer and Rodner (2023), with the fees and groups of this package.

The paper's eq. 8, with the limits of eq. 7 and eq. 9, in this package's symbols: rows m with
weights w_m, columns n, predictors g with columns theta_g, fees f.

    minimise    sum_m w_m t_m + ridge sum_g r_g
    subject to  t_m >= loss(y_m, x_m' theta + theta_0), by the rows of its loss            (eq. 4)
                [z_g, r_g, theta_g]                          in the rotated quadratic cone (eq. 6)
                sum_g z_g <= max_features                                                  (eq. 7)
                sum_g c_g z_g + sum_f fee_f s_f <= budget                                  (eq. 9)
                z_g <= s_f                                   for every member g of fee f
                lower_n z_g <= theta_n <= upper_n z_g        for every column n of g with a limit
                z_g, s_f in {0, 1}

A row of the data with u_m = x_m' theta + theta_0, or the margin y_m u_m if y_m is a label, has
t_m >= loss as

    logistic        [u_m, 1, -margin_m - t_m] and [v_m, 1, -t_m] in the exponential cone,
                    u_m + v_m <= 1                                               (the paper's eq. 4)
    squared_hinge   [t_m, 1/2, e_m] in the rotated quadratic cone, e_m >= 1 - margin_m, e_m >= 0
    hinge           t_m >= 1 - margin_m, t_m >= 0
    squared_error   [t_m, 1, u_m - y_m] in the rotated quadratic cone
    poisson         [e_m, 1, u_m] in the exponential cone, t_m >= e_m - y_m u_m - y_m + y_m log y_m

so that the hinge has linear rows alone.

The exponential cone holds a, b, c with a >= b exp(c / b) and b > 0, and its closure; the rotated
quadratic cone a, b, c.. with 2 a b >= ||c||^2 and a, b >= 0 (eq. 3 and 5). A predictor that must be
bought has z_g = 1; one that must not, or that is not affordable next to those, has z_g = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import xlogy

from ..arguments import Float, Int
from ..problem import SubsetProblem
from .affine import Affine, combine, constant, interleave, stack

_FAR = 1e3


class Cone(Enum):
    """The kinds of cone, with the order of coordinates that MOSEK and the CBF format use too."""

    EXPONENTIAL = "exponential"
    ROTATED = "rotated quadratic"


@dataclass(frozen=True)
class LossRows:
    """The variables, rows and cones of a loss, for each row of the data; it names what it has.

    Attributes
    ----------
    reach : callable
        The least and the largest margin, given outcomes and the largest t.
    values : callable
        The variables beside t, a block of each name, as functions of margins and losses; u takes
        the place of the margin where outcomes are not labels.
    positive : tuple of str
        The blocks that must not be negative.
    rows : callable
        Functions of outcomes, margin, t and these variables that must not be positive.
    cones : callable
        Functions that must lie in cones, a row of the data after the other, with the kind of each
        stack; all cones have three dimensions.
    largest : callable
        The largest value of each block, given outcomes and the largest t.
    """

    reach: Callable[[Float, Float], tuple[Float, Float]]
    values: dict[str, Callable[[Float, Float], Float]] = field(default_factory=dict)
    positive: tuple[str, ...] = ()
    rows: Callable[..., list[Affine]] = lambda *functions: []
    cones: Callable[..., list[tuple[Cone, Affine]]] = lambda *functions: []
    largest: Callable[[Float, Float], dict[str, Float]] = lambda y, t: {}


def _constant(value: float, like: Affine) -> Affine:
    return constant(value, len(like), like.matrix.shape[1])


def _logistic_cones(
    y: Float, margin: Affine, t: Affine, u: Affine, v: Affine
) -> list[tuple[Cone, Affine]]:
    one = _constant(1.0, t)
    return [
        (Cone.EXPONENTIAL, interleave(u, one, -margin - t)),
        (Cone.EXPONENTIAL, interleave(v, one, -t)),
    ]


def _poisson_rows(y: Float, u: Affine, t: Affine, mean: Affine) -> list[Affine]:
    least = Affine(_constant(0.0, t).matrix, y - xlogy(y, y))
    return [mean - combine(sparse.diags_array(y), u) - least - t]


def _poisson_reach(y: Float, t: Float) -> tuple[Float, Float]:
    """Return bounds of u: for y > 0, v = u - log y has exp(v) - 1 - v <= t / y."""
    some = np.where(y > 0, y, 1.0)
    share = t / some
    highest = np.sqrt(2.0 * share)
    for _ in range(50):  # from above to where exp(v) is 1 + t / y + v
        highest = np.log1p(share + highest)
    with np.errstate(divide="ignore"):
        return (
            np.where(y > 0, np.log(some) - 1.0 - share, -inf),
            np.where(y > 0, np.log(some) + highest, np.log(t)),
        )


def _squared_error_reach(y: Float, t: Float) -> tuple[Float, Float]:
    return y - np.sqrt(2.0 * t), y + np.sqrt(2.0 * t)


LOSS_ROWS = {
    "logistic": LossRows(
        values={
            "u": lambda margins, losses: np.exp(-margins - losses),
            "v": lambda margins, losses: np.exp(-losses),
        },
        rows=lambda y, margin, t, u, v: [u + v - _constant(1.0, t)],
        cones=_logistic_cones,
        largest=lambda y, t: {"u": np.ones_like(t), "v": np.ones_like(t)},
        reach=lambda y, t: (-t, np.full_like(t, inf)),
    ),
    "squared_hinge": LossRows(
        values={"e": lambda margins, losses: np.sqrt(losses)},
        positive=("e",),
        rows=lambda y, margin, t, e: [_constant(1.0, t) - margin - e],
        cones=lambda y, margin, t, e: [(Cone.ROTATED, interleave(t, _constant(0.5, t), e))],
        largest=lambda y, t: {"e": np.sqrt(t)},
        reach=lambda y, t: (-np.sqrt(t), np.full_like(t, inf)),
    ),
    "hinge": LossRows(
        positive=("t",),
        rows=lambda y, margin, t: [_constant(1.0, t) - margin - t],
        reach=lambda y, t: (-t, np.full_like(t, inf)),
    ),
    "squared_error": LossRows(
        cones=lambda y, u, t: [
            (Cone.ROTATED, interleave(t, _constant(1.0, t), Affine(u.matrix, u.offset - y)))
        ],
        reach=_squared_error_reach,
    ),
    "poisson": LossRows(
        values={"mean": lambda u, losses: np.exp(u)},
        rows=_poisson_rows,
        cones=lambda y, u, t, mean: [(Cone.EXPONENTIAL, interleave(mean, _constant(1.0, t), u))],
        largest=lambda y, t: {"mean": np.exp(_poisson_reach(y, t)[1])},
        reach=_poisson_reach,
    ),
}


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
        Where the variables theta, theta_0, t, the loss's own, r, z and s are.
    loss_rows : LossRows
        The rows and cones that hold t above the loss.
    outcomes : ndarray of shape (n_rows,)
        The y_m.
    margin : Affine
        The functions u_m = x_m' theta + theta_0, times y_m if that is a label.
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
    loss_rows: LossRows
    outcomes: Float
    margin: Affine
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
    used = problem.weights > 0
    y, w = problem.response.values[used], problem.weights[used]
    X, scale, shift, middle = problem.X[used], 1.0, np.zeros(problem.n_columns), 0.0
    if scaled:
        scale, shift = sqrt(problem.ridge), w / w.sum() @ X
        X = (X - shift) / scale
        if problem.response.kind == "numbers":
            middle = float(w / w.sum() @ y)
            y = y - middle
    n_rows, n_predictors, n_fees = len(y), problem.n_predictors, len(limits.fees)

    loss_rows = LOSS_ROWS[problem.family.name]

    blocks = _consecutive(
        theta=problem.n_columns, theta_0=1, t=n_rows, **dict.fromkeys(loss_rows.values, n_rows),
        r=n_predictors, z=n_predictors, s=n_fees,
    )  # fmt: skip
    n_variables = blocks["s"].stop
    theta, theta_0, t, *others, r, z, s = (_block(place, n_variables) for place in blocks.values())

    # eq. 4: t_m >= loss of the row
    factor = _factor(problem)[used, np.newaxis]
    margin = combine(factor * X, theta) + combine(factor, theta_0)
    rows, losses = loss_rows.rows(y, margin, t, *others), loss_rows.cones(y, margin, t, *others)
    # eq. 6: z_g r_g >= ||theta_g||^2 / 2
    columns = [np.flatnonzero(problem.column_predictor == g) for g in range(n_predictors)]
    perspective = [
        stack([z[[g]], r[[g]], theta[members]], n_variables) for g, members in enumerate(columns)
    ]
    # eq. 7
    if limits.max_features < n_predictors:
        limit = constant(limits.max_features, 1, n_variables)
        rows.append(combine(np.ones((1, n_predictors)), z) - limit)
    # eq. 9, with the fees
    if limits.budget < inf:
        costs, fees, budget = limits.prices.row()
        limit = constant(budget, 1, n_variables)
        rows.append(combine(costs[np.newaxis], z) + combine(fees[np.newaxis], s) - limit)
        rows += [z[[g]] - s[[f]] for f, fee in enumerate(limits.fees) for g in fee.members]

    # limits on coefficients, which z makes as tight as the relaxation can have them; those far
    # beyond any optimum, which is at most the loss of no model, would only be large numbers
    owned = z[problem.column_predictor]
    reach = _FAR * sqrt(2.0 * float(problem.family.value(y, np.zeros(n_rows)) @ w) / problem.ridge)
    for sign, largest in ((1.0, problem.limits.upper), (-1.0, -problem.limits.lower)):
        given = np.flatnonzero(largest < reach)
        most = combine(sparse.diags_array(scale * largest[given]), owned[given])
        rows.append(combine(sign * sparse.eye_array(len(given)), theta[given]) - most)

    model = ConicModel(
        cost=np.zeros(n_variables),
        lower=np.full(n_variables, -inf),
        upper=np.full(n_variables, inf),
        integer=np.zeros(n_variables, dtype=bool),
        blocks=blocks,
        loss_rows=loss_rows,
        outcomes=y,
        margin=margin,
        rows=stack(rows, n_variables),
        conic=stack([*(part for _, part in losses), *perspective], n_variables),
        cones=(
            *((kind, 3) for kind, _ in losses for _ in range(n_rows)),
            *[(Cone.ROTATED, 2 + len(members)) for members in columns],
        ),
        owner=problem.column_predictor,
        scale=scale,
        shift=shift,
        middle=middle,
    )
    model.cost[blocks["t"]] = w
    model.cost[blocks["r"]] = problem.ridge / scale**2
    for block in ("r", *loss_rows.positive):
        model.lower[blocks[block]] = 0.0
    for binary in (blocks["z"], blocks["s"]):
        model.lower[binary], model.upper[binary] = 0.0, 1.0
        model.integer[binary] = True
    model.lower[blocks["z"]][list(limits.include)] = 1.0
    for g in range(n_predictors):
        if not limits.is_affordable(tuple({*limits.include, g})):
            model.upper[blocks["z"]][g] = 0.0
    return model


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
    used = problem.weights > 0
    u = problem.decision_function(coef, intercept)[used]
    losses = problem.family.value(problem.response.values[used], u)
    margins = _factor(problem)[used] * (u - model.middle)
    theta = model.scale * coef
    values: dict[str, Any] = {
        "theta": theta,
        "theta_0": intercept + model.shift @ coef - model.middle,
        "t": losses,
        **{name: of(margins, losses) for name, of in model.loss_rows.values.items()},
        "r": 0.5 * np.bincount(model.owner, theta**2, problem.n_predictors),
        "z": np.isin(np.arange(problem.n_predictors), support),
        "s": [not set(support).isdisjoint(fee.members) for fee in problem.limits.fees],
    }
    x = np.zeros(model.n_variables)
    for name, value in values.items():
        x[model.blocks[name]] = value
    return x


def _factor(problem: SubsetProblem) -> Float:
    """Return what makes margins of linear predictors: labels, or 1."""
    if problem.response.kind == "labels":
        return -problem.response.for_core[0]
    return np.ones(problem.n_rows)


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
