"""Data packed once, and scratch used again: no solve may notice what was solved before it."""

import gc
import pickle
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_problems import random_problem

import shortlist as sl
from shortlist.backends import solve_ridges
from shortlist.solver import driver
from shortlist.solver import packed as packing
from shortlist.solver import scratch as scratches
from shortlist.solver.packed import packed_of
from shortlist.solver.prepare import prepare

pytestmark = pytest.mark.filterwarnings("ignore:budget")

RNG = np.random.default_rng(0)
X = RNG.random((40, 6)).round(1)
Y = (X[:, 0] + 0.5 * RNG.random(40) > 0.7).astype(int)


@pytest.fixture(autouse=True)
def nothing_kept():
    packing._kept.clear()
    scratches._idle.clear()


def problem_of(X=X, y=Y, **arguments):
    return sl.SubsetProblem(X, y, **{"ridge": 0.02, "max_features": 2} | arguments)


def bits(solution):
    """All of a solution but the time it took."""
    return (
        solution.status, solution.support, solution.coef.tobytes(), solution.intercept,
        solution.objective, solution.lower_bound, solution.nodes, solution.certificate,
    )  # fmt: skip


def solve_fresh(problem):
    """Solve a copy that shares nothing, with nothing kept."""
    packing._kept.clear()
    scratches._idle.clear()
    return bits(sl.solve(pickle.loads(pickle.dumps(problem))))


def variants(problem, rng):
    """Problems on the same table, in the order in which a session might come to them."""
    yield problem
    yield problem.with_ridge(0.3 * problem.ridge)
    yield problem.with_limits(max_features=1)
    yield problem.with_limits(exclude=[0], include=())
    weights = rng.integers(0, 3, problem.n_rows)
    weights[[problem.signs.argmax(), problem.signs.argmin()]] = 1
    yield problem.with_weights(weights)
    yield problem.with_weights(weights).with_ridge(2.0)
    yield problem


@pytest.mark.parametrize("seed", range(20))
def test_solutions_are_those_of_new_problems(seed):
    problem = random_problem(seed)
    problems = list(variants(problem.with_limits(include=()), np.random.default_rng(seed)))
    one_after_another = [bits(sl.solve(problem)) for problem in problems]
    assert len(packing._kept) == 1
    assert one_after_another == [solve_fresh(problem) for problem in problems]


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_rows_without_weight_might_as_well_not_be_there(data):
    """Bit for bit, also where the first of several identical rows does not count."""
    n_rows = data.draw(st.integers(2, 30))
    value = st.sampled_from([0.0, 1.0, 2.5])
    table = np.array(data.draw(st.lists(value, min_size=2 * n_rows, max_size=2 * n_rows)))
    table = table.reshape(n_rows, 2)
    label = st.integers(0, 1)
    labels = np.array(data.draw(st.lists(label, min_size=n_rows, max_size=n_rows)))
    labels[:2] = 0, 1
    weight = st.sampled_from([0.0, 1.0, 0.1, 3.0])
    weights = np.array(data.draw(st.lists(weight, min_size=n_rows, max_size=n_rows)))
    weights[:2] = 1.0
    order = np.array(data.draw(st.permutations(range(n_rows))))
    table, labels, weights = table[order], labels[order], weights[order]
    used = weights > 0
    whole = problem_of(table, labels).with_weights(weights)
    part = problem_of(table[used], labels[used], sample_weight=weights[used])
    for one, other in zip(prepare(whole).search.data, prepare(part).search.data, strict=True):
        assert np.array_equal(one, other)
    coef = np.array([0.3, -1.1])
    assert whole.objective(coef, 0.2) == part.objective(coef, 0.2)


def test_a_sequence_of_ridges_is_packed_once(monkeypatch):
    """Also if the data are too large to be kept."""
    made = []
    new = packing.Packed.__init__

    def counted(self, problem):
        made.append(problem)
        new(self, problem)

    monkeypatch.setattr(packing.Packed, "__init__", counted)
    monkeypatch.setattr(packing, "_MOST_KEPT", 0)
    problem = problem_of(sample_weight=np.arange(40) % 3)
    ridges = [0.1, 0.02, 0.004]
    found = [bits(solution) for solution in solve_ridges(problem, ridges)]
    assert len(made) == 1
    assert packing._kept == []
    assert found == [solve_fresh(problem.with_ridge(ridge)) for ridge in ridges]


