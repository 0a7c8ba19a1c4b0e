"""Sorting indices by a key: a heapsort, because numpy's takes seconds to compile."""

from .cholesky import FIRST
from .reference import kernel


@kernel
def sort_by(key, order, n):
    """Sort order[:n] by ascending key[order], equal keys by index."""
    for first in range(n // 2 - 1, -1, -1):
        _sift(key, order, first, n)
    for last in range(n - 1, 0, -1):
        order[0], order[last] = order[last], order[0]
        _sift(key, order, FIRST, last)


@kernel
def _sift(key, order, parent, n):
    """Let the entry at `parent` sink to its place in the heap order[:n], whose root is the last."""
    while True:
        child = 2 * parent + 1
        if child >= n:
            break
        if child + 1 < n and _before(key, order[child], order[child + 1]):
            child += 1
        if not _before(key, order[parent], order[child]):
            break
        order[parent], order[child] = order[child], order[parent]
        parent = child


@kernel
def _before(key, i, j):
    return key[i] < key[j] or (key[i] == key[j] and i < j)
