"""Fits on a fixed support, from every kind of start."""

import math

import numpy as np
import pytest
from compiled import compiled
from random_problems import limited_problem, random_problem
from sklearn.linear_model import LogisticRegression

import shortlist as sl
from shortlist.backends.support_fit import SupportFits
from shortlist.solver.kernels import fit, layout, point
from shortlist.solver.kernels.fit import COARSE, FINE, Start
from shortlist.solver.kernels.layout import IN, OUT
from shortlist.solver.prepare import prepare

pytestmark = pytest.mark.filterwarnings("ignore:budget")

fit_selection, start_from_null = compiled(fit.fit_selection), compiled(fit.start_from_null)
linear_predictor, evaluate_rows = compiled(layout.linear_predictor), compiled(point.evaluate_rows)


class Selection:
    """A random support of a random problem, and its fit by scikit-learn."""

    def __init__(self, seed, make=random_problem):
        rng = np.random.default_rng([seed, 7])
        self.problem = problem = make(seed)
        self.prepared = prepare(problem)
        self.data, self.fit = self.prepared.search.data, self.prepared.search.fit
        order = rng.permutation(problem.n_predictors)
        support = order[: rng.integers(1, problem.limits.max_features + 1)].tolist()
        self.status = np.full(problem.n_predictors, OUT, dtype=np.int8)
        self.status[support] = IN
        self.support = tuple(sorted(support))
        self.columns = problem.columns_of(self.support)
        self.rng = rng

    def reference(self):
        """Return the objective, the coefficients and the intercept."""
        problem, columns = self.problem, self.columns
        used = problem.weights > 0
        model = LogisticRegression(
            C=1 / problem.ridge, solver="newton-cholesky", tol=1e-12, max_iter=1000
        )
        model.fit(problem.X[used][:, columns], problem.signs[used], problem.weights[used])
        coef = np.zeros(problem.n_columns)
        coef[columns] = model.coef_[0]
        return problem.objective(coef, float(model.intercept_[0])), coef

    def start(self, kind):
        """Fill what a fit may rely on; return an intercept."""
        if kind is Start.MODEL:
            return start_from_null(self.data, self.fit)
        theta = self.rng.normal(size=len(self.data.X)) / (1 + np.abs(self.data.X).max(axis=1))
        linear_predictor(self.data, theta, 0.3, self.fit.rows.u)
        if kind is Start.ROWS:
            evaluate_rows(self.data, self.fit.rows, 0.3, 0.5)
        return 0.3

    def run(self, kind, cutoff=math.inf, tolerance=FINE):
        """Return the coefficients in the problem's order, intercept, objective and bound."""
        theta0, objective, bound = fit_selection(
            self.data, self.fit, self.status, self.start(kind), cutoff, tolerance, kind
        )
        return self.prepared.model(self.fit.theta, theta0)[0], float(theta0), objective, bound


@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(40))
def test_fit(seed):
    selection = Selection(seed)
    best, best_coef = selection.reference()
    for kind in Start:
        coef, intercept, objective, bound = selection.run(kind)
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
        for kind in Start:
            coef, intercept, objective, bound = selection.run(kind)
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
        _, _, fine, _ = selection.run(Start.PREDICTOR)
        _, _, coarse, bound = selection.run(Start.PREDICTOR, tolerance=COARSE)
        assert bound <= fine * (1 + 1e-10)
        assert fine * (1 - 1e-10) <= coarse <= bound + COARSE * coarse


def test_a_fit_stops_when_its_bound_reaches_the_cutoff():
    n_stopped = 0
    for seed in range(20):
        selection = Selection(seed)
        _, _, best, _ = selection.run(Start.PREDICTOR)
        _, _, objective, bound = selection.run(Start.PREDICTOR, cutoff=0.9 * best)
        assert 0.9 * best <= bound <= best * (1 + 1e-10)
        n_stopped += objective > best * (1 + 1e-9)
    assert n_stopped > 5


def test_nothing_is_bought():
    """The model without coefficients has a closed form."""
    problem = sl.SubsetProblem([[0.0], [1.0], [2.0]], [0, 1, 1], ridge=1.0)
    prepared = prepare(problem)
    data, working = prepared.search.data, prepared.search.fit
    status = np.full(1, OUT, dtype=np.int8)
    theta0, objective, bound = fit_selection(
        data, working, status, start_from_null(data, working), math.inf, FINE, Start.MODEL
    )
    assert theta0 == pytest.approx(math.log(2)) == data.null_intercept
    assert objective == pytest.approx(3 * math.log(3) - 2 * math.log(2)) == data.null_objective
    assert bound == pytest.approx(objective)
