"""Tables as given, brought to the layout of the kernels without intermediate copies.

A table is given flat, with the distances between its rows and between its columns, so that one
compilation serves both orders in memory.
"""

import numpy as np

from .reference import entry, kernel


@entry
def pack_table(table, row_step, column_step, rows, columns, sign, out):
    """Fill out[j, m] = sign[m] * table[rows[m], columns[j]], reading memory in its order."""
    if row_step >= column_step:
        for m in range(rows.size):
            first = rows[m] * row_step
            for j in range(columns.size):
                out[j, m] = sign[m] * table[first + columns[j] * column_step]
    else:
        for j in range(columns.size):
            first = columns[j] * column_step
            for m in range(rows.size):
                out[j, m] = sign[m] * table[first + rows[m] * row_step]


@entry
def is_packed(table, row_step, column_step, rows, columns, sign, place, X):
    """Whether the table is still what X was packed from, row m being at place[m]."""
    if row_step >= column_step:
        for m in range(rows.size):
            first, p = rows[m] * row_step, place[m]
            for j in range(columns.size):
                if X[j, p] != sign[m] * table[first + columns[j] * column_step]:
                    return False
    else:
        for j in range(columns.size):
            first = columns[j] * column_step
            for m in range(rows.size):
                if X[j, place[m]] != sign[m] * table[first + rows[m] * row_step]:
                    return False
    return True


@entry
def merge_rows(X, n_positive, place):
    """Merge identical rows of the same class in place; fill the place of each row.

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
            place[m] = found
            continue
        if n_left < m:
            bits[n_left] = bits[m]
            for j in range(n_columns):
                X[j, n_left] = X[j, m]
        table[slot] = n_left
        place[m] = n_left
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


@entry
def weigh_rows(weights, place, n_positive, kept, w):
    """Fill the places of the rows that count, and their weights; return how many, and positive.

    Identical rows share a place, and their weights are added. Places come in the order of the first
    row that counts, as if the others were not there.
    """
    position = np.full(w.size, -1)
    n_kept, positive_kept = 0, 0
    for m in range(weights.size):
        if weights[m] > 0.0:
            p = place[m]
            if position[p] >= 0:
                w[position[p]] += weights[m]
            else:
                position[p] = n_kept
                kept[n_kept] = p
                w[n_kept] = weights[m]
                n_kept += 1
                if p < n_positive:
                    positive_kept += 1
    return n_kept, positive_kept


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
