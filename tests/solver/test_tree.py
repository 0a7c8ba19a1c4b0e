"""The heap of open nodes against a sorted list, and its slots against what was put in."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import shortlist as sl
from shortlist.solver.kernels.layout import N_COUNTERS, OPEN
from shortlist.solver.kernels.tree import DIVE_SLOT, fill, pop, push
from shortlist.solver.prepare import enlarge, plant, prepare

N_PREDICTORS = 3


def new_tree(n_slots):
    X = np.random.default_rng(0).random((6, N_PREDICTORS))
    prepared = prepare(sl.SubsetProblem(X, [0, 1] * 3, ridge=1.0, max_features=1))
    return plant(prepared, n_slots), np.zeros(N_COUNTERS, dtype=np.int64)


def content(key):
    """What is stored with a node: different for every key."""
    status = np.array([key % 3, key // 3 % 3, key // 9 % 3], dtype=np.int8)
    return status, np.full(N_PREDICTORS, float(key)), key + 0.25, key + 0.5


def push_key(tree, counter, key, bound):
    status, theta, theta0, mu = content(key)
    push(tree, counter, key, status, theta, theta0, mu, bound, 2 * key)


def pop_key(tree, counter):
    """Pop a node, check that it is as it was pushed, and return its bound and key."""
    slot = pop(tree, counter)
    assert slot != DIVE_SLOT
    key = int(tree.theta0[slot])
    status, theta, theta0, mu = content(key)
    assert tree.status[slot].tolist() == status.tolist()
    assert tree.theta[slot].tolist() == theta.tolist()
    assert (tree.theta0[slot], tree.mu[slot]) == (theta0, mu)
    assert (tree.serial[slot], tree.point[slot]) == (key, 2 * key)
    return float(tree.bound[slot]), key


# Few different values, so that many are equal.
BOUNDS = st.sampled_from([-math.inf, -1.5, -0.0, 0.0, 0.1, 0.1 + 2**-55, 0.3, 7.0, 1e300])


@settings(max_examples=200)
@given(st.lists(st.one_of(BOUNDS, st.none()), max_size=120))
def test_nodes_leave_by_bound_and_then_by_age(events):
    """A bound is a push, None a pop. The tree starts tiny and grows as the search lets it."""
    tree, counter = new_tree(2)
    waiting: list[tuple[float, int]] = []
    for key, event in enumerate(events):
        if event is not None:
            if counter[OPEN] == len(tree.heap):
                tree = enlarge(tree)
            push_key(tree, counter, key, event)
            waiting.append((event, key))
        elif waiting:
            assert tree.bound[tree.heap[0]] == min(waiting)[0]
            assert pop_key(tree, counter) == min(waiting)
            waiting.remove(min(waiting))
        assert counter[OPEN] == len(waiting)
    assert [pop_key(tree, counter) for _ in range(len(waiting))] == sorted(waiting)
    assert counter[OPEN] == 0


def test_a_full_tree_can_be_emptied_and_filled_for_ever():
    tree, counter = new_tree(4)
    for round_number in range(5):
        keys = [4 * round_number + i for i in range(4)]
        for key in keys:
            push_key(tree, counter, key, 1.0)
        assert sorted(tree.heap.tolist()) == [1, 2, 3, 4]
        assert [pop_key(tree, counter)[1] for _ in range(4)] == keys


def test_the_dive_is_outside_the_heap():
    tree, counter = new_tree(2)
    push_key(tree, counter, 1, 0.5)
    fill(tree, DIVE_SLOT, 2, *content(2), 0.1, 4)
    push_key(tree, counter, 3, 0.4)
    assert float(tree.bound[DIVE_SLOT]) == 0.1
    assert tree.theta[DIVE_SLOT].tolist() == [2.0] * N_PREDICTORS
    assert [pop_key(tree, counter) for _ in range(2)] == [(0.4, 3), (0.5, 1)]


def test_a_larger_tree_has_the_same_nodes_and_twice_the_room():
    tree, counter = new_tree(3)
    for key, bound in enumerate([0.3, 0.1, 0.2]):
        push_key(tree, counter, key, bound)
    pop_key(tree, counter)
    fill(tree, DIVE_SLOT, 9, *content(9), 0.05, 18)
    larger = enlarge(tree)
    assert len(larger.heap) == len(larger.vacant) == 6
    assert {len(array) for array in (larger.status, larger.theta, larger.bound)} == {7}
    assert float(larger.theta0[DIVE_SLOT]) == 9.25
    for key in range(10, 14):
        push_key(larger, counter, key, 0.25)
    popped = [pop_key(larger, counter) for _ in range(6)]
    assert popped == [(0.2, 2), (0.25, 10), (0.25, 11), (0.25, 12), (0.25, 13), (0.3, 0)]
