"""The reference backend against selections listed and fitted by others."""

import numpy as np
import pytest
from answers import affordable_supports, check_model
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

import shortlist as sl


def solve(problem, **options):
    return sl.solve(problem, "enumeration", **options)


def noisy_data(n_rows=60, n_columns=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, n_columns))
    y = X[:, 0] - X[:, 1] + 0.5 * X[:, 2] + 0.4 * rng.normal(size=n_rows) > 0.25
    return X, y


def objective_by_scikit_learn(problem, support):
    """Score the model that scikit-learn fits to the columns of a selection."""
    columns = problem.columns_of(support)
    coef, intercept = np.zeros(problem.n_columns), np.log(np.mean(problem.response.values > 0))
    intercept -= np.log(np.mean(problem.response.values < 0))
    if len(columns):
        model = LogisticRegression(C=1 / problem.ridge, solver="newton-cholesky", tol=1e-10)
        model.fit(problem.X[:, columns], problem.response.values)
        coef[columns], intercept = model.coef_[0], model.intercept_[0]
    return problem.objective(coef, intercept)


LIMITS = {
    "cardinality": {"max_features": 2},
    "budget": {"budget": 4, "costs": [1, 2, 3, 1, 2, 0]},
    "fees": {"budget": 5, "costs": [1, 2, 1, 1, 2, 0], "fees": [(2, [0, 1]), (1, [1, 2, 3])]},
    "real prices": {"budget": 4.5, "costs": [np.pi, np.e, 1.1, np.sqrt(2), 0.3, 2.2]},
    "include, exclude": {"max_features": 3, "include": [3], "exclude": [0]},
    "groups": {"max_features": 2, "groups": [0, 1, 2, 0, 1, 2]},
    "both limits": {"max_features": 2, "budget": 3, "costs": [2, 1, 2, 1, 1, 1]},
    "no limit": {},
}


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS.keys())
def test_optimum_of_every_affordable_selection(limits):
    X, y = noisy_data()
    problem = sl.SubsetProblem(X, y, ridge=0.1, **limits)
    values = {
        support: objective_by_scikit_learn(problem, support)
        for support in affordable_supports(problem)
    }
    solution = solve(problem)
    assert solution.status is sl.Status.OPTIMAL
    assert solution.objective == pytest.approx(min(values.values()), rel=1e-9)
    assert solution.support == min(values, key=values.get)
    check_model(problem, solution)


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS.keys())
def test_lower_bound_is_below_the_optimum_and_close(limits):
    X, y = noisy_data(seed=1)
    solution = solve(sl.SubsetProblem(X, y, ridge=0.01, **limits))
    assert solution.lower_bound < solution.objective
    assert solution.gap < 1e-11


@pytest.mark.filterwarnings("ignore:budget")
@settings(max_examples=60)
@given(st.data())
def test_fits_exactly_the_selections_that_cannot_grow(data):
    """A node is a fit: there is one for every affordable selection without affordable superset."""
    n_predictors = data.draw(st.integers(1, 6))
    price = st.integers(0, 6)
    members = st.lists(st.integers(0, n_predictors - 1), min_size=1, unique=True)
    X = np.random.default_rng(0).random((8, n_predictors))
    include = data.draw(st.lists(st.integers(0, n_predictors - 1), max_size=1))
    try:
        problem = sl.SubsetProblem(
            X,
            [0, 1] * 4,
            ridge=1.0,
            costs=data.draw(st.lists(price, min_size=n_predictors, max_size=n_predictors)),
            budget=data.draw(st.integers(0, 20)),
            fees=data.draw(st.lists(st.tuples(price, members), max_size=2)),
            max_features=data.draw(st.integers(1, n_predictors)),
            include=include,
        )
    except sl.InfeasibleError:
        return
    affordable = [set(support) for support in affordable_supports(problem)]
    maximal = [s for s in affordable if not any(s < other for other in affordable)]
    assert solve(problem).nodes == len(maximal)


