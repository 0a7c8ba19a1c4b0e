"""The open nodes: a binary heap by lower bound, ties by age, over reusable slots."""

from numba import njit

from .layout import CLOSED, OPEN

# The child that is processed next lives here, outside the heap.
DIVE_SLOT = 0


@njit(cache=True, error_model="numpy")
def _before(tree, a, b):
    if tree.bound[a] != tree.bound[b]:
        return tree.bound[a] < tree.bound[b]
    return tree.serial[a] < tree.serial[b]


@njit(cache=True, error_model="numpy")
def fill(tree, slot, serial, status, theta, theta0, mu, bound, point):
    """Write a node into a slot."""
    tree.serial[slot] = serial
    tree.point[slot] = point
    tree.status[slot] = status
    tree.theta[slot] = theta
    tree.theta0[slot] = theta0
    tree.mu[slot] = mu
    tree.bound[slot] = bound


@njit(cache=True, error_model="numpy")
def push(tree, counter, serial, status, theta, theta0, mu, bound, point):
    """Add a node; the caller has made sure that there is room."""
    size = counter[OPEN]
    slot = tree.vacant[size]
    fill(tree, slot, serial, status, theta, theta0, mu, bound, point)
    counter[OPEN] += 1
    tree.heap[size] = slot
    i = size
    while i > 0:
        parent = (i - 1) // 2
        if not _before(tree, tree.heap[i], tree.heap[parent]):
            break
        tree.heap[i], tree.heap[parent] = tree.heap[parent], tree.heap[i]
        i = parent


@njit(cache=True, error_model="numpy")
def pop(tree, counter):
    """Remove the node of lowest bound and return its slot, which stays readable until a push."""
    counter[OPEN] -= 1
    size = counter[OPEN]
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


@njit(cache=True, error_model="numpy")
def close_leaf(scalar, bound):
    """The bound of a leaf counts for the global lower bound for ever."""
    scalar[CLOSED] = min(scalar[CLOSED], bound)