def test_a_changed_table_is_packed_again():
    table = X.copy()
    problem = problem_of(table)
    before = bits(sl.solve(problem))
    for change in (lambda: table.sort(axis=0), lambda: np.negative(table[:, 1:], table[:, 1:])):
        change()
        after = bits(sl.solve(problem.with_limits()))
        assert after == solve_fresh(problem_of(table)) != before


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_single_changed_value_is_noticed(order):
    table = np.array(X, order=order)
    problem = problem_of(table)
    packed = packed_of(problem)
    for row, column in np.ndindex(table.shape):
        table[row, column] += 1.0
        assert not packed.is_of(problem)
        table[row, column] -= 1.0
        table[row, column] = X[row, column]
    assert packed_of(problem) is packed


def test_other_labels_and_groups_of_one_table_are_told_apart():
    problems = [
        problem_of(), problem_of(y=1 - Y), problem_of(groups=[0, 1, 1, 2, 2, 0]),
        problem_of(groups=[0, 1, 2, 2, 1, 0]), problem_of(), problem_of(X[:, ::2]),
    ]  # fmt: skip
    assert [bits(sl.solve(problem)) for problem in problems] == [
        solve_fresh(problem) for problem in problems
    ]


def test_no_more_is_kept_than_allowed(monkeypatch):
    tables = [X + i for i in range(12)]
    problems = [problem_of(table) for table in tables]
    kept = [packed_of(problem) for problem in problems]
    assert packing._kept == kept[: -packing._MOST_TABLES - 1 : -1]
    assert packed_of(problems[6]) is kept[6] is packing._kept[0]
    monkeypatch.setattr(packing, "_MOST_KEPT", 3 * kept[0].nbytes)
    packed_of(problem_of(X))
    assert len(packing._kept) == 3
    small = list(packing._kept)
    packed_of(problem_of(np.tile(X, 4)))  # does not fit
    assert packing._kept == small
    assert (
        packing._kept[0].nbytes
        == 2 * X[np.unique(np.c_[X, Y], axis=0, return_index=True)[1]].nbytes
    )


def test_what_was_packed_goes_with_its_table():
    packed_of(problem_of(X.copy()))
    gc.collect()
    packed_of(problem_of())
    assert len(packing._kept) == 1


def test_a_pickled_problem_carries_its_data_once():
    problem = problem_of()
    size = len(pickle.dumps(problem))
    solution = sl.solve(problem)
    assert len(pickle.dumps(problem)) == size
    assert bits(sl.solve(pickle.loads(pickle.dumps(problem)))) == bits(solution)


def test_a_proof_outlives_the_next_search():
    first, second = problem_of(), problem_of(y=1 - Y, ridge=0.5)
    solution = sl.solve(first)
    sl.solve(second)
    listed = sl.near_optimal(first, tolerance=0.05)
    sl.solve(second)
    assert len(scratches._idle) == 1  # all of these used the same scratch
    assert sl.verify(first, solution.certificate).valid
    assert bits(solution) == solve_fresh(first)
    fresh = sl.near_optimal(pickle.loads(pickle.dumps(first)), tolerance=0.05)
    assert [m.coef.tobytes() for m in listed.models] == [m.coef.tobytes() for m in fresh.models]


def test_a_callback_may_solve(monkeypatch):
    """The search that calls it keeps its scratch."""
    monkeypatch.setattr(driver, "_FIRST_SLICE", 1)
    table, labels = RNG.random((60, 20)), RNG.integers(0, 2, 60)
    hard = sl.SubsetProblem(table, labels, ridge=1e-3, max_features=6)
    expected = solve_fresh(hard)
    inner = []

    def callback(progress):
        if len(inner) < 2:
            inner.append(bits(sl.solve(hard, node_limit=5)))

    assert bits(sl.solve(hard, callback=callback)) == expected
    assert len(inner) == 2
    assert inner[0] == inner[1]


@pytest.mark.parametrize("seed", range(5))
def test_room_makes_no_difference(seed, monkeypatch):
    """Tree and trace outgrow what the scratch lends them, and it serves the next search as well."""
    rng = np.random.default_rng(seed)
    problem = sl.SubsetProblem(
        rng.random((40, 16)), rng.integers(0, 2, 40), ridge=1e-3, max_features=5
    )
    other = problem.with_ridge(0.1)
    expected = [solve_fresh(problem), solve_fresh(other)]
    listed = [model.coef.tobytes() for model in sl.near_optimal(problem, 0.05)]
    scratches._idle.clear()
    for name, room in (("_FIRST_SLOTS", 1), ("_FIRST_STEPS", 0), ("_FIRST_ENTRIES", 0)):
        monkeypatch.setattr(scratches, name, room)
    monkeypatch.setattr(driver, "_FIRST_SLICE", 0)
    solutions = [sl.solve(problem), sl.solve(other)]
    assert len(scratches._idle) == 1
    assert [model.coef.tobytes() for model in sl.near_optimal(problem, 0.05)] == listed
    assert solutions[0].nodes > 10
    assert [bits(solution) for solution in solutions] == expected


