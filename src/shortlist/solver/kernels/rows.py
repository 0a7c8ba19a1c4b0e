"""One pass over the rows: loss, dual point, entropy and curvature of the logistic loss.

With u = -y (x'theta + theta_0) the loss of a row is log(1 + exp(u)), its dual point is
a = sigmoid(u), its entropy H(a) = log(1 + exp(u)) - a u, and its curvature a (1 - a).

exp and log1p are written as polynomials because LLVM vectorises them that way, four times faster
than calls to libm; both are accurate to a few units in the last place (tests compare to mpmath).
"""

import math

import numpy as np

from .reference import fused_kernel, inlined, sum_kernel

_LOG2_E = 1.4426950408889634
# ln 2 in two parts, so that k * _LN2_HIGH is exact for every exponent k that occurs.
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
# Adding 1.5 * 2^52 rounds to an integer and leaves it in the low bits of the double.
_ROUND = 6755399441055744.0
# Coefficients of polynomials, that of the highest power first.
_EXP = tuple(1.0 / math.factorial(i) for i in range(13, -1, -1))
_ATANH = tuple(1.0 / (2 * i + 1) for i in range(15, -1, -1))


@fused_kernel
def exp_minus_abs(u, out, scratch):
    """Write exp(-|u|) to `out`; `scratch` has the same size."""
    bits = scratch.view(np.int64)
    for m in range(u.size):
        x = -min(abs(u[m]), 700.0)
        k = x * _LOG2_E + _ROUND
        scratch[m] = k
        k -= _ROUND
        r = (x - k * _LN2_HIGH) - k * _LN2_LOW
        p = _EXP[0]
        for c in _EXP[1:]:
            p = p * r + c
        out[m] = p
    for m in range(u.size):
        bits[m] = (bits[m] + 1023) << 52
    for m in range(u.size):
        out[m] *= scratch[m]


@sum_kernel
def logistic_rows(u, w, decay, a, b, q, d):
    """Fill a, b = 1 - a, q = w a and d = w a b; return the sums of w loss, w H(a), q and d.

    `decay` holds exp(-|u|) from `exp_minus_abs`.
    """
    loss = 0.0
    entropy = 0.0
    mass = 0.0
    curvature = 0.0
    for m in range(u.size):
        e = decay[m]
        s = e / (2.0 + e)
        s2 = s * s
        p = _ATANH[0]
        for c in _ATANH[1:]:
            p = p * s2 + c
        softplus = 2.0 * s * p + max(u[m], 0.0)
        inverse = 1.0 / (1.0 + e)
        small = e * inverse
        a[m] = inverse if u[m] > 0.0 else small
        b[m] = small if u[m] > 0.0 else inverse
        q[m] = w[m] * a[m]
        d[m] = w[m] * e * inverse * inverse
        loss += w[m] * softplus
        # log(1 + exp(u)) - a u, arranged so that nothing cancels when a is close to 0 or 1.
        entropy += w[m] * (2.0 * s * p + min(abs(u[m]), 700.0) * e * inverse)
        mass += q[m]
        curvature += d[m]
    return loss, entropy, mass, curvature


# How far x^2 (1/2 - x/6 + x^2/12) falls short of (1 + x) log(1 + x) - x per |x|^5 for x < 0, at
# most: the sum of 1 / (k (k - 1)) over k >= 5.
_TAIL = 0.25


@inlined
def _lost_entropy(u, a, b, x, y):
    """What H(a') loses against H(a) at most, for a' = a (1 + x) and 1 - a' = b (1 + y).

    H(a') = H(a) - a x u - a f(x) - b f(y) with f(x) = (1 + x) log(1 + x) - x, and f is bounded by
    its Taylor polynomial: f(x) <= x^2 (1/2 - x/6 + x^2/12) for x >= 0, and that plus |x|^5 / 4 for
    -1 <= x < 0. No exponential, no logarithm.
    """
    low_x, low_y = max(-x, 0.0), max(-y, 0.0)
    f_x = x * x * (0.5 - x / 6.0 + x * x / 12.0 + _TAIL * low_x * low_x * low_x)
    f_y = y * y * (0.5 - y / 6.0 + y * y / 12.0 + _TAIL * low_y * low_y * low_y)
    return a * (x * u + f_x) + b * f_y


@sum_kernel
def moved_rows(u, w, a, b, t, q):
    """Fill q = w a' for a' = a + a b t; return the lost entropy and the sum of q.

    Also returns the number of rows with a' outside [0, 1]. Where there are any, the rest does not
    hold, and `clipped_rows` is the one to call.
    """
    lost, mass, n_outside = 0.0, 0.0, 0.0
    for m in range(u.size):
        x, y = b[m] * t[m], -a[m] * t[m]
        n_outside += 1.0 if min(x, y) < -1.0 else 0.0
        lost += w[m] * _lost_entropy(u[m], a[m], b[m], x, y)
        q[m] = w[m] * (a[m] + a[m] * x)
        mass += q[m]
    return lost, mass, n_outside


@sum_kernel
def clipped_rows(u, w, a, b, t, q):
    """The same for a' clipped to [0, 1]."""
    lost, mass = 0.0, 0.0
    for m in range(u.size):
        x, y = b[m] * t[m], -a[m] * t[m]
        if x < -1.0:
            x, y = -1.0, a[m] / b[m]
        elif y < -1.0:
            x, y = b[m] / a[m], -1.0
        lost += w[m] * _lost_entropy(u[m], a[m], b[m], x, y)
        q[m] = w[m] * (a[m] + a[m] * x)
        mass += q[m]
    return lost, mass


# Loops start at 0 and run over whole (sliced) arrays: other ranges are not vectorised.
@sum_kernel
def dot(x, y):
    """Inner product."""
    total = 0.0
    for m in range(x.size):
        total += x[m] * y[m]
    return total


@sum_kernel
def total_of(x):
    """Sum of the entries."""
    total = 0.0
    for m in range(x.size):
        total += x[m]
    return total
