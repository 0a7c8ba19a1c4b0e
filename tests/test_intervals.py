"""Intervals of coefficients: their arguments, and the optimum within them."""

from __future__ import annotations

from math import inf

import numpy as np
import pandas as pd
import pytest
from answers import affordable_supports, check_model, same_bits
from hypothesis import given, settings
from hypothesis import strategies as st
from random_problems import limited_problem, random_arguments
from sample_data import make_data
from scipy.optimize import minimize
from scipy.special import expit

import shortlist as sl
from shortlist.backends.support_fit import SupportFits

pytestmark = pytest.mark.filterwarnings("ignore:budget")

X, Y = make_data(n_columns=3)
FRAME = pd.DataFrame(X, columns=["age", "sex", "pain"])
SEEDS = st.integers(0, 10_000)


def make(X=FRAME, **limits):
    return sl.SubsetProblem(X, Y, ridge=0.1, max_features=2, **limits)


def intervals(problem):
    return list(zip(problem.limits.lower, problem.limits.upper, strict=True))


# --- the arguments ---


@pytest.mark.parametrize(
    ("given_as", "largest"),
    [
        (2, [2, 2, 2]),
        (0.5, [0.5, 0.5, 0.5]),
        (np.float32(2), [2, 2, 2]),
        ([1, 2.5, None], [1, 2.5, inf]),
        ((1, inf, 3), [1, inf, 3]),
        (np.array([1, 2, 3]), [1, 2, 3]),
        ({"sex": 2}, [inf, 2, inf]),
        ({"pain": None, "age": 1}, [1, inf, inf]),
        ({}, [inf, inf, inf]),
        (pd.Series({"pain": 3.0, "age": 1.0}), [1, inf, 3]),
        (inf, [inf, inf, inf]),
        (None, [inf, inf, inf]),
    ],
)
def test_max_coefficient(given_as, largest):
    problem = make(max_coefficient=given_as)
    assert intervals(problem) == [(-m, m) for m in largest]
    assert problem.limits.has_intervals == (min(largest) < inf)


@pytest.mark.parametrize(
    ("given_as", "signs"),
    [
        ("positive", "+++"),
        ("negative", "---"),
        (["positive", None, "negative"], "+ -"),
        (np.array(["positive", "negative", "negative"]), "+--"),
        ({"sex": "negative"}, " - "),
        ({"sex": "negative", "age": None}, " - "),
        (pd.Series({"pain": "positive", "age": "negative"}), "- +"),
        ([None, None, None], "   "),
        (None, "   "),
    ],
)
def test_signs(given_as, signs):
    expected = {"+": (0, inf), "-": (-inf, 0), " ": (-inf, inf)}
    problem = make(signs=given_as)
    assert intervals(problem) == [expected[sign] for sign in signs]
    assert problem.limits.has_intervals == (signs != "   ")


def test_a_sign_and_a_size_and_the_columns_of_a_group():
    groups = ["a", "b", "a"]
    problem = make(groups=groups, max_coefficient={"a": 2}, signs={"a": "negative"})
    assert intervals(problem) == [(-2, 0), (-inf, inf), (-2, 0)]
    assert make(X=X, max_coefficient={1: 2}).limits.upper.tolist() == [inf, 2, inf]


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"max_coefficient": 0}, "max_coefficient of age: must be greater than 0, not 0."),
        ({"max_coefficient": -1.5}, "max_coefficient of age: must be greater than 0, not -1.5."),
        ({"max_coefficient": float("nan")}, "max_coefficient of age: must be finite, not nan."),
        ({"max_coefficient": "2"}, "max_coefficient of age: must be a number, not '2'."),
        ({"max_coefficient": True}, "max_coefficient of age: must be a number, not True."),
        ({"max_coefficient": [1, -2, 3]}, "max_coefficient of sex: must be greater than 0"),
        ({"max_coefficient": [1, 2]}, "max_coefficient: expected 3 values, one per predictor"),
        ({"max_coefficient": [[1, 2, 3]]}, "max_coefficient: expected 3 values"),
        ({"max_coefficient": {"weight": 1}}, "max_coefficient: there is no predictor 'weight'"),
        ({"max_coefficient": {"age": -inf}}, "max_coefficient of age: must be finite, not -inf."),
        ({"signs": "up"}, "signs: the sign of age must be 'positive', 'negative' or None"),
        ({"signs": ["positive", 1, None]}, "signs: the sign of sex must be .*, not 1."),
        ({"signs": ["positive"]}, "signs: expected 3 values, one per predictor, but got 1."),
        ({"signs": 1}, "signs: the sign of age must be 'positive', 'negative' or None, not 1."),
        ({"signs": {"weight": "positive"}}, "signs: there is no predictor 'weight'"),
        ({"signs": {3: "positive"}}, "signs: index 3 is out of range"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(limits, message):
    with pytest.raises(sl.InvalidProblemError, match=f"^{message}") as caught:
        make(**limits)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def test_other_limits_and_ridges_keep_them():
    problem = make(max_coefficient=2, signs={"age": "positive"})
    for other in (problem.with_limits(max_features=1, exclude=["sex"]), problem.with_ridge(1.0)):
        assert intervals(other) == intervals(problem)
        assert other.digest != problem.digest


def test_the_digest_changes_with_the_limits_only():
    # A digest that changes makes all certificates of the time before invalid.
    plain = sl.SubsetProblem([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]], [0, 1, 1], ridge=0.1)
    assert plain.digest == "648699763003be3a47dcd7681fa2bed329344047059f02d1ea48cffc3b9f85b5"
    same = [{}, {"max_coefficient": inf}, {"signs": {"age": None}}, {"max_coefficient": {}}]
    assert len({make(**limits).digest for limits in same}) == 1
    others = [
        {"max_coefficient": 2},
        {"max_coefficient": np.nextafter(2, 3)},
        {"max_coefficient": {"age": 2}},
        {"max_coefficient": {"sex": 2}},
        {"signs": "positive"},
        {"signs": "negative"},
        {"signs": {"age": "positive"}},
        {"signs": {"age": "positive"}, "max_coefficient": 2},
    ]
    assert len({make(**limits).digest for limits in [{}, *others]}) == len(others) + 1


