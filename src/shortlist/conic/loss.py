"""The loss of a conic model: its variables, rows and cones, what they cost, and their bounds.

A row of the data with u_m = x_m' theta + theta_0, or the margin y_m u_m if y_m is a label, has
t_m >= loss as

    logistic        [u_m, 1, -margin_m - t_m] and [v_m, 1, -t_m] in the exponential cone,
                    u_m + v_m <= 1                                               (the paper's eq. 4)
    squared_hinge   [t_m, 1/2, e_m] in the rotated quadratic cone, e_m >= 1 - margin_m, e_m >= 0
    hinge           t_m >= 1 - margin_m, t_m >= 0
    squared_error   [t_m, 1, u_m - y_m] in the rotated quadratic cone
    poisson         [e_m, 1, u_m] in the exponential cone, t_m >= e_m - y_m u_m - y_m + y_m log y_m

so that the hinge has linear rows alone.

Cox's partial likelihood has risk sets that contain each other, so each is written with the one
before it, and there are about as many cones as rows of the data and events, not as pairs of them.
A t_i is at least the logarithm of a sum over its members, which are rows and other t:

    t_i >= log sum_j exp(v_j + b_j)     as     [p_j, 1, v_j + b_j - t_i] in the exponential cone,
                                               sum_j p_j <= 1

A time at which one row has the event, or any with Breslow's rule, has one t, for all at risk: the t
of the time before and the rows that come in. With Efron's rule n events have one t of their own,
those at risk without the event another, and the n terms add the first, with b = log(1 - l / n), to
the second. A term costs its weight, and the linear predictors of events are taken off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from itertools import chain, compress
from math import inf, log1p
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse
from scipy.special import logsumexp, xlogy

from ..arguments import Float
from ..event_times import PartialLikelihood, Survival
from ..families import Family
from ..response import Response
from .affine import Affine, combine, constant, interleave, stack

Bounds = dict[str, tuple[Any, Any]]


class Cone(Enum):
    """The kinds of cone, with the order of coordinates that MOSEK and the CBF format use too."""

    EXPONENTIAL = "exponential"
    ROTATED = "rotated quadratic"


class Constraints(NamedTuple):
    """Functions that must not be positive, and stacks of cones of three dimensions."""

    rows: list[Affine]
    cones: list[tuple[Cone, Affine]]


class Loss(Protocol):
    """The variables that hold a loss from below, in blocks.

    Attributes
    ----------
    sizes : dict from str to int
        The variables of each block.
    costs : dict from str to ndarray
        What variables of a block cost; the others cost nothing.
    positive : tuple of str
        The blocks that must not be negative.
    of_events : ndarray of shape (n_rows,)
        What the linear predictor of each row costs.
    sensitivity : float
        By how much the loss may be too low, per violation of each constraint.
    """

    sizes: dict[str, int]
    costs: dict[str, Float]
    positive: tuple[str, ...]
    of_events: Float
    sensitivity: float

    def constraints(self, u: Affine, variables: dict[str, Affine]) -> Constraints:
        """Return what holds them above the loss of the linear predictors u."""

    def values(self, u: Float) -> dict[str, Float]:
        """Return the variables at some linear predictors."""

    def bounds(self, objective: float, farthest: Float) -> tuple[Bounds, float]:
        """Return bounds of the variables and of theta_0, and of exponents from above.

        The loss is at most the objective, and |u - theta_0| at most `farthest`.
        """


@dataclass(frozen=True)
class RowForm:
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


ROW_FORMS = {
    "logistic": RowForm(
        values={
            "u": lambda margins, losses: np.exp(-margins - losses),
            "v": lambda margins, losses: np.exp(-losses),
        },
        rows=lambda y, margin, t, u, v: [u + v - _constant(1.0, t)],
        cones=_logistic_cones,
        largest=lambda y, t: {"u": np.ones_like(t), "v": np.ones_like(t)},
        reach=lambda y, t: (-t, np.full_like(t, inf)),
    ),
    "squared_hinge": RowForm(
        values={"e": lambda margins, losses: np.sqrt(losses)},
        positive=("e",),
        rows=lambda y, margin, t, e: [_constant(1.0, t) - margin - e],
        cones=lambda y, margin, t, e: [(Cone.ROTATED, interleave(t, _constant(0.5, t), e))],
        largest=lambda y, t: {"e": np.sqrt(t)},
        reach=lambda y, t: (-np.sqrt(t), np.full_like(t, inf)),
    ),
    "hinge": RowForm(
        positive=("t",),
        rows=lambda y, margin, t: [_constant(1.0, t) - margin - t],
        reach=lambda y, t: (-t, np.full_like(t, inf)),
    ),
    "squared_error": RowForm(
        cones=lambda y, u, t: [
            (Cone.ROTATED, interleave(t, _constant(1.0, t), Affine(u.matrix, u.offset - y)))
        ],
        reach=_squared_error_reach,
    ),
    "poisson": RowForm(
        values={"mean": lambda u, losses: np.exp(u)},
        rows=_poisson_rows,
        cones=lambda y, u, t, mean: [(Cone.EXPONENTIAL, interleave(mean, _constant(1.0, t), u))],
        largest=lambda y, t: {"mean": np.exp(_poisson_reach(y, t)[1])},
        reach=_poisson_reach,
    ),
}


class RowLosses:
    """The losses of rows that are not coupled, t_m for each: a `Loss`."""

    def __init__(self, family: Family, kind: str, outcomes: Float, weights: Float) -> None:
        self.family, self.outcomes, self.form = family, outcomes, ROW_FORMS[family.name]
        #: What makes margins of linear predictors.
        self.factor = outcomes if kind == "labels" else np.ones(len(outcomes))
        self.sizes = dict.fromkeys(("t", *self.form.values), len(outcomes))
        self.costs, self.positive = {"t": weights}, self.form.positive
        self.of_events, self.sensitivity = np.zeros(len(outcomes)), float(weights.sum())

    def constraints(self, u: Affine, variables: dict[str, Affine]) -> Constraints:
        """Return what holds the variables above the loss."""
        margin = combine(sparse.diags_array(self.factor), u)
        blocks = [variables[name] for name in self.sizes]
        of_rows = (self.outcomes, margin, *blocks)
        return Constraints(self.form.rows(*of_rows), self.form.cones(*of_rows))

    def values(self, u: Float) -> dict[str, Float]:
        """Return the variables at some linear predictors."""
        losses = self.family.value(self.outcomes, u)
        others = {name: of(self.factor * u, losses) for name, of in self.form.values.items()}
        return {"t": losses, **others}

    def bounds(self, objective: float, farthest: Float) -> tuple[Bounds, float]:
        """Return bounds of the variables and of theta_0, and of exponents from above."""
        largest = objective / self.costs["t"]
        most = self.form.largest(self.outcomes, largest)
        least_margin, most_margin = self.form.reach(self.outcomes, largest)
        least, most_u = least_margin - farthest, most_margin + farthest
        is_upright = self.factor > 0
        bounds: Bounds = {
            "t": (0.0, largest),
            **{name: (0.0, values) for name, values in most.items()},
            "theta_0": (
                np.where(is_upright, least, -most_u).max(),
                np.where(is_upright, most_u, -least).min(),
            ),
        }
        return bounds, max([0.0, *(float(np.log(values.max())) for values in most.values())])


class _Member(NamedTuple):
    """A row or a sum that a sum adds, times exp(shift); sums are counted after the rows."""

    source: int
    shift: float


class RiskSets:
    """Cox's partial likelihood, as logarithms of sums of members: a `Loss`.

    Parameters
    ----------
    response : Survival
        Times and events of rows that are all at risk at some time.
    weights : ndarray of shape (n_rows,)
        Weights above 0.
    """

    def __init__(self, response: Survival, weights: Float) -> None:
        likelihood = PartialLikelihood(response, weights)
        self.order = likelihood.order
        self.sums: list[list[_Member]] = []
        self.weights: list[float] = []  # of the terms; of other sums 0
        self._add_times(likelihood)
        self.of_events = np.zeros(len(weights))
        self.of_events[self.order] = -likelihood.of_events
        self.sizes = {"t": len(self.sums), "p": sum(map(len, self.sums))}
        self.costs = {"t": np.array(self.weights)}
        self.positive: tuple[str, ...] = ("p",)
        # The error of a sum is one of all later ones.
        self.sensitivity = float(np.cumsum(self.weights[::-1]).sum())

    def constraints(self, u: Affine, variables: dict[str, Affine]) -> Constraints:
        """Return what holds the variables above the loss."""
        t, p = variables["t"], variables["p"]
        owners = np.repeat(np.arange(len(self.sums)), [len(members) for members in self.sums])
        sources, shifts = map(np.array, zip(*chain(*self.sums), strict=True))
        exponents = stack([u[self.order], t], p.matrix.shape[1])[sources] - t[owners]
        exponents = Affine(exponents.matrix, exponents.offset + shifts)
        total = sparse.csr_array((np.ones(len(owners)), (owners, np.arange(len(owners)))))
        return Constraints(
            [combine(total, p) - _constant(1.0, t)],
            [(Cone.EXPONENTIAL, interleave(p, _constant(1.0, p), exponents))],
        )

    def values(self, u: Float) -> dict[str, Float]:
        """Return the variables at some linear predictors."""
        values, shares = u[self.order].tolist(), []
        for members in self.sums:
            parts = np.array([values[source] + shift for source, shift in members])
            values.append(float(logsumexp(parts)))
            shares.append(np.exp(parts - values[-1]))
        return {"t": np.array(values[len(u) :]), "p": np.concatenate(shares)}

    def bounds(self, objective: float, farthest: Float) -> tuple[Bounds, float]:
        """Return bounds of the variables and of theta_0, and of exponents from above."""
        least, most = self.values(-farthest)["t"], self.values(farthest)["t"]
        return {"t": (least, most), "p": (0.0, 1.0)}, 0.0

    def _add_times(self, likelihood: PartialLikelihood) -> None:
        rows = [_Member(j, shift) for j, shift in enumerate(np.log(likelihood.weights).tolist())]
        at_risk: list[_Member] = []
        for k, n_terms in enumerate(likelihood.n_terms.tolist()):
            if k in likelihood.first:
                at_risk = []
            block = slice(likelihood.starts[k], likelihood.ends[k])
            has_event = likelihood.events[block]
            at_risk += compress(rows[block], ~has_event)
            events = list(compress(rows[block], has_event))
            if n_terms > 1:
                at_risk = [self._add(at_risk)] if len(at_risk) > 1 else at_risk
                events = [self._add(events)]
            weight = float(likelihood.wt[likelihood.first_term[k]])
            whole = self._add(at_risk + events, weight)
            for n_gone in range(1, n_terms):
                left = [_Member(events[0].source, log1p(-n_gone / n_terms))]
                self._add(at_risk + left, weight)
            at_risk = [whole]

    def _add(self, members: list[_Member], weight: float = 0.0) -> _Member:
        """Add a t, and return it as a member of others: sums come after the rows."""
        self.sums.append(members)
        self.weights.append(weight)
        return _Member(len(self.order) + len(self.sums) - 1, 0.0)


def loss_of(family: Family, response: Response, weights: Float, middle: float) -> Loss:
    """Return the loss of rows that all count, `middle` being taken from outcomes."""
    if isinstance(response, Survival):
        return RiskSets(response, weights)
    return RowLosses(family, response.kind, response.values - middle, weights)
