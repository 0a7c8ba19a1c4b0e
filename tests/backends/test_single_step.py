"""Rules that add and remove: each against its definition, with every candidate fitted."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np
import pytest
from random_problems import limited_problem, random_problem

import shortlist as sl
from shortlist.backends.heuristics import (
    ComparedFits,
    backward_support,
    best_addition,
    best_removal,
    forward_support,
    hierarchical_support,
    stepwise_support,
    swap_support,
)
from shortlist.backends.support_fit import SupportFits

pytestmark = pytest.mark.filterwarnings("ignore:budget")

SEEDS = range(30)


class Reference:
    """Objectives of supports, each fitted to the end, and prices by difference."""

    def __init__(self, problem: sl.SubsetProblem) -> None:
        self.problem, self.fits = problem, SupportFits(problem)

    def objective(self, support: tuple[int, ...]) -> float:
        return self.fits.fit(support)[0].objective

    def price(self, smaller: tuple[int, ...], larger: tuple[int, ...]) -> float:
        limits = self.problem.limits
        if limits.budget == inf:
            return 1.0
        return round(limits.units_of(larger) - limits.units_of(smaller), 9)


def forward_reference(problem: sl.SubsetProblem, support: tuple[int, ...]) -> tuple[int, ...]:
    reference, limits = Reference(problem), problem.limits
    while True:
        now = reference.objective(support)
        best, best_rank = None, (-inf, -inf)
        for g in range(problem.n_predictors):
            larger = tuple(sorted({*support, g}))
            if g in support or not limits.is_affordable(larger):
                continue
            gain = now - reference.objective(larger)
            price = reference.price(support, larger)
            rank = (gain / price if price > 0 else inf, gain)
            if gain > 1e-9 * now and rank > best_rank:
                best, best_rank = larger, rank
        if best is None:
            return support
        support = best


def backward_reference(problem: sl.SubsetProblem) -> tuple[int, ...]:
    reference, limits = Reference(problem), problem.limits
    support = tuple(g for g in range(problem.n_predictors) if g not in limits.exclude)
    if limits.is_affordable(support):
        return support
    while not limits.is_affordable(support):
        now = reference.objective(support)
        best, best_rank = None, (inf, inf)
        for g in set(support) - set(limits.include):
            smaller = tuple(h for h in support if h != g)
            rise = reference.objective(smaller) - now
            saving = reference.price(smaller, support)
            rank = (rise / saving if saving > 0 else inf, rise)
            if best is None or rank < best_rank:
                best, best_rank = smaller, rank
        assert best is not None
        support = best
    return forward_reference(problem, support)


def assert_same(problem: sl.SubsetProblem, one: tuple[int, ...], other: tuple[int, ...]) -> None:
    """Equal, or as good: ties in exact arithmetic may be broken by rounding."""
    if one != other:
        reference = Reference(problem)
        assert reference.objective(one) == pytest.approx(reference.objective(other), rel=1e-7)


@pytest.mark.parametrize("make", [random_problem, limited_problem])
@pytest.mark.parametrize("seed", SEEDS)
def test_forward_is_what_fitting_every_candidate_gives(
    seed: int, make: Callable[[int], sl.SubsetProblem]
) -> None:
    problem = make(seed)
    expected = forward_reference(problem, problem.limits.include)
    assert_same(problem, forward_support(problem), expected)


@pytest.mark.parametrize("make", [random_problem, limited_problem])
@pytest.mark.parametrize("seed", SEEDS)
def test_backward_is_what_fitting_every_candidate_gives(
    seed: int, make: Callable[[int], sl.SubsetProblem]
) -> None:
    problem = make(seed)
    assert_same(problem, backward_support(problem), backward_reference(problem))


def test_no_exchange_improves_on_swap_and_forward_is_no_better() -> None:
    n_exchanges = 0
    for seed in SEEDS:
        problem = random_problem(seed)
        reference, limits = Reference(problem), problem.limits
        support = swap_support(problem)
        objective = reference.objective(support)
        assert objective <= reference.objective(forward_support(problem)) * (1 + 1e-9), seed
        for dropped in set(support) - set(limits.include):
            for bought in set(range(problem.n_predictors)) - set(support):
                exchanged = tuple(sorted({*support, bought} - {dropped}))
                if limits.is_affordable(exchanged):
                    n_exchanges += 1
                    assert reference.objective(exchanged) >= objective * (1 - 1e-8), seed
    assert n_exchanges > 100


@pytest.mark.parametrize("seed", SEEDS)
def test_what_hierarchical_selection_keeps_is_significant(seed: int) -> None:
    problem = random_problem(seed)
    reference, support = Reference(problem), hierarchical_support(problem)
    quantiles = {1: 3.841, 2: 5.991, 3: 7.815, 4: 9.488, 5: 11.070, 6: 12.592}
    for g in set(support) - set(problem.limits.include):
        rest = tuple(h for h in support if h != g)
        difference = reference.objective(rest) - reference.objective(support)
        assert 2 * difference > quantiles[len(problem.columns_of((g,)))] - 1e-3


def test_ties_go_to_the_lower_index() -> None:
    x = np.random.default_rng(0).random((30, 1))
    problem = sl.SubsetProblem(np.hstack([x] * 4), x[:, 0] > 0.4, ridge=0.1, max_features=1)
    assert forward_support(problem) == (0,)
    fits = ComparedFits(problem)
    full = fits.fit((0, 1, 2, 3))
    smaller = best_removal(fits, full, [0, 1, 2, 3])
    assert smaller is not None
    assert smaller.support == (1, 2, 3)


def test_steps_that_gain_too_little_or_lose_too_much_are_not_taken() -> None:
    problem = random_problem(3)
    fits, candidates = ComparedFits(problem), range(problem.n_predictors)
    empty = fits.fit(())
    full = fits.fit(tuple(candidates))
    assert best_addition(fits, empty, candidates, least_gain=empty.objective) is None
    assert best_addition(fits, empty, []) is None
    assert best_removal(fits, full, candidates, most_loss=0.0) is None
    assert best_removal(fits, full, []) is None


@pytest.fixture
def sum_of_two() -> tuple[np.ndarray, np.ndarray]:
    """The outcome depends on columns 0 and 1, and column 2 is nearly their sum."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 5))
    X[:, 2] = X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=400)
    y = X[:, 0] + X[:, 1] + 0.15 * X[:, 3] + 0.2 * rng.logistic(size=400) > 0
    return X, y