# --- the optimum ---


def objective_by_scipy(problem, support):
    """The best objective with a support, by L-BFGS-B, which knows intervals."""
    columns = problem.columns_of(support)
    y, w = problem.response.values, problem.weights
    mean = w @ problem.X[:, columns] / w.sum()
    design = np.column_stack([problem.X[:, columns] - mean, np.ones(problem.n_rows)])
    scale = np.maximum(np.sqrt(w @ design**2 / w.sum()), 1e-6)
    penalty = np.append(np.full(len(columns), problem.ridge), 0.0)

    def loss(beta):
        theta = beta / scale
        margins = y * (design @ theta)
        gradient = penalty * theta - design.T @ (w * y * expit(-margins))
        value = w @ np.logaddexp(0.0, -margins) + 0.5 * penalty @ theta**2
        return value, gradient / scale

    limits = problem.limits
    bounds = np.column_stack([limits.lower[columns], limits.upper[columns]]) * scale[:-1, None]
    found = minimize(
        loss,
        np.zeros(len(scale)),
        jac=True,
        method="L-BFGS-B",
        bounds=[*bounds.tolist(), (-inf, inf)],
        options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000, "maxfun": 20_000, "maxcor": 30},
    )
    return found.fun


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_a_fit_is_the_best_within_its_limits(seed):
    problem = limited_problem(seed)
    chosen = np.random.default_rng(seed).random(problem.n_predictors) < 0.6
    support = tuple(np.flatnonzero(chosen).tolist())
    model, bound = SupportFits(problem).fit(support)
    limits = problem.limits
    assert (limits.lower <= model.coef).all()
    assert (model.coef <= limits.upper).all()
    assert bound <= model.objective <= bound * (1 + 1e-10)
    # L-BFGS-B may stop early, but cannot be below the optimum.
    assert model.objective <= objective_by_scipy(problem, support) * (1 + 1e-12)


@settings(max_examples=25, deadline=None)
@given(SEEDS)
def test_enumeration_is_brute_force(seed):
    arguments = random_arguments(seed)
    columns = min(4, arguments["X"].shape[1])
    small = sl.SubsetProblem(
        arguments["X"][:, :columns],
        arguments["y"],
        ridge=arguments["ridge"],
        max_features=2,
        sample_weight=arguments.get("sample_weight"),
        max_coefficient=0.7,
        signs=["positive", "negative", None, "positive"][:columns],
    )
    solution = sl.solve(small, "enumeration")
    assert solution.status is sl.Status.OPTIMAL
    values = [objective_by_scipy(small, support) for support in affordable_supports(small)]
    assert solution.objective <= min(values) * (1 + 1e-12)
    assert solution.objective == pytest.approx(min(values), rel=1e-6)
    check_model(small, solution)


