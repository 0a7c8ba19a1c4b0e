"""The kernels' copy of the data: nothing but the order of rows and columns may change."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_problems import random_problem

import shortlist as sl
from shortlist.solver.kernels.layout import FREE, IN, OUT
from shortlist.solver.kernels.pack import constant_columns, merge_rows, weigh_rows
from shortlist.solver.prepare import prepare

pytestmark = pytest.mark.filterwarnings("ignore:budget")


def objective_of(prepared, theta, theta0):
    """The objective as the packed rows give it."""
    data = prepared.search.data
    u = theta @ data.X
    u[: data.n_positive] -= theta0
    u[data.n_positive :] += theta0
    return data.w @ np.logaddexp(0.0, u) + 0.5 * data.ridge * theta @ theta


def classes_of(X, w, n_rows, n_positive):
    """Rows with their weights, positives and negatives, as sorted lists that can be compared."""
    rows = [(*X[:, m], w[m]) for m in range(n_rows)]
    return sorted(rows[:n_positive]), sorted(rows[n_positive:])


def merge(X, w, n_positive):
    """Merge rows of X and their weights in place; return the numbers of rows and of positives."""
    place = np.empty(len(w), dtype=np.int64)
    n_left, positive_left = merge_rows(X, n_positive, place)
    kept, merged = np.empty(n_left, dtype=np.int64), np.empty(n_left)
    assert weigh_rows(w, place, positive_left, kept, merged) == (n_left, positive_left)
    assert kept.tolist() == list(range(n_left))
    w[:n_left] = merged
    return n_left, positive_left


def merged_by_dictionary(X, w, n_positive):
    classes = ({}, {})
    for m in range(X.shape[1]):
        totals = classes[0 if m < n_positive else 1]
        row = tuple((X[:, m] + 0.0).tolist())  # -0.0 becomes 0.0, to which it is equal
        totals[row] = totals.get(row, 0.0) + w[m]
    return tuple(sorted((*row, weight) for row, weight in totals.items()) for totals in classes)


@pytest.mark.parametrize("seed", range(60))
def test_packed_rows_have_the_objective_of_the_problem(seed):
    problem = random_problem(seed)
    prepared = prepare(problem)
    rng = np.random.default_rng(seed)
    for scale in (0.0, 0.1, 3.0):
        coef, intercept = scale * rng.normal(size=problem.n_columns), scale * rng.normal()
        packed = objective_of(prepared, coef[prepared.columns], intercept)
        assert packed == pytest.approx(problem.objective(coef, intercept), rel=1e-12)
        assert np.array_equal(prepared.model(coef[prepared.columns], 0.0)[0], coef)


@pytest.mark.parametrize("seed", range(60))
def test_columns_are_ordered_by_predictor(seed):
    problem = random_problem(seed)
    prepared = prepare(problem)
    start = prepared.search.data.start
    for g in range(problem.n_predictors):
        columns = prepared.columns[start[g] : start[g + 1]]
        assert columns.tolist() == problem.columns_of([g]).tolist()
        assert (prepared.search.data.owner[start[g] : start[g + 1]] == g).all()
    assert start[-1] == problem.n_columns


@settings(max_examples=300)
@given(st.data())
def test_rows_merge_as_in_a_dictionary(data):
    """Few different values, so that many rows are equal, in one class and in both."""
    n_columns = data.draw(st.integers(1, 3))
    n_rows = data.draw(st.integers(1, 40))
    n_positive = data.draw(st.integers(0, n_rows))
    value = st.sampled_from([0.0, -0.0, 1.0, -1.0, 1.0 + 2**-52, 1e300, 5e-324])
    entries = st.lists(value, min_size=n_columns * n_rows, max_size=n_columns * n_rows)
    X = np.array(data.draw(entries)).reshape(n_columns, n_rows)
    w = np.array(
        data.draw(st.lists(st.sampled_from([1.0, 2.0, 0.5]), min_size=n_rows, max_size=n_rows))
    )
    expected = merged_by_dictionary(X, w, n_positive)
    n_left, positive_left = merge(X, w, n_positive)
    assert (positive_left, n_left - positive_left) == tuple(map(len, expected))
    assert classes_of(X + 0.0, w, n_left, positive_left) == expected


def test_identical_rows_of_different_classes_stay_apart():
    """Stored rows carry their sign: those of x and of -x look alike if their classes differ."""
    X = np.array([[1.0, 1.0, 1.0, 1.0]])
    w = np.array([1.0, 2.0, 4.0, 8.0])
    assert merge(X, w, 2) == (2, 1)
    assert w[:2].tolist() == [3.0, 12.0]


def test_order_of_first_appearance_is_kept():
    X = np.array([[3.0, 1.0, 3.0, 2.0, 1.0, 5.0, 4.0, 5.0]])
    w = np.arange(1.0, 9.0)
    assert merge(X, w, 5) == (5, 3)
    assert X[0, :5].tolist() == [3.0, 1.0, 2.0, 5.0, 4.0]
    assert w[:5].tolist() == [4.0, 7.0, 4.0, 14.0, 7.0]


def test_rows_that_differ_in_the_last_digit_stay_apart():
    X = np.full((4, 30), 0.1)
    for m in range(1, 30):
        X[m % 4, m] = np.nextafter(0.1, [0.0, 1.0][m % 2])
    before = X.copy()
    n_distinct = len({tuple(row) for row in before.T})
    w = np.ones(30)
    n_left, _ = merge(X, w, 30)
    assert n_left == n_distinct == 5
    assert w[:n_left].sum() == 30


def test_rows_whose_hashes_collide_stay_apart():
    """Beside 1e20 the other entries do not change the sum by which rows are looked up."""
    n = 50
    X = np.vstack([np.full(n, 1e20), np.arange(n) % 25])
    w = np.ones(n)
    n_left, _ = merge(X, w, n)
    assert n_left == 25
    assert X[1, :25].tolist() == list(range(25))
    assert w[:25].tolist() == [2.0] * 25


def test_rows_whose_sums_overflow_or_cancel():
    """Sums of infinity and not-a-number are hashes like any other."""
    large = 1.7e308
    X = np.array([[large, large, -large, large], [large, large, -large, -large]])
    X = np.repeat(np.vstack([X, X[::-1]]), 2, axis=1)
    w = np.ones(8)
    assert merge(X, w, 8) == (3, 3)
    assert w[:3].tolist() == [4.0, 2.0, 2.0]


def test_weights_of_merged_rows_are_those_of_a_bootstrap():
    rng = np.random.default_rng(0)
    X, y = rng.random((20, 3)), np.arange(20) % 2
    counts = rng.multinomial(20, np.full(20, 0.05))
    weighted = prepare(sl.SubsetProblem(X, y, ridge=1.0, sample_weight=counts))
    copied = prepare(
        sl.SubsetProblem(np.repeat(X, counts, axis=0), np.repeat(y, counts), ridge=1.0)
    )
    assert np.array_equal(weighted.search.data.X, copied.search.data.X)
    assert np.array_equal(weighted.search.data.w, copied.search.data.w)
    assert weighted.search.data.n_positive == copied.search.data.n_positive
    assert weighted.search.data.X.shape[1] == np.count_nonzero(counts)


@pytest.mark.parametrize(
    "column, is_constant",
    [
        ([2.0, 2.0, 2.0, 2.0], True),
        ([0.0, 0.0, 0.0, 0.0], True),
        ([0.0, -0.0, 0.0, -0.0], True),
        ([-3.0, -3.0, -3.0, -3.0], True),
        ([2.0, 2.0, 2.0, np.nextafter(2.0, 3.0)], False),
        ([2.0, -2.0, 2.0, -2.0], False),
        ([1.0, 1.0, -1.0, -1.0], False),
        ([-1.0, -1.0, 1.0, 1.0], False),
    ],
)
@pytest.mark.parametrize("y", [[0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]])
def test_constant_columns(column, is_constant, y):
    """A column is stored with the sign of each row; it is the values that must be equal."""
    X = np.column_stack([column, np.arange(4.0)])
    prepared = prepare(sl.SubsetProblem(X, y, ridge=1.0, max_features=1))
    found = np.empty(2, dtype=bool)
    constant_columns(prepared.search.data.X, prepared.search.data.n_positive, found)
    assert found.tolist() == [is_constant, False]
    assert prepared.search.root[0] == (OUT if is_constant else FREE)


def test_a_group_is_constant_if_all_its_columns_are():
    X = np.column_stack([np.ones(4), np.zeros(4), np.arange(4.0), np.ones(4)])
    problem = sl.SubsetProblem(X, [0, 1, 0, 1], ridge=1.0, groups=[0, 0, 1, 1], include=[])
    assert prepare(problem).search.root.tolist() == [OUT, FREE]
    problem = sl.SubsetProblem(X, [0, 1, 0, 1], ridge=1.0, groups=[0, 0, 1, 1], include=[0])
    assert prepare(problem).search.root.tolist() == [IN, FREE]


def test_rows_without_weight_do_not_count():
    X = np.array([[1.0, 5.0], [1.0, 6.0], [1.0, 7.0], [9.0, 8.0]])
    problem = sl.SubsetProblem(X, [0, 1, 0, 1], ridge=1.0, sample_weight=[1, 1, 1, 0])
    prepared = prepare(problem)
    assert prepared.search.data.X.shape == (2, 3)
    assert prepared.search.root.tolist() == [OUT, FREE]
