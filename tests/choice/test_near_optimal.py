"""What is listed once, what is listed twice, where the list ends, and what is refused."""

from importlib import import_module

import numpy as np
import pytest

import shortlist as sl
from shortlist.backends.support_fit import SupportFits
from shortlist.choice import record
from shortlist.native import search

module = import_module("shortlist.choice.near_optimal")  # whose name is the function's too


@pytest.fixture(scope="module")
def problem():
    """A signal in three of eight predictors."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8))
    y = X[:, :3] @ [1.0, -1.0, 0.5] + rng.logistic(size=60) > 0
    return sl.SubsetProblem(X, y, ridge=0.5, max_features=4)


def balanced(n_columns=5, twins=0, **limits):
    """A problem in which the first column matters; the others, crossed with it, add nothing.

    Twins are copies of the first column.
    """
    levels = np.array(np.meshgrid(*[[-1.0, 1.0]] * n_columns)).reshape(n_columns, -1).T
    levels = np.column_stack([levels, *[levels[:, 0]] * twins])
    X, y = np.vstack([levels, levels]), np.repeat([0, 1], len(levels))
    weights = np.where((X[:, 0] > 0) == (y == 1), 3.0, 1.0)
    return sl.SubsetProblem(X, y, ridge=0.1, sample_weight=weights, **limits)


def test_duplicates_tie_and_are_all_listed(problem):
    X = np.column_stack([problem.X, problem.X[:, 0]])
    both = sl.SubsetProblem(X, problem.response.values, ridge=0.5, max_features=1)
    assert [model.support for model in sl.near_optimal(both, 0.0)] == [(0,), (8,)]


def test_of_ties_the_cheaper_one_is_first(problem):
    X = problem.X[:, [0, 0, 0]]
    priced = sl.SubsetProblem(
        X, problem.response.values, ridge=0.5, costs=[2, 1, 3], budget=3, max_features=1
    )
    assert [model.support for model in sl.near_optimal(priced, 0.0)] == [(1,), (0,), (2,)]


def test_idle_predictors_are_not_listed():
    for limits in ({}, {"max_features": 3}, {"budget": 4}):
        assert [model.support for model in sl.near_optimal(balanced(**limits), 0.05)] == [(0,)]


def test_idle_predictors_that_must_be_bought_stay():
    idle = balanced(include=[1])
    assert [model.support for model in sl.near_optimal(idle, 0.05)] == [(0, 1)]


@pytest.mark.parametrize("limit", [1, 2, 3, 4])
def test_idle_predictors_take_no_places(limit):
    """With them there are 48 selections near the optimum, without them 3."""
    found = sl.near_optimal(balanced(twins=1), 0.05, limit)
    assert [model.support for model in found] == [(0, 5), (0,), (5,)][:limit]
    assert found.is_complete == (limit >= 3)


def test_the_list_grows_as_needed(problem, monkeypatch):
    whole = sl.near_optimal(problem, 0.2)
    assert len(whole) > 20
    monkeypatch.setattr(module, "_FIRST_PLACES", 2)
    again = sl.near_optimal(problem, 0.2)
    assert [model.support for model in again] == [model.support for model in whole]
    assert again.is_complete


def test_the_list_does_not_depend_on_slices(problem, monkeypatch):
    whole = sl.near_optimal(problem, 0.2)
    monkeypatch.setattr(search, "_FIRST_SLICE", 0)
    monkeypatch.setattr(search, "_SLICE_SECONDS", 1e-9)  # one node a slice
    again = sl.near_optimal(problem, 0.2)
    for one, other in zip(whole, again, strict=True):
        assert one.support == other.support
        assert one.objective == other.objective
        assert np.array_equal(one.coef, other.coef)


def test_out_of_time(problem, monkeypatch):
    monkeypatch.setattr(search, "_FIRST_SLICE", 0)
    found = sl.near_optimal(problem, 0.2, time_limit=0)
    assert not found.is_complete
    assert len(found) == 1
    assert problem.limits.is_affordable(found[0].support)
    assert found[0].objective == problem.objective(found[0].coef, found[0].intercept)
    assert found[0].cost == problem.limits.cost_of(found[0].support)
    assert sl.near_optimal(problem, 0.2, time_limit=1e9).is_complete


def test_an_optimum_that_was_not_reached_in_time_may_still_be_listed(problem, monkeypatch):
    """The list is complete for the best model that is known in the end."""
    real = sl.near_optimal(problem, 0.05)
    first_try = sl.solve(problem.with_limits(max_features=1))
    monkeypatch.setattr(record, "solve", lambda problem, **options: first_try)
    found = sl.near_optimal(problem, 0.05)
    assert [model.support for model in found] == [model.support for model in real]
    assert found.is_complete


@pytest.mark.parametrize(
    ("ask", "n", "limits"),
    [
        (sl.near_optimal, 1, {}),
        (sl.near_optimal, 2, {}),  # in the listing, after the optimum
        (sl.substitutes, 1, {}),
        (sl.solve_path, 1, {}),
        (sl.solve_path, 1, {"budget": 3.0, "max_features": 8}),  # in the tree of all budgets
        (sl.price_ranges, 1, {"budget": 3.0}),
    ],
)
def test_interrupt(problem, interrupt_at, ask, n, limits):
    interrupt_at(n)
    with pytest.raises(KeyboardInterrupt):
        ask(problem.with_limits(**limits))


def test_table(problem):
    found = sl.near_optimal(problem, 0.1)
    frame = found.to_frame()
    assert list(frame.columns) == ["objective", "excess", "cost", "n_predictors"] + [
        f"x{g}" for g in range(8)
    ]
    assert frame["excess"].iloc[0] == 0
    assert frame["excess"].between(0, 0.1).all()
    for model, (_, row) in zip(found, frame.iterrows(), strict=True):
        assert (row["objective"], row["cost"]) == (model.objective, model.cost)
        assert tuple(np.flatnonzero(row.iloc[4:])) == model.support
        assert row["n_predictors"] == len(model.support)


@pytest.mark.parametrize("tolerance", [-0.1, float("nan"), float("inf"), "0.01", None, True, [0.1]])
def test_bad_tolerance(problem, tolerance):
    with pytest.raises(sl.InvalidProblemError, match="tolerance: must be a number of at least 0"):
        sl.near_optimal(problem, tolerance)


@pytest.mark.parametrize("limit", [0, -1, 1.0, "3", None, True])
def test_bad_limit(problem, limit):
    with pytest.raises(sl.InvalidProblemError, match="limit: must be an integer of at least 1"):
        sl.near_optimal(problem, limit=limit)


@pytest.mark.parametrize("time_limit", [-1, "1", float("nan")])
@pytest.mark.parametrize("function", [sl.near_optimal, sl.solve_path, sl.substitutes])
def test_bad_time_limit(problem, function, time_limit):
    with pytest.raises(sl.InvalidProblemError, match="time_limit: must be a number of seconds"):
        function(problem, time_limit=time_limit)


@pytest.mark.parametrize(
    "function", [sl.near_optimal, sl.solve_path, sl.substitutes, sl.price_ranges]
)
def test_what_is_no_problem(function):
    with pytest.raises(sl.InvalidProblemError, match=r"problem: must be a SubsetProblem .*ndarray"):
        function(np.zeros((4, 2)))


def test_numbers_of_numpy(problem):
    found = sl.near_optimal(problem, np.float64(0.1), np.int64(5))
    assert len(found) == 5


def hinge_problem(seed):
    rng = np.random.default_rng(seed)
    X = rng.random((12, 6))
    y = (X @ rng.normal(size=6) + 0.5 * (seed % 2) * rng.logistic(size=12) > 0).astype(int)
    y[:2] = 0, 1
    ridge = 10 ** rng.uniform(-3, 1)
    return sl.SubsetProblem(X, y, ridge=ridge if seed % 5 else 0.0635, loss="hinge")


def test_fits_of_the_hinge_do_not_go_in_a_circle():
    """One that did listed a model at an objective it does not have."""
    problem = hinge_problem(310)
    fits = SupportFits(problem)
    found = sl.near_optimal(problem, 10.0)
    assert found.is_complete
    assert (0, 3, 4, 5) in {model.support for model in found}
    for model in found:
        assert model.objective <= fits.fit(model.support)[0].objective * (1 + 1e-6)


def test_a_list_is_not_complete_where_a_fit_has_failed():
    """All rows of a model without use are at the kink, and its fit finds no bound."""
    problem = hinge_problem(3109)
    assert sl.near_optimal(problem, 0.3).is_complete
    assert not sl.near_optimal(problem, 10.0).is_complete
