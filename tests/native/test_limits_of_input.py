"""Data at the edges of what a problem may be: scales, degenerate columns, tiny and wide tables."""

import math
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from answers import same_bits

import shortlist as sl

pytestmark = pytest.mark.filterwarnings("ignore:budget")


def noisy_data(n_rows=60, n_columns=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, n_columns))
    y = X[:, 0] - X[:, 1] + 0.5 * X[:, 2] + 0.4 * rng.normal(size=n_rows) > 0.25
    return X, y


def check(problem):
    """Solve, compare with enumeration, and return the solution."""
    solution = sl.solve(problem)
    reference = sl.solve(problem, "enumeration")
    assert solution.status is sl.Status.OPTIMAL
    assert problem.limits.is_affordable(solution.support)
    assert solution.objective == problem.objective(solution.coef, solution.intercept)
    assert solution.objective == pytest.approx(reference.objective, rel=1e-6)
    assert solution.objective * (1 - 1e-6) <= solution.lower_bound <= solution.objective
    return solution


# Scales


@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1e3, 1e6, 1e9, 1e12])
@pytest.mark.parametrize(
    "limits", [{"max_features": 2}, {"budget": 5, "costs": [1, 2, 3, 1, 2, 3]}]
)
def test_all_columns_of_one_scale(scale, limits):
    """A scale of the columns is a scale of the ridge, squared."""
    X, y = noisy_data()
    plain = sl.SubsetProblem(X, y, ridge=1.0, **limits)
    solution = check(sl.SubsetProblem(X * scale, y, ridge=scale**2, **limits))
    assert solution.support == check(plain).support
    assert solution.objective == pytest.approx(sl.solve(plain).objective, rel=1e-9)


@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1e6, 1e12])
def test_ridge_that_does_not_follow_the_scale(scale):
    """Tiny columns are useless, huge ones as good as not penalised."""
    X, y = noisy_data()
    solution = check(sl.SubsetProblem(X * scale, y, ridge=1.0, max_features=2))
    null = check(sl.SubsetProblem(X[:, :0], y, ridge=1.0)).objective
    if scale < 1:
        assert solution.objective == pytest.approx(null)
    else:
        assert solution.objective < 0.9 * null


def test_columns_of_wildly_different_scale():
    X, y = noisy_data()
    scale = 10.0 ** np.array([-12, 12, -6, 6, 9, 3])
    check(sl.SubsetProblem(X * scale, y, ridge=1.0, max_features=3))


def test_digits_lost_to_an_offset_are_an_honest_gap():
    """Values of 1e15 that differ in their fourth digit: no proof, but no false one either."""
    X, y = noisy_data()
    scale = 10.0 ** np.array([-12, 12, -6, 6, 9, 3])
    problem = sl.SubsetProblem((X + 1e3) * scale, y, ridge=1.0, max_features=3)
    solution, reference = sl.solve(problem), sl.solve(problem, "enumeration")
    assert solution.status in (sl.Status.OPTIMAL, sl.Status.STALLED)
    assert problem.limits.is_affordable(solution.support)
    assert solution.lower_bound <= reference.objective * (1 + 1e-6)
    assert solution.objective == pytest.approx(reference.objective, rel=1e-4)


SCALES = (1e-200, 1e20, 1e155, 1e300)
EXTREME = """
import numpy as np, shortlist as sl
rng = np.random.default_rng(0)
X = rng.random((60, 6))
y = X[:, 0] - X[:, 1] + 0.5 * X[:, 2] + 0.4 * rng.normal(size=60) > 0.25
for scale in {scales}:
    try:
        problem = sl.SubsetProblem(X * scale, y, ridge=1.0, **{limits})
        solution = sl.solve(problem, node_limit=1000)
    except sl.InvalidProblemError:
        print("REFUSED")
    else:
        is_affordable = problem.limits.is_affordable(solution.support)
        print(solution.status.name, is_affordable, solution.objective, solution.lower_bound)
"""


