"""The predictors that resamples select often, to which a choice can be narrowed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arguments import Float, Int
from ..backends import solve
from ..problem import SubsetProblem
from ..solution import Solution, Status

N_RESAMPLES = 50


@dataclass(frozen=True)
class StableCandidates:
    """The predictors that at least half of the resamples select.

    Attributes
    ----------
    problem : SubsetProblem
        The problem with all others excluded; those that must be included stay.
    times : tuple of int
        How many resamples select each predictor.
    n_resamples : int
        The number of resamples.
    is_proven : bool
        Whether every search ended with a proof.
    """

    problem: SubsetProblem
    times: tuple[int, ...]
    n_resamples: int
    is_proven: bool


def stable_candidates(
    problem: SubsetProblem,
    draw: Callable[[np.random.Generator], Float] | None = None,
    *,
    seed: int = 0,
    solve: Callable[[SubsetProblem], Solution] = solve,
    announce: Callable[[str], None] = lambda text: None,
) -> StableCandidates:
    """Solve a problem on bootstrap resamples; exclude what fewer than half of them select.

    A resample is a vector of weights: columns stay as they are. Resample number i has the generator
    `numpy.random.default_rng((seed, i))`, counted from 1; one without rows of both classes is drawn
    again.

    Parameters
    ----------
    problem : SubsetProblem
        Data, prices and limits.
    draw : callable, optional
        Returns the weights of the rows in a resample; by default the problem's own, times how often
        a row was drawn.
    seed : int
        Seed of the resamples.
    solve : callable
        Returns the best selection of a problem; by default `shortlist.solve`.
    announce : callable
        Called with a sentence on the progress.

    Examples
    --------
    >>> import shortlist as sl
    >>> from shortlist.choice.stable import stable_candidates
    >>> data = sl.datasets.make_prognostic(n_samples=82, random_state=1)
    >>> problem = sl.SubsetProblem(data.X, data.y, ridge=0.1, max_features=3)
    >>> found = stable_candidates(problem)
    >>> [problem.name_of(g) for g, times in enumerate(found.times) if times >= 25]
    ['informative_1', 'informative_2', 'redundant_1']
    >>> sl.solve(found.problem).support
    (0, 1, 5)
    """
    times, is_proven = np.zeros(problem.n_predictors, dtype=np.int64), True
    for number in range(1, N_RESAMPLES + 1):
        announce(f"Stable predictors: resample {number} of {N_RESAMPLES}")
        solution = solve(problem.with_weights(_weights(problem, draw, seed, number)))
        times[list(solution.support)] += 1
        is_proven = is_proven and solution.status is Status.OPTIMAL
    limits = problem.limits
    rare = [int(g) for g in np.flatnonzero(2 * times < N_RESAMPLES) if g not in limits.include]
    narrowed = problem.with_limits(exclude=sorted({*limits.exclude, *rare}))
    return StableCandidates(narrowed, tuple(times.tolist()), N_RESAMPLES, is_proven)


def _weights(
    problem: SubsetProblem,
    draw: Callable[[np.random.Generator], Float] | None,
    seed: int,
    number: int,
) -> Float:
    rng = np.random.default_rng((seed, number))
    while True:
        weights = problem.weights * draw_counts(rng, problem.n_rows) if draw is None else draw(rng)
        if problem.response.can_be_fitted(weights):
            return weights


def draw_counts(rng: np.random.Generator, n_rows: int, persons: Int | None = None) -> Int:
    """Return how often each row counts in a bootstrap resample of rows, or of whole persons."""
    n_units = n_rows if persons is None else int(persons.max()) + 1
    counts = np.bincount(rng.integers(n_units, size=n_units), minlength=n_units)
    return counts if persons is None else counts[persons]
