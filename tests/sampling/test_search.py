"""A search on a sample has the answer of a search on all rows, and a proof that holds for these."""

import numpy as np
import pytest
from random_problems import random_problem

import shortlist as sl
from shortlist import sampling


@pytest.fixture
def trees(monkeypatch):
    """How many leaves stayed open after each round, to see what the rounds did."""
    seen = []
    prove = sampling._Search._prove

    def noting(self, proof, pool):
        status = prove(self, proof, pool)
        seen.append(len(proof.open_points(self._gap)))
        return status

    monkeypatch.setattr(sampling._Search, "_prove", noting)
    return seen


def patients(n_rows=800, n_columns=12, seed=0, **arguments):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_columns))
    X[:, 1:] += 0.5 * X[:, :-1]
    y = rng.random(n_rows) < 1 / (1 + np.exp(-X[:, :6] @ [1, -1, 0.7, -0.7, 0.5, -0.5]))
    arguments = {"ridge": 1.0, "max_features": 4} | arguments
    return sl.SubsetProblem(X, y, **arguments)


KINDS = {
    "number": {},
    "squared hinge": {"loss": "squared_hinge"},
    "prices": {"costs": np.arange(1.0, 13.0), "budget": 14.0},
    "decimal prices and fees": {
        "costs": np.linspace(0.37, 3.1, 12),
        "budget": 6.3,
        "fees": [(1.1, [0, 1, 2]), (0.6, [4, 5])],
    },
    "groups": {"groups": np.arange(12) // 2, "max_features": 3},
    "include and exclude": {"include": [11], "exclude": [1]},
    "weights": {"sample_weight": np.random.default_rng(1).integers(0, 4, 800)},
    "weak ridge": {"ridge": 0.01},
}


@pytest.mark.parametrize("kind", KINDS)
def test_answer_and_proof_are_those_of_all_rows(kind, trees):
    problem = patients(**KINDS[kind])
    usual, sampled = sl.solve(problem), sl.solve(problem, sample=200, threads=1)
    assert trees, "no tree of a sample was looked at"
    assert sampled.status is sl.Status.OPTIMAL
    assert sampled.support == usual.support
    assert sampled.objective == pytest.approx(usual.objective, rel=1e-8)
    assert sampled.gap <= 1e-6
    verdict = sl.verify(problem, sampled.certificate)
    assert verdict.valid, verdict.reason
    assert verdict.gap <= 1.1e-6


@pytest.mark.parametrize("kind", ["number", "prices", "groups"])
def test_the_proof_of_a_sample_can_reach_all_rows(kind, trees, monkeypatch):
    monkeypatch.setattr(sampling._Search, "take_over", None)
    sl.solve(patients(6000, **KINDS[kind]), sample=2000, threads=1)
    assert trees[-1] == 0


@pytest.mark.parametrize("seed", range(40))
def test_random_problems_with_tiny_samples(seed):
    problem = random_problem(seed)
    usual = sl.solve(problem, threads=1)
    sampled = sl.solve(problem, sample=max(2, problem.n_rows // 8), threads=1)
    assert sampled.status in (sl.Status.OPTIMAL, sl.Status.STALLED)
    assert (sampled.status is sl.Status.OPTIMAL) or (usual.status is sl.Status.STALLED)
    assert sampled.objective == pytest.approx(usual.objective, rel=2e-6)
    assert problem.limits.is_affordable(sampled.support)
    verdict = sl.verify(problem, sampled.certificate)
    assert verdict.valid, verdict.reason


@pytest.mark.parametrize("loss", ["squared_hinge", "squared_error", "poisson"])
@pytest.mark.parametrize("seed", range(100, 112))
def test_random_problems_of_other_families(seed, loss):
    problem = random_problem(seed, loss)
    sampled = sl.solve(problem, sample=max(2, problem.n_rows // 4), threads=1)
    assert sampled.objective == pytest.approx(sl.solve(problem).objective, rel=2e-6)
    assert sl.verify(problem, sampled.certificate).valid


@pytest.mark.parametrize("centre", [1e8, 1e12])
def test_outcomes_far_from_zero_are_no_larger_for_the_proof(centre):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 8))
    y = X @ [1.0, 0.5, -0.7, 0.0, 0.0, 0.2, 0.1, 0.0] + rng.normal(size=30_000) + centre
    problem = sl.SubsetProblem(X, y, ridge=5.0, loss="squared_error", max_features=3)
    solution = sl.solve(problem, sample=3000)
    verdict = sl.verify(problem, solution.certificate)
    assert verdict.valid, verdict.reason
    assert solution.lower_bound <= verdict.upper_bound


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_the_unit_of_numbers_does_not_matter(unit, trees):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 8))
    y = X @ [1.0, 0.5, -0.7, 0.0, 0.0, 0.2, 0.1, 0.0] + rng.normal(size=30_000)
    problem = sl.SubsetProblem(X, unit * y, ridge=5.0, loss="squared_error", max_features=3)
    solution = sl.solve(problem, sample=3000)
    assert trees == [0]
    assert solution.lower_bound < solution.objective  # rounding is taken off


def test_neither_runs_nor_threads_change_a_bit():
    problem = patients()
    first, *others = (sl.solve(problem, sample=200, threads=n) for n in (1, 1, 3))
    for other in others:
        assert other.objective == first.objective
        assert other.lower_bound == first.lower_bound
        assert np.array_equal(other.coef, first.coef)
        assert other.certificate == first.certificate


def test_a_rare_level_is_in_the_sample():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 3))
    y = rng.random(1000) < 1 / (1 + np.exp(-X[:, 0]))
    X = np.column_stack([X, np.zeros(1000), np.full(1000, 2.0)])
    X[[7, 999], 3] = 1.0
    y[[7, 999]] = True
    problem = sl.SubsetProblem(X, y, ridge=0.1, max_features=2)
    sample = sampling.draw_sample(problem, 150)
    assert np.ptp(sample.X[:, 3]) == 1.0
    assert np.ptp(sample.X[:, 4]) == 0.0
    sampled = sl.solve(problem, sample=150)
    assert sampled.support == sl.solve(problem).support
    assert sl.verify(problem, sampled.certificate).valid


