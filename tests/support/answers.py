"""Checks of answers that several test modules share."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

import shortlist as sl


def affordable_supports(problem: sl.SubsetProblem) -> Iterator[tuple[int, ...]]:
    """Yield every selection that a problem allows."""
    for size in range(min(problem.limits.max_features, problem.n_predictors) + 1):
        for support in combinations(range(problem.n_predictors), size):
            if problem.limits.is_affordable(support):
                yield support


def check_model(problem: sl.SubsetProblem, solution: sl.Solution) -> None:
    """Assert what holds of every answer of every backend, whatever ended the search."""
    limits = problem.limits
    assert limits.is_affordable(solution.support)
    assert list(solution.support) == sorted(set(solution.support))
    assert solution.cost == limits.cost_of(solution.support)
    assert solution.objective == problem.objective(solution.coef, solution.intercept)
    unused = np.setdiff1d(np.arange(problem.n_columns), problem.columns_of(solution.support))
    assert not solution.coef[unused].any()
    assert ((limits.lower <= solution.coef) & (solution.coef <= limits.upper)).all()
    assert problem.scale.least <= solution.lower_bound <= solution.objective


def bits(solution: sl.Solution) -> tuple[object, ...]:
    """All that a solution says but the time it took, its proof included."""
    return (
        solution.status,
        solution.support,
        solution.coef.tobytes(),
        solution.intercept,
        solution.objective,
        solution.lower_bound,
        solution.nodes,
        solution.certificate,
    )


def same_bits(first: sl.Solution, second: sl.Solution) -> bool:
    """Whether two answers are the same to the last bit, their effort included."""
    return np.array_equal(first.coef, second.coef) and all(
        getattr(first, name) == getattr(second, name)
        for name in ("objective", "lower_bound", "support", "intercept", "nodes", "status")
    )