@pytest.mark.parametrize("limits", [{"max_features": 2}, {"include": [0]}])
def test_scales_beyond_reason_never_give_a_wrong_claim(limits):
    """Beyond 1e150 squares are no doubles any more: refused or an honest gap, never a wrong proof.

    In a process of its own, because a core that loops for ever cannot be interrupted.
    """
    X, y = noisy_data()
    run = subprocess.run(
        [sys.executable, "-c", EXTREME.format(scales=SCALES, limits=limits)],
        capture_output=True, text=True, check=True, timeout=600,
    )  # fmt: skip
    seen = Counter()
    for scale, line in zip(SCALES, run.stdout.splitlines(), strict=True):
        status, *rest = line.split()
        seen[status] += 1
        if status == "REFUSED":
            continue
        # Huge columns are as good as not penalised, tiny ones useless: what is to be reached.
        factor = 1e4 if scale > 1 else 1e-9
        optimum = check(sl.SubsetProblem(X * factor, y, ridge=1.0, **limits)).objective
        is_affordable, objective, lower_bound = rest[0] == "True", float(rest[1]), float(rest[2])
        assert is_affordable
        assert lower_bound <= objective <= len(y) * math.log(2) * (1 + 1e-12)
        assert lower_bound <= optimum * (1 + 1e-6)
        if status == "OPTIMAL":
            assert objective == pytest.approx(optimum, rel=1e-5)
    assert min(seen["OPTIMAL"], seen["REFUSED"]) >= 1, seen


@pytest.mark.parametrize("ridge", [1e-12, 1e-6, 1e6, 1e12])
def test_ridge_of_extreme_strength(ridge):
    X, y = noisy_data()
    check(sl.SubsetProblem(X, y, ridge=ridge, max_features=2))


@pytest.mark.parametrize("factor", [1e-9, 1e-3, 1e3, 1e9])
def test_weights_of_extreme_size(factor):
    X, y = noisy_data()
    weights = factor * np.random.default_rng(1).gamma(1.0, size=len(y))
    check(sl.SubsetProblem(X, y, ridge=0.1 * factor, max_features=2, sample_weight=weights))


def test_weights_of_very_different_size():
    X, y = noisy_data()
    weights = 10.0 ** np.random.default_rng(1).uniform(-9, 3, len(y))
    check(sl.SubsetProblem(X, y, ridge=0.1, max_features=2, sample_weight=weights))


# Separation


@pytest.mark.parametrize("limits", [{"max_features": 1}, {"max_features": 3}, {}])
@pytest.mark.parametrize("ridge", [1e-3, 1e-6, 1e-9])
def test_separated_classes(ridge, limits):
    X, _ = noisy_data()
    solution = check(sl.SubsetProblem(X, X[:, 3] > 0.5, ridge=ridge, **limits))
    assert 3 in solution.support


