"""Times to events: what is accepted and refused, and the laws of the partial likelihood."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_problems import random_problem
from risk_sets import dual_point, negative_log_likelihood

import shortlist as sl
from shortlist.event_times import PartialLikelihood

pytestmark = pytest.mark.filterwarnings("ignore:budget", "ignore:strata")

X = np.random.default_rng(0).normal(size=(6, 2))
TIME, EVENT = [3.0, 1.0, 2.0, 2.0, 5.0, 4.0], [1, 1, 0, 1, 0, 1]


def problem_of(y, **arguments):
    return sl.SubsetProblem(X, y, **{"ridge": 0.5, "loss": "cox"} | arguments)


def rows_of(seed):
    """A random problem, its rows at risk, and their partial likelihood."""
    problem = random_problem(seed, "cox")
    rows = problem.response.at_risk(problem.weights)
    likelihood = PartialLikelihood(problem.response.rows(rows), problem.weights[rows])
    return problem, rows, likelihood


def test_every_form_of_the_outcome_is_the_same_problem():
    event = np.array(EVENT, dtype=bool)
    structured = np.empty(6, dtype=[("dead", bool), ("days", float)])
    structured["dead"], structured["days"] = event, TIME
    forms = [
        sl.survival(TIME, EVENT), structured, np.column_stack([TIME, EVENT]),
        pd.DataFrame({"days": TIME, "dead": EVENT}), pd.DataFrame({"dead": event, "days": TIME}),
    ]  # fmt: skip
    assert len({problem_of(y).digest for y in forms}) == 1


@pytest.mark.parametrize(
    ("time", "event", "words"),
    [
        (TIME, [0] * 6, "no row has the event"),
        (TIME, [1, 2, 0, 0, 1, 1], "event indicator must be 0 or 1.* one is 2"),
        ([0.0, *TIME[1:]], EVENT, "times must be above 0, but one is 0"),
        ([-2.0, *TIME[1:]], EVENT, "times must be above 0, but one is -2"),
        ([np.nan, *TIME[1:]], EVENT, "a time is missing or infinite"),
        ([np.inf, *TIME[1:]], EVENT, "a time is missing or infinite"),
        (TIME[1:], EVENT[1:], "expected 6 times"),
        (TIME, EVENT[1:], "one per row"),
    ],
)
def test_bad_outcomes_get_a_sentence(time, event, words):
    with pytest.raises(sl.InvalidProblemError, match=words) as refusal:
        problem_of(sl.survival(time, event))
    assert str(refusal.value).count(". ") == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"ties": "exact"}, "ties: must be 'efron' or 'breslow'"),
        ({"strata": [0, 1]}, "strata: .*one per row"),
        ({"strata": [0.0, np.nan, 1, 1, 1, 1]}, "strata: contains NaN"),
        ({"sample_weight": [1, 0, 1, 0, 1, 0], "strata": None}, None),
        ({"sample_weight": [0, 0, 1, 0, 1, 0]}, "no row with the event has weight"),
        ({"sample_weight": [0] * 6}, "all weights are zero"),
    ],
)
def test_bad_arguments_get_a_sentence(arguments, words):
    y = sl.survival(TIME, EVENT)
    if words is None:
        assert sl.solve(problem_of(y, **arguments)).status is sl.Status.OPTIMAL
        return
    with pytest.raises(sl.InvalidProblemError, match=words):
        problem_of(y, **arguments)


@pytest.mark.parametrize("y", [TIME, np.ones((6, 3)), [[1.0, 2.0]]])
def test_an_outcome_without_an_indicator_is_refused(y):
    with pytest.raises(sl.InvalidProblemError, match="y: "):
        problem_of(y)


@pytest.mark.parametrize("arguments", [{"ties": "breslow"}, {"strata": [0, 0, 0, 1, 1, 1]}])
def test_ties_and_strata_go_with_times_only(arguments):
    with pytest.raises(sl.InvalidProblemError, match="goes with loss='cox' only"):
        sl.SubsetProblem(X, EVENT, ridge=1.0, **arguments)


def test_strata_without_events_are_said_to_be_left_out():
    with pytest.warns(sl.ShortlistWarning, match="strata: 1 of 2 have no event"):
        problem_of(sl.survival(TIME, [1, 1, 0, 0, 0, 0]), strata=[0, 0, 0, 0, 1, 1])


def test_the_likelihood_of_three_rows_by_hand():
    """Of two tied events and one censored later; Efron's second term has half of each event."""
    u = np.log([2.0, 3.0, 4.0])
    X = u[:, np.newaxis]
    for ties, expected in (("breslow", 2 * log(9)), ("efron", log(9) + log(6.5))):
        y = sl.survival([1.0, 1.0, 2.0], [1, 1, 0])
        problem = sl.SubsetProblem(X, y, ridge=1e-9, loss="cox", ties=ties)
        found = problem.objective(np.ones(1), 0.0)
        assert found == pytest.approx(expected - log(2) - log(3), abs=1e-8)


