"""An independent check of certificates, in ball arithmetic.

Nothing here comes from the solver. From the data alone it recomputes what a certificate claims:

1. The model is affordable, and its objective is at most so much (an upper bound).
2. The leaves of the certificate's tree cover every affordable selection.
3. Each leaf refers to a point (theta, theta_0). With a_m = rho_m sigmoid(-y_m (x_m' theta +
   theta_0)), rho scaling each class so that sum_m w_m a_m y_m = 0, weak duality bounds every model
   of the leaf, which has bought IN and may still buy from FREE, from below by

       sum_m w_m H(a_m) - sum_{g in IN} v_g - max { sum_{g in S} v_g : S from FREE, affordable },

   H being the entropy and v_g = ||X_g' (w a y)||^2 / (2 ridge). The smallest is the lower bound.

Real numbers are balls of python-flint, which contain the exact value. Prices are exact integers,
in a unit small enough for all of them. So are the values that are maximised, in units of a grid to
which they are rounded up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf, lcm, nextafter

import numpy as np
from flint import arb, arb_mat, ctx
from numpy.typing import NDArray

from .certificate import Bound, Branch, Certificate, Fix, One, Point, Step
from .errors import InvalidProblemError
from .problem import SubsetProblem

_PRECISION = 64  # bits of a ball's centre
_VALUE_BITS = 60  # all values together are about 2**60 on the grid, and fit into an int64
_IMPOSSIBLE = -(2**61)  # stays negative whatever values are added
_LARGEST_EXPONENT = 5000  # of 2; beyond what any data and any sensible point lead to
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
            data, limits = _Data(problem), _Limits(problem)
            upper = _upper_bound(problem, data, limits, certificate)
            if not upper <= certificate.objective * (1 + _OBJECTIVE_TOLERANCE):
                raise _WrongError(
                    f"The model's objective is {upper:.9g}, "
                    f"not the {certificate.objective:.9g} that is claimed."
                )
            lower = _lower_bound(problem, data, limits, certificate)
            if not certificate.lower_bound <= lower:
                raise _WrongError(
                    f"The leaves prove a lower bound of {lower:.9g}, "
                    f"not the {certificate.lower_bound:.9g} that is claimed."
                )
        except _WrongError as error:
            return Verdict(False, 0.0, inf, str(error))
    return Verdict(True, lower, upper, "")


class _Data:
    """The rows of positive weight, as balls."""

    def __init__(self, problem: SubsetProblem) -> None:
        rows = np.flatnonzero(problem.weights > 0)
        X = problem.X[rows]
        self.signs = problem.signs[rows].tolist()
        self.weights = [arb(w) for w in problem.weights[rows].tolist()]
        self.X = arb_mat(len(X), problem.n_columns, X.ravel().tolist())
        self.X_transposed = self.X.transpose()
        self.column_predictor = problem.column_predictor.tolist()
        self.n_predictors = problem.n_predictors
        self.ridge = arb(problem.ridge)

    def margins(self, point: Point) -> list[arb]:
        """Return y_m (x_m' theta + theta_0) for every row."""
        theta = [arb(0)] * len(self.column_predictor)
        for column, value in zip(point.columns, point.values, strict=True):
            if column not in range(len(theta)):
                raise _WrongError(f"A point has a coefficient for column {column}.")
            theta[column] = arb(value)
        scores = (self.X * arb_mat(len(theta), 1, theta)).entries()
        intercept = arb(point.intercept)
        return [y * (score + intercept) for y, score in zip(self.signs, scores, strict=True)]


def _upper_bound(
    problem: SubsetProblem, data: _Data, limits: _Limits, certificate: Certificate
) -> float:
    """Check the model; return an upper bound on its objective."""
    support, model = frozenset(certificate.support), certificate.model
    if not support <= set(range(problem.n_predictors)):
        raise _WrongError("The model buys a predictor that does not exist.")
    if not support.issuperset(limits.include) or not support.isdisjoint(limits.exclude):
        raise _WrongError("The model's selection lacks what is included or has what is excluded.")
    if limits.exceeded(support):
        raise _WrongError("The model's selection is not affordable.")
    if not set(model.columns) <= set(problem.columns_of(support).tolist()):
        raise _WrongError("The model uses a column that it has not bought.")
    objective = data.ridge / 2 * sum((arb(t) * arb(t) for t in model.values), arb(0))
    for w, margin in zip(data.weights, data.margins(model), strict=True):
        objective += w * _loss(margin)[0]
    return _float_above(objective)


def _lower_bound(
    problem: SubsetProblem, data: _Data, limits: _Limits, certificate: Certificate
) -> float:
    """Walk the tree; return the smallest bound of its leaves."""
    known: dict[int, _DualPoint] = {}
    leaves: list[float] = []

    def add_leaf(
        point: int, bought: frozenset[int], forbidden: frozenset[int], at_most: int
    ) -> None:
        if limits.exceeded(bought):
            return
        if point not in range(len(certificate.points)):
            raise _WrongError(f"There is no point {point}.")
        if point not in known:
            known[point] = _DualPoint(data, certificate.points[point])
        leaves.append(known[point].bound(limits, bought, forbidden, at_most))

    steps: dict[int, list[Step]] = {}
    for step in certificate.steps:
        steps.setdefault(step.node, []).append(step)
    n = problem.n_predictors
    useless = _constant_predictors(problem) - limits.include
    nodes = [(0, limits.include, limits.exclude | useless)]
    while nodes:
        node, bought, forbidden = nodes.pop()
        # A node that is reached a second time has no steps left, so the walk ends.
        rest = steps.pop(node, [])
        match rest:
            case [Fix(point=point, forbidden=outs, bought=ins), *rest]:
                _check_undecided(n, node, (*outs, *ins), bought | forbidden)
                for g in outs:
                    add_leaf(point, bought | {g}, forbidden, n)
                for g in ins:
                    add_leaf(point, bought, forbidden | {g}, n)
                bought, forbidden = bought.union(ins), forbidden.union(outs)
        match rest:
            case [Bound(point=point)]:
                add_leaf(point, bought, forbidden, n)
            case [Branch(predictor=g, without=without, including=including)]:
                _check_undecided(n, node, (g,), bought | forbidden)
                nodes += [(without, bought, forbidden | {g}), (including, bought | {g}, forbidden)]
            case [One(), *_]:
                free = limits.free(bought, forbidden)
                if not limits.at_most_one(bought, free):
                    raise _WrongError(f"Node {node} could buy two more predictors.")
                uncovered = free
                for step in rest:
                    if not isinstance(step, One):
                        raise _WrongError(f"Node {node} is closed twice.")
                    add_leaf(step.point, bought, forbidden | free.difference(step.predictors), 1)
                    uncovered = uncovered.difference(step.predictors)
                if uncovered:
                    raise _WrongError(f"Node {node} leaves out predictor {min(uncovered)}.")
            case _ if not limits.exceeded(bought):
                raise _WrongError(f"The selections of node {node} are not covered.")
    return max(0.0, min(leaves))


def _constant_predictors(problem: SubsetProblem) -> frozenset[int]:
    """Predictors that the intercept makes useless: without them nothing gets worse or dearer."""
    X = problem.X[problem.weights > 0]
    varying = problem.column_predictor[np.any(X != X[0], axis=0)]
    return frozenset(range(problem.n_predictors)).difference(varying.tolist())


def _check_undecided(
    n_predictors: int, node: int, predictors: Sequence[int], decided: frozenset[int]
) -> None:
    distinct = set(predictors)
    if not distinct <= set(range(n_predictors)):
        raise _WrongError(f"Node {node} decides a predictor that does not exist.")
    if len(distinct) < len(predictors) or not decided.isdisjoint(distinct):
        raise _WrongError(f"Node {node} decides a predictor twice.")


class _Limits:
    """What is affordable, with exact prices. Without a budget everything is free of charge."""

    def __init__(self, problem: SubsetProblem) -> None:
        limits = problem.constraints
        self.include, self.exclude = frozenset(limits.include), frozenset(limits.exclude)
        self.max_features = limits.max_features
        self.has_budget = limits.unit_budget < inf
        prices = [*limits.unit_costs.tolist(), *limits.unit_fees.tolist(), limits.unit_budget]
        exact = [Fraction(p if self.has_budget else 0) for p in prices]
        unit = lcm(*(p.denominator for p in exact))
        *amounts, self.budget = (int(p * unit) for p in exact)
        self.costs, self.fees = amounts[: limits.n_predictors], amounts[limits.n_predictors :]
        self.fees_of: list[list[int]] = [
            [f for f, fee in enumerate(limits.fees) if g in fee.members]
            for g in range(limits.n_predictors)
        ]

    def paid(self, bought: frozenset[int]) -> set[int]:
        """Return the fees that are paid."""
        return {f for g in bought for f in self.fees_of[g]}

    def left(self, bought: frozenset[int]) -> int:
        """What is left of the budget."""
        fees = sum(self.fees[f] for f in self.paid(bought))
        return self.budget - fees - sum(self.costs[g] for g in bought)

    def exceeded(self, bought: frozenset[int]) -> bool:
        """Whether what is bought exceeds a limit."""
        return len(bought) > self.max_features or self.left(bought) < 0

    def free(self, bought: frozenset[int], forbidden: frozenset[int]) -> frozenset[int]:
        """Return the undecided predictors that are affordable on top of what is bought."""
        if len(bought) >= self.max_features:
            return frozenset()
        left, paid = self.left(bought), self.paid(bought)
        return frozenset(
            g
            for g in set(range(len(self.costs))) - bought - forbidden
            if self.costs[g] + sum(self.fees[f] for f in self.fees_of[g] if f not in paid) <= left
        )

    def at_most_one(self, bought: frozenset[int], free: frozenset[int]) -> bool:
        """Whether no two of the free predictors are affordable together, be fees paid or not."""
        cheapest = sorted(self.costs[g] for g in free)[:2]
        return (
            len(cheapest) < 2
            or len(bought) + 2 > self.max_features
            or sum(cheapest) > self.left(bought)
        )

    def most_valuable(
        self, values: Sequence[int], bought: frozenset[int], free: frozenset[int], at_most: int
    ) -> int:
        """Return an upper bound on the total value of an affordable selection from `free`."""
        number = min(at_most, self.max_features - len(bought), len(free))
        best = sum(sorted((values[g] for g in free), reverse=True)[:number])
        if not self.has_budget or number <= 1:
            return best
        paid = self.paid(bought)
        # A predictor with several fees is charged the dearest only, which leaves a valid bound.
        by_fee: dict[int, list[int]] = {}
        for g in sorted(free):
            dearest = max(self.fees_of[g], key=lambda f: self.fees[f], default=-1)
            by_fee.setdefault(-1 if dearest in paid else dearest, []).append(g)
        left = self.left(bought)
        small = len(free) * (left + 1) <= _TABLE_CELLS
        return min(best, (self._table if small else self._priced)(values, by_fee, left))

    def _table(self, values: Sequence[int], by_fee: dict[int, list[int]], left: int) -> int:
        """Exact for few different prices: the best value for every amount up to what is left."""
        best = np.zeros(left + 1, dtype=np.int64)
        for f, members in by_fee.items():
            entered = best.copy() if f < 0 else _after_paying(self.fees[f], best)
            for g in members:
                bought = _after_paying(self.costs[g], entered) + values[g]
                np.maximum(entered, bought, out=entered)
            np.maximum(best, entered, out=best)
        return int(best[-1])

    def _priced(self, values: Sequence[int], by_fee: dict[int, list[int]], left: int) -> int:
        """For any prices: what is worth more than it costs at mu per unit, plus mu times the rest.

        The bound holds for every mu >= 0. It is convex and piecewise linear in mu.
        """

        def bound(mu: Fraction) -> Fraction:
            p, q = mu.numerator, mu.denominator
            total = p * left
            for f, members in by_fee.items():
                worth = sum(max(0, q * values[g] - p * self.costs[g]) for g in members)
                total += worth if f < 0 else max(0, worth - p * self.fees[f])
            return Fraction(total, q)

        kinks = {Fraction(0)}
        for f, members in by_fee.items():
            kinks.update(Fraction(values[g], self.costs[g]) for g in members if self.costs[g] > 0)
            # A fee is worth paying up to the largest ratio of value to price of any part.
            value, price = 0, self.fees[f] if f >= 0 else 0
            if price > 0:
                ratio = Fraction(0)
                useful = [g for g in members if values[g] > 0]
                for g in sorted(useful, key=lambda g: Fraction(self.costs[g], values[g])):
                    value, price = value + values[g], price + self.costs[g]
                    ratio = max(ratio, Fraction(value, price))
                kinks.add(ratio)
        ordered = sorted(kinks)
        low, high = 0, len(ordered) - 1
        while low < high:
            middle = (low + high) // 2
            if bound(ordered[middle]) <= bound(ordered[middle + 1]):
                high = middle
            else:
                low = middle + 1
        return ceil(bound(ordered[low]))


def _after_paying(amount: int, best: NDArray[np.int64]) -> NDArray[np.int64]:
    """The best value for every sum of money, if `amount` is paid first."""
    moved = np.full_like(best, _IMPOSSIBLE)
    if amount < len(best):
        moved[amount:] = best[: len(best) - amount]
    return moved


class _DualPoint:
    """The a of a point: its entropy, and the value of every predictor, on a common grid."""

    def __init__(self, data: _Data, point: Point) -> None:
        entropy = {1.0: arb(0), -1.0: arb(0)}
        mass = {1.0: arb(0), -1.0: arb(0)}
        weighted = []
        for y, w, margin in zip(data.signs, data.weights, data.margins(point), strict=True):
            loss, a = _loss(margin)
            weighted.append(w * a)
            mass[y] += w * a
            entropy[y] += w * (loss + a * margin)
        # The smaller mass is kept: both factors are at most 1, and H(rho a) >= rho H(a).
        kept = min(mass[1.0].lower(), mass[-1.0].lower())
        if not kept > 0:
            raise _WrongError("A point is too extreme to give a bound.")
        rho = {y: kept / mass[y] for y in mass}
        self.entropy = rho[1.0] * entropy[1.0] + rho[-1.0] * entropy[-1.0]
        signed = [y * rho[y] * q for y, q in zip(data.signs, weighted, strict=True)]
        slopes = (data.X_transposed * arb_mat(len(signed), 1, signed)).entries()
        values = [arb(0)] * data.n_predictors
        for g, slope in zip(data.column_predictor, slopes, strict=True):
            values[g] += slope * slope / (2 * data.ridge)
        total = sum(values, arb(0)).upper()
        if not total.is_finite() or not self.entropy.is_finite():
            raise _WrongError("A point is too extreme to give a bound.")
        mantissa, exponent = map(int, total.man_exp())
        size = exponent + mantissa.bit_length()  # the total is below 2**size
        if abs(size) > _LARGEST_EXPONENT:
            raise _WrongError("A point is too extreme to give a bound.")
        self.grid = arb(2) ** (_VALUE_BITS - size)
        self.values = [int((v * self.grid).upper().ceil().unique_fmpz()) for v in values]

    def bound(
        self, limits: _Limits, bought: frozenset[int], forbidden: frozenset[int], at_most: int
    ) -> float:
        """Return a lower bound on all models that add at most so many to what is bought."""
        free = limits.free(bought, forbidden)
        value = sum(self.values[g] for g in bought)
        value += limits.most_valuable(self.values, bought, free, at_most)
        return _float_below(self.entropy - arb(value) / self.grid)


def _loss(margin: arb) -> tuple[arb, arb]:
    """Return log(1 + exp(-margin)) and sigmoid(-margin); both forms hold, one is accurate."""
    if margin.mid() > 0:
        odds = (-margin).exp()
        return odds.log1p(), odds / (1 + odds)
    odds = margin.exp()
    return odds.log1p() - margin, 1 / (1 + odds)


def _float_above(ball: arb) -> float:
    near = float(ball.upper())
    return near if arb(near) >= ball else nextafter(near, inf)


def _float_below(ball: arb) -> float:
    near = float(ball.lower())
    return near if arb(near) <= ball else nextafter(near, -inf)
