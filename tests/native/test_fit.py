"""Fits on a fixed support, from every kind of start."""

import math

import numpy as np
import pytest
from random_problems import limited_problem, random_problem
from sklearn.linear_model import LogisticRegression

import shortlist as sl
from shortlist.backends.support_fit import SupportFits
from shortlist.native.core import core, prepare

pytestmark = pytest.mark.filterwarnings("ignore:budget")

FINE, COARSE = 1e-10, 1e-3  # as in core/newton.hpp
STARTS = ("predictor", "rows", "model")


class Selection:
    """A random support of a random problem, and its fit by scikit-learn."""

    def __init__(self, seed, make=random_problem):
        self.rng = rng = np.random.default_rng([seed, 7])
        self.problem = problem = make(seed)
        self.prepared = prepare(problem)
        order = rng.permutation(problem.n_predictors)
        self.support = tuple(
            sorted(order[: rng.integers(1, problem.limits.max_features + 1)].tolist())
        )
        self.columns = problem.columns_of(self.support)

    def reference(self):
        """Return the objective and the coefficients."""
        problem, columns = self.problem, self.columns
        used = problem.weights > 0
        model = LogisticRegression(
            C=1 / problem.ridge, solver="newton-cholesky", tol=1e-12, max_iter=1000
        )
        model.fit(problem.X[used][:, columns], problem.response.values[used], problem.weights[used])
        coef = np.zeros(problem.n_columns)
        coef[columns] = model.coef_[0]
        return problem.objective(coef, float(model.intercept_[0])), coef

    def run(self, start, cutoff=math.inf, tolerance=FINE):
        """Return the coefficients, intercept, objective and bound."""
        X = self.problem.X - self.prepared.data.centre
        coef = self.rng.normal(size=X.shape[1]) / (1 + np.abs(X).max(axis=0))
        found = core.testing.fit_from(
            self.prepared.problem, self.support, coef, 0.3, start, cutoff, tolerance
        )
        coef, intercept = self.prepared.model(found["coef"], found["intercept"])
        return coef, intercept, found["objective"], found["bound"]


@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(40))
def test_fit(seed):
    selection = Selection(seed)
    best, best_coef = selection.reference()
    for start in STARTS:
        coef, intercept, objective, bound = selection.run(start)
        exact = selection.problem.objective(coef, intercept)
        assert objective == pytest.approx(exact, rel=1e-12)
        assert objective <= best * (1 + 1e-9)
        assert bound <= best * (1 + 1e-12)
        assert objective - bound <= 2 * FINE * objective
        assert np.flatnonzero(coef).tolist() == [j for j in selection.columns if coef[j]]
        # The ridge times half of the squared distance is at most what the objectives differ by.
        distance = selection.problem.ridge / 2 * np.sum((coef - best_coef) ** 2)
        assert distance <= 2e-9 * objective + max(0.0, best - objective)


def test_a_fit_within_limits():
    """Against the fit in numpy, which is tested against L-BFGS-B."""
    n_at_limits = 0
    for seed in range(150):
        selection = Selection(seed, limited_problem)
        problem, limits = selection.problem, selection.problem.limits
        best, best_bound = SupportFits(problem).fit(selection.support)
        for start in STARTS:
            coef, intercept, objective, bound = selection.run(start)
            assert ((limits.lower <= coef) & (coef <= limits.upper)).all()
            assert objective == pytest.approx(problem.objective(coef, intercept), rel=1e-12)
            assert best_bound * (1 - 1e-12) <= objective <= best.objective * (1 + 1e-9)
            assert bound <= best.objective * (1 + 1e-12)
            assert objective - bound <= 2 * FINE * objective
            at_limit = (coef == limits.lower) | (coef == limits.upper)
            n_at_limits += np.count_nonzero(at_limit[selection.columns])
    assert n_at_limits > 300


def test_a_coarse_fit_says_how_coarse_it_is():
    for seed in range(20):
        selection = Selection(seed)
        _, _, fine, _ = selection.run("predictor")
        _, _, coarse, bound = selection.run("predictor", tolerance=COARSE)
        assert bound <= fine * (1 + 1e-10)
        assert fine * (1 - 1e-10) <= coarse <= bound + COARSE * coarse


def test_a_fit_stops_when_its_bound_reaches_the_cutoff():
    n_stopped = 0
    for seed in range(20):
        selection = Selection(seed)
        _, _, best, _ = selection.run("predictor")
        _, _, objective, bound = selection.run("predictor", cutoff=0.9 * best)
        assert 0.9 * best <= bound <= best * (1 + 1e-10)
        n_stopped += objective > best * (1 + 1e-9)
    assert n_stopped > 5


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "hinge"])
def test_the_fit_of_other_callers(loss):
    """`core.fit`: from no coefficients. Where it did not converge, its bound says so."""
    accuracy, n_converged = 5e-7 if loss == "hinge" else 1e-9, 0
    for seed in range(40):
        selection = Selection(seed, lambda seed: random_problem(seed, loss))
        problem, prepared = selection.problem, selection.prepared
        best, best_bound = SupportFits(problem).fit(selection.support)
        # Repeated members and their order do not matter.
        members = [*selection.support[::-1], selection.support[0]]
        coef, intercept, objective, bound = core.fit(prepared.problem, members)
        coef, intercept = prepared.model(coef, intercept)
        rounding = 1e-15 * problem.weights.sum()
        exact = problem.objective(coef, intercept)
        assert objective == pytest.approx(exact, rel=1e-12, abs=rounding), seed
        assert bound * (1 - 1e-12) <= best.objective
        assert best_bound * (1 - 1e-12) <= objective
        assert not np.delete(coef, selection.columns).any()
        if objective - bound <= accuracy * objective:
            n_converged += 1
            assert objective <= best.objective * (1 + accuracy)
    assert n_converged >= 39


def test_nothing_is_bought():
    """The model without coefficients has a closed form."""
    problem = prepare(sl.SubsetProblem([[0.0], [1.0], [2.0]], [0, 1, 1], ridge=1.0)).problem
    coef, intercept, objective, bound = core.fit(problem, [])
    assert coef.tolist() == [0.0]
    assert intercept == pytest.approx(math.log(2)) == problem.null_intercept
    assert objective == pytest.approx(3 * math.log(3) - 2 * math.log(2)) == problem.null_objective
    assert bound == pytest.approx(objective)
