"""One pass over the rows for the hinge losses: loss, dual point, its entropy and curvature.

With u = -y (x'theta + theta_0) the losses are (1 + u)_+^2 and (1 + u)_+. The hinge is smoothed: on
the band 0 < 1 + u < width it is (1 + u)^2 / (2 width), beyond it 1 + u - width / 2. That is the
maximum of a (1 + u) - width a^2 / 2 over 0 <= a <= 1, and so below the hinge. The entropy H(a) = a
is that of the hinge itself, so that bounds hold for it whatever the width.
"""

from .reference import sum_kernel

# An a this close to the end of what it may be does not move. That it is not 0 itself is for those
# who check a proof: rows at the kink, which whole numbers lead to, are within rounding of the end.
AT_END = 2.0**-20


@sum_kernel
def squared_hinge_rows(u, w, a, q, d):
    """Fill a, q = w a and d; return the sums of w loss, w H(a), q and d."""
    loss, entropy, mass, curvature = 0.0, 0.0, 0.0, 0.0
    for m in range(u.size):
        s = max(1.0 + u[m], 0.0)
        a[m] = 2.0 * s
        q[m] = w[m] * a[m]
        d[m] = 2.0 * w[m] if s > 0.0 else 0.0
        loss += w[m] * s * s
        entropy += w[m] * s * (2.0 - s)
        mass += q[m]
        curvature += d[m]
    return loss, entropy, mass, curvature


@sum_kernel
def moved_squared_hinge_rows(w, a, t, q):
    """Fill q = w a' for a' = (a + 2 t)_+ where a is not 0; return the sums of w H(a') and q."""
    entropy, mass = 0.0, 0.0
    for m in range(w.size):
        moved = max(a[m] + 2.0 * t[m], 0.0) if a[m] > AT_END else a[m]
        q[m] = w[m] * moved
        entropy += q[m] * (1.0 - 0.25 * moved)
        mass += q[m]
    return entropy, mass


@sum_kernel
def hinge_rows(u, w, width, a, q, d):
    """Fill a, q = w a and d; return the sums of w smoothed loss, q and d."""
    loss, mass, curvature = 0.0, 0.0, 0.0
    for m in range(u.size):
        s = 1.0 + u[m]
        a[m] = min(max(s / width, 0.0), 1.0)
        q[m] = w[m] * a[m]
        d[m] = w[m] / width if 0.0 < a[m] and a[m] < 1.0 else 0.0
        loss += q[m] * (s - 0.5 * width * a[m])
        mass += q[m]
        curvature += d[m]
    return loss, mass, curvature


@sum_kernel
def moved_hinge_rows(w, width, a, t, q):
    """Fill q = w a' for a' = a + t / width on the band, clipped to [0, 1]; return the sum of q."""
    mass = 0.0
    for m in range(w.size):
        step = t[m] / width if AT_END < a[m] and a[m] < 1.0 - AT_END else 0.0
        q[m] = w[m] * min(max(a[m] + step, 0.0), 1.0)
        mass += q[m]
    return mass
