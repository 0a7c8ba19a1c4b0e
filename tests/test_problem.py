"""Every bad argument of a problem gives one sentence that names it; a good one is understood."""

import re
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

import shortlist as sl

X = np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 2.0], [2.0, 1.0, 4.0], [3.0, 0.0, 1.0]])
Y = np.array([0, 0, 1, 1])
FRAME = pd.DataFrame(X, columns=["age", "sex", "chol"])


def make(X=X, y=Y, ridge=0.1, **arguments):
    return sl.SubsetProblem(X, y, ridge=ridge, **arguments)


def with_entry(value):
    changed = X.copy()
    changed[1, 2] = value
    return changed


BAD = {
    # X
    "NaN": ({"X": with_entry(np.nan)}, "X: column 2 contains NaN or infinity; impute"),
    "infinity": ({"X": with_entry(-np.inf)}, "X: column 2 contains NaN or infinity; impute"),
    "infinities that cancel": (
        {"X": [[np.inf, 1.0], [-np.inf, 2.0], [1.0, 1.0], [2.0, 2.0]]},
        "X: column 0 contains NaN or infinity",
    ),
    "text": ({"X": [["a", 1], ["b", 2], ["a", 3], ["b", 4]]}, "X: every value must be a number;"),
    "text in a DataFrame": (
        {"X": FRAME.assign(sex=["f", "m", "f", "m"])},
        "X: every value must be a number; encode text",
    ),
    "complex": ({"X": X + 1j}, "X: contains complex numbers;"),
    "one dimension": ({"X": X[:, 0]}, "X: expected a table with rows and columns, but got 1"),
    "a number": ({"X": 1.0}, "X: expected a table with rows and columns, but got 0"),
    "a name twice": (
        {"X": FRAME.set_axis(["age", "sex", "age"], axis=1)},
        "X: two columns are named 'age'; rename one",
    ),
    # y
    "one class": ({"y": [1, 1, 1, 1]}, "y: has only 1 class but exactly 2 are needed; select"),
    "one class of names": ({"y": ["ill"] * 4}, "y: has only 1 class but exactly 2"),
    "three classes": ({"y": [0, 1, 2, 1]}, "y: has 3 classes but exactly 2 are needed; select"),
    "three names": ({"y": ["a", "b", "c", "a"]}, "y: has 3 classes but exactly 2 are needed"),
    "no rows": ({"X": np.zeros((0, 2)), "y": []}, "y: has 0 classes"),
    "NaN in y": ({"y": [0.0, np.nan, 1.0, 1.0]}, "y: contains NaN or infinity; remove"),
    "infinity in y": ({"y": [0.0, np.inf, 1.0, 1.0]}, "y: contains NaN or infinity; remove"),
    "missing in y": ({"y": ["a", None, "b", "b"]}, "y: labels must all be of one type"),
    "mixed types in y": ({"y": np.array([0, "a", 1, 1], object)}, "y: labels must all be of one"),
    "too few labels": ({"y": [0, 1, 1]}, "y: expected 4 labels, one per row of X, but got shape"),
    "two columns of labels": ({"y": np.zeros((4, 2))}, "y: expected 4 labels"),
    # ridge
    "zero ridge": ({"ridge": 0}, "ridge: must be greater than 0, not 0"),
    "negative ridge": ({"ridge": -1.0}, "ridge: must be greater than 0, not -1.0"),
    "NaN ridge": ({"ridge": np.nan}, "ridge: must be finite, not nan"),
    "infinite ridge": ({"ridge": np.inf}, "ridge: must be finite, not inf"),
    "ridge in words": ({"ridge": "0.1"}, "ridge: must be a number, not '0.1'"),
    "no ridge": ({"ridge": None}, "ridge: must be a number, not None"),
    # budget and costs
    "negative budget": ({"budget": -1}, "budget: must be at least 0, not -1"),
    "NaN budget": ({"budget": np.nan}, "budget: must be finite, not nan"),
    "budget in words": ({"budget": "ten"}, "budget: must be a number, not 'ten'"),
    "negative cost": ({"costs": [1, -1, 1]}, "costs: the cost of x1 must be a finite number"),
    "NaN cost": ({"costs": [1, 1, np.nan]}, "costs: the cost of x2 must be a finite number"),
    "infinite cost": ({"costs": [np.inf, 1, 1]}, "costs: the cost of x0 must be a finite number"),
    "missing cost": ({"costs": [1, 1]}, "costs: expected 3 values, one per predictor, but got"),
    "surplus cost": ({"costs": [1, 1, 1, 1]}, "costs: expected 3 values, one per predictor"),
    "one cost for all": ({"costs": 2.0}, "costs: expected 3 values, one per predictor"),
    "cost in words": ({"costs": ["a", 1, 1]}, "costs: every value must be a number"),
    "no cost for a name": (
        {"X": FRAME, "costs": {"age": 1, "sex": 2}},
        "costs: no cost for 'chol'; give every predictor one, or exclude it",
    ),
    "cost of an unknown name": (
        {"X": FRAME, "costs": {"age": 1, "sex": 2, "chol": 3, "weight": 4}},
        "costs: there is no predictor 'weight'; use one of 'age', 'sex', 'chol'",
    ),
    "costs by name without names": (
        {"costs": {"age": 1}},
        "costs: 'age' is a name but the predictors have none; pass X as a DataFrame",
    ),
    "negative cost of a name": (
        {"X": FRAME, "costs": {"age": -1, "sex": 2, "chol": 3}},
        "costs of 'age': must be at least 0, not -1",
    ),
    "cost of a name in words": (
        {"X": FRAME, "costs": {"age": "free", "sex": 2, "chol": 3}},
        "costs of 'age': must be a number, not 'free'",
    ),
    # max_features
    "negative max_features": ({"max_features": -1}, "max_features: must be an integer of at"),
    "float max_features": ({"max_features": 2.0}, "max_features: must be an integer of at"),
    "bool max_features": ({"max_features": True}, "max_features: must be an integer of at"),
    # groups
    "too few groups": ({"groups": [0, 1]}, "groups: expected 3 labels, one per column, but got 2"),
    "a gap in groups": ({"groups": [0, 2, 2]}, "groups: labels must be all names, or integers"),
    "groups from 1": ({"groups": [1, 2, 3]}, "groups: labels must be all names, or integers"),
    "names and integers": ({"groups": ["a", 1, "b"]}, "groups: labels must be all names"),
    "float groups": ({"groups": [0.0, 1.0, 2.0]}, "groups: labels must be all names"),
    "nested groups": ({"groups": np.zeros((3, 2), int)}, "groups: labels must be all names"),
    "groups as a number": ({"groups": 3}, "groups: expected 3 labels, one per column, not 3"),
    # fees
    "negative fee": ({"fees": [(-1, [0])]}, "fees: must be at least 0, not -1"),
    "NaN fee": ({"fees": [(np.nan, [0])]}, "fees: must be finite, not nan"),
    "fee without members": ({"fees": [2.5]}, r"fees: each fee is a pair (amount, members)"),
    "one fee, not in a list": ({"fees": (2.5, [0, 1])}, "fees: each fee is a pair"),
    "a fee as a number": ({"fees": 2.5}, "fees: expected a list of pairs"),
    "fee of an unknown member": ({"fees": [(1, [3])]}, "fees: index 3 is out of range; there are"),
    "fee of one member": ({"fees": [(1, 0)]}, "fees: expected a list of predictors, such as [0]"),
    # include and exclude
    "include as text": ({"X": FRAME, "include": "age"}, "include: expected a list of predictors"),
    "include as a number": ({"include": 1}, "include: expected a list of predictors, such as [1]"),
    "unknown include": ({"X": FRAME, "include": ["w"]}, "include: there is no predictor 'w'; use"),
    "include by name without names": ({"include": ["age"]}, "include: 'age' is a name but"),
    "include out of range": ({"include": [3]}, "include: index 3 is out of range; there are 3"),
    "negative index": ({"exclude": [-1]}, "exclude: index -1 is out of range; there are 3"),
    "float index": ({"exclude": [1.0]}, "exclude: 1.0 is neither a predictor's name nor"),
    "bool index": ({"exclude": [True]}, "exclude: True is neither a predictor's name nor"),
    "both": (
        {"X": FRAME, "include": ["age", "sex"], "exclude": ["sex"]},
        "include and exclude: sex is in both; remove it from one",
    ),
    # sample_weight
    "tiny ridge": ({"ridge": 1e-200}, "ridge: 1e-200 is beyond 1e-140 to 1e+140"),
    "tiny weights": ({"sample_weight": [1e-290] * 4}, "sample_weight: 1e-290 is beyond"),
    "huge weights": ({"sample_weight": [1e200] * 4}, "sample_weight: 1e+200 is beyond"),
    "negative weight": ({"sample_weight": [1, 1, 1, -1]}, "sample_weight: weights must be finite"),
    "NaN weight": ({"sample_weight": [1, np.nan, 1, 1]}, "sample_weight: weights must be finite"),
    "infinite weight": (
        {"sample_weight": [1, np.inf, 1, 1]},
        "sample_weight: weights must be finite and at least 0",
    ),
    "too few weights": ({"sample_weight": [1, 1]}, "sample_weight: expected 4 weights, one per"),
    "weights in words": ({"sample_weight": ["a"] * 4}, "sample_weight: every value must be a"),
    "no weight at all": ({"sample_weight": [0] * 4}, "sample_weight: the weights of one class"),
    "no weight in a class": (
        {"sample_weight": [0, 0, 1, 2]},
        "sample_weight: the weights of one class are all zero; give both",
    ),
}


