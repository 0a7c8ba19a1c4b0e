"""The core's copy of the rows: packed once, merged, weighted, centred, and nothing else changed."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from answers import bits
from hypothesis import given, settings
from hypothesis import strategies as st
from random_problems import random_problem

import shortlist as sl
from shortlist.backends import solve_ridges
from shortlist.native import core as native
from shortlist.native import search
from shortlist.native.core import core, prepare, uncentred

pytestmark = pytest.mark.filterwarnings("ignore:budget")

RNG = np.random.default_rng(0)
X = RNG.random((40, 6)).round(1)
Y = (X[:, 0] + 0.5 * RNG.random(40) > 0.7).astype(int)
LARGE = 1.7e308


def problem_of(X=X, y=Y, **arguments):
    return sl.SubsetProblem(X, y, **{"ridge": 0.02, "max_features": 2} | arguments)


def unpack(data):
    """Features without signs, weights and labels of the packed rows, without padding."""
    rows = core.testing.packed_rows(data)
    w = rows["w"]
    signs = -rows["factor"]
    table = -signs[:, np.newaxis] * rows["X"].reshape(-1, len(w)).T
    return table[w > 0], w[w > 0], signs[w > 0]


def pack(table, signs, weights, owner=None):
    n_columns = table.shape[1]
    owner = np.arange(n_columns) if owner is None else owner
    made = core.Table(table, -signs, 0.0 * signs, owner, int(owner.max(initial=-1)) + 1)
    return core.Data(made, weights)


def is_constant(problem):
    return core.testing.packed_rows(prepare(problem).data)["is_constant"]


# --- rows and columns ---


@pytest.mark.parametrize("seed", range(60))
def test_packed_rows_have_the_objective_of_the_problem(seed):
    problem = random_problem(seed)
    prepared, rng = prepare(problem), np.random.default_rng(seed)
    table, w, signs = unpack(prepared.data)
    columns = np.array(prepared.data.columns)
    assert problem.column_predictor[columns].tolist() == sorted(problem.column_predictor)
    assert sorted(columns.tolist()) == list(range(problem.n_columns))
    for scale in (0.0, 0.1, 3.0):
        coef, intercept = scale * rng.normal(size=problem.n_columns), scale * rng.normal()
        margins = signs * (table @ coef[columns] + intercept)
        packed = w @ np.logaddexp(0.0, -margins) + 0.5 * problem.ridge * coef @ coef
        coef, intercept = prepared.model(coef, intercept)  # of columns that are not centred
        assert packed == pytest.approx(problem.objective(coef, intercept), rel=1e-12)


@settings(max_examples=300)
@given(st.data())
def test_rows_merge_as_in_a_dictionary(data):
    """Few different values, so that many rows are equal, in one class and in both."""
    n_rows, n_columns = data.draw(st.integers(2, 40)), data.draw(st.integers(1, 3))
    value = st.sampled_from([0.0, -0.0, 1.0, -1.0, 1.0 + 2**-52, 1e300, 5e-324])
    entries = st.lists(value, min_size=n_columns * n_rows, max_size=n_columns * n_rows)
    table = np.array(data.draw(entries)).reshape(n_rows, n_columns)
    weight, sign = st.sampled_from([1.0, 2.0, 0.5, 0.0]), st.sampled_from([-1.0, 1.0])
    w = np.array(data.draw(st.lists(weight, min_size=n_rows, max_size=n_rows)))
    signs = np.array(data.draw(st.lists(sign, min_size=n_rows, max_size=n_rows)))
    w[:2], signs[:2] = 1.0, [1.0, -1.0]
    expected = {}
    for m in range(n_rows):
        if w[m] > 0:
            row = (signs[m], *(table[m] + 0.0).tolist())  # -0.0 becomes 0.0, to which it is equal
            expected[row] = expected.get(row, 0.0) + w[m]
    packed = pack(table, signs, w)
    merged, weights, classes = unpack(packed)
    assert weights.tolist() == list(expected.values())  # in the order of first appearance
    assert classes.tolist() == [row[0] for row in expected]
    if (packed.centre == 0).all():
        assert (merged + 0.0).tolist() == [list(row[1:]) for row in expected]


MERGED = {
    "rows of different classes": (np.ones((4, 1)), [1, 1, -1, -1], [2.0, 2.0]),
    "rows that differ in the last digit": (
        np.where(np.eye(6, 4) > 0, np.nextafter(0.1, 1), 0.1), [1] * 5 + [-1], [1.0] * 6,
    ),
    # Beside 1e20 the other entries do not change the sum by which rows are looked up.
    "rows whose hashes collide": (
        np.column_stack([np.full(51, 1e20), np.arange(51) % 25]), [1] * 50 + [-1], [2.0] * 25 + [1],
    ),
    # Sums of infinity and not-a-number are hashes like any other.
    "rows whose sums overflow or cancel": (
        LARGE * np.array([[1, 1], [1, 1], [-1, -1], [1, -1], [1, -1]]), [1, 1, 1, 1, -1],
        [2.0, 1.0, 1.0, 1.0],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", MERGED.values(), ids=MERGED)
def test_only_equal_rows_of_a_class_are_merged(case):
    table, signs, expected = case
    packed = pack(table, np.array(signs, dtype=float), np.ones(len(table)))
    _, weights, _ = unpack(packed)
    assert weights.tolist() == expected


LAYOUTS = {
    "row-major": lambda X: X,
    "column-major": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 3, axis=0), 2, axis=1)[::3, ::2],
    "rows reversed": lambda X: X[::-1].copy()[::-1],
    "both reversed": lambda X: X[::-1, ::-1].copy("F")[::-1, ::-1],
    "repeated by a stride of 0": lambda X: np.broadcast_to(X[:1], X.shape),
    "read-only": lambda X: np.frombuffer(X.tobytes(), X.dtype).reshape(X.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("owner", [np.arange(6), np.array([2, 0, 1, 0, 3, 2]), np.array([0])])
def test_a_table_of_any_layout_is_the_same(layout, kind, owner):
    table = layout(X[:, : len(owner)].astype(kind))
    signs, w = 2.0 * Y - 1, np.arange(40.0) % 3
    expected = unpack(pack(np.array(table, dtype=float, order="C"), signs, w, owner))
    for one, other in zip(unpack(pack(table, signs, w, owner)), expected, strict=True):
        assert np.array_equal(one, other)


def test_weights_of_merged_rows_are_those_of_a_bootstrap():
    counts = np.random.default_rng(0).multinomial(40, np.full(40, 1 / 40))
    weighted = prepare(problem_of(sample_weight=counts)).data
    copied = prepare(problem_of(np.repeat(X, counts, axis=0), np.repeat(Y, counts))).data
    for one, other in zip(unpack(weighted), unpack(copied), strict=True):
        assert np.array_equal(one, other)


@settings(max_examples=100)
@given(st.data())
def test_rows_without_weight_might_as_well_not_be_there(data):
    """Bit for bit, also where the first of several identical rows does not count."""
    n_rows = data.draw(st.integers(2, 30))
    value, weight = st.sampled_from([0.0, 1.0, 2.5]), st.sampled_from([0.0, 1.0, 0.1, 3.0])
    table = np.array(data.draw(st.lists(value, min_size=2 * n_rows, max_size=2 * n_rows)))
    labels = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n_rows, max_size=n_rows)))
    weights = np.array(data.draw(st.lists(weight, min_size=n_rows, max_size=n_rows)))
    labels[:2], weights[:2] = (0, 1), 1.0
    order = np.array(data.draw(st.permutations(range(n_rows))))
    table, labels, weights = table.reshape(n_rows, 2)[order], labels[order], weights[order]
    used = weights > 0
    whole = problem_of(table, labels).with_weights(weights)
    part = problem_of(table[used], labels[used], sample_weight=weights[used])
    for one, other in zip(unpack(prepare(whole).data), unpack(prepare(part).data), strict=True):
        assert np.array_equal(one, other)
    coef = np.array([0.3, -1.1])
    assert whole.objective(coef, 0.2) == part.objective(coef, 0.2)


@pytest.mark.parametrize(
    "column, constant",
    [
        ([2.0, 2.0, 2.0, 2.0], True),
        ([0.0, -0.0, 0.0, -0.0], True),
        ([-3.0, -3.0, -3.0, -3.0], True),
        ([2.0, 2.0, 2.0, np.nextafter(2.0, 3.0)], False),
        ([2.0, -2.0, 2.0, -2.0], False),
        ([1.0, 1.0, -1.0, -1.0], False),
    ],
)
@pytest.mark.parametrize("y", [[0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]])
def test_constant_columns(column, constant, y):
    """A column is stored with the sign of each row; it is the values that must be equal."""
    table = np.column_stack([column, np.arange(4.0)])
    assert is_constant(problem_of(table, y)) == [constant, False]


def test_a_group_is_constant_if_all_its_columns_are_where_rows_count():
    table = np.column_stack([np.ones(4), np.zeros(4), np.arange(4.0), np.ones(4)])
    table[3, 0] = 9.0
    groups = {"y": [0, 1, 0, 1], "groups": [0, 0, 1, 1]}
    assert is_constant(problem_of(table, **groups)) == [False, False]
    assert is_constant(problem_of(table, sample_weight=[1, 1, 1, 0], **groups)) == [True, False]


# --- rows that problems share ---


def fresh(problem):
    """Solve a copy that shares nothing."""
    return bits(sl.solve(pickle.loads(pickle.dumps(problem))))


def variants(problem, rng):
    """Problems on the same table, in the order in which a session might come to them."""
    yield problem
    yield problem.with_ridge(0.3 * problem.ridge)
    yield problem.with_limits(max_features=1)
    yield problem.with_limits(exclude=[0], include=())
    weights = rng.integers(0, 3, problem.n_rows)
    weights[[problem.response.values.argmax(), problem.response.values.argmin()]] = 1
    yield problem.with_weights(weights)
    yield problem.with_weights(weights).with_ridge(2.0)
    yield problem


@pytest.fixture
def packed(monkeypatch):
    """What is packed: "Table" or "Data", in order."""
    made = []

    class Counted:
        def __getattr__(self, name):
            made.append(name)
            return getattr(core, name)

    monkeypatch.setattr(native, "core", Counted())
    return made


@pytest.mark.parametrize("seed", range(20))
def test_solutions_are_those_of_new_problems(seed, packed):
    problem = random_problem(seed).with_limits(include=())
    problems = list(variants(problem, np.random.default_rng(seed)))
    one_after_another = [bits(sl.solve(problem)) for problem in problems]
    assert packed.count("Table") == 1
    assert packed.count("Data") == 4  # the last weights are kept
    assert one_after_another == [fresh(problem) for problem in problems]


def test_a_sequence_of_ridges_is_packed_once(packed):
    problem = problem_of(sample_weight=np.arange(40) % 3)
    ridges = [0.1, 0.02, 0.004]
    found = [bits(solution) for solution in solve_ridges(problem, ridges)]
    assert (packed.count("Table"), packed.count("Data")) == (1, 1)
    assert found == [fresh(problem.with_ridge(ridge)) for ridge in ridges]


def test_a_pickled_problem_carries_its_data_once():
    problem = problem_of()
    size = len(pickle.dumps(problem))
    solution = sl.solve(problem)
    assert len(pickle.dumps(problem)) == size
    assert fresh(problem) == bits(solution)


def test_a_proof_outlives_the_next_search():
    first, second = problem_of(), problem_of(y=1 - Y, ridge=0.5)
    solution = sl.solve(first)
    sl.solve(second)
    sl.near_optimal(first, tolerance=0.05)
    assert sl.verify(first, solution.certificate).valid
    assert bits(solution) == fresh(first)


def test_a_callback_may_solve(monkeypatch):
    monkeypatch.setattr(search, "_FIRST_SLICE", 1)
    table, labels = RNG.random((60, 20)), RNG.integers(0, 2, 60)
    hard = sl.SubsetProblem(table, labels, ridge=1e-3, max_features=6)
    expected, inner = fresh(hard), []

    def callback(progress):
        if len(inner) < 2:
            inner.append(bits(sl.solve(hard, node_limit=5)))

    assert bits(sl.solve(hard, callback=callback)) == expected
    assert len(inner) == 2
    assert inner[0] == inner[1]


def test_threads_do_not_disturb_each_other():
    shared = problem_of()
    problems = [
        other
        for seed in range(6)
        for other in variants(shared, np.random.default_rng(seed))
    ] + [problem_of(X[: 30 + i], Y[: 30 + i]) for i in range(8)]  # fmt: skip
    expected = [fresh(problem) for problem in problems]
    with ThreadPoolExecutor(8) as pool:
        for found in (pool.map(lambda problem: bits(sl.solve(problem)), problems) for _ in "123"):
            assert list(found) == expected


# --- columns far from zero ---


def far_problem(offset, **arguments):
    """Whole numbers, which stay exact when an offset is added to them."""
    rng = np.random.default_rng(1)
    whole = rng.integers(-8, 9, (60, 5)).astype(float)
    y = whole[:, 0] - whole[:, 1] + 4 * rng.logistic(size=60) > 0
    return problem_of(whole + offset, y, **arguments)


@pytest.mark.parametrize("offset", [2.0**10, 2.0**30, -(2.0**40)])
def test_the_origin_of_a_column_does_not_matter(offset):
    here, there = far_problem(0.0), far_problem(offset)
    prepared = prepare(there)
    assert (prepared.data.centre == offset).all()
    table, _, _ = unpack(prepared.data)
    assert np.abs(table).max() == 8.0  # exact and symmetric
    solution, moved = sl.solve(here), sl.solve(there)
    assert moved.status is sl.Status.OPTIMAL
    assert moved.support == solution.support
    assert moved.coef == pytest.approx(solution.coef, rel=1e-6)
    assert moved.objective == pytest.approx(solution.objective, rel=1e-14 * abs(offset) + 1e-12)
    assert moved.lower_bound == pytest.approx(solution.lower_bound, rel=1e-6)
    assert sl.verify(there, moved.certificate).valid


def test_a_column_that_is_not_far_stays():
    assert (prepare(far_problem(20.0)).data.centre == 0).all()


def test_models_are_those_of_columns_that_are_not_centred():
    problem = far_problem(2.0**30)
    listed = sl.near_optimal(problem, 0.1)
    for model in listed:
        assert problem.objective(model.coef, model.intercept) == model.objective
        reference = sl.solve(problem.with_limits(include=model.support, max_features=2))
        assert model.objective >= reference.objective * (1 - 1e-6)
    path = sl.solve_path(problem.with_limits(budget=3.0, max_features=5))
    assert path.is_certified
    for step in path:
        assert sl.verify(step.problem, step.solution.certificate).valid


@settings(max_examples=200)
@given(
    st.floats(-1e3, 1e3),
    st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(-1e15, 1e15)), max_size=5),
)
def test_an_intercept_is_moved_without_loss(intercept, pairs):
    values, centres = [v for v, _ in pairs], [c for _, c in pairs]
    moved, left_over = uncentred(intercept, values, centres)
    exact = Fraction(intercept) - sum((Fraction(v) * Fraction(c) for v, c in pairs), Fraction(0))
    assert moved == float(exact)
    # Two doubles hold 104 digits, down to the smallest double there is.
    lost = abs(Fraction(moved) + Fraction(left_over) - exact)
    assert lost <= max(abs(exact) * Fraction(2) ** -104, Fraction(2) ** -1074)


def test_an_intercept_that_is_not_finite_stays():
    assert uncentred(1.0, [1e300], [1e300]) == (1.0, 0.0)