@settings(max_examples=25, deadline=None)
@given(SEEDS)
def test_limits_that_the_best_model_respects_change_nothing(seed):
    arguments = random_arguments(seed)
    free = sl.solve(sl.SubsetProblem(**arguments), "enumeration")
    owner = sl.SubsetProblem(**arguments).column_predictor
    largest = 2 * max(1e-6, np.abs(free.coef).max())
    problem = sl.SubsetProblem(**arguments, max_coefficient=largest)
    # A sign per predictor, where its columns agree on one.
    signs = {}
    for g in free.support:
        own = free.coef[owner == g]
        if (own > 0).all() or (own < 0).all():
            signs[g] = "positive" if own[0] > 0 else "negative"
    signed = sl.SubsetProblem(**arguments, signs=signs)
    for limited in (problem, signed):
        solution = sl.solve(limited, "enumeration")
        assert solution.objective == pytest.approx(free.objective, rel=1e-9)


def test_the_other_sign_buys_nothing_of_use():
    """Where 0 is the best coefficient a predictor may still be bought."""
    y = X[:, 0] > 0
    problem = sl.SubsetProblem(X[:, :1], y, ridge=0.1, signs="negative", include=[0])
    solution = sl.solve(problem, "enumeration")
    assert solution.support == (0,)
    assert solution.coef.tolist() == [0.0]
    assert solution.status is sl.Status.OPTIMAL


# --- the native backend ---


def check_solution(problem):
    """The optimum is that of brute force, respects the limits, and its proof holds."""
    solution, best = sl.solve(problem), sl.solve(problem, "enumeration")
    check_model(problem, solution)
    assert solution.status is sl.Status.OPTIMAL
    assert solution.objective == pytest.approx(best.objective, rel=2e-6)
    assert solution.lower_bound <= best.objective * (1 + 1e-12)
    verdict = sl.verify(problem, solution.certificate)
    assert verdict.valid, verdict.reason
    assert verdict.lower_bound >= solution.lower_bound * (1 - 1e-9)
    return solution


@pytest.mark.parametrize("seed", range(60))
def test_the_native_backend_finds_the_optimum_and_proves_it(seed):
    check_solution(limited_problem(seed))


@pytest.mark.slow
def test_the_native_backend_on_many_problems():
    for seed in range(60, 560):
        check_solution(limited_problem(seed))


@pytest.mark.parametrize("seed", range(20))
def test_the_squared_hinge(seed):
    arguments = random_arguments(seed)
    limits = {"max_coefficient": 0.5, "signs": "positive" if seed % 2 else None}
    check_solution(sl.SubsetProblem(**arguments, **limits, loss="squared_hinge"))


@pytest.mark.parametrize("limits", [{"max_coefficient": 2}, {"signs": "positive"}])
def test_the_hinge_with_limits_is_refused_in_a_sentence(limits):
    with pytest.raises(sl.InvalidProblemError, match=r"^loss: 'hinge' does not go with .*\.$"):
        make(loss="hinge", **limits)


@pytest.mark.parametrize("seed", range(20))
def test_limits_that_are_never_reached_change_no_bit(seed):
    arguments = random_arguments(seed)
    free = sl.solve(sl.SubsetProblem(**arguments))
    wide = sl.solve(sl.SubsetProblem(**arguments, max_coefficient=1e9))
    assert same_bits(wide, free)


@pytest.mark.parametrize(
    "limits", [{"max_features": 2}, {"budget": 5, "costs": [2, 1, 3, 2, 1, 4]}]
)
def test_the_signs_of_the_best_model_are_forbidden(limits):
    """What it buys is then of little or no use, and has to be bought all the same if required."""
    X, y = make_data(n_columns=6)
    free = sl.solve(sl.SubsetProblem(X, y, ridge=0.05, **limits))
    wrong = {g: "negative" if free.coef[g] > 0 else "positive" for g in free.support}
    problem = sl.SubsetProblem(X, y, ridge=0.05, signs=wrong, **limits)
    solution = check_solution(problem)
    assert solution.objective > free.objective
    required = sl.SubsetProblem(
        X, y, ridge=0.05, signs=wrong, include=list(free.support[:1]), **limits
    )
    check_solution(required)


def test_a_required_predictor_of_the_wrong_sign_stays_at_zero():
    y = X[:, 0] > 0
    problem = sl.SubsetProblem(X, y, ridge=0.1, signs="negative", include=[0], max_features=1)
    solution = check_solution(problem)
    assert solution.support == (0,)
    assert solution.coef.tolist() == [0.0, 0.0, 0.0]


def test_tight_limits_make_proofs_easier():
    """Where limits bind, the relaxation knows: few nodes, though hundreds would do without."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 40))
    y = rng.random(300) < expit(X[:, :6] @ [1.5, -1.0, 1.0, -0.8, 0.7, 0.9])
    problem = sl.SubsetProblem(X, y, ridge=0.01, max_features=5, max_coefficient=0.4)
    solution = sl.solve(problem)
    assert solution.status is sl.Status.OPTIMAL
    assert (np.abs(solution.coef[list(solution.support)]) == 0.4).sum() >= 3
    assert solution.nodes < 50