NO_NUMBERS = {
    "complex": (np.array([1.0, 2.0, 3.0, 4.0j]), "y: every value must be a number"),
    "dates": (np.arange(4).astype("datetime64[D]"), "y: every value must be a number"),
    "durations": (np.arange(4).astype("timedelta64[D]"), "y: every value must be a number"),
    "beyond doubles": ([10**400, 1, 2, 3], "y: every value must be a number"),
    "masked": (np.ma.array([1.0, 2.0, 3.0, 4.0], mask=[0, 0, 1, 0]), "y: some values are masked"),
    "words": (["a", "b", "c", "d"], "y: every value must be a number"),
    "NaN": ([1.0, np.nan, 2.0, 3.0], "y: contains NaN or infinity"),
    "too large": ([1e200, 1.0, 2.0, 3.0], "y: 1e+200 is beyond 1e-140 to 1e+140; state it in"),
}


@pytest.mark.parametrize("loss", ["squared_error", "poisson"])
@pytest.mark.parametrize("y, expected", NO_NUMBERS.values(), ids=NO_NUMBERS)
def test_outcomes_that_are_no_numbers_are_refused(y, expected, loss):
    with pytest.raises(sl.InvalidProblemError) as caught, warnings.catch_warnings():
        warnings.simplefilter("error")
        make(y=y, loss=loss)
    assert str(caught.value).startswith(expected)