@pytest.mark.parametrize("seed", [1, 4, 17])
def test_ties_go_to_the_first_support(seed):
    """Each column is there twice; eight equal models differ by rounding, in favour of others."""
    X, y = noisy_data(seed=seed)
    X = X[:, [0, 1, 2, 0, 1, 2]]
    problem = sl.SubsetProblem(X, y, ridge=0.1, max_features=3)
    assert solve(problem).support == (0, 1, 2)
    assert solve(problem, warm_start=[1, 3, 5]).support == (0, 1, 2)
    problem = sl.SubsetProblem(X, y, ridge=0.1, max_features=3, exclude=[0])
    assert solve(problem).support == (1, 2, 3)


@pytest.mark.parametrize("ridge", [1e-30, 1e-9, 1e-3])
def test_separable_classes(ridge):
    """At 1e-30 all probabilities are within 1e-20 of the labels, and the bound still is tight."""
    X, _ = noisy_data()
    solution = solve(sl.SubsetProblem(X, X[:, 3] > 0.5, ridge=ridge, max_features=1))
    assert solution.status is sl.Status.OPTIMAL
    assert solution.support == (3,)
    assert solution.lower_bound < solution.objective
    assert solution.gap < 1e-11


def duplicated_columns(noise, scale):
    X, y = noisy_data()
    jitter = 1 + noise * np.random.default_rng(1).normal(size=X.shape)
    return sl.SubsetProblem(np.column_stack([X, X * jitter]) * scale, y, ridge=1e-3)


@pytest.mark.parametrize(
    "noise, scale", [(0, 1), (1e-12, 1), (1e-6, 1), (0, 1e6), (1e-12, 1e6), (1e-9, 1e6)]
)
def test_nearly_dependent_columns(noise, scale):
    solution = solve(duplicated_columns(noise, scale))
    assert solution.status is sl.Status.OPTIMAL
    assert solution.support == tuple(range(12))


def test_a_model_beyond_double_precision_is_not_called_optimal():
    """Coefficients of 20 on columns of 1e6 cancel but for 1e-9, which is what margins are worth."""
    solution = solve(duplicated_columns(noise=1e-6, scale=1e6))
    assert solution.status is sl.Status.STALLED
    assert 1e-6 < solution.gap < 1e-4


@pytest.mark.parametrize("shift", [0.0, 1e3])
def test_columns_of_wildly_different_scale(shift):
    X, y = noisy_data()
    scale = 10.0 ** np.array([-12, 12, -6, 6, 9, 3])
    problem = sl.SubsetProblem((X + shift) * scale, y, ridge=1.0, max_features=3)
    solution = solve(problem)
    assert solution.status is sl.Status.OPTIMAL
    # In huge units the penalty does not count. So the model is that of the same column in units
    # that are 1e3 times smaller, with a ridge that is 1e6 times weaker.
    columns = np.flatnonzero(solution.coef)
    assert set(columns) <= {1, 3, 4, 5}
    plain = sl.SubsetProblem(X[:, columns] * 1e3, y, ridge=1e-6)
    assert solution.objective == pytest.approx(solve(plain).objective, rel=1e-4)


def test_rows_of_weight_zero_are_no_rows():
    X, y = noisy_data()
    weights = np.random.default_rng(2).integers(0, 3, len(y)).astype(float)
    weighted = solve(sl.SubsetProblem(X, y, ridge=0.1, max_features=2, sample_weight=weights))
    copies = weights.astype(int)
    X, y = np.repeat(X, copies, axis=0), np.repeat(y, copies)
    repeated = solve(sl.SubsetProblem(X, y, ridge=0.1, max_features=2))
    assert weighted.support == repeated.support
    assert weighted.objective == pytest.approx(repeated.objective, rel=1e-12)
    assert weighted.coef == pytest.approx(repeated.coef, rel=1e-9)


def test_a_column_constant_in_the_rows_that_count_is_not_bought():
    X, y = noisy_data()
    weights = np.where(X[:, 0] > 0.9, 0.0, 1.0)
    X[:, 5] = np.where(weights > 0, 4.0, X[:, 5])
    solution = solve(sl.SubsetProblem(X, y, ridge=0.1, sample_weight=weights))
    assert solution.support == (0, 1, 2, 3, 4)


