"""The trace against its definition: every affordable selection is excluded by a recorded point.

A step excludes a selection if the dual point of its primal point, taken by itself, bounds the
objective of that selection: the entropy minus the values of what the selection buys.
"""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from random_problems import random_problem
from scipy.special import expit, xlogy

import shortlist as sl
from shortlist.certificate import Bound, Branch, Fix, One, Unaffordable

pytestmark = pytest.mark.filterwarnings("ignore:budget")


def dual_values(problem, point):
    """The entropy of a point's dual point, and what each predictor is worth to it."""
    coef = np.zeros(problem.n_columns)
    coef[list(point.columns)] = point.values
    y, w = problem.response.values, problem.weights
    a = expit(-y * (problem.X @ coef + point.intercept))
    if point.correction:
        step = np.zeros(problem.n_columns)
        step[list(point.columns)] = point.correction[1:]
        a = np.clip(a - a * (1 - a) * y * (problem.X @ step + point.correction[0]), 0.0, 1.0)
    mass = {sign: w[y == sign] @ a[y == sign] for sign in (-1, 1)}
    heavier = max(mass, key=mass.get)
    a[y == heavier] *= mass[-heavier] / mass[heavier]
    slopes = problem.X.T @ (w * a * y)
    values = np.bincount(problem.column_predictor, slopes**2, problem.n_predictors)
    return w @ -(xlogy(a, a) + xlogy(1 - a, 1 - a)), values / (2 * problem.ridge)


def affordable_selections(problem):
    """Every selection that the search has to exclude."""
    limits = problem.limits
    free = [g for g in range(problem.n_predictors) if g not in limits.exclude + limits.include]
    for size in range(len(free) + 1):
        for added in combinations(free, size):
            selection = tuple(sorted((*limits.include, *added)))
            if limits.is_affordable(selection):
                yield frozenset(selection)


def excluding_step(steps, selection):
    """Follow a selection down the tree to the step that excludes it."""
    node = 0
    while True:
        for step in steps[node]:
            if isinstance(step, Fix):
                if selection & set(step.forbidden) or not selection >= set(step.bought):
                    return step
            elif isinstance(step, Branch):
                is_bought = step.predictor in selection
                node = step.including if is_bought else step.without
                break
            elif isinstance(step, Bound):
                return step
            elif isinstance(step, One):
                if selection & set(step.predictors) or step is steps[node][-1]:
                    return step
            else:
                assert isinstance(step, Unaffordable)
                raise AssertionError("an affordable selection was called unaffordable")


def test_every_selection_is_excluded_by_a_point():
    excluded = Counter()
    for seed in range(60):
        problem = random_problem(seed)
        if problem.n_predictors > 9:
            continue
        solution = sl.solve(problem)
        certificate = solution.certificate
        steps = {}
        for step in certificate.steps:
            steps.setdefault(step.node, []).append(step)
        values = [dual_values(problem, point) for point in certificate.points]
        for selection in affordable_selections(problem):
            step = excluding_step(steps, selection)
            entropy, v = values[step.point]
            bound = entropy - v[sorted(selection)].sum()
            assert bound >= solution.lower_bound * (1 - 1e-9) - 1e-12, (seed, selection)
            excluded[type(step).__name__] += 1
    assert min(excluded[kind] for kind in ("Fix", "Bound", "One")) > 20, excluded
