"""The trace against its definition: every affordable selection is excluded by a recorded point.

A step excludes a selection if the dual point of its primal point, taken by itself, bounds the
objective of that selection: the entropy minus the values of what the selection buys.
"""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from compiled import compiled
from random_problems import random_problem
from scipy.special import expit, xlogy

import shortlist as sl
from shortlist.certificate import Bound, Branch, Fix, One, Unaffordable
from shortlist.solver.kernels import trace as kernels
from shortlist.solver.kernels.trace import Kind, has_room
from shortlist.solver.prepare import prepare
from shortlist.solver.recording import Recording

pytestmark = pytest.mark.filterwarnings("ignore:budget")

record_point, record_step, record_member = map(
    compiled, (kernels.record_point, kernels.record_step, kernels.record_member)
)


def dual_values(problem, point):
    """The entropy of a point's dual point, and what each predictor is worth to it."""
    coef = np.zeros(problem.n_columns)
    coef[list(point.columns)] = point.values
    y, w = problem.signs, problem.weights
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


def new_recording():
    X = np.random.default_rng(0).random((6, 3))
    return Recording(prepare(sl.SubsetProblem(X, [0, 1] * 3, ridge=1.0, max_features=1)).scratch)


def test_what_is_written_down_can_be_read():
    recording = new_recording()
    trace = recording.trace
    assert record_point(trace, np.array([0.0, 2.5, 0.0]), 0.5, 0.0) == 0
    assert record_point(trace, np.zeros(3), -1.0, 0.0) == 1
    assert record_point(trace, np.array([1.0, 0.0, -1.0]), 0.0, 0.0) == 2
    record_step(trace, Kind.FIX, 4, 2)
    record_member(trace, 1)
    record_member(trace, ~2)
    record_step(trace, Kind.BRANCH, 4, 5)
    record_member(trace, 0)
    record_step(trace, Kind.BOUND, 5, 1)
    now = trace.now
    assert (now.n_points, now.n_entries, now.n_steps, now.n_members) == (3, 3, 3, 3)
    assert trace.intercept[:3].tolist() == [0.5, -1.0, 0.0]
    assert trace.first_entry[:3].tolist() == [0, 1, 1]
    assert trace.column[:3].tolist() == [1, 0, 2]
    assert trace.value[:3].tolist() == [2.5, 1.0, -1.0]
    assert trace.kind[:3].tolist() == [Kind.FIX, Kind.BRANCH, Kind.BOUND]
    assert trace.node[:3].tolist() == [4, 4, 5]
    assert trace.reference[:3].tolist() == [2, 5, 1]
    assert trace.first_member[:3].tolist() == [0, 2, 3]
    assert trace.member[:3].tolist() == [1, ~2, 0]


@pytest.mark.parametrize("counter", ["n_steps", "n_members", "n_points", "n_entries"])
def test_a_recording_makes_room_and_keeps_what_it_has(counter):
    recording = new_recording()
    for _ in range(3):
        trace = recording.trace
        record_point(trace, np.array([1.0, 2.0, 3.0]), 0.5, 0.0)
        array = {"n_steps": "kind", "n_members": "member", "n_points": "intercept"}
        setattr(trace.now, counter, len(getattr(trace, array.get(counter, "column"))) - 1)
        assert not has_room(trace, *recording._largest)
        before = [array[: len(array)].copy() for array in trace[:-1]]
        recording.make_room()
        assert has_room(recording.trace, *recording._largest)
        for old, new in zip(before, recording.trace, strict=False):
            assert np.array_equal(new[: len(old)], old, equal_nan=old.dtype == float)
