"""The endgame against enumeration: what is bought, plus every one of what is affordable."""

import math
from collections import Counter

import numpy as np
import pytest
from compiled import compiled
from random_problems import random_problem

import shortlist as sl
from shortlist.solver.kernels import endgame, layout, point, room
from shortlist.solver.kernels.layout import FREE, IN, OUT
from shortlist.solver.kernels.trace import Kind
from shortlist.solver.prepare import prepare
from shortlist.solver.recording import Recording

pytestmark = pytest.mark.filterwarnings("ignore:budget")

buy_one, most_purchases = compiled(endgame.buy_one), compiled(room.most_purchases)
linear_predictor, evaluate_rows = compiled(layout.linear_predictor), compiled(point.evaluate_rows)
settle = compiled(room.settle)
GAP = 1e-6


class Node:
    """A node of a random problem at which one more predictor can be bought, and its relaxation."""

    def __init__(self, seed):
        while not self._draw(seed):
            seed += 1000

    def _draw(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        self.problem = random_problem(seed)
        n = self.problem.n_predictors
        bought = rng.permutation(n)[: rng.integers(0, n)].tolist()
        if not self.problem.constraints.is_affordable(tuple(bought)):
            return False
        self.status = np.where(rng.random(n) < 0.8, FREE, OUT).astype(np.int8)
        self.status[prepare(self.problem).search.root == OUT] = OUT
        self.status[bought] = IN
        search = prepare(self.problem).search
        room = settle(search.limits, self.status, search.relaxation.model.price)
        self.bought = tuple(sorted(bought))
        self.free = np.flatnonzero(self.status == FREE).tolist()
        return room.n_free > 0 and most_purchases(search.limits, self.status, room) == 1

    def best_models(self):
        """Return the objectives of what is bought and of each that adds one, by support."""
        every = {}
        for added in [(), *((g,) for g in self.free)]:
            support = tuple(sorted((*self.bought, *added)))
            others = [g for g in range(self.problem.n_predictors) if g not in support]
            fixed = self.problem.with_limits(include=support, exclude=others)
            every[support] = sl.solve(fixed, "enumeration").objective
        return every

    def close(self, incumbent=math.inf, gap=GAP, n_places=0):
        """Run the endgame from a rough point; return the search, the tree and the trace."""
        prepared = prepare(self.problem, incumbent, n_places)
        search, tree = prepared.search, prepared.scratch.tree
        search.status[:] = self.status
        data, rows = search.data, search.relaxation.rows
        theta = 0.1 * self.rng.normal(size=len(data.X)) / (1 + np.abs(data.X).max(axis=1))
        linear_predictor(data, theta, data.null_intercept, rows.u)
        evaluate_rows(data, rows, data.null_intercept, 1e-4)
        settle(search.limits, search.status, search.relaxation.model.price)
        trace = Recording(prepared.scratch).trace
        buy_one(search, tree, trace, gap, 0)
        return search, tree, trace


def members_of(trace):
    """Return the members of each step, all of which are of the kind ONE."""
    n_steps = int(trace.now.n_steps)
    assert (trace.kind[:n_steps] == Kind.ONE).all()
    first = [*trace.first_member[:n_steps].tolist(), int(trace.now.n_members)]
    return [trace.member[first[s] : first[s + 1]].tolist() for s in range(n_steps)]


def test_the_best_of_one_more_is_found_and_the_others_are_excluded():
    seen = Counter()
    for seed in range(80):
        node = Node(seed)
        every = node.best_models()
        best = min(every.values())
        # Without an incumbent; with one that is hard to beat; with one that cannot be beaten.
        for incumbent in (math.inf, best * (1 + 1e-3), 0.99 * best):
            search, tree, trace = node.close(incumbent)
            found = float(search.incumbent.score.objective)
            assert found == pytest.approx(min(best, incumbent), rel=1e-9), seed
            if incumbent > best:
                support = tuple(np.flatnonzero(search.incumbent.status == IN).tolist())
                assert every[support] == pytest.approx(best, rel=1e-9), seed
                seen["found"] += 1
            # What closed the node bounds the best, and excludes all that is not better by the gap.
            assert found * (1 - GAP) <= tree.now.closed * (1 + 1e-12), seed
            assert min(tree.now.closed, found) <= best * (1 + 1e-9), seed
            members = members_of(trace)
            assert sorted(g for batch in members for g in batch) == node.free, seed
            seen["batches"] += sum(len(batch) > 1 for batch in members)
    assert seen["found"] >= 160, seen
    assert seen["batches"] > 20, seen


def test_a_listing_has_every_model_below_the_threshold():
    n_listed = 0
    for seed in range(40):
        node = Node(seed)
        every = node.best_models()
        threshold = float(np.median(list(every.values()))) * (1 + 1e-6)
        search, _, _ = node.close(threshold, gap=0.0, n_places=len(every) + 1)
        listing = search.listing
        n = int(listing.now.n_listed)
        listed = {
            tuple(np.flatnonzero(listing.status[i] == IN).tolist()): listing.objective[i]
            for i in range(n)
        }
        assert len(listed) == n
        expected = {s: value for s, value in every.items() if value < threshold}
        assert listed == pytest.approx(expected, rel=1e-9), seed
        n_listed += n
    assert n_listed > 40