@given(seed=st.integers(0, 2000), size=st.sampled_from([0.0, 1.0, 30.0]))
@settings(max_examples=60, deadline=None)
def test_the_likelihood_is_that_of_the_risk_sets(seed, size):
    problem, rows, likelihood = rows_of(seed)
    u = np.zeros(problem.n_rows)
    u[rows] = size * np.random.default_rng(seed).normal(size=len(rows))
    expected = negative_log_likelihood(problem, u.tolist(), exp, log)
    unit = problem.scale.unit
    assert likelihood.loss(u[rows]) == pytest.approx(expected, abs=1e-10 * unit * (1 + size))
    entropy, _, q = likelihood.dual_point(u[rows])
    e = np.exp(u - u[rows].max()).tolist()
    true_entropy, true_q = dual_point(problem, e, log)
    assert entropy == pytest.approx(true_entropy, abs=1e-9 * unit * (1 + size))
    assert q == pytest.approx(np.array(true_q)[rows], abs=1e-10 * unit)
    # Fenchel's equality, and the infimum.
    assert entropy + q @ u[rows] == pytest.approx(expected, abs=1e-9 * unit * (1 + size))
    assert expected >= likelihood.least()


@given(seed=st.integers(0, 2000))
@settings(max_examples=60, deadline=None)
def test_the_slope_and_the_curvature_are_derivatives(seed):
    problem, rows, likelihood = rows_of(seed)
    rng = np.random.default_rng(seed)
    u, x, step = rng.normal(size=len(rows)), rng.normal(size=len(rows)), 1e-5
    around = [likelihood.loss(u + s * step * x) for s in (-1, 1)]
    unit = problem.scale.unit
    assert likelihood.slope(u) @ x == pytest.approx(
        np.diff(around)[0] / (2 * step), abs=1e-5 * unit
    )
    slopes = [likelihood.slope(u + s * step * x) for s in (-1, 1)]
    curved = likelihood.weigh(u, x[:, np.newaxis])[:, 0]
    assert curved == pytest.approx((slopes[1] - slopes[0]) / (2 * step), abs=1e-6 * unit)
    design = rng.normal(size=(len(rows), 3))
    factor, scale = likelihood.root(u, design, np.full(3, 0.1))
    hessian = design.T @ likelihood.weigh(u, design) + 0.1 * np.eye(3)
    unscaled = factor / scale[:, np.newaxis]
    assert unscaled @ unscaled.T == pytest.approx(hessian, rel=1e-8, abs=1e-8 * unit)


@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_the_least_loss_is_the_limit_of_events_in_order(ties):
    """Where the linear predictor falls with time, and jumps, the loss tends to its infimum."""
    y = sl.survival([1.0, 2.0, 2.0, 3.0, 3.5], [1, 1, 1, 1, 0])
    weights = [1.0, 0.5, 2.0, 3.0, 1.0]
    X = np.array([[4.0, 3.0, 3.0, 2.0, 1.0]]).T
    problem = sl.SubsetProblem(X, y, ridge=1e-12, loss="cox", ties=ties, sample_weight=weights)
    # The tied events may differ: their best order depends on the weights.
    far = [problem.objective(np.array([b]), 0.0) for b in (20.0, 40.0)]
    assert far[1] - problem.scale.least < 1e-8
    assert far[0] >= problem.scale.least


def test_permuted_rows_and_weights_of_copies_are_the_same_model():
    rng = np.random.default_rng(1)
    features = rng.normal(size=(30, 4))
    time, event = rng.permutation(30) + 1.0, rng.random(30) < 0.6
    order, counts = rng.permutation(30), rng.integers(1, 4, 30)
    arguments = {"ridge": 0.2, "max_features": 2, "loss": "cox", "ties": "breslow"}
    plain = sl.solve(sl.SubsetProblem(features, sl.survival(time, event), **arguments))
    permuted = sl.SubsetProblem(
        features[order], sl.survival(time[order], event[order]), **arguments
    )
    assert sl.solve(permuted).objective == pytest.approx(plain.objective, rel=1e-12)
    weighted = sl.SubsetProblem(
        features, sl.survival(time, event), sample_weight=counts, **arguments
    )
    copies = sl.SubsetProblem(
        np.repeat(features, counts, axis=0),
        sl.survival(np.repeat(time, counts), np.repeat(event, counts)),
        **arguments,
    )
    first, second = sl.solve(weighted), sl.solve(copies)
    assert first.support == second.support
    assert first.objective == pytest.approx(second.objective, rel=1e-10)


def test_masked_and_swapped_outcomes_are_refused():
    time, event = [1.0, 2.0, 3.0], np.ma.array([1, 0, 1], mask=[False, True, False])
    with pytest.raises(sl.InvalidProblemError, match="event: some values are masked"):
        sl.survival(time, event)
    y = np.ma.array(sl.survival(time, [1, 0, 1]), mask=[(True, False)] + 2 * [(False, False)])
    with pytest.raises(sl.InvalidProblemError, match="y: some values are masked"):
        sl.SubsetProblem(np.eye(3), y, loss="cox", ridge=1.0)
    swapped = np.column_stack([[1, 0, 1], time])
    with pytest.raises(sl.InvalidProblemError, match="give time first and event second"):
        sl.SubsetProblem(np.eye(3), swapped, loss="cox", ridge=1.0)