def test_features_that_are_masked_or_beyond_doubles_are_refused():
    with pytest.raises(sl.InvalidProblemError, match="X: some values are masked"):
        make(np.ma.array(X, mask=X == 5.0))
    with pytest.raises(sl.InvalidProblemError, match="X: every value must be a number"):
        make([[10**400], [1], [2], [3]])


def assert_one_sentence(message):
    assert message.endswith(".")
    assert "\n" not in message
    # A full stop followed by a space would begin a second sentence.
    assert not re.search(r"[^.]\. ", message)


@pytest.mark.parametrize("arguments, expected", BAD.values(), ids=BAD.keys())
def test_bad_argument_gives_one_sentence_that_names_it(arguments, expected):
    with pytest.raises(sl.InvalidProblemError) as caught, warnings.catch_warnings():
        warnings.simplefilter("error")
        make(**arguments)
    assert str(caught.value).startswith(expected)
    assert_one_sentence(str(caught.value))


@pytest.mark.parametrize(
    "limits, expected",
    [
        (
            {"budget": 3, "costs": [2, 2, 2]},
            "include: its predictors cost 4, which exceeds budget=3",
        ),
        (
            {"budget": 3, "fees": [(2, [0])]},
            "include: its predictors cost 4, which exceeds budget=3",
        ),
        ({"max_features": 1}, "include: 2 predictors exceed max_features=1"),
    ],
)
def test_unaffordable_include_is_infeasible(limits, expected):
    with pytest.raises(sl.InfeasibleError) as caught:
        make(include=[0, 1], **limits)
    assert str(caught.value).startswith(expected)
    assert_one_sentence(str(caught.value))


def test_budget_below_the_cheapest_predictor_warns_and_is_valid():
    with pytest.warns(sl.ShortlistWarning, match="intercept alone") as caught:
        problem = make(budget=1, costs=[2, 3, 4])
    assert caught[0].filename == __file__  # the line to change is the caller's
    assert_one_sentence(str(caught[0].message))
    solution = sl.solve(problem)
    assert solution.status is sl.Status.OPTIMAL
    assert solution.support == ()
    assert solution.cost == 0
    assert solution.objective == pytest.approx(4 * np.log(2), rel=1e-12)


