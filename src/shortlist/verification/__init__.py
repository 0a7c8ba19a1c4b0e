"""An independent check of certificates, with all rounding bounded: no code is the solver's.

Nothing here comes from the solver. The claims of a certificate are recomputed from the data alone:

1. The model is affordable, its coefficients respect their limits, and its objective is at most so
   much (an upper bound).
2. The leaves of the certificate's tree cover every affordable selection.
3. Each leaf refers to a point (theta, theta_0). With a_m = rho_m sigmoid(-y_m (x_m' theta +
   theta_0)), rho scaling each class so that sum_m w_m a_m y_m = 0, weak duality bounds every model
   of the leaf, which has bought IN and may still buy from FREE, from below by

       sum_m w_m H(a_m) - sum_{g in IN} v_g - max { sum_{g in S} v_g : S from FREE, affordable },

   H being the entropy and v_g = ||X_g' (w a y)||^2 / (2 ridge), or less if coefficients are limited
   (`problem` says how much). The smallest is the lower bound.
   If the point has a correction (delta, delta_0), the sigmoid a is first moved to
   a + a (1 - a) t, t_m = -y_m (x_m' delta + delta_0), and an a outside [0, 1] is put on its end.
   Other losses have their own a and H: see `duality`, and `risk_sets` for times.

`rounded` does that in doubles for many points at a time, and takes off what rounding may have
added. Leaves that stay below the claim are looked at again by `duality`, which works with balls of
python-flint: they contain the exact value. It also evaluates the model.
`affordability` works with integers: prices, in a unit that all of them are multiples of, and the
v_g, rounded up to a grid.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import Any, NamedTuple

import numpy as np
from flint import ctx

from ..blocks import one_thread
from ..certificate import Bound, Branch, Certificate, Fix, One, Step
from ..errors import InvalidProblemError
from ..families import RELATIVE, Scale
from ..problem import SubsetProblem
from .affordability import Affordability
from .duality import DualPoint, ExactData, ProofError, check_point
from .rounded import RoundedData, RoundedPoint

__all__ = ["Verdict", "verify"]

_PRECISION = 128  # bits of a ball's centre
_EXACT_POINTS = 64  # that are kept, the last ones
_KNOWN_VALUES = 2**25  # of points, that are kept
_OBJECTIVE_TOLERANCE = 1e-9  # the claimed objective is a rounded sum


@dataclass(frozen=True)
class Verdict:
    """The bounds that a certificate proves.

    Attributes
    ----------
    valid : bool
        Whether everything that the certificate claims is proven.
    lower_bound, upper_bound : float
        Proven whatever the floating point did: the model's objective is at most `upper_bound`, and
        no affordable model has an objective below `lower_bound`. If not valid: the lowest loss
        that there could be, mostly 0, and infinity.
    reason : str
        The first thing that is wrong; empty if valid.
    scale : Scale
        What the gap is relative to, as in `Solution`.
    """

    valid: bool
    lower_bound: float
    upper_bound: float
    reason: str
    scale: Scale = RELATIVE

    @property
    def gap(self) -> float:
        """Relative distance between the bounds."""
        if not self.valid:
            return inf
        return (self.upper_bound - self.lower_bound) / self.scale.of(self.upper_bound)


def verify(problem: SubsetProblem, certificate: Certificate) -> Verdict:
    """Check a certificate, trusting nothing in it.

    Parameters
    ----------
    problem : SubsetProblem
        The problem it should belong to.
    certificate : Certificate
        From `Solution.certificate` or `Certificate.load`.

    Returns
    -------
    Verdict
        Rigorous bounds, or the first reason why not.

    Examples
    --------
    >>> import shortlist as sl
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]
    >>> problem = sl.SubsetProblem(X, [0, 0, 1, 1], ridge=0.1, max_features=1)
    >>> verdict = sl.verify(problem, sl.solve(problem).certificate)
    >>> verdict.valid, verdict.gap < 1e-6
    (True, True)
    """
    if not isinstance(certificate, Certificate):
        raise InvalidProblemError(
            "certificate: must be a Certificate, which only solutions of the native backend have, "
            f"not {type(certificate).__name__}."
        )
    scale = problem.scale
    with ctx.workprec(_PRECISION), one_thread():
        try:
            if certificate.problem != problem.digest:
                raise ProofError("The certificate belongs to another problem.")
            data, affordability = ExactData(problem), Affordability(problem)
            upper = _upper_bound(problem, data, affordability, certificate)
            if not upper <= scale.above(certificate.objective, _OBJECTIVE_TOLERANCE):
                raise ProofError(
                    f"The model's objective is {upper:.9g}, "
                    f"not the {certificate.objective:.9g} that is claimed."
                )
            lower = _lower_bound(problem, data, affordability, certificate)
            if not certificate.lower_bound <= lower:
                raise ProofError(
                    f"The leaves prove a lower bound of {lower:.9g}, "
                    f"not the {certificate.lower_bound:.9g} that is claimed."
                )
        except ProofError as error:
            return Verdict(False, scale.least, inf, str(error), scale)
    return Verdict(True, lower, upper, "", scale)


def _upper_bound(
    problem: SubsetProblem, data: ExactData, affordability: Affordability, certificate: Certificate
) -> float:
    """Check the model; return an upper bound on its objective."""
    support, model = frozenset(certificate.support), certificate.model
    if not support <= set(range(problem.n_predictors)):
        raise ProofError("The model buys a predictor that does not exist.")
    if not support.issuperset(affordability.include) or not support.isdisjoint(
        affordability.exclude
    ):
        raise ProofError("The model's selection lacks what is included or has what is excluded.")
    if affordability.exceeded(support):
        raise ProofError("The model's selection is not affordable.")
    if not set(model.columns) <= set(problem.columns_of(support).tolist()):
        raise ProofError("The model uses a column that it has not bought.")
    return data.objective_above(model)


class _Leaf(NamedTuple):
    """The selections that buy `bought`, nothing `forbidden`, and at most `at_most` more."""

    point: int
    bought: frozenset[int]
    forbidden: frozenset[int]
    at_most: int


class _Leaves:
    """Collects leaves until there are points enough to evaluate; keeps the lowest bound."""

    def __init__(
        self,
        problem: SubsetProblem,
        data: ExactData,
        affordability: Affordability,
        certificate: Certificate,
    ) -> None:
        self.problem, self.affordability, self.certificate = problem, affordability, certificate
        self.rounded = RoundedData(problem)
        self.known: dict[int, RoundedPoint | None] = {}
        self.lowest = inf
        points = certificate.points
        # A fixing has a leaf for every predictor, all of the same point.
        self._exact_point = lru_cache(_EXACT_POINTS)(lambda i: DualPoint(data, points[i]))
        self._waiting: list[_Leaf] = []
        self._unknown: list[int] = []

    def add(self, *fields: Any) -> None:
        """Take a leaf, unless what it buys is not affordable."""
        leaf = _Leaf(*fields)
        if self.affordability.exceeded(leaf.bought):
            return
        points = self.certificate.points
        if leaf.point not in range(len(points)):
            raise ProofError(f"There is no point {leaf.point}.")
        if leaf.point not in self.known:
            check_point(self.problem, points[leaf.point])
            self.known[leaf.point] = None
            self._unknown.append(leaf.point)
        self._waiting.append(leaf)
        if len(self._unknown) == self.rounded.batch:
            self.bound()

    def bound(self) -> None:
        """Bound the leaves that wait."""
        points = [self.certificate.points[i] for i in self._unknown]
        self.known.update(zip(self._unknown, self.rounded.evaluate(points), strict=True))
        for leaf in self._waiting:
            point, limits = self.known[leaf.point], (self.affordability, *leaf[1:])
            bound = -inf if point is None else point.bound(*limits)
            if not bound >= self.certificate.lower_bound:
                bound = max(bound, self._exact_point(leaf.point).bound(*limits))
            self.lowest = min(self.lowest, bound)
        self._waiting, self._unknown = [], []
        if len(self.known) * self.problem.n_predictors > _KNOWN_VALUES:
            self.known.clear()


class _Steps:
    """The steps of a certificate by node. They are not kept: there may be too many for memory."""

    def __init__(self, steps: Sequence[Step]) -> None:
        nodes = np.fromiter((step.node for step in steps), dtype=np.int64, count=len(steps))
        self._steps, self._order = steps, np.argsort(nodes, kind="stable")
        self._nodes = nodes[self._order]
        self._is_taken = np.zeros(len(steps), dtype=np.bool_)

    def take(self, node: int) -> list[Step]:
        """Return the steps of a node; the second time there are none left."""
        first, last = (int(self._nodes.searchsorted(node, side)) for side in ("left", "right"))
        if first == last or self._is_taken[first]:
            return []
        self._is_taken[first] = True
        return [self._steps[i] for i in self._order[first:last].tolist()]


def _lower_bound(
    problem: SubsetProblem, data: ExactData, affordability: Affordability, certificate: Certificate
) -> float:
    """Walk the tree; return the smallest bound of its leaves."""
    leaves = _Leaves(problem, data, affordability, certificate)
    add_leaf = leaves.add
    steps = _Steps(certificate.steps)
    n = problem.n_predictors
    useless = data.useless_predictors() - affordability.include
    nodes = [(0, affordability.include, affordability.exclude | useless)]
    while nodes:
        node, bought, forbidden = nodes.pop()
        # A node that is reached a second time has no steps left, so the walk ends.
        rest = steps.take(node)
        match rest:
            case [Fix(point=point, forbidden=outs, bought=ins), *rest]:
                _check_known(problem, node, (*outs, *ins))
                for g in outs:
                    add_leaf(point, bought | {g}, forbidden, n)
                for g in ins:
                    add_leaf(point, bought, forbidden | {g}, n)
                bought, forbidden = bought.union(ins), forbidden.union(outs)
        match rest:
            case [Bound(point=point)]:
                add_leaf(point, bought, forbidden, n)
            case [Branch(predictor=g, without=without, including=including)]:
                _check_known(problem, node, (g,))
                nodes += [(without, bought, forbidden | {g}), (including, bought | {g}, forbidden)]
            case [One(), *_]:
                free = affordability.free(bought, forbidden)
                if not affordability.at_most_one(bought, free):
                    raise ProofError(f"Node {node} could buy two more predictors.")
                uncovered = free
                for step in rest:
                    if not isinstance(step, One):
                        raise ProofError(f"Node {node} is closed twice.")
                    add_leaf(step.point, bought, forbidden | free.difference(step.predictors), 1)
                    uncovered = uncovered.difference(step.predictors)
                if uncovered:
                    raise ProofError(f"Node {node} leaves out predictor {min(uncovered)}.")
            case _ if not affordability.exceeded(bought):
                raise ProofError(f"The selections of node {node} are not covered.")
    leaves.bound()
    return max(data.least, leaves.lowest)


def _check_known(problem: SubsetProblem, node: int, predictors: Iterable[int]) -> None:
    """Check that predictors exist. To decide one twice does no harm: both sides are covered."""
    if not set(predictors) <= set(range(problem.n_predictors)):
        raise ProofError(f"Node {node} decides a predictor that does not exist.")
