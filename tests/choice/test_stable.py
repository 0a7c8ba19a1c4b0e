"""The predictors that resamples select often, against enumeration."""

import numpy as np
import pytest

import shortlist as sl
from shortlist.choice.stable import N_RESAMPLES, draw_counts, stable_candidates


@pytest.mark.parametrize(
    "limits",
    [
        {"max_features": 2},
        {"budget": 4, "costs": [1, 2, 3, 1, 2]},
        {"budget": 5, "costs": [1, 2, 3, 1, 2], "fees": [(1, [1, 2])], "include": [4]},
        {"max_features": 3, "exclude": [0]},
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", [0, 7])
def test_it_is_what_enumeration_on_copied_rows_selects(limits, seed):
    rng = np.random.default_rng((seed, len(limits)))
    X = rng.normal(size=(60, 5))
    y = (X[:, 0] + 0.6 * X[:, 1] + rng.logistic(size=60) > 0).astype(int)
    problem = sl.SubsetProblem(X, y, ridge=1.0, **limits)
    times = np.zeros(5, dtype=int)
    for number in range(1, N_RESAMPLES + 1):
        rows = np.random.default_rng((seed, number)).integers(60, size=60)
        copied = sl.SubsetProblem(X[rows], y[rows], ridge=1.0, **limits)
        times[list(sl.solve(copied, "enumeration").support)] += 1
    found = stable_candidates(problem, seed=seed)
    assert found.times == tuple(times)
    assert found.is_proven
    kept = {g for g in range(5) if 2 * times[g] >= N_RESAMPLES} | set(limits.get("include", ()))
    assert set(range(5)) - set(found.problem.limits.exclude) == kept - {*limits.get("exclude", ())}
    assert sl.solve(found.problem).support == sl.solve(found.problem, "enumeration").support


def test_a_resample_of_one_class_is_drawn_again():
    X = np.arange(12.0).reshape(-1, 1) / 12
    y = np.arange(12) == 11  # a third of the resamples do not have the only event
    found = stable_candidates(sl.SubsetProblem(X, y, ridge=0.1))
    assert found.times == (N_RESAMPLES,)


def test_a_search_without_a_proof_is_told():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    problem = sl.SubsetProblem(X, y, ridge=1.0, max_features=1)
    found = stable_candidates(problem, solve=lambda resample: sl.solve(resample, "forward"))
    assert not found.is_proven


def test_whole_persons_are_drawn():
    persons = np.repeat(np.arange(10), 3)
    counts = draw_counts(np.random.default_rng(0), 30, persons)
    assert (counts.reshape(10, 3) == counts[::3, np.newaxis]).all()
    assert counts[::3].sum() == 10