@pytest.mark.parametrize(
    "arguments",
    [
        {"budget": 2, "costs": [2, 3, 4]},
        {"budget": 1, "costs": [2, 3, 4], "max_features": 0},  # nothing may be bought at any price
        {"budget": 1, "costs": [2, 3, 4], "exclude": [0, 1, 2]},
        {"budget": 0, "costs": [0, 3, 4]},
        {"costs": [2, 3, 4]},
    ],
)
def test_no_warning_when_the_budget_is_not_the_reason(arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(**arguments)


def test_a_fee_can_make_everything_too_expensive():
    with pytest.warns(sl.ShortlistWarning, match="intercept alone"):
        make(budget=2, fees=[(2, [0, 1, 2])])


@pytest.mark.parametrize("container", [list, tuple, np.asarray, pd.Series])
def test_labels_come_in_any_container(container):
    assert make(y=container([0, 0, 1, 1])).response.values.tolist() == [-1, -1, 1, 1]


@pytest.mark.parametrize(
    "low, high",
    [(0, 1), (-1, 1), (3, 7), (0.5, 2.5), (False, True), ("ill", "well"), (b"a", b"b")],
)
def test_any_two_labels(low, high):
    problem = make(y=[high, low, low, high])
    assert problem.response.classes.tolist() == [low, high]
    assert problem.response.values.tolist() == [1, -1, -1, 1]


@pytest.mark.parametrize(
    "y",
    [
        pd.Categorical(["b", "a", "b", "a"]),
        pd.Series([2, 1, 2, 1], dtype="Int64"),
        np.array([[2], [1], [2], [1]]),
        np.array([2, 1, 2, 1], dtype=object),
        np.array([2, 1, 2, 1], dtype=np.uint8),
    ],
    ids=["categorical", "nullable", "column", "object", "unsigned"],
)
def test_labels_of_unusual_types(y):
    assert make(y=y).response.values.tolist() == [1, -1, 1, -1]


@given(st.lists(st.sampled_from([0, 1, 2, 3]), min_size=1, max_size=12))
def test_labels_agree_with_unique(y):
    rows = np.arange(len(y), dtype=float)[:, np.newaxis]
    classes = np.unique(y)
    if len(classes) == 2:
        problem = sl.SubsetProblem(rows, y, ridge=1)
        assert problem.response.classes.tolist() == classes.tolist()
        assert (problem.response.classes[(problem.response.values > 0).astype(int)] == y).all()
    else:
        with pytest.raises(sl.InvalidProblemError, match=r"y: has .* class"):
            sl.SubsetProblem(rows, y, ridge=1)


@pytest.mark.parametrize(
    "features",
    [X.tolist(), FRAME, sparse.csr_array(X), sparse.coo_matrix(X), np.asfortranarray(X)],
    ids=["list", "DataFrame", "csr", "coo", "fortran"],
)
def test_features_come_in_any_container(features):
    problem = make(X=features)
    assert problem.X.dtype == np.float64
    assert np.array_equal(problem.X, X)
    assert (problem.n_rows, problem.n_columns, problem.n_predictors) == (4, 3, 3)


def test_arguments_are_copied_where_a_later_change_would_be_silent():
    costs, weights = np.array([1.0, 2.0, 3.0]), np.ones(4)
    problem = make(costs=costs, sample_weight=weights, budget=3)
    costs[:], weights[:] = 9, 9
    assert problem.limits.costs.tolist() == [1, 2, 3]
    assert problem.weights.tolist() == [1, 1, 1, 1]


def test_names_and_indices_mean_the_same():
    by_name = make(X=FRAME, include=["chol"], exclude=["age"], fees=[(2, ["sex", "chol"])])
    by_index = make(include=[2], exclude=np.array([0]), fees=[(2, [2, 1, 1])])
    for problem in (by_name, by_index):
        assert problem.limits.include == (2,)
        assert problem.limits.exclude == (0,)
        assert problem.limits.fees[0].members == (1, 2)
    assert [by_name.name_of(g) for g in range(3)] == ["age", "sex", "chol"]
    assert [by_index.name_of(g) for g in range(3)] == ["x0", "x1", "x2"]


def test_costs_by_name_in_any_order():
    by_name = {"chol": 3.0, "age": 1.0, "sex": 2.0}
    for costs in (by_name, pd.Series(by_name), [1.0, 2.0, 3.0], np.array([1, 2, 3])):
        assert make(X=FRAME, costs=costs).limits.costs.tolist() == [1, 2, 3]


def test_column_names_that_are_not_text_are_no_names():
    problem = make(X=pd.DataFrame(X), costs={0: 1.0, 1: 2.0, 2: 3.0})
    assert problem.predictors.names is None
    assert problem.limits.costs.tolist() == [1, 2, 3]


def test_groups_by_name_are_numbered_as_they_appear():
    problem = make(groups=["lab", "age", "lab"], include=["lab"])
    assert problem.n_predictors == 2
    assert problem.predictors.names == ["lab", "age"]
    assert problem.column_predictor.tolist() == [0, 1, 0]
    assert problem.columns_of(problem.limits.include).tolist() == [0, 2]


def test_groups_by_number():
    problem = make(groups=[1, 0, 1], costs=[5, 6])
    assert problem.columns_of([1]).tolist() == [0, 2]
    assert problem.columns_of([]).tolist() == []
    assert problem.limits.costs.tolist() == [5, 6]


def test_a_limit_above_the_number_of_predictors_is_no_limit():
    assert make(max_features=99).limits.max_features == 3
    assert make(max_features=np.int64(2)).limits.max_features == 2
    assert make(budget=np.inf).limits.budget == np.inf


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_columns_of_extreme_scale(scale):
    problem = make(X=X * [scale, 1, 1], max_features=1)
    solution = sl.solve(problem)
    assert solution.status is sl.Status.OPTIMAL
    # Column 0 separates the classes. In tiny units its coefficient would have to be so large
    # that the penalty forbids it; in huge units the penalty no longer counts.
    assert (0 in solution.support) == (scale > 1)


def test_constant_columns_are_bought_only_if_they_must_be():
    features = np.column_stack([np.full(4, 7.0), X[:, 0], np.zeros(4)])
    assert sl.solve(make(X=features)).support == (1,)
    assert sl.solve(make(X=features, include=[2])).support == (1, 2)


def test_two_rows():
    # By symmetry the boundary is in the middle, and theta solves theta * ridge = sigmoid(-theta/2).
    solution = sl.solve(sl.SubsetProblem([[0.0], [1.0]], ["no", "yes"], ridge=0.5))
    theta = solution.coef[0]
    assert solution.intercept == pytest.approx(-theta / 2, rel=1e-6)
    assert 0.5 * theta == pytest.approx(1 / (1 + np.exp(theta / 2)), rel=1e-6)


def test_no_columns():
    problem = sl.SubsetProblem(np.zeros((4, 0)), Y, ridge=1, budget=3, costs=[])
    assert sl.solve(problem).support == ()


finite = st.floats(-50, 50)


@given(arrays(float, (6, 3), elements=finite), arrays(float, 3, elements=finite), finite)
def test_objective_is_the_formula(features, coef, intercept):
    y, weights = [0, 1, 1, 0, 1, 0], [1.0, 2.0, 0.0, 0.5, 3.0, 1.0]
    problem = sl.SubsetProblem(features, y, ridge=0.7, sample_weight=weights)
    expected = 0.35 * sum(value**2 for value in coef)
    for row, label, weight in zip(features, y, weights, strict=True):
        margin = (2 * label - 1) * (sum(row * coef) + intercept)
        # log(1 + e^-m) = max(0, -m) + log(1 + e^-|m|), which does not overflow.
        expected += weight * (max(0.0, -margin) + np.log1p(np.exp(-abs(margin))))
    assert problem.objective(coef, intercept) == pytest.approx(expected, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("centre", [1e5, 1e8, 1e15])
def test_the_objective_is_that_of_numbers_far_from_zero(centre):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), centre + rng.normal(size=30)
    coef, intercept = np.array([0.5, -0.25]), centre + 0.125
    weights = np.append(np.ones(30), 0.0)  # a row that does not count lies elsewhere
    problem = make(
        np.vstack([X, [0, 0]]), np.append(y, 0.0), sample_weight=weights, loss="squared_error"
    )
    objective = problem.objective(coef, intercept)
    exact = Fraction(0.1) / 2 * sum(Fraction(t) ** 2 for t in coef)
    for row, outcome in zip(X, y, strict=True):
        u = Fraction(intercept) + sum(
            Fraction(x) * Fraction(t) for x, t in zip(row, coef, strict=True)
        )
        exact += (Fraction(outcome) - u) ** 2 / 2
    assert objective == pytest.approx(float(exact), rel=1e-14)


@given(st.lists(st.integers(0, 3), min_size=4, max_size=4))
def test_weights_are_repeated_rows(counts):
    if min(sum(counts[:2]), sum(counts[2:])) == 0:
        return
    weighted = make(sample_weight=counts)
    repeated = make(X=np.repeat(X, counts, axis=0), y=np.repeat(Y, counts))
    coef, intercept = np.array([0.3, -1.0, 0.2]), 0.5
    assert weighted.objective(coef, intercept) == pytest.approx(repeated.objective(coef, intercept))


CHANGES = {
    "budget": {"budget": 2},
    "no budget": {"budget": np.inf},
    "number": {"max_features": 1},
    "costs": {"costs": [2, 1, 0.5]},
    "costs by name": {"costs": {"a": 2, "b": 1, "c": 0.5}},
    "include": {"include": ["b"]},
    "no include": {"include": []},
    "exclude": {"exclude": ["b"], "include": []},
    "several": {"budget": 7.5, "max_features": 3, "include": [0, 1], "exclude": ["c"]},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_with_limits_is_the_problem_built_anew(change):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((9, 3)), columns=list("abc"))
    y = ["no", "yes", "no"] * 3
    arguments = {"ridge": 0.1, "budget": 4, "costs": [1, 2, 3], "max_features": 2}
    arguments |= {"fees": [(0.5, ["a", "c"])], "include": ["a"], "sample_weight": rng.random(9)}
    problem = sl.SubsetProblem(X, y, **arguments)
    digest = problem.digest
    changed = problem.with_limits(**change)
    rebuilt = sl.SubsetProblem(X, y, **(arguments | change))
    assert changed.digest == rebuilt.digest != digest
    assert problem.digest == digest
    assert changed.X is problem.X
    assert changed.predictors.index_of("test", "c") == 2
    assert np.array_equal(changed.limits.costs, rebuilt.limits.costs)
    assert changed.limits.prices.relevant == rebuilt.limits.prices.relevant
    for name in ("budget", "max_features", "fees", "include", "exclude"):
        assert getattr(changed.limits, name) == getattr(rebuilt.limits, name)
    solution, reference = sl.solve(changed), sl.solve(rebuilt)
    assert (solution.support, solution.objective) == (reference.support, reference.objective)


def test_with_limits_that_stay_as_they_are():
    problem = sl.SubsetProblem(np.eye(4), [0, 0, 1, 1], ridge=0.1, budget=2, include=[3])
    same = problem.with_limits()
    assert same is not problem
    assert same.digest == problem.digest
    assert same.with_limits(budget=2, max_features=4, include=[3], exclude=[]).digest == same.digest
    assert problem.with_limits(budget=1).with_limits(budget=2).digest == problem.digest


def test_with_limits_does_not_warn():
    problem = sl.SubsetProblem(np.eye(4), [0, 0, 1, 1], ridge=0.1, budget=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sl.solve(problem.with_limits(budget=0)).support == ()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"budget": -1}, "budget: must be at least 0, not -1."),
        ({"budget": "2"}, "budget: must be a number, not '2'."),
        ({"max_features": 1.5}, "max_features: must be an integer of at least 0 or None, not 1.5."),
        ({"costs": [1, 2]}, "costs: expected 4 values"),
        ({"include": 1}, "include: expected a list of predictors"),
        ({"exclude": [4]}, "exclude: index 4 is out of range"),
        ({"include": [0], "exclude": [0]}, "include and exclude: x0 is in both"),
        ({"exclude": [3]}, "include and exclude: x3 is in both"),
        ({"max_features": 0}, "include: 1 predictors exceed max_features=0"),
        ({"budget": 0.5}, "include: its predictors cost 1, which exceeds budget=0.5"),
    ],
)
def test_bad_limits(change, expected):
    problem = sl.SubsetProblem(np.eye(4), [0, 0, 1, 1], ridge=0.1, budget=2, include=[3])
    with pytest.raises(sl.InvalidProblemError, match=re.escape(expected)):
        problem.with_limits(**change)


def test_with_weights_is_the_problem_made_with_them():
    problem = make(FRAME, budget=2, max_features=1)
    weights = np.array([0.0, 1.0, 2.0, 1.0])
    old_digest = problem.digest
    other = problem.with_weights(weights)
    assert other.digest == make(FRAME, budget=2, max_features=1, sample_weight=weights).digest
    assert other.X is problem.X
    assert problem.digest == old_digest != other.digest
    weights[:] = 7.0
    assert other.weights.tolist() == [0.0, 1.0, 2.0, 1.0]
    for bad in ([1, 1], [1, 1, 0, 0], [-1, 1, 1, 1], [np.nan, 1, 1, 1]):
        with pytest.raises(sl.InvalidProblemError, match="sample_weight"):
            problem.with_weights(bad)
