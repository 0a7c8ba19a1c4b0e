"""The open nodes: a binary heap by lower bound, ties by age, over reusable slots."""

import math
from typing import NamedTuple

import numpy as np

from .fields import Array, Record
from .layout import copy
from .reference import kernel
from .trace import Kind, record_member, record_step

# The child that is processed next lives here, outside the heap.
DIVE_SLOT = np.int64(0)
ROOT = np.int64(0)  # the number of the first node


class Tree(NamedTuple):
    """Nodes in slots: `heap` orders those in use by bound, `vacant` lists the others."""

    status: Array("n_slots", "n_predictors", dtype=np.int8)
    theta: Array("n_slots", "n_columns")
    theta0: Array("n_slots")
    mu: Array("n_slots")
    bound: Array("n_slots")
    point: Array("n_slots", dtype=np.int64)  # the recorded point that proves the bound
    serial: Array("n_slots", dtype=np.int64)  # the node's number, in order of creation
    low: Array("n_slots", dtype=np.int64)  # the lowest budget at which the node is alive, and
    high: Array("n_slots", dtype=np.int64)  # the highest, in a staircase
    heap: Array("n_nodes", dtype=np.int64)
    vacant: Array("n_nodes", dtype=np.int64)
    # nodes: processed; n_open: on the heap; n_diving: 1 if the slot of the dive is in use;
    # n_created: in all; closed: the lowest bound of the closed leaves; nodes_before and
    # created_before: what nodes and n_created started from, not 0 in part of a larger search
    now: Record(
        nodes=0, n_open=0, n_diving=0, n_created=0, closed=math.inf, nodes_before=0,
        created_before=0,
    )  # fmt: skip


@kernel
def _before(tree, a, b):
    if tree.bound[a] != tree.bound[b]:
        return tree.bound[a] < tree.bound[b]
    return tree.serial[a] < tree.serial[b]


@kernel
def fill(tree, slot, serial, status, theta, theta0, mu, bound, point):
    """Write a node into a slot."""
    tree.serial[slot] = serial
    tree.point[slot] = point
    copy(tree.status[slot], status)
    copy(tree.theta[slot], theta)
    tree.theta0[slot] = theta0
    tree.mu[slot] = mu
    tree.bound[slot] = bound


@kernel
def push(tree, serial, status, theta, theta0, mu, bound, point):
    """Add a node; the caller has made sure that there is room."""
    size = tree.now.n_open
    slot = tree.vacant[size]
    fill(tree, slot, serial, status, theta, theta0, mu, bound, point)
    tree.now.n_open += 1
    tree.heap[size] = slot
    i = size
    while i > 0:
        parent = (i - 1) // 2
        if not _before(tree, tree.heap[i], tree.heap[parent]):
            break
        tree.heap[i], tree.heap[parent] = tree.heap[parent], tree.heap[i]
        i = parent


@kernel
def pop(tree):
    """Remove the node of lowest bound and return its slot, which stays readable until a push."""
    tree.now.n_open -= 1
    size = tree.now.n_open
    slot = tree.heap[0]
    tree.heap[0] = tree.heap[size]
    tree.vacant[size] = slot
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and _before(tree, tree.heap[child + 1], tree.heap[child]):
            child += 1
        if not _before(tree, tree.heap[child], tree.heap[i]):
            break
        tree.heap[i], tree.heap[child] = tree.heap[child], tree.heap[i]
        i = child
    return slot


@kernel
def close_leaf(tree, bound):
    """The bound of a leaf counts for the global lower bound for ever; what is no number is none."""
    if not bound >= tree.now.closed:
        tree.now.closed = bound if bound == bound else -np.inf


@kernel
def close_node(tree, trace, node, bound, point):
    """Close a node that a point bounds."""
    close_leaf(tree, bound)
    record_step(trace, Kind.BOUND, node, point)


@kernel
def create_children(tree, trace, node, pick):
    """Branch on a predictor; return the child that forbids it, after which comes the other."""
    child = tree.now.n_created
    tree.now.n_created += 2
    record_step(trace, Kind.BRANCH, node, child)
    record_member(trace, pick)
    return child
