"""What holds for every heuristic: affordable, honest, deterministic, never better than the best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from answers import check_model, same_bits
from random_problems import limited_problem, random_problem

import shortlist as sl
from shortlist.backends.native import NativeBackend
from shortlist.datasets import make_prognostic, paper_datasets

pytestmark = pytest.mark.filterwarnings("ignore:budget")

HEURISTICS = (
    "univariable",
    "correlation",
    "forward",
    "backward",
    "stepwise",
    "hierarchical",
    "lasso",
    "swap",
)
SEEDS = range(24)


@cache
def best(seed: int) -> sl.Solution:
    return sl.solve(random_problem(seed), "enumeration")


def test_these_are_all() -> None:
    exact = {"native", "enumeration"}
    heuristics = [
        name for name, text in sl.available_backends().items() if text.startswith("heuristic: ")
    ]
    assert tuple(heuristics) == HEURISTICS
    assert exact.isdisjoint(heuristics)


@pytest.mark.parametrize("backend", HEURISTICS)
@pytest.mark.parametrize("seed", SEEDS)
def test_affordable_honest_and_no_better_than_the_best(seed: int, backend: str) -> None:
    problem = random_problem(seed)
    solution = sl.solve(problem, backend)
    assert solution.status is sl.Status.HEURISTIC
    check_model(problem, solution)
    assert solution.lower_bound == 0
    assert solution.objective >= best(seed).lower_bound


@pytest.mark.parametrize("backend", [name for name in HEURISTICS if name != "hierarchical"])
@pytest.mark.parametrize("loss", ["squared_error", "poisson", "cox"])
@pytest.mark.filterwarnings("ignore:strata")
def test_other_outcomes_too(loss: str, backend: str) -> None:
    for seed in range(8):
        problem = random_problem(seed, loss)
        solution = sl.solve(problem, backend)
        assert solution.status is sl.Status.HEURISTIC
        check_model(problem, solution)
        assert solution.objective >= sl.solve(problem, "enumeration").lower_bound


@pytest.mark.parametrize("backend", HEURISTICS)
@pytest.mark.parametrize(
    ("make", "seed"),
    [*((limited_problem, s) for s in range(6)), *((random_problem, s) for s in range(4))],
)
def test_the_model_is_the_best_on_its_support(
    make: Callable[[int], sl.SubsetProblem], seed: int, backend: str
) -> None:
    problem = make(seed)
    solution = sl.solve(problem, backend)
    check_model(problem, solution)
    others = [g for g in range(problem.n_predictors) if g not in solution.support]
    fixed = problem.with_limits(include=solution.support, exclude=others)
    reference = sl.solve(fixed, "enumeration")
    assert reference.support == solution.support
    assert solution.objective == pytest.approx(reference.objective, rel=1e-12)
    assert solution.objective >= sl.solve(problem, "enumeration").lower_bound


@pytest.mark.parametrize("backend", HEURISTICS)
def test_two_runs_give_the_same_bits(backend: str) -> None:
    assert same_bits(*(sl.solve(random_problem(5), backend) for _ in range(2)))


@pytest.mark.parametrize("backend", HEURISTICS)
def test_bootstrap_weights_are_repeated_rows(backend: str) -> None:
    """A bootstrap sample leaves a third of the rows out, with weights of zero."""
    data = make_prognostic(120, 14, label_noise=0.05, random_state=1)
    X, rng = data.X.to_numpy(), np.random.default_rng(0)
    limits = {"ridge": 0.1, "budget": 10, "costs": data.costs}
    for _ in range(3):
        rows = rng.integers(0, len(X), len(X))
        weights = np.bincount(rows, minlength=len(X))
        weighted = sl.solve(sl.SubsetProblem(X, data.y, sample_weight=weights, **limits), backend)
        repeated = sl.solve(sl.SubsetProblem(X[rows], data.y[rows], **limits), backend)
        assert weighted.support == repeated.support
        assert weighted.objective == pytest.approx(repeated.objective, rel=1e-9)


@pytest.mark.parametrize("backend", HEURISTICS)
def test_separable_data_and_a_tiny_ridge_are_survived(backend: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.random((30, 6))
    y = X[:, 0] > 0.5
    problem = sl.SubsetProblem(X, y, ridge=1e-9, max_features=2)
    solution = sl.solve(problem, backend)
    assert 0 in solution.support
    assert np.isfinite(solution.objective)


@pytest.mark.parametrize("backend", HEURISTICS)
def test_nothing_to_buy_leaves_the_intercept(backend: str) -> None:
    X, y = [[0.0, 1.0], [1.0, 1.0], [1.0, 1.0]], [0, 1, 1]
    solution = sl.solve(sl.SubsetProblem(X, y, ridge=0.1, max_features=0), backend)
    assert solution.support == ()
    assert solution.intercept == pytest.approx(np.log(2))
    assert sl.solve(sl.SubsetProblem(X, y, ridge=0.1, exclude=[0, 1]), backend).support == ()


@pytest.mark.parametrize("backend", HEURISTICS)
def test_everything_is_excluded_or_included(backend: str) -> None:
    problem = sl.SubsetProblem(
        np.eye(6), [0, 0, 1, 0, 1, 1], ridge=0.1, budget=3, include=[1, 4], exclude=[0, 2, 3, 5]
    )
    assert sl.solve(problem, backend).support == (1, 4)


@pytest.mark.parametrize("backend", sorted(set(HEURISTICS) - {"backward"}))
def test_a_constant_column_is_not_bought(backend: str) -> None:
    """Backward elimination starts with all columns, and drops them only when it must."""
    X = np.random.default_rng(0).random((40, 3))
    X[:, 1] = 0.1
    y = X[:, 0] + X[:, 2] > 1
    assert 1 not in sl.solve(sl.SubsetProblem(X, y, ridge=0.1), backend).support


def test_forward_beats_the_univariable_rule_on_the_settings_of_the_paper() -> None:
    ratios = []
    for data in paper_datasets():
        for limits in ({"max_features": 5}, {"budget": 10, "costs": data.costs}):
            problem = sl.SubsetProblem(data.X, data.y, ridge=0.02, **limits)
            forward, univariable = (sl.solve(problem, b) for b in ("forward", "univariable"))
            ratios.append(forward.objective / univariable.objective)
    assert max(ratios) <= 1 + 1e-9
    assert np.mean(ratios) < 0.9


def test_what_is_beyond_the_native_backend_is_fitted_by_numpy(monkeypatch):
    data = make_prognostic(n_samples=82, random_state=5)
    problem = sl.SubsetProblem(data.X, data.y, ridge=0.1, max_features=3)
    expected = sl.solve(problem, "univariable")

    def stalled(self, problem, options):
        return replace(native(self, problem, options), status=sl.Status.STALLED, objective=0.0)

    native = NativeBackend.solve
    monkeypatch.setattr(NativeBackend, "solve", stalled)
    fitted = sl.solve(problem, "univariable")
    assert fitted.objective == pytest.approx(expected.objective, rel=1e-12)
    np.testing.assert_allclose(fitted.coef, expected.coef, rtol=1e-6, atol=1e-8)
