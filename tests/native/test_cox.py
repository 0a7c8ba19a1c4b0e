"""The partial likelihood in the core, against risk sets that are written out."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
from random_problems import random_problem
from risk_sets import dual_point, negative_log_likelihood

import shortlist as sl
from shortlist.native.core import core, prepare

pytestmark = pytest.mark.filterwarnings("ignore")


def values_of(problem, q):
    slopes = problem.X.T @ np.array(q)
    each = slopes**2 / (2 * problem.ridge)
    return np.bincount(problem.column_predictor, each, problem.n_predictors)


@pytest.mark.parametrize("size", [1e-3, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("seed", range(25))
def test_points_and_moved_points_are_those_of_the_risk_sets(seed, size):
    problem, rng = random_problem(seed, "cox"), np.random.default_rng(seed)
    p = problem.n_columns
    spread = np.ptp(problem.X, axis=0)
    unit = np.where(spread > 0, 1 / np.where(spread > 0, spread, 1.0), 0.0)
    coef, step = unit * rng.normal(size=p), size * unit * rng.normal(size=p)
    X = problem.X - problem.X.mean(axis=0)
    u, t = X @ coef, X @ step
    found = core.testing.dual_point(prepare(problem).problem, coef, 0.0, step, 0.0, 1.0, 0.0)

    loss = negative_log_likelihood(problem, u.tolist(), exp, log)
    weight = problem.scale.unit
    assert found["loss"] == pytest.approx(loss, abs=1e-10 * weight)
    e = np.exp(u - u.max()).tolist()
    entropy, q = dual_point(problem, e, log)
    assert found["entropy"] == pytest.approx(entropy, abs=1e-10 * weight)
    assert found["v"] == pytest.approx(values_of(problem, q), rel=1e-7, abs=1e-9 * weight)
    moved_entropy, moved_q = dual_point(problem, e, log, t.tolist())
    assert found["moved_v"] == pytest.approx(
        values_of(problem, moved_q), rel=1e-6, abs=1e-8 * weight
    )
    assert found["moved_entropy"] <= moved_entropy + 1e-10 * weight
    if size <= 0.1:  # exact to the fourth order
        assert found["moved_entropy"] == pytest.approx(moved_entropy, abs=size**3 * weight)


@pytest.mark.parametrize("seed", range(20))
def test_the_null_model_and_its_unit(seed):
    problem = random_problem(seed, "cox")
    packed = prepare(problem).problem
    null = negative_log_likelihood(problem, [0.0] * problem.n_rows, exp, log)
    assert packed.null_objective == pytest.approx(null, abs=1e-11 * problem.scale.unit)
    assert packed.unit == pytest.approx(problem.weights @ problem.response.events, rel=1e-12)
    assert problem.scale.least <= packed.null_objective


def test_rows_that_no_event_sees_change_no_bit():
    """Rows censored before the first event of their stratum, of weight 0, or without events."""
    rng = np.random.default_rng(0)
    X, time, event = rng.normal(size=(60, 5)), 1 + rng.exponential(size=60), rng.random(60) < 0.6
    stratum = rng.integers(0, 2, 60)
    more = rng.normal(size=(9, 5))
    idle_time = np.array([0.5] * 3 + [3.0] * 3 + [1.0, 2.0, 3.0])
    idle_event = np.array([False] * 3 + [True] * 3 + [False] * 3)
    idle_stratum = np.array([0, 1, 0, 0, 1, 1, 7, 7, 7])
    weights = np.array([1.0] * 3 + [0.0] * 3 + [1.0] * 3)
    arguments = {"ridge": 0.3, "max_features": 3, "loss": "cox"}
    plain = sl.SubsetProblem(X, sl.survival(time, event), strata=stratum, **arguments)
    with pytest.warns(sl.ShortlistWarning, match="1 of 3 have no event"):
        longer = sl.SubsetProblem(
            np.vstack([X, more]),
            sl.survival(np.append(time, idle_time), np.append(event, idle_event)),
            strata=np.append(stratum, idle_stratum),
            sample_weight=np.append(np.ones(60), weights),
            **arguments,
        )
    first, second = sl.solve(plain), sl.solve(longer)
    assert (first.objective, first.lower_bound, first.nodes) == (
        second.objective, second.lower_bound, second.nodes,
    )  # fmt: skip
    assert first.coef.tolist() == second.coef.tolist()


def test_units_of_time_and_shifts_of_columns_change_nothing():
    problem = random_problem(3, "cox")
    response = problem.response
    arguments = {
        "ridge": problem.ridge, "max_features": 3, "loss": "cox", "strata": response.stratum,
        "ties": response.ties, "sample_weight": problem.weights,
    }  # fmt: skip
    plain = sl.SubsetProblem(problem.X, sl.survival(response.values, response.events), **arguments)
    other = sl.SubsetProblem(
        problem.X + 4.0, sl.survival(np.exp(response.values), response.events), **arguments
    )
    first, second = sl.solve(plain), sl.solve(other)
    assert first.support == second.support
    assert first.objective == pytest.approx(second.objective, rel=1e-9)


def test_a_row_far_away_leaves_a_model_that_is_finite():
    """Linear predictors beyond the range of the loss: fits end before, and nothing is claimed."""
    rng, n = np.random.default_rng(1), 200
    x = rng.normal(size=n)
    death, end = rng.exponential(np.exp(-x)) + 0.01, rng.exponential(2, size=n)
    time, event = np.minimum(death, end), death <= end
    X = np.column_stack([x, rng.normal(size=(n, 2))])
    X[time.argmax(), 0] = -999  # a code for a missing value
    y = sl.survival(time, event)
    problem = sl.SubsetProblem(X, y, loss="cox", ridge=0.1, max_features=1)
    reference = sl.solve(problem, "enumeration")
    for backend in ("native", "forward", "swap"):
        solution = sl.solve(problem, backend)
        assert solution.support == reference.support == (0,)
        assert solution.objective == pytest.approx(reference.objective, rel=1e-6)
        assert solution.lower_bound <= reference.objective