def test_threads_do_not_disturb_each_other():
    shared = problem_of()
    problems = [
        other
        for seed in range(6)
        for other in variants(shared, np.random.default_rng(seed))
    ] + [problem_of(X[: 30 + i], Y[: 30 + i]) for i in range(8)]  # fmt: skip
    expected = [solve_fresh(problem) for problem in problems]
    with ThreadPoolExecutor(8) as pool:
        for found in (pool.map(lambda problem: bits(sl.solve(problem)), problems) for _ in "123"):
            assert list(found) == expected


def spoil(value):
    """Overwrite every array of a struct with what no kernel could work with."""
    if isinstance(value, tuple):
        for field in value:
            spoil(field)
    elif isinstance(value, np.ndarray):
        value[...] = np.nan if value.dtype.kind == "f" else 1
    elif value is not None:  # data and limits are not those of the scratch
        for name in value.dtype.names:
            value[name] = np.nan if value.dtype[name].kind == "f" else 1


@pytest.mark.parametrize("seed", range(20))
def test_nothing_is_left_of_the_last_search(seed):
    """An array that must start with something says so where it is allocated."""
    problem = random_problem(seed)
    expected = solve_fresh(problem)
    sl.solve(problem)
    (scratch,) = scratches._idle.values()
    structs = [value for value in vars(scratch).values() if isinstance(value, tuple | np.ndarray)]
    spoil(tuple(value for value in structs if value is not scratch.shape))
    assert bits(sl.solve(problem)) == expected
    assert list(scratches._idle.values()) == [scratch]


def test_scratch_that_is_kept_is_limited(monkeypatch):
    for n_rows in range(2, 100):
        scratches.give_back(scratches.take_scratch(scratches.Shape(n_rows, 3, 3, 3, 3)))
    assert len(scratches._idle) == scratches._MOST_KEPT
    assert next(reversed(scratches._idle)).n_rows == 99
    scratches.give_back(scratches.take_scratch(scratches.Shape(100_000, 3, 3, 3, 3)))
    assert next(reversed(scratches._idle)).n_rows == 99


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
    solution, moved = sl.solve(here), sl.solve(there)
    assert moved.status is sl.Status.OPTIMAL
    assert moved.support == solution.support
    assert moved.coef == pytest.approx(solution.coef, rel=1e-6)
    assert moved.objective == pytest.approx(solution.objective, rel=1e-14 * abs(offset) + 1e-12)
    assert moved.lower_bound == pytest.approx(solution.lower_bound, rel=1e-6)
    assert sl.verify(there, moved.certificate).valid


def test_centred_columns_are_exact_and_symmetric():
    for offset in (2.0**10, 2.0**30, -(2.0**40)):
        prepared = prepare(far_problem(offset))
        assert (prepared.centre == offset).all()
        assert np.abs(prepared.search.data.X).max() == 8.0
    assert (prepare(far_problem(20.0)).centre == 0).all()


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


@settings(max_examples=200, deadline=None)
@given(
    st.floats(-1e3, 1e3),
    st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(-1e15, 1e15)), max_size=5),
)
def test_an_intercept_is_moved_without_loss(intercept, pairs):
    values, centres = [v for v, _ in pairs], [c for _, c in pairs]
    moved, left_over = packing.uncentred(intercept, values, centres)
    exact = Fraction(intercept) - sum((Fraction(v) * Fraction(c) for v, c in pairs), Fraction(0))
    assert moved == float(exact)
    # Two doubles hold 104 digits, down to the smallest double there is.
    lost = abs(Fraction(moved) + Fraction(left_over) - exact)
    assert lost <= max(abs(exact) * Fraction(2) ** -104, Fraction(2) ** -1074)


def test_an_intercept_that_is_not_finite_stays():
    assert packing.uncentred(1.0, [1e300], [1e300]) == (1.0, 0.0)