@pytest.mark.parametrize("ridge", [1e-6, 0.1, 1e6])
def test_two_rows(ridge):
    solution = solve(sl.SubsetProblem([[0.0, 1.0], [1.0, 3.0]], [0, 1], ridge=ridge))
    assert solution.status is sl.Status.OPTIMAL
    assert solution.coef[1] == pytest.approx(2 * solution.coef[0], rel=1e-9)


def test_node_limit_is_honest():
    X, y = noisy_data()
    problem = sl.SubsetProblem(X, y, ridge=0.1, max_features=2)
    assert solve(problem).nodes == 15
    stopped = solve(problem, node_limit=14)
    assert (stopped.status, stopped.nodes) == (sl.Status.NODE_LIMIT, 14)
    assert stopped.lower_bound == 0.0
    assert stopped.gap == 1.0
    assert stopped.objective >= solve(problem).objective
    assert solve(problem, node_limit=15).status is sl.Status.OPTIMAL


def test_time_limit_is_honest():
    X, y = noisy_data()
    solution = solve(sl.SubsetProblem(X, y, ridge=0.1, max_features=2), time_limit=0)
    assert (solution.status, solution.nodes) == (sl.Status.TIME_LIMIT, 1)
    assert solution.lower_bound == 0.0


def test_interrupt_returns_the_incumbent():
    X, y = noisy_data()
    problem = sl.SubsetProblem(X, y, ridge=0.1, max_features=2)

    def interrupt(progress):
        if progress.nodes == 3:
            raise KeyboardInterrupt

    solution = solve(problem, callback=interrupt)
    assert (solution.status, solution.nodes) == (sl.Status.INTERRUPTED, 3)
    assert solution.objective == solve(problem, node_limit=3).objective
    assert solution.lower_bound == 0.0


def test_a_gap_that_floating_point_cannot_reach_is_not_called_optimal():
    X, y = noisy_data()
    solution = solve(sl.SubsetProblem(X, y, ridge=0.1, max_features=2), gap=0.0)
    assert solution.status is sl.Status.STALLED
    assert 0 < solution.gap < 1e-11


def test_progress():
    X, y = noisy_data()
    seen = []
    solution = solve(sl.SubsetProblem(X, y, ridge=0.1, max_features=2), callback=seen.append)
    assert [progress.nodes for progress in seen] == list(range(1, 16))
    assert [progress.open_nodes for progress in seen] == list(range(14, -1, -1))
    objectives = [progress.objective for progress in seen]
    assert objectives == sorted(objectives, reverse=True)
    assert {progress.lower_bound for progress in seen[:-1]} == {0.0}
    assert seen[-1].lower_bound == solution.lower_bound


def test_warm_start_is_the_first_incumbent():
    X, y = noisy_data()
    problem = sl.SubsetProblem(X, y, ridge=0.1, max_features=2)
    best = solve(problem)
    stopped = solve(problem, warm_start=best.support, node_limit=1)
    assert stopped.support == best.support
    assert stopped.status is sl.Status.NODE_LIMIT


@pytest.mark.parametrize("limits", [{"max_features": 9}, {"max_features": 30}])
def test_too_many_selections_are_refused_before_any_fit(limits):
    X = np.random.default_rng(0).random((10, 40))
    problem = sl.SubsetProblem(X, [0, 1] * 5, ridge=0.1, **limits)
    with pytest.raises(sl.InvalidProblemError, match="'enumeration' is for at most 200000 selec"):
        solve(problem)


def test_many_predictors_are_no_problem_if_few_selections_are():
    X = np.random.default_rng(0).random((10, 200))
    y = [0, 1] * 5
    assert solve(sl.SubsetProblem(X, y, ridge=0.1, max_features=1)).nodes == 200
    assert solve(sl.SubsetProblem(X, y, ridge=0.1)).nodes == 1
