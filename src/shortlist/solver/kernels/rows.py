"""One pass over the rows: loss, dual point, entropy and curvature of the logistic loss.

With u = -y (x'theta + theta_0) the loss of a row is log(1 + exp(u)), its dual point is
a = sigmoid(u), its entropy H(a) = log(1 + exp(u)) - a u, and its curvature a (1 - a).

exp and log1p are written as polynomials because LLVM vectorises them that way, four times faster
than calls to libm; both are accurate to a few units in the last place (tests compare to mpmath).
"""

import math

import numpy as np

from .reference import fused_kernel, sum_kernel

_LOG2_E = 1.4426950408889634
# ln 2 in two parts, so that k * _LN2_HIGH is exact for every exponent k that occurs.
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
# Adding 1.5 * 2^52 rounds to an integer and leaves it in the low bits of the double.
_ROUND = 6755399441055744.0
_EXP = tuple(1.0 / math.factorial(i) for i in range(14))
_ATANH = tuple(1.0 / (2 * i + 1) for i in range(16))


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
        p = _EXP[13]
        p = p * r + _EXP[12]
        p = p * r + _EXP[11]
        p = p * r + _EXP[10]
        p = p * r + _EXP[9]
        p = p * r + _EXP[8]
        p = p * r + _EXP[7]
        p = p * r + _EXP[6]
        p = p * r + _EXP[5]
        p = p * r + _EXP[4]
        p = p * r + _EXP[3]
        p = p * r + _EXP[2]
        p = p * r + _EXP[1]
        out[m] = p * r + _EXP[0]
    for m in range(u.size):
        bits[m] = (bits[m] + 1023) << 52
    for m in range(u.size):
        out[m] *= scratch[m]


@sum_kernel
def logistic_rows(u, w, decay, q, d):
    """Fill q = w a and d = w a (1 - a); return the sums of w loss, w H(a), q and d.

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
        p = _ATANH[15]
        p = p * s2 + _ATANH[14]
        p = p * s2 + _ATANH[13]
        p = p * s2 + _ATANH[12]
        p = p * s2 + _ATANH[11]
        p = p * s2 + _ATANH[10]
        p = p * s2 + _ATANH[9]
        p = p * s2 + _ATANH[8]
        p = p * s2 + _ATANH[7]
        p = p * s2 + _ATANH[6]
        p = p * s2 + _ATANH[5]
        p = p * s2 + _ATANH[4]
        p = p * s2 + _ATANH[3]
        p = p * s2 + _ATANH[2]
        p = p * s2 + _ATANH[1]
        p = p * s2 + _ATANH[0]
        softplus = 2.0 * s * p + max(u[m], 0.0)
        inverse = 1.0 / (1.0 + e)
        a = inverse if u[m] > 0.0 else e * inverse
        q[m] = w[m] * a
        d[m] = w[m] * e * inverse * inverse
        loss += w[m] * softplus
        # log(1 + exp(u)) - a u, arranged so that nothing cancels when a is close to 0 or 1.
        entropy += w[m] * (2.0 * s * p + min(abs(u[m]), 700.0) * e * inverse)
        mass += q[m]
        curvature += d[m]
    return loss, entropy, mass, curvature


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
