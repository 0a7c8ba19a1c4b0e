"""An independent check of certificates, in ball arithmetic.

Nothing here comes from the solver. From the data alone it recomputes what a certificate claims:

1. The model is affordable, and its objective is at most so much (an upper bound).
2. The leaves of the certificate's tree cover every affordable selection.
3. Each leaf refers to a point (theta, theta_0). With a_m = rho_m sigmoid(-y_m (x_m' theta +
   theta_0)), rho scaling each class so that sum_m w_m a_m y_m = 0, weak duality bounds every model
   of the leaf, which has bought IN and may still buy from FREE, from below by

       sum_m w_m H(a_m) - sum_{g in IN} v_g - max { sum_{g in S} v_g : S from FREE, affordable },

   H being the entropy and v_g = ||X_g' (w a y)||^2 / (2 ridge). The smallest is the lower bound.

Real numbers are balls of python-flint, which contain the exact value. Prices are exact. What is
maximised, values rounded up to a common grid, are integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter

import numpy as np
from flint import arb, arb_mat, ctx
from numpy.typing import NDArray

from .certificate import Bound, Branch, Certificate, Fix, One, Point, Step
from .errors import InvalidProblemError
from .problem import SubsetProblem

_PRECISION = 64  # bits of a ball's centre
_VALUE_BITS = 60  # all values together fit into an int64
_OBJECTIVE_TOLERANCE = 1e-9  # the claimed objective is a rounded sum
_TABLE_CELLS = 20_000_000


@dataclass(frozen=True)
class Verdict:
    """What a certificate proves.

    Attributes
    ----------
    valid : bool
        Whether everything that the certificate claims is proven.
    lower_bound, upper_bound : float
        Proven whatever the floating point did: the model's objective is at most `upper_bound`, and
        no affordable model has an objective below `lower_bound`. 0 and infinity if not valid.
    reason : str
        The first thing that is wrong; empty if valid.
    """

    valid: bool
    lower_bound: float
    upper_bound: float
    reason: str

    @property
    def gap(self) -> float:
        """Relative distance between the bounds."""
        if not self.valid:
            return inf
        return (self.upper_bound - self.lower_bound) / self.upper_bound


class _WrongError(Exception):
    """The certificate proves less than it claims."""


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
            "certificate: must be a Certificate, which only solutions of exact backends have, "
            f"not {type(certificate).__name__}."
        )
    with ctx.workprec(_PRECISION):
        try:
            if certificate.problem != problem.digest:
                raise _WrongError("The certificate belongs to another problem.")
            data = _Data(problem)
            upper = _upper_bound(problem, data, certificate)
            lower = max(Fraction(0), _lower_bound(problem, data, certificate))
            if certificate.lower_bound > lower:
                raise _WrongError(
                    f"The leaves prove a lower bound of {float(lower):.9g}, "
                    f"not the {certificate.lower_bound:.9g} that is claimed."
                )
        except _WrongError as error:
            return Verdict(False, 0.0, inf, str(error))
    return Verdict(True, nextafter(float(lower), -inf), nextafter(float(upper), inf), "")


class _Data:
    """The rows of positive weight, as balls."""

    def __init__(self, problem: SubsetProblem) -> None:
        rows = np.flatnonzero(problem.weights > 0)
        X = problem.X[rows]
        self.signs = problem.signs[rows].tolist()
        self.weights = [arb(w) for w in problem.weights[rows].tolist()]
        self.X = arb_mat(len(X), problem.n_columns, X.ravel().tolist())
        self.X_transposed = self.X.transpose()
        self.ridge = arb(problem.ridge)

    def margins(self, point: Point, n_columns: int) -> list[arb]:
        """Return y_m (x_m' theta + theta_0) for every row."""
        theta = [arb(0)] * n_columns
        for column, value in zip(point.columns, point.values, strict=True):
            if column >= n_columns:
                raise _WrongError(f"A point has a coefficient for column {column}.")
            theta[column] = arb(value)
        scores = (self.X * arb_mat(n_columns, 1, theta)).entries()
        intercept = arb(point.intercept)
        return [y * (score + intercept) for y, score in zip(self.signs, scores, strict=True)]


def _upper_bound(problem: SubsetProblem, data: _Data, certificate: Certificate) -> Fraction:
    """Check the model; return an upper bound on its objective."""
    support, model = certificate.support, certificate.model
    if any(g >= problem.n_predictors for g in support):
        raise _WrongError("The model buys a predictor that does not exist.")
    if not problem.constraints.is_affordable(support):
        raise _WrongError("The model's selection is not affordable.")
    if not set(model.columns) <= set(problem.columns_of(support).tolist()):
        raise _WrongError("The model uses a column that it has not bought.")
    objective = data.ridge / 2 * sum((arb(t) * arb(t) for t in model.values), arb(0))
    for w, margin in zip(data.weights, data.margins(model, problem.n_columns), strict=True):
        objective += w * _loss(margin)[0]
    upper = _exact(objective.upper())
    if upper > Fraction(certificate.objective) * (1 + Fraction(_OBJECTIVE_TOLERANCE)):
        raise _WrongError(
            f"The model's objective is {float(upper):.9g}, "
            f"not the {certificate.objective:.9g} that is claimed."
        )
    return upper


def _lower_bound(problem: SubsetProblem, data: _Data, certificate: Certificate) -> Fraction:
    """Walk the tree; return the smallest bound of its leaves."""
    affordable = _Affordable(problem)
    known: dict[int, _Bounds] = {}
    leaves: list[Fraction] = []

    def add_leaf(point: int, bought: frozenset[int], forbidden: frozenset[int]) -> None:
        if affordable.exceeded(bought):
            return
        if point >= len(certificate.points):
            raise _WrongError(f"There is no point {point}.")
        if point not in known:
            known[point] = _Bounds(problem, data, certificate.points[point])
        leaves.append(known[point].lower(affordable, bought, forbidden))

    steps: dict[int, list[Step]] = {}
    for step in certificate.steps:
        steps.setdefault(step.node, []).append(step)
    limits = problem.constraints
    useless = _constant_predictors(problem).difference(limits.include)
    nodes = [(0, frozenset(limits.include), useless.union(limits.exclude))]
    while nodes:
        node, bought, forbidden = nodes.pop()
        rest = steps.pop(node, [])
        match rest:
            case [Fix(point=point, forbidden=outs, bought=ins), *rest]:
                _check_undecided(problem, node, (*outs, *ins), bought | forbidden)
                for g in outs:
                    add_leaf(point, bought | {g}, forbidden)
                for g in ins:
                    add_leaf(point, bought, forbidden | {g})
                bought, forbidden = bought.union(ins), forbidden.union(outs)
        match rest:
            case [Bound(point=point)]:
                add_leaf(point, bought, forbidden)
            case [Branch(predictor=g, without=without, including=including)]:
                _check_undecided(problem, node, (g,), bought | forbidden)
                nodes += [(without, bought, forbidden | {g}), (including, bought | {g}, forbidden)]
            case [One(), *_]:
                free = affordable.free(bought, forbidden)
                if not affordable.at_most_one(bought, free):
                    raise _WrongError(f"Node {node} could buy two more predictors.")
                uncovered = free
                for step in rest:
                    if not isinstance(step, One):
                        raise _WrongError(f"Node {node} is closed twice.")
                    add_leaf(step.point, bought, forbidden | free.difference(step.predictors))
                    uncovered = uncovered.difference(step.predictors)
                if uncovered:
                    raise _WrongError(f"Node {node} leaves out predictor {min(uncovered)}.")
            case _ if not affordable.exceeded(bought):
                raise _WrongError(f"The selections of node {node} are not covered.")
    return min(leaves)


def _constant_predictors(problem: SubsetProblem) -> frozenset[int]:
    """Predictors that the intercept makes useless: without them nothing gets worse or dearer."""
    X = problem.X[problem.weights > 0]
    varying = problem.column_predictor[np.ptp(X, axis=0) > 0]
    return frozenset(range(problem.n_predictors)).difference(varying.tolist())


def _check_undecided(
    problem: SubsetProblem, node: int, predictors: Sequence[int], decided: frozenset[int]
) -> None:
    distinct = set(predictors)
    if len(distinct) < len(predictors) or not decided.isdisjoint(distinct):
        raise _WrongError(f"Node {node} decides a predictor twice.")
    if any(g >= problem.n_predictors for g in distinct):
        raise _WrongError(f"Node {node} decides a predictor that does not exist.")


class _Affordable:
    """The limits, in exact arithmetic."""

    def __init__(self, problem: SubsetProblem) -> None:
        limits = self.limits = problem.constraints
        self.costs = [Fraction(c) for c in limits.unit_costs.tolist()]
        self.fees = [Fraction(f) for f in limits.unit_fees.tolist()]
        self.members = [frozenset(fee.members) for fee in limits.fees]
        self.has_budget = limits.unit_budget < inf
        self.budget = Fraction(limits.unit_budget) if self.has_budget else Fraction(0)

    def left(self, bought: frozenset[int]) -> Fraction:
        """What is left of the budget."""
        spent = sum((self.costs[g] for g in bought), Fraction(0))
        return self.budget - spent - sum(self.fees[f] for f in self.paid(bought))

    def paid(self, bought: frozenset[int]) -> set[int]:
        """Return the fees that are paid."""
        return {f for f, members in enumerate(self.members) if not members.isdisjoint(bought)}

    def exceeded(self, bought: frozenset[int]) -> bool:
        """Whether what is bought exceeds a limit."""
        too_dear = self.has_budget and self.left(bought) < 0
        return too_dear or len(bought) > self.limits.max_features

    def free(self, bought: frozenset[int], forbidden: frozenset[int]) -> frozenset[int]:
        """Return the undecided predictors that are affordable on top of what is bought."""
        undecided = set(range(len(self.costs))) - bought - forbidden
        if len(bought) >= self.limits.max_features:
            return frozenset()
        if not self.has_budget:
            return frozenset(undecided)
        left, paid = self.left(bought), self.paid(bought)
        return frozenset(
            g
            for g in undecided
            if self.costs[g]
            + sum(self.fees[f] for f, m in enumerate(self.members) if g in m and f not in paid)
            <= left
        )

    def at_most_one(self, bought: frozenset[int], free: frozenset[int]) -> bool:
        """Whether no two of the free predictors are affordable together."""
        if self.limits.max_features - len(bought) <= 1:
            return True
        cheapest = sorted(self.costs[g] for g in free)[:2]
        return len(cheapest) < 2 or (self.has_budget and sum(cheapest) > self.left(bought))

    def most_valuable(
        self, values: NDArray[np.int64], bought: frozenset[int], free: frozenset[int]
    ) -> int:
        """Return an upper bound on the total value of an affordable selection from `free`."""
        ranked = sorted((int(values[g]) for g in free), reverse=True)
        best = sum(ranked[: self.limits.max_features - len(bought)])
        if not self.has_budget or not free:
            return best
        paid = self.paid(bought)
        # A predictor with several fees is charged the dearest only, which leaves a valid bound.
        by_fee: dict[int, list[int]] = {}
        for g in sorted(free):
            fees = [f for f, members in enumerate(self.members) if g in members]
            dearest = max(fees, key=lambda f: (self.fees[f], -f), default=-1)
            by_fee.setdefault(-1 if dearest in paid else dearest, []).append(g)
        left = self.left(bought)
        if self.limits.integral and len(free) * (left + 1) <= _TABLE_CELLS:
            return min(best, self._table(values, by_fee, int(left)))
        return min(best, self._priced(values, by_fee, left))

    def _table(self, values: NDArray[np.int64], by_fee: dict[int, list[int]], left: int) -> int:
        """Exact for whole-number prices: the best value for every amount up to what is left."""
        best = np.zeros(left + 1, dtype=np.int64)
        for f, members in by_fee.items():
            entered = best.copy() if f < 0 else _shifted(best, int(self.fees[f]))
            for g in members:
                np.maximum(entered, _shifted(entered, int(self.costs[g])) + values[g], out=entered)
            np.maximum(best, entered, out=best)
        return int(best[-1])

    def _priced(
        self, values: NDArray[np.int64], by_fee: dict[int, list[int]], left: Fraction
    ) -> int:
        """For any prices: a unit of the budget costs mu. The bound holds for every mu >= 0."""

        def bound(mu: Fraction) -> Fraction:
            total = mu * left
            for f, members in by_fee.items():
                margins = (int(values[g]) - mu * self.costs[g] for g in members)
                worth = sum((max(Fraction(0), margin) for margin in margins), Fraction(0))
                total += worth if f < 0 else max(Fraction(0), worth - mu * self.fees[f])
            return total

        # Convex in mu: narrow it down by thirds, then take the best mu seen.
        priced = [g for members in by_fee.values() for g in members if self.costs[g] > 0]
        low = Fraction(0)
        high = max((int(values[g]) / self.costs[g] for g in priced), default=low)
        for _ in range(90):
            third = _rounded((high - low) / 3)
            if bound(low + third) <= bound(high - third):
                high -= third
            else:
                low += third
        return -int(-bound(_rounded((low + high) / 2)) // 1)


def _shifted(best: NDArray[np.int64], amount: int) -> NDArray[np.int64]:
    """What was the best for each amount, after paying `amount` first; impossible ones are bad."""
    moved = np.full_like(best, -(2**61))
    if amount < len(best):
        moved[amount:] = best[: len(best) - amount]
    return moved


def _rounded(x: Fraction) -> Fraction:
    return Fraction(float(x))


class _Bounds:
    """A point's dual point: its entropy, and the value of every predictor, on a common grid."""

    def __init__(self, problem: SubsetProblem, data: _Data, point: Point) -> None:
        entropy = {1.0: arb(0), -1.0: arb(0)}
        mass = {1.0: arb(0), -1.0: arb(0)}
        dual = []
        margins = data.margins(point, problem.n_columns)
        for y, w, margin in zip(data.signs, data.weights, margins, strict=True):
            loss, a = _loss(margin)
            q = w * a
            mass[y] += q
            entropy[y] += w * loss + q * margin
            dual.append(q)
        # The smaller mass is kept: both factors are at most 1, and H(rho a) >= rho H(a).
        kept = min(_exact(mass[1.0].lower()), _exact(mass[-1.0].lower()))
        if not kept > 0:
            raise _WrongError("A point is too extreme to give a bound.")
        rho = {y: arb(kept.numerator) / arb(kept.denominator) / mass[y] for y in mass}
        signed = [y * rho[y] * q for y, q in zip(data.signs, dual, strict=True)]
        slopes = (data.X_transposed * arb_mat(len(signed), 1, signed)).entries()
        values = [arb(0)] * problem.n_predictors
        for g, slope in zip(problem.column_predictor.tolist(), slopes, strict=True):
            values[g] += slope * slope / (2 * data.ridge)
        exact = [_exact(v.upper()) for v in values]
        total = max(1, int(sum(exact)))
        self.grid = Fraction(2) ** (_VALUE_BITS - total.bit_length())
        self.values = np.array([-int(-v * self.grid // 1) for v in exact], dtype=np.int64)
        lower = rho[1.0] * entropy[1.0] + rho[-1.0] * entropy[-1.0]
        self.entropy = int(_exact(lower.lower()) * self.grid // 1)

    def lower(
        self, affordable: _Affordable, bought: frozenset[int], forbidden: frozenset[int]
    ) -> Fraction:
        """Return the lower bound of a leaf."""
        free = affordable.free(bought, forbidden)
        value = sum(int(self.values[g]) for g in bought)
        value += affordable.most_valuable(self.values, bought, free)
        return (self.entropy - value) / self.grid


def _loss(margin: arb) -> tuple[arb, arb]:
    """Return log(1 + exp(-margin)) and sigmoid(-margin); both forms hold, one is accurate."""
    if margin.mid() > 0:
        odds = (-margin).exp()
        return odds.log1p(), odds / (1 + odds)
    odds = margin.exp()
    return odds.log1p() - margin, 1 / (1 + odds)


def _exact(ball: arb) -> Fraction:
    """The value of a ball without radius."""
    if not ball.is_finite():
        raise _WrongError("A point or the model is too extreme to be evaluated.")
    mantissa, exponent = ball.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
