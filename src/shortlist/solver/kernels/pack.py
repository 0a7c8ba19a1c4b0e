"""From a table as given to the layout of the kernels, without intermediate copies."""

import numpy as np

from .reference import entry, kernel


@entry
def pack_rows(table, rows, columns, sign, out):
    """Fill out[j, m] = sign[m] * table[rows[m], columns[j]] from a row-major table."""
    for m in range(rows.size):
        row = table[rows[m]]
        for j in range(columns.size):
            out[j, m] = sign[m] * row[columns[j]]


@entry
def pack_columns(table, rows, columns, sign, out):
    """Fill out[j, m] = sign[m] * table[columns[j], rows[m]] from a column-major table."""
    for j in range(columns.size):
        for m in range(rows.size):
            out[j, m] = sign[m] * table[columns[j], rows[m]]


@entry
def constant_columns(X, n_positive, constant):
    """Mark the columns whose value is the same in all rows (their sign differs by class)."""
    for j in range(X.shape[0]):
        x = X[j]
        same = True
        for m in range(x.size):
            if x[m] != (x[0] if (m < n_positive) == (n_positive > 0) else -x[0]):
                same = False
                break
        constant[j] = same


@entry
def merge_rows(X, w, n_positive):
    """Merge identical rows of the same class in place, adding their weights.

    Returns the numbers of rows and of positive rows left. Rows are found by a hash table on a
    weighted sum of their entries (computed in the same order for every row, so equal rows have
    equal sums) and compared in full.
    """
    n_columns, n_rows = X.shape
    sums = np.zeros(n_rows)
    for j in range(n_columns):
        x = X[j]
        scale = 1.0 + ((j * 0.6180339887498949) % 1.0)
        for m in range(n_rows):
            sums[m] += scale * x[m]
    bits = sums.view(np.int64)
    size = 16
    while size < 2 * n_rows:
        size *= 2
    table = np.full(size, -1)
    n_left, positive_left = 0, 0
    for m in range(n_rows):
        if m == n_positive:
            table[:] = -1
        slot = ((bits[m] * 0x1E3779B97F4A7C15) >> 20) & (size - 1)
        found = -1
        while table[slot] >= 0:
            other = table[slot]
            if bits[m] == bits[other] and _equal(X, m, other):
                found = other
                break
            slot = (slot + 1) & (size - 1)
        if found >= 0:
            w[found] += w[m]
            continue
        if n_left < m:
            w[n_left] = w[m]
            bits[n_left] = bits[m]
            for j in range(n_columns):
                X[j, n_left] = X[j, m]
        table[slot] = n_left
        n_left += 1
        if m < n_positive:
            positive_left += 1
    return n_left, positive_left


@kernel
def _equal(X, m, other):
    for j in range(X.shape[0]):
        if X[j, m] != X[j, other]:
            return False
    return True