def test_classes_separated_by_many_columns():
    """More columns than rows: every two columns or so separate."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10, 12)), np.arange(10) % 2
    check(sl.SubsetProblem(X, y, ridge=1e-3, max_features=3))


def test_one_row_against_all_others():
    X, _ = noisy_data()
    check(sl.SubsetProblem(X, np.arange(60) == 7, ridge=1e-3, max_features=2))


# Degenerate columns


@pytest.mark.parametrize("ridge", [1e-3, 1.0])
@pytest.mark.parametrize("copies", [2, 4])
def test_duplicated_columns(copies, ridge):
    X, y = noisy_data(n_columns=3)
    solution = check(sl.SubsetProblem(np.tile(X, copies), y, ridge=ridge, max_features=3))
    assert solution.status is sl.Status.OPTIMAL
    check(sl.SubsetProblem(np.tile(X, copies), y, ridge=ridge))


@pytest.mark.parametrize("noise", [1e-12, 1e-9, 1e-6])
def test_nearly_duplicated_columns(noise):
    X, y = noisy_data()
    jitter = 1 + noise * np.random.default_rng(1).normal(size=X.shape)
    X = np.column_stack([X, X * jitter])
    check(sl.SubsetProblem(X, y, ridge=1e-3, max_features=4))
    check(sl.SubsetProblem(X, y, ridge=1e-3))


def test_duplicated_columns_beyond_double_precision_end_with_an_honest_status():
    """Nothing but the ridge tells the copies apart, and it is lost beside squares of 1e24."""
    X, y = noisy_data(n_columns=3)
    n_optimal = 0
    for scale in (1e6, 1e9, 1e12):
        for limits in ({"max_features": 3}, {"include": [0, 3, 6]}, {}):
            problem = sl.SubsetProblem(np.tile(X, 3) * scale, y, ridge=1e-3, **limits)
            solution = sl.solve(problem, node_limit=10_000)
            reference = sl.solve(problem, "enumeration")
            assert problem.limits.is_affordable(solution.support)
            assert math.isfinite(solution.objective)
            assert solution.lower_bound <= reference.objective * (1 + 1e-9)
            if solution.status is sl.Status.OPTIMAL:
                n_optimal += 1
                assert solution.objective <= reference.objective * (1 + 1e-6)
    assert n_optimal >= 3


@pytest.mark.parametrize("value", [0.0, 1.0, -3.5, 1e9])
@pytest.mark.parametrize("limits", [{"max_features": 3}, {"budget": 99, "costs": [0] * 6}, {}])
def test_a_constant_column_is_never_bought(value, limits):
    X, y = noisy_data()
    X[:, 4] = value
    solution = check(sl.SubsetProblem(X, y, ridge=0.1, **limits))
    assert 4 not in solution.support


@pytest.mark.parametrize("value", [0.0, 1.0, -3.5])
def test_a_constant_column_is_bought_if_it_must_be(value):
    X, y = noisy_data()
    X[:, 4] = value
    solution = check(sl.SubsetProblem(X, y, ridge=0.1, max_features=3, include=[4]))
    assert 4 in solution.support
    assert solution.coef[4] == pytest.approx(0.0, abs=1e-6)
    without = check(sl.SubsetProblem(X, y, ridge=0.1, max_features=2, exclude=[4]))
    assert solution.objective == pytest.approx(without.objective, rel=1e-9)


def test_only_constant_columns():
    y = np.arange(8) % 2
    for limits in ({"max_features": 1}, {}):
        solution = check(sl.SubsetProblem(np.ones((8, 3)), y, ridge=0.1, **limits))
        assert solution.support == ()
        assert solution.objective == pytest.approx(8 * math.log(2))
    forced = check(sl.SubsetProblem(np.ones((8, 3)), y, ridge=0.1, include=[0, 1, 2]))
    assert forced.support == (0, 1, 2)


def test_a_zero_column_in_a_group():
    X, y = noisy_data()
    X[:, [1, 4]] = 0.0
    problem = sl.SubsetProblem(X, y, ridge=0.1, max_features=2, groups=[0, 0, 1, 2, 2, 3])
    solution = check(problem)
    assert not solution.coef[[1, 4]].any()


def test_labels_that_no_column_explains():
    """Every row is there with both labels: all slopes are exactly 0."""
    X, _ = noisy_data(20)
    X, y = np.vstack([X, X]), np.repeat([0, 1], 20)
    for limits in ({"max_features": 2}, {"budget": 3.5, "costs": np.sqrt(np.arange(1, 7))}):
        solution = check(sl.SubsetProblem(X, y, ridge=0.1, **limits))
        assert solution.objective == pytest.approx(40 * math.log(2), rel=1e-12)
        assert solution.coef == pytest.approx(0.0, abs=1e-12)


# Tiny and wide tables


@pytest.mark.parametrize("ridge", [1e-6, 0.1, 1e6])
def test_two_rows(ridge):
    X = [[0.0, 1.0, 5.0], [1.0, 3.0, 5.0]]
    solution = check(sl.SubsetProblem(X, [0, 1], ridge=ridge, max_features=1))
    assert solution.support == (1,)
    solution = check(sl.SubsetProblem(X, [0, 1], ridge=ridge))
    assert solution.coef[1] == pytest.approx(2 * solution.coef[0], rel=1e-4)


def test_two_equal_rows_with_different_labels():
    solution = check(sl.SubsetProblem([[1.0], [1.0]], [0, 1], ridge=1.0))
    assert solution.objective == pytest.approx(2 * math.log(2))


def test_no_columns():
    X, y = noisy_data()
    share = y.mean()
    solution = check(sl.SubsetProblem(X[:, :0], y, ridge=1.0))
    assert solution.support == ()
    assert solution.intercept == pytest.approx(math.log(share / (1 - share)))


@pytest.mark.parametrize("limits", [{}, {"max_features": 0}, {"max_features": 1}, {"budget": 0.5}])
def test_one_predictor(limits):
    X, y = noisy_data(n_columns=3)
    solution = check(sl.SubsetProblem(X[:, :1], y, ridge=0.1, **limits))
    bought = limits.get("max_features", 1) > 0 and "budget" not in limits
    assert solution.support == ((0,) if bought else ())


def test_nothing_is_affordable():
    X, y = noisy_data()
    problem = sl.SubsetProblem(X, y, ridge=0.1, budget=2, costs=np.full(6, 3.0))
    solution = check(problem)
    assert (solution.support, solution.cost) == ((), 0.0)
    assert not solution.coef.any()
    assert check(sl.SubsetProblem(X, y, ridge=0.1, max_features=0)).support == ()
    fees = [(2, range(6))]
    assert check(sl.SubsetProblem(X, y, ridge=0.1, budget=2, fees=fees)).support == ()


def test_everything_is_excluded():
    X, y = noisy_data()
    solution = check(sl.SubsetProblem(X, y, ridge=0.1, exclude=range(6)))
    assert solution.support == ()
    assert solution.intercept == pytest.approx(math.log(y.mean() / (1 - y.mean())), rel=1e-9)


def test_everything_is_included():
    X, y = noisy_data()
    for limits in ({}, {"max_features": 6}, {"budget": 6}):
        solution = check(sl.SubsetProblem(X, y, ridge=0.1, include=range(6), **limits))
        assert solution.support == tuple(range(6))


def test_everything_is_included_or_excluded():
    X, y = noisy_data()
    problem = sl.SubsetProblem(X, y, ridge=0.1, include=[0, 4], exclude=[1, 2, 3, 5])
    assert check(problem).support == (0, 4)


def test_many_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 300))
    y = X[:, 17] - X[:, 203] + 0.5 * rng.normal(size=50) > 0
    problem = sl.SubsetProblem(X, y, ridge=0.1, max_features=2)
    solution = sl.solve(problem, time_limit=30)
    assert solution.status in (sl.Status.OPTIMAL, sl.Status.TIME_LIMIT)
    assert solution.support == (17, 203)
    assert solution.objective == problem.objective(solution.coef, solution.intercept)


@pytest.mark.parametrize("seed", range(6))
def test_more_columns_than_rows(seed):
    """The active columns depend on each other as soon as there are more of them than rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(10, 25))
    y = X[:, 0] + rng.normal(size=10) > 0
    for ridge in (1e-3, 0.1, 1.0):
        check(sl.SubsetProblem(X, y, ridge=ridge, max_features=2))


