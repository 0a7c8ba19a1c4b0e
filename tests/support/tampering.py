"""Ways to falsify a certificate, and what must hold of every verdict all the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

import numpy as np
from random_problems import limited_problem, random_problem
from scipy.special import expit

import shortlist as sl
from shortlist.backends.support_fit import SupportFits
from shortlist.certificate import (
    Bound,
    Branch,
    Certificate,
    Fix,
    One,
    Point,
    Step,
    Unaffordable,
)


@cache
def proven(seed: int) -> tuple[sl.SubsetProblem, Certificate, float]:
    """A random problem, its certificate, and the optimum according to enumeration."""
    problem = random_problem(seed)
    certificate = sl.solve(problem).certificate
    assert certificate is not None
    return problem, certificate, sl.solve(problem, "enumeration").objective


def with_newton_step(problem: sl.SubsetProblem, point: Point) -> Point:
    """The point with the Newton step of the ridge logistic regression on its columns."""
    design = np.column_stack([np.ones(problem.n_rows), problem.X[:, list(point.columns)]])
    theta = np.array([point.intercept, *point.values])
    penalty = np.full(len(theta), problem.ridge)
    penalty[0] = 0.0
    a = expit(-problem.response.values * (design @ theta))
    residual = design.T @ (problem.weights * a * problem.response.values) - penalty * theta
    curvature = design.T @ ((problem.weights * a * (1 - a))[:, None] * design) + np.diag(penalty)
    step = np.linalg.lstsq(curvature, residual)[0]
    return point._replace(correction=tuple(step.tolist()))


@cache
def corrected(seed: int) -> tuple[sl.SubsetProblem, Certificate, float]:
    """The same as `proven` with a correction at every point, which claims what it still proves."""
    problem, certificate, optimum = proven(seed)
    points = tuple(with_newton_step(problem, point) for point in certificate.points)
    certificate = replace(certificate, points=points, lower_bound=0.0)
    lower_bound = sl.verify(problem, certificate).lower_bound
    return problem, replace(certificate, lower_bound=lower_bound), optimum


@cache
def limited(seed: int) -> tuple[sl.SubsetProblem, Certificate, float]:
    """A problem with limits on its coefficients, and a proof that lists every selection."""
    problem = limited_problem(seed)
    late = set(range(4, problem.n_predictors)).difference(problem.limits.include)
    problem = problem.with_limits(exclude=sorted(late.union(problem.limits.exclude)))
    solution = sl.solve(problem, "enumeration")
    fits, points, steps = SupportFits(problem), [], []
    nodes, n_nodes = [(0, problem.limits.include, 0)], 1
    while nodes:
        node, bought, g = nodes.pop()
        if not problem.limits.is_affordable(bought):
            steps.append(Unaffordable(node))
        elif g == problem.n_predictors:
            steps.append(Bound(node, len(points)))
            points.append(point_of(*fits.fit(bought)[0][1:3]))
        elif g in bought or g in problem.limits.exclude:
            nodes.append((node, bought, g + 1))
        else:
            steps.append(Branch(node, g, n_nodes, n_nodes + 1))
            nodes.append((n_nodes, bought, g + 1))
            nodes.append((n_nodes + 1, tuple(sorted((*bought, g))), g + 1))
            n_nodes += 2
    certificate = Certificate(
        problem=problem.digest,
        objective=solution.objective,
        lower_bound=solution.lower_bound * (1 - 1e-9),
        support=solution.support,
        model=point_of(solution.coef, solution.intercept),
        points=tuple(points),
        steps=tuple(steps),
    )
    return problem, certificate, solution.objective


def point_of(coef: np.ndarray, intercept: float) -> Point:
    """A model as a point."""
    columns = np.flatnonzero(coef)
    return Point(intercept, tuple(columns.tolist()), tuple(coef[columns].tolist()))


def check_sound(problem: sl.SubsetProblem, certificate: Certificate, optimum: float) -> bool:
    """Whatever a certificate says, bounds that are returned hold; return whether it is valid."""
    verdict = sl.verify(problem, certificate)
    if verdict.valid:
        # The optimum is a float: its last digits are rounded.
        assert 0.0 <= verdict.lower_bound <= optimum * (1 + 1e-12)
        assert verdict.upper_bound >= optimum * (1 - 1e-12)
        assert verdict.reason == ""
    else:
        assert (verdict.lower_bound, verdict.upper_bound) == (0.0, float("inf"))
        assert verdict.reason.endswith(".")
    return verdict.valid


def with_step(certificate: Certificate, position: int, *steps: Step) -> Certificate:
    """Replace one step by others, or by none."""
    before, after = certificate.steps[:position], certificate.steps[position + 1 :]
    return replace(certificate, steps=(*before, *steps, *after))


def with_point(
    certificate: Certificate, position: int, point: Point, **changes: float
) -> Certificate:
    """Replace one point, and other fields at will."""
    before, after = certificate.points[:position], certificate.points[position + 1 :]
    return replace(certificate, points=(*before, point, *after), **changes)


def without_a_step(certificate: Certificate, *kinds: type) -> Iterator[Certificate]:
    """Remove each step of these kinds."""
    for position, step in enumerate(certificate.steps):
        if isinstance(step, kinds):
            yield with_step(certificate, position)


def changed_steps(
    certificate: Certificate, kind: type[Step], change: Callable[..., Iterator[Step]]
) -> Iterator[Certificate]:
    """Change each step of a kind in every way that `change` yields."""
    for position, step in enumerate(certificate.steps):
        if isinstance(step, kind):
            for changed in change(step):
                yield with_step(certificate, position, changed)


def moved_fixings(fix: Fix) -> Iterator[Fix]:
    """Move each predictor that is forbidden to those that are bought, and the reverse."""
    for g in fix.forbidden:
        rest = tuple(h for h in fix.forbidden if h != g)
        yield fix._replace(forbidden=rest, bought=(*fix.bought, g))
    for g in fix.bought:
        rest = tuple(h for h in fix.bought if h != g)
        yield fix._replace(bought=rest, forbidden=(*fix.forbidden, g))


def renamed_fixings(n_predictors: int) -> Callable[[Fix], Iterator[Fix]]:
    """Fix another predictor in the place of each."""

    def rename(fix: Fix) -> Iterator[Fix]:
        for i, g in enumerate(fix.forbidden):
            other = (g + 1) % n_predictors
            yield fix._replace(forbidden=(*fix.forbidden[:i], other, *fix.forbidden[i + 1 :]))
        for i, g in enumerate(fix.bought):
            other = (g + 1) % n_predictors
            yield fix._replace(bought=(*fix.bought[:i], other, *fix.bought[i + 1 :]))

    return rename


def shortcuts(certificate: Certificate, n_predictors: int) -> Iterator[Certificate]:
    """Close a node that branches as if at most one purchase were left."""
    everything = tuple(range(n_predictors))
    n_points = len(certificate.points)
    for position, step in enumerate(certificate.steps):
        if isinstance(step, Branch):
            for point in {0, position % n_points, n_points - 1}:
                closed = with_step(certificate, position, One(step.node, point, everything))
                yield replace(closed, lower_bound=0.0)


def swapped_children(branch: Branch) -> Iterator[Branch]:
    """Take each child for the other."""
    yield branch._replace(without=branch.including, including=branch.without)