def test_a_sample_keeps_the_weight_of_each_class():
    weights = np.random.default_rng(0).integers(0, 3, 3000).astype(float)
    problem = patients(3000, sample_weight=weights)
    sample = sampling.draw_sample(problem, 200)
    assert 190 <= sample.n_rows <= 210
    for y in (-1, 1):
        total = problem.weights[problem.response.values == y].sum()
        assert sample.weights[sample.response.values == y].sum() == pytest.approx(total)
    assert sampling.draw_sample(problem, 2000) is None


def test_limits_are_honest():
    problem = patients()
    solution = sl.solve(problem, sample=200, time_limit=0.0)
    assert solution.status is sl.Status.TIME_LIMIT
    assert solution.lower_bound <= sl.solve(problem).objective <= solution.objective
    solution = sl.solve(problem, sample=200, node_limit=1)
    assert solution.status is sl.Status.NODE_LIMIT
    assert solution.lower_bound <= sl.solve(problem).objective <= solution.objective


def test_progress_and_interrupts():
    seen = []
    sl.solve(patients(), sample=200, callback=seen.append)
    assert seen
    assert all(progress.lower_bound <= progress.objective for progress in seen)

    def interrupt(progress):
        raise KeyboardInterrupt

    solution = sl.solve(patients(), sample=200, callback=interrupt)
    assert solution.status is sl.Status.INTERRUPTED
    assert solution.lower_bound <= solution.objective


@pytest.mark.parametrize("sample", [0, -1, 2.5, True, "all", [100]])
def test_bad_samples_are_refused(sample):
    with pytest.raises(sl.InvalidProblemError, match=r"^sample: must be a number of rows"):
        sl.solve(patients(), sample=sample)


@pytest.mark.parametrize(
    ("arguments", "backend"),
    [({"loss": "hinge"}, "native"), ({"max_coefficient": 1.0}, "native"), ({}, "enumeration")],
)
def test_what_a_sample_does_not_go_with_is_said(arguments, backend):
    with pytest.raises(sl.InvalidProblemError, match=r"^sample: "):
        sl.solve(patients(**arguments), backend, sample=500)