def test_more_columns_than_the_model_holds():
    """The quadratic model has room for 1000 columns; what does not fit only costs speed."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 1100))
    y = X[:, 1099] + 0.1 * rng.normal(size=30) > 0
    one = sl.solve(sl.SubsetProblem(X, y, ridge=1.0, max_features=1))
    assert one.support == (1099,)
    assert one.status is sl.Status.OPTIMAL
    everything = sl.solve(sl.SubsetProblem(X, y, ridge=1.0))
    assert everything.support == tuple(range(1100))
    assert everything.status is sl.Status.OPTIMAL


@pytest.mark.slow
def test_more_columns_bought_than_the_model_holds():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 1030)), rng.random(300) < 0.5
    limits = {"include": range(1005), "max_features": 1008}
    problem = sl.SubsetProblem(X, y, ridge=10.0, **limits)
    solution = sl.solve(problem, node_limit=5)
    assert problem.limits.is_affordable(solution.support)
    assert solution.lower_bound <= solution.objective
    assert solution.objective == problem.objective(solution.coef, solution.intercept)


def test_a_group_of_many_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 60))
    y = X[:, 0] + rng.normal(size=40) > 0
    check(sl.SubsetProblem(X, y, ridge=1.0, max_features=2, groups=[0] * 50 + list(range(1, 11))))


# Forms of a table


@pytest.mark.parametrize(
    "form", [np.float32, np.int64, np.uint8, bool, ">f8", np.ndarray.tolist, np.asfortranarray]
)
def test_other_forms_of_a_table_are_the_doubles_they_stand_for(form):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (40, 5)).astype(float)
    y = X[:, 0] + rng.normal(size=40) > 0.5
    table = form(X) if form in (np.ndarray.tolist, np.asfortranarray) else X.astype(form)
    plain = sl.solve(sl.SubsetProblem(X, y, ridge=0.1, max_features=2))
    assert same_bits(plain, sl.solve(sl.SubsetProblem(table, y, ridge=0.1, max_features=2)))
    assert np.array_equal(np.asarray(table), X)
