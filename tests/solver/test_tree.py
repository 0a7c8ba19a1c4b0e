"""The heap of open nodes against a sorted list, and its slots against what was put in."""

import math

import numpy as np
from compiled import compiled
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.solver.driver import enlarge
from shortlist.solver.kernels import tree as kernels
from shortlist.solver.kernels.tree import DIVE_SLOT
from shortlist.solver.scratch import Memory, Shape, make_tree

N_PREDICTORS = 3
fill, pop, push = map(compiled, (kernels.fill, kernels.pop, kernels.push))


def new_tree(n_slots):
    return make_tree(Memory(), Shape(1, N_PREDICTORS, N_PREDICTORS, 1, 1), n_slots)


def content(key):
    """What is stored with a node: different for every key."""
    status = np.array([key % 3, key // 3 % 3, key // 9 % 3], dtype=np.int8)
    return status, np.full(N_PREDICTORS, float(key)), key + 0.25, key + 0.5


def push_key(tree, key, bound):
    status, theta, theta0, mu = content(key)
    push(tree, key, status, theta, theta0, mu, bound, 2 * key)


def pop_key(tree):
    """Pop a node, check that it is as it was pushed, and return its bound and key."""
    slot = pop(tree)
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
    tree = new_tree(2)
    waiting: list[tuple[float, int]] = []
    for key, event in enumerate(events):
        if event is not None:
            if tree.now.n_open == len(tree.heap):
                tree = enlarge(tree)
            push_key(tree, key, event)
            waiting.append((event, key))
        elif waiting:
            assert tree.bound[tree.heap[0]] == min(waiting)[0]
            assert pop_key(tree) == min(waiting)
            waiting.remove(min(waiting))
        assert tree.now.n_open == len(waiting)
    assert [pop_key(tree) for _ in range(len(waiting))] == sorted(waiting)
    assert tree.now.n_open == 0


def test_a_full_tree_can_be_emptied_and_filled_for_ever():
    tree = new_tree(4)
    for round_number in range(5):
        keys = [4 * round_number + i for i in range(4)]
        for key in keys:
            push_key(tree, key, 1.0)
        assert sorted(tree.heap.tolist()) == [1, 2, 3, 4]
        assert [pop_key(tree)[1] for _ in range(4)] == keys


def test_the_dive_is_outside_the_heap():
    tree = new_tree(2)
    push_key(tree, 1, 0.5)
    fill(tree, DIVE_SLOT, 2, *content(2), 0.1, 4)
    push_key(tree, 3, 0.4)
    assert float(tree.bound[DIVE_SLOT]) == 0.1
    assert tree.theta[DIVE_SLOT].tolist() == [2.0] * N_PREDICTORS
    assert [pop_key(tree) for _ in range(2)] == [(0.4, 3), (0.5, 1)]


def test_a_larger_tree_has_the_same_nodes_and_twice_the_room():
    tree = new_tree(3)
    for key, bound in enumerate([0.3, 0.1, 0.2]):
        push_key(tree, key, bound)
    pop_key(tree)
    fill(tree, DIVE_SLOT, 9, *content(9), 0.05, 18)
    larger = enlarge(tree)
    assert len(larger.heap) == len(larger.vacant) == 6
    assert {len(array) for array in (larger.status, larger.theta, larger.bound)} == {7}
    assert float(larger.theta0[DIVE_SLOT]) == 9.25
    for key in range(10, 14):
        push_key(larger, key, 0.25)
    popped = [pop_key(larger) for _ in range(6)]
    assert popped == [(0.2, 2), (0.25, 10), (0.25, 11), (0.25, 12), (0.25, 13), (0.3, 0)]
