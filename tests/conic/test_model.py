"""The conic model against the problem it stands for."""

import numpy as np
import pytest
from catalogue import CATALOGUE
from conic_relaxation import solve_relaxation
from hypothesis import given, settings
from hypothesis import strategies as st
from random_problems import limited_problem, random_problem

import shortlist as sl
from shortlist.conic.loss import Cone
from shortlist.conic.model import conic_model, point_of
from shortlist.conic.scip import with_bounds
from shortlist.families import FAMILIES

pytestmark = pytest.mark.filterwarnings("ignore:(budget|strata)")

MANY = settings(max_examples=60)
SEEDS = st.integers(0, 10_000)


def violation(model, x):
    """The largest violation of a bound, row or cone."""
    worst = max((model.lower - x).max(), (x - model.upper).max())
    worst = max(worst, (model.rows.matrix @ x + model.rows.offset).max(initial=0.0))
    values, first = model.conic.matrix @ x + model.conic.offset, 0
    for kind, size in model.cones:
        a, b, *c = values[first : first + size]
        if kind is Cone.EXPONENTIAL:
            worst = max(worst, b * np.exp(c[0] / b) - a)
        else:
            worst = max(worst, np.square(c).sum() - 2 * a * b, -a, -b)
        first += size
    assert first == len(values)
    return worst


@pytest.mark.parametrize("loss", FAMILIES)
@pytest.mark.parametrize("scaled", [False, True])
@MANY
@given(SEEDS, st.integers(0, 2**32 - 1))
def test_a_selection_is_feasible_if_and_only_if_it_is_affordable(scaled, loss, seed, draw):
    problem = random_problem(seed, loss)
    rng = np.random.default_rng(draw)
    support = tuple(np.flatnonzero(rng.random(problem.n_predictors) < rng.random()).tolist())
    coef = np.zeros(problem.n_columns)
    columns = problem.columns_of(support)
    coef[columns] = rng.normal(size=len(columns)) / (1 + np.abs(problem.X[:, columns]).max(axis=0))
    model = conic_model(problem, scaled=scaled)
    x = point_of(problem, model, support, coef, 0.3)
    objective = problem.objective(coef, 0.3)
    assert model.cost @ x == pytest.approx(objective, rel=1e-12)
    feasible = violation(model, x) <= 1e-9
    assert feasible == problem.limits.is_affordable(support)
    assert model.support_of(x) == support


@pytest.mark.parametrize("scaled", [False, True])
@MANY
@given(SEEDS, st.integers(0, 2**32 - 1))
def test_a_model_is_feasible_if_and_only_if_its_coefficients_are_within_their_limits(
    scaled, seed, draw
):
    problem = limited_problem(seed)
    rng = np.random.default_rng(draw)
    support = problem.limits.include
    for g in rng.permutation(problem.n_predictors).tolist():
        if problem.limits.is_affordable((*support, g)):
            support = tuple(sorted({*support, g}))
    columns = problem.columns_of(support)
    limits = problem.limits
    coef = np.zeros(problem.n_columns)
    coef[columns] = np.clip(
        rng.normal(size=len(columns)), limits.lower[columns], limits.upper[columns]
    )
    if len(columns) and rng.random() < 0.7:
        coef[rng.choice(columns)] += rng.choice([-1e-3, 1e-3])
    model = conic_model(problem, scaled=scaled)
    x = point_of(problem, model, support, coef, 0.3)
    within = ((limits.lower <= coef) & (coef <= limits.upper)).all()
    assert (violation(model, x) <= 1e-9) == within


@pytest.mark.parametrize("seed", range(15))
def test_the_relaxation_is_below_the_optimum_and_limits_raise_it(seed):
    problem = limited_problem(seed)
    relaxed = solve_relaxation(problem)
    assert relaxed <= sl.solve(problem, "enumeration").objective * (1 + 1e-6)
    assert relaxed >= solve_relaxation(random_problem(seed)) * (1 - 1e-6)


@pytest.mark.parametrize("loss", FAMILIES)
@settings(max_examples=30)
@given(SEEDS)
def test_bounds_do_not_cut_off_the_optimum(loss, seed):
    problem = random_problem(seed, loss)
    if loss == "logistic" and seed % 2:
        problem = limited_problem(seed)
    best = sl.solve(problem, "enumeration")
    model = with_bounds(conic_model(problem, scaled=True), best.objective, problem.scale.least)
    assert np.isfinite(model.lower).all()
    assert np.isfinite(model.upper).all()
    x = point_of(problem, model, best.support, best.coef, best.intercept)
    assert violation(model, x) <= 1e-9 * max(1.0, np.abs(x).max()) ** 2


@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_risk_sets_contain_each_other(ties):
    rng = np.random.default_rng(5)
    n_rows = 90
    y = sl.survival(rng.integers(1, 30, n_rows), rng.random(n_rows) < 0.6)
    strata = rng.integers(0, 3, n_rows)
    problem = sl.SubsetProblem(
        rng.normal(size=(n_rows, 4)), y, ridge=1.0, loss="cox", ties=ties, strata=strata
    )
    model = conic_model(problem)
    n_exponential = sum(kind is Cone.EXPONENTIAL for kind, _ in model.cones)
    # A row, a sum of an earlier time, and three for each event at most; not one per pair.
    assert n_exponential <= 2 * n_rows + 3 * y["event"].sum()
    assert "theta_0" not in model.names()


def test_a_column_of_what_is_not_bought_has_coefficient_0():
    problem = CATALOGUE["groups"].problem()
    model = conic_model(problem)
    coef = np.zeros(problem.n_columns)
    coef[0] = 1.0
    assert violation(model, point_of(problem, model, (0,), coef, 0.0)) < 1e-12
    assert violation(model, point_of(problem, model, (), coef, 0.0)) == 1.0


def test_what_is_decided_from_the_start_is_fixed():
    problem = CATALOGUE["include within a budget"].problem()
    model = conic_model(problem)
    lower, upper = model.lower[model.blocks["z"]], model.upper[model.blocks["z"]]
    assert np.flatnonzero(lower == 1).tolist() == [4]
    # 2 is excluded, and 8 - 5 leaves too little for predictor 1.
    assert np.flatnonzero(upper == 0).tolist() == [1, 2]


def test_every_variable_has_a_name():
    names = conic_model(CATALOGUE["fees"].problem()).names()
    assert len(set(names)) == len(names)
    assert {"theta[7]", "theta_0", "t[39]", "u[0]", "v[0]", "r[7]", "z[7]", "s[1]"} <= set(names)
