"""The end of a search, where one or two more can be bought, against fits of all ways to do so."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from random_problems import limited_problem, random_problem

from shortlist import SubsetProblem, solve
from shortlist.backends.support_fit import SupportFits
from shortlist.certificate import Branch, One
from shortlist.datasets import make_prognostic
from shortlist.native.core import FREE, IN, OUT, core, prepare
from shortlist.native.proof import Prover

pytestmark = pytest.mark.filterwarnings("ignore:budget")

GAP = 1e-6


class Node:
    """A random problem with a given number of purchases left."""

    def __init__(self, seed, n_left, make):
        while not self._draw(seed, n_left, make):
            seed += 1000

    def _draw(self, seed, n_left, make):
        rng, problem = np.random.default_rng(seed), make(seed)
        n = problem.n_predictors
        bought = rng.permutation(n)[: rng.integers(0, n)].tolist()
        if not problem.limits.is_affordable(tuple(bought)):
            return False
        decisions = np.where(rng.random(n) < 0.8, FREE, OUT).astype(np.int8)
        data = prepare(problem).data
        decisions[core.testing.packed_rows(data)["is_constant"]] = OUT
        decisions[bought] = IN
        excluded = np.flatnonzero(decisions == OUT)
        self.problem = problem.with_limits(include=bought, exclude=excluded)
        self.prepared = prepare(self.problem)
        answer = core.testing.ask_oracle(self.prepared.limits, np.zeros(n), decisions)
        self.bought, self.n_left = tuple(bought), n_left
        self.free = np.flatnonzero(answer["decisions"] == FREE).tolist()
        # Where all is affordable the search buys it and fits.
        return not answer["is_all_affordable"] and answer.get("most_purchases") == n_left

    def objectives(self):
        """Return the objective of every affordable selection of the node, by support."""
        fits, every = SupportFits(self.problem), {}
        for size in range(self.n_left + 1):
            for added in combinations(self.free, size):
                support = tuple(sorted((*self.bought, *added)))
                if self.problem.limits.is_affordable(support):
                    every[support] = fits.fit(support)[0].objective
        return every

    def search(self, gap):
        return core.Search(self.prepared.problem, self.prepared.limits, gap)

    def batches(self, search):
        """Return the members of each step of the proof that adds one of them."""
        steps, _ = Prover.of(self.problem, self.prepared, search).proof()
        return [step.predictors for step in steps if isinstance(step, One)]


def run(search):
    assert search.run(10_000, 10_000, 1, 1e9)


@pytest.mark.parametrize("make", [random_problem, limited_problem])
@pytest.mark.parametrize("n_left", [1, 2])
def test_the_best_is_found_and_the_others_are_excluded(n_left, make):
    seen = Counter()
    for seed in range(60):
        node = Node(seed, n_left, make)
        every = node.objectives()
        worst, best = max(every, key=every.get), min(every.values())
        # From a greedy start; from a start that is beaten.
        for suggested in (None, worst):
            search = node.search(GAP)
            if suggested is not None:
                search.suggest(suggested)
            run(search)
            support, _, _ = search.incumbent()
            assert search.objective == pytest.approx(best, rel=1e-6), seed
            assert every[tuple(support)] == pytest.approx(best, rel=2 * GAP), seed
            assert search.objective * (1 - GAP) <= search.lower_bound * (1 + 1e-12), seed
            assert search.lower_bound <= best * (1 + 1e-9), seed
            batches = node.batches(search)
            seen["closed one by one"] += bool(batches)
            seen["batches"] += sum(len(batch) > 1 for batch in batches)
    assert min(seen.values()) > 5, seen


@pytest.mark.parametrize("make", [random_problem, limited_problem])
@pytest.mark.parametrize("n_left", [1, 2])
def test_a_listing_has_every_model_below_the_threshold(n_left, make):
    n_listed = 0
    for seed in range(40):
        node = Node(seed, n_left, make)
        every = node.objectives()
        threshold = float(np.median(list(every.values()))) * (1 + 1e-6)
        search = node.search(0.0)
        search.list_models(threshold, len(every) + 1)
        run(search)
        models = search.models()
        listed = {
            tuple(support): node.problem.objective(*node.prepared.model(coef, intercept))
            for support, coef, intercept in models
        }
        assert len(listed) == len(models), seed
        assert search.n_left_out == 0
        expected = {s: value for s, value in every.items() if value < threshold}
        assert listed == pytest.approx(expected, rel=1e-9), seed
        n_listed += len(models)
    assert n_listed > 40


@pytest.mark.parametrize("limit", [{"max_features": 4}, {"budget": 14, "fees": [(1, range(5))]}])
def test_a_node_with_two_purchases_left_is_relaxed_once_for_several_branches(limit):
    """At weak ridge, where bounds are far below the cutoff."""
    data = make_prognostic(60, 14, n_informative=5, label_noise=0.05, random_state=1)
    problem = SubsetProblem(data.X, data.y, ridge=1e-4, costs=3 + np.arange(14) % 2, **limit)
    prepared = prepare(problem)
    search = core.Search(prepared.problem, prepared.limits, GAP)
    run(search)
    steps, _ = Prover.of(problem, prepared, search).proof()
    assert sum(isinstance(step, Branch) for step in steps) > search.n_relaxations
    best = solve(problem, "enumeration").objective
    assert solve(problem).objective == pytest.approx(best, rel=GAP)
