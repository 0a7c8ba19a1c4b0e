"""Small dense positive definite systems, in place.

The factor's diagonal holds the inverses of its pivots: substitution then multiplies.
"""

import math

import numpy as np

from .reference import fused_kernel, kernel, sum_kernel

# A pivot that lost this many digits means that a column depends on earlier ones.
_SMALLEST_PIVOT = 1e-14
# The first row. A plain 0 as an argument would be a type of its own, and compile a function again.
FIRST = np.int64(0)


@sum_kernel
def factorise(a, first, n):
    """Replace rows first to n of the lower triangle of a by those of its Cholesky factor.

    Rows before `first` hold the factor already. Returns whether the factor exists. Four rows are
    handled together: the matrices are too small for longer vectors to pay.
    """
    for j in range(n):
        row = a[j]
        if j >= first:
            pivot = row[j]
            for k in range(j):
                pivot -= row[k] * row[k]
            if not pivot > _SMALLEST_PIVOT * row[j]:
                return False
            row[j] = 1.0 / math.sqrt(pivot)
        scale = row[j]
        i = max(first, j + 1)
        while i + 4 <= n:
            r0, r1, r2, r3 = a[i], a[i + 1], a[i + 2], a[i + 3]
            t0, t1, t2, t3 = r0[j], r1[j], r2[j], r3[j]
            for k in range(j):
                t = row[k]
                t0 -= r0[k] * t
                t1 -= r1[k] * t
                t2 -= r2[k] * t
                t3 -= r3[k] * t
            r0[j], r1[j], r2[j], r3[j] = t0 * scale, t1 * scale, t2 * scale, t3 * scale
            i += 4
        while i < n:
            r0 = a[i]
            t0 = r0[j]
            for k in range(j):
                t0 -= r0[k] * row[k]
            r0[j] = t0 * scale
            i += 1
    return True


@sum_kernel
def forward(a, first, n, b):
    """Solve L y = b for the factor L in a; entries first to n of b become those of y."""
    for i in range(first, n):
        total = b[i]
        row = a[i]
        for k in range(i):
            total -= row[k] * b[k]
        b[i] = total * row[i]


@fused_kernel
def backward(a, n, b):
    """Solve L' x = b for the factor L in a; b becomes x."""
    for i in range(n - 1, -1, -1):
        row = a[i]
        t = b[i] * row[i]
        b[i] = t
        for k in range(i):
            b[k] -= row[k] * t


@kernel
def substitute(a, n, b):
    """Solve L L' x = b for the factor L in a; b becomes x."""
    forward(a, FIRST, n, b)
    backward(a, n, b)


@sum_kernel
def substitute_both(a, n, b, c):
    """Solve L L' x = b and L L' x = c in one pass over the factor."""
    for i in range(n):
        row = a[i]
        b_i, c_i = b[i], c[i]
        for k in range(i):
            b_i -= row[k] * b[k]
            c_i -= row[k] * c[k]
        b[i], c[i] = b_i * row[i], c_i * row[i]
    for i in range(n - 1, -1, -1):
        row = a[i]
        b_i, c_i = b[i] * row[i], c[i] * row[i]
        b[i], c[i] = b_i, c_i
        for k in range(i):
            b[k] -= row[k] * b_i
            c[k] -= row[k] * c_i