def test_stepwise_drops_what_forward_selection_regrets(
    sum_of_two: tuple[np.ndarray, np.ndarray],
) -> None:
    problem = sl.SubsetProblem(*sum_of_two, ridge=0.1, max_features=3)
    assert forward_support(problem) == (0, 1, 2)
    assert stepwise_support(problem) == (0, 1, 3)
    assert swap_support(problem) == (0, 1, 3)
    assert backward_support(problem) == (0, 1, 3)


def test_prices_decide_when_there_is_a_budget(sum_of_two: tuple[np.ndarray, np.ndarray]) -> None:
    """The sum is best by itself, but two cheap columns are better than a dear one."""
    X, y = sum_of_two
    costs = [2, 2, 5, 9, 9]
    assert forward_support(sl.SubsetProblem(X, y, ridge=0.1, max_features=1)) == (2,)
    assert forward_support(sl.SubsetProblem(X, y, ridge=0.1, budget=5, costs=costs)) == (0, 1)


def test_a_fee_is_part_of_the_price_until_it_is_paid() -> None:
    """Columns 0 and 1 share a fee; the first of them is dear, the second is not."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X @ [1.0, 1.0, 0.9] + rng.logistic(size=300) > 0
    fees = [(2.0, [0, 1])]
    alone = sl.SubsetProblem(X, y, ridge=0.1, budget=1, fees=fees)
    paid = sl.SubsetProblem(X, y, ridge=0.1, budget=4, fees=fees, include=[0])
    for backend in ("univariable", "correlation", "forward", "lasso", "backward", "swap"):
        assert sl.solve(alone, backend).support == (2,)
        assert sl.solve(paid, backend).support[0] == 0
    assert forward_support(paid) == (0, 1)


def with_a_copy(noise: float) -> tuple[np.ndarray, np.ndarray]:
    """The outcome depends on columns 0 and 2, and column 1 is a noisy copy of column 0."""
    rng = np.random.default_rng(1)
    x, z, nothing = rng.normal(size=(3, 500))
    X = np.column_stack([x, x + noise * rng.normal(size=500), z, nothing])
    return X, x + 0.5 * z + rng.logistic(size=500) > 0


def test_hierarchical_selection_takes_the_cheap_tier_first() -> None:
    """What the cheap copy is controlled for is not bought again, and there is money to spare."""
    X, y = with_a_copy(noise=0.1)
    for costs, expected in (([5, 1, 5, 1], (1, 2)), ([1, 5, 5, 1], (0, 2))):
        problem = sl.SubsetProblem(X, y, ridge=0.1, budget=20, costs=costs)
        assert hierarchical_support(problem) == expected


def test_hierarchical_selection_drops_what_is_no_longer_significant() -> None:
    """The copy is bought first, being cheap, and adds nothing once the original is there."""
    problem = sl.SubsetProblem(*with_a_copy(noise=0.4), ridge=0.1, budget=20, costs=[5, 1, 5, 1])
    assert hierarchical_support(problem) == (0, 2)
    cheap = sl.SubsetProblem(*with_a_copy(noise=0.4), ridge=0.1, budget=4, costs=[5, 1, 5, 1])
    assert hierarchical_support(cheap) == (1,)
