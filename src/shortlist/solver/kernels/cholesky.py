"""Small dense positive definite systems, in place."""

import math

from numba import njit


@njit(cache=True, fastmath={"contract", "reassoc"})
def factorise(a, n):
    """Replace the lower triangle of a[:n, :n] by its Cholesky factor; return whether it exists."""
    for j in range(n):
        pivot = a[j, j]
        for k in range(j):
            pivot -= a[j, k] * a[j, k]
        # A pivot lost to rounding means that the column depends on earlier ones to all digits.
        if not pivot > 1e-14 * a[j, j]:
            return False
        pivot = math.sqrt(pivot)
        a[j, j] = pivot
        for i in range(j + 1, n):
            total = a[i, j]
            for k in range(j):
                total -= a[i, k] * a[j, k]
            a[i, j] = total / pivot
    return True


@njit(cache=True, fastmath={"contract", "reassoc"})
def substitute(a, n, b):
    """Solve L L' x = b for the factor L in a; b becomes x."""
    for i in range(n):
        total = b[i]
        for k in range(i):
            total -= a[i, k] * b[k]
        b[i] = total / a[i, i]
    for i in range(n - 1, -1, -1):
        total = b[i]
        for k in range(i + 1, n):
            total -= a[k, i] * b[k]
        b[i] = total / a[i, i]
