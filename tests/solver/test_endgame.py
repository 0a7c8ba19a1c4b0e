"""The endgame against enumeration: what is bought, plus all ways to add one or two."""

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from compiled import compiled
from random_problems import limited_problem, random_problem

from shortlist.backends.support_fit import SupportFits
from shortlist.solver.kernels import endgame, relaxation, room, trace
from shortlist.solver.kernels.layout import FREE, IN, OUT
from shortlist.solver.kernels.trace import Kind
from shortlist.solver.prepare import prepare

pytestmark = pytest.mark.filterwarnings("ignore:budget")

buy_one, buy_two = map(compiled, (endgame.buy_one, endgame.buy_two))
settle, most_purchases = map(compiled, (room.settle, room.most_purchases))
relax, record_point = compiled(relaxation.relax), compiled(trace.record_point)
GAP = 1e-6


class Node:
    """A node of a random problem at which so many more predictors can be bought."""

    def __init__(self, seed, n_left, make):
        while not self._draw(seed, n_left, make):
            seed += 1000

    def _draw(self, seed, n_left, make):
        rng = np.random.default_rng(seed)
        self.problem = make(seed)
        n = self.problem.n_predictors
        bought = rng.permutation(n)[: rng.integers(0, n)].tolist()
        if not self.problem.limits.is_affordable(tuple(bought)):
            return False
        search = prepare(self.problem).search
        self.status = np.where(rng.random(n) < 0.8, FREE, OUT).astype(np.int8)
        self.status[search.root == OUT] = OUT
        self.status[bought] = IN
        left = settle(search.limits, self.status, search.relaxation.model.price)
        if left.n_free == 0 or left.all_affordable:
            return False  # the search buys all of it and fits
        self.bought = tuple(sorted(bought))
        self.free = np.flatnonzero(self.status == FREE).tolist()
        self.n_left = n_left
        return most_purchases(search.limits, self.status, left) == n_left

    def best_models(self):
        """Return the objective of every affordable selection of the node, by support."""
        fits, every = SupportFits(self.problem), {}
        for size in range(self.n_left + 1):
            for added in combinations(self.free, size):
                support = tuple(sorted((*self.bought, *added)))
                if self.problem.limits.is_affordable(support):
                    every[support] = fits.fit(support)[0].objective
        return every

    def close(self, incumbent=math.inf, gap=GAP, n_places=0):
        """Relax the node and run the endgame; return the search, the tree and the trace."""
        prepared = prepare(self.problem, incumbent, n_places)
        search, tree, trace = prepared.search, prepared.scratch.tree, prepared.scratch.trace
        search.status[:] = self.status
        price, theta = search.relaxation.model.price, search.relaxation.model.theta
        left = settle(search.limits, search.status, price)
        theta[:] = 0.0
        base, _, theta0, _ = relax(
            search.data, search.limits, search.relaxation, search.status, left,
            search.data.null_intercept, 0.0, incumbent, False,
        )  # fmt: skip
        if self.n_left == 1:
            buy_one(search, tree, trace, gap, 0)
        else:
            tree.now.n_created = 1
            point = record_point(trace, theta, theta0, 0.0)
            buy_two(search, tree, trace, gap, 0, left, base, point)
        return search, tree, trace


def members_of(trace):
    """Return the members of each step of the kind ONE."""
    n_steps = int(trace.now.n_steps)
    first = [*trace.first_member[:n_steps].tolist(), int(trace.now.n_members)]
    return [
        trace.member[first[s] : first[s + 1]].tolist()
        for s in range(n_steps)
        if trace.kind[s] == Kind.ONE
    ]


@pytest.mark.parametrize("make", [random_problem, limited_problem])
@pytest.mark.parametrize("n_left", [1, 2])
def test_the_best_is_found_and_the_others_are_excluded(n_left, make):
    seen = Counter()
    for seed in range(60):
        node = Node(seed, n_left, make)
        every = node.best_models()
        best = min(every.values())
        # Without an incumbent; with one that is hard to beat; with one that cannot be beaten.
        for incumbent in (math.inf, best * (1 + 1e-3), 0.99 * best):
            search, tree, trace = node.close(incumbent)
            found = float(search.incumbent.score.objective)
            assert found == pytest.approx(min(best, incumbent), rel=1e-6), seed
            if incumbent > best:
                support = tuple(np.flatnonzero(search.incumbent.status == IN).tolist())
                assert every[support] == pytest.approx(best, rel=2 * GAP), seed
                seen["found"] += 1
            # What closed the node bounds the best, and excludes all that is not better by the gap.
            assert found * (1 - GAP) <= tree.now.closed * (1 + 1e-12), seed
            assert min(tree.now.closed, found) <= best * (1 + 1e-9), seed
            members = members_of(trace)
            if n_left == 1:
                assert sorted(g for batch in members for g in batch) == node.free, seed
            seen["batches"] += sum(len(batch) > 1 for batch in members)
    assert seen["found"] == 120, seen
    assert seen["batches"] > 20, seen


@pytest.mark.parametrize("make", [random_problem, limited_problem])
@pytest.mark.parametrize("n_left", [1, 2])
def test_a_listing_has_every_model_below_the_threshold(n_left, make):
    n_listed = 0
    for seed in range(40):
        node = Node(seed, n_left, make)
        every = node.best_models()
        threshold = float(np.median(list(every.values()))) * (1 + 1e-6)
        search, _, _ = node.close(threshold, gap=0.0, n_places=len(every) + 1)
        listing = search.listing
        n = int(listing.now.n_listed)
        listed = {
            tuple(np.flatnonzero(listing.status[i] == IN).tolist()): listing.objective[i]
            for i in range(n)
        }
        assert len(listed) == n, seed
        expected = {s: value for s, value in every.items() if value < threshold}
        assert listed == pytest.approx(expected, rel=1e-9), seed
        n_listed += n
    assert n_listed > 40
