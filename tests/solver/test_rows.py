"""The logistic loss, its dual point and its entropy against mpmath."""

import math

import mpmath
import numpy as np
import pytest
from compiled import compiled

from shortlist.solver.kernels import rows as kernels

dot, exp_minus_abs, logistic_rows, total_of = map(
    compiled, (kernels.dot, kernels.exp_minus_abs, kernels.logistic_rows, kernels.total_of)
)
moved_rows, clipped_rows = map(compiled, (kernels.moved_rows, kernels.clipped_rows))

# Where exp(-|u|) is cut off: what is smaller changes no sum of doubles.
CLIP = 700.0
EPSILON = np.finfo(float).eps


def arguments():
    """Signs, scales and special values of u, some thousand of them."""
    rng = np.random.default_rng(0)
    magnitudes = np.concatenate(
        [
            [0.0, 5e-324, 2.2e-308, 1e-300, 1e-17, EPSILON, 1e-8, math.log(2), 1.0, 36.7, 37.5],
            [699.0, 700.0, 700.1, 709.8, 745.2, 1e3, 1e16, 1e100, 1e300, 1.7e308],
            np.logspace(-20, 3, 300),
            np.arange(1, 60) * math.log(2) / 2,  # where the reduced argument changes sign or jumps
            rng.uniform(0, 40, 300),
            rng.uniform(0, 1000, 200),
        ]
    )
    return np.concatenate([magnitudes, -magnitudes])


def decay_of(u):
    decay = np.empty_like(u)
    exp_minus_abs(u, decay, np.empty_like(u))
    return decay


def evaluate(u, w):
    """Loss, entropy, q and d of every row on its own."""
    decay, (a, b, q, d) = decay_of(u), np.empty((4, len(u)))
    loss, entropy = np.empty_like(u), np.empty_like(u)
    for m in range(len(u)):
        row = slice(m, m + 1)
        loss[m], entropy[m], mass, curvature = logistic_rows(
            u[row], w[row], decay[row], a[row], b[row], q[row], d[row]
        )
        assert (mass, curvature) == (q[m], d[m])
    return loss, entropy, q, d


def errors_in_ulp(values, exact):
    """Distance of doubles from exact values, in units in the last place of the exact value."""
    return [
        float(abs(mpmath.mpf(float(value)) - reference) / float(np.spacing(abs(float(reference)))))
        for value, reference in zip(values, exact, strict=True)
    ]


def clipped(u):
    return [mpmath.mpf(float(x)) for x in np.clip(u, -CLIP, CLIP)]


@pytest.fixture(autouse=True)
def many_digits():
    # exp(-700) is 1e-304; 1 - a of such rows needs as many digits and some more.
    with mpmath.workdps(340):
        yield


def test_exponential():
    u = arguments()
    exact = [mpmath.exp(-abs(x)) for x in clipped(u)]
    assert max(errors_in_ulp(decay_of(u), exact)) <= 4


def test_exponential_leaves_its_argument_alone_and_needs_no_alignment():
    """Vectorised loops have a remainder: every length gives the same values."""
    u = arguments()[:40]
    whole = decay_of(u)
    for size in range(len(u)):
        before = u[:size].copy()
        assert np.array_equal(decay_of(u[:size]), whole[:size])
        assert np.array_equal(u[:size], before)


def test_loss():
    """Of rows that are classified well the loss is tiny, and all its digits still are right."""
    u = arguments()
    loss, _, _, _ = evaluate(u, np.ones_like(u))
    exact = [
        mpmath.log1p(mpmath.exp(max(mpmath.mpf(float(x)), -mpmath.mpf(CLIP))))
        if x < CLIP
        else mpmath.mpf(float(x))
        for x in u
    ]
    assert max(errors_in_ulp(loss, exact)) <= 5


def test_dual_point():
    u = arguments()
    _, _, q, _ = evaluate(u, np.ones_like(u))
    exact = [1 / (1 + mpmath.exp(-x)) for x in clipped(u)]
    assert max(errors_in_ulp(q, exact)) <= 5
    assert q.min() > 0
    assert q.max() <= 1


def test_curvature():
    u = arguments()
    _, _, _, d = evaluate(u, np.ones_like(u))
    exact = [1 / ((1 + mpmath.exp(-x)) * (1 + mpmath.exp(x))) for x in clipped(u)]
    assert max(errors_in_ulp(d, exact)) <= 6


def test_entropy():
    u = arguments()
    _, entropy, _, _ = evaluate(u, np.ones_like(u))
    exact = []
    for x in clipped(u):
        a, b = 1 / (1 + mpmath.exp(-x)), 1 / (1 + mpmath.exp(x))
        exact.append(-a * mpmath.log(a) - b * mpmath.log(b))
    assert max(errors_in_ulp(entropy, exact)) <= 6


def test_entropy_is_never_above_that_of_a_coin():
    """The bound of the null model is sum w log 2 at most, however wild the point is."""
    rng = np.random.default_rng(1)
    u = np.concatenate([arguments(), rng.normal(size=1000) * 1e-8])
    w = rng.gamma(1.0, size=len(u)) * 10.0 ** rng.integers(-6, 7, len(u))
    _, entropy, _, _ = evaluate(u, w)
    assert (entropy >= 0).all()
    assert (entropy <= w * math.log(2) * (1 + 4 * EPSILON)).all()


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 8, 64, 1001])
def test_sums_are_those_of_the_rows(size):
    rng = np.random.default_rng(size)
    u, w = rng.normal(scale=5.0, size=size), rng.gamma(1.0, size=size)
    loss, entropy, q, d = evaluate(u, w)
    a, b, all_q, all_d = np.empty((4, size))
    sums = logistic_rows(u, w, decay_of(u), a, b, all_q, all_d)
    assert a + b == pytest.approx(np.ones(size), rel=1e-15)
    # LLVM may fuse a multiplication with an addition in one of the loops and not in the other.
    assert all_q == pytest.approx(q, rel=1e-15)
    assert all_d == pytest.approx(d, rel=1e-15)
    expected = [math.fsum(loss), math.fsum(entropy), math.fsum(q), math.fsum(d)]
    assert sums == pytest.approx(expected, rel=1e-13)


def test_fenchel_young():
    """With its a and H, a row's loss is a u + H(a); with any other a it is larger."""
    u = np.linspace(-30, 30, 601)
    loss, entropy, q, _ = evaluate(u, np.ones_like(u))
    assert loss == pytest.approx(q * u + entropy, rel=1e-14, abs=1e-14)
    for m in range(0, len(u), 50):
        assert (loss >= q[m] * u + entropy[m] - 1e-14 * (1 + abs(u))).all()


@pytest.mark.parametrize("size", [0, 1, 3, 8, 100, 1001])
def test_inner_product_and_sum(size):
    rng = np.random.default_rng(size)
    x, y = rng.normal(size=size), rng.normal(size=size)
    assert dot(x, y) == pytest.approx(math.fsum(x * y), abs=1e-12)
    assert total_of(x) == pytest.approx(math.fsum(x), abs=1e-12)


def entropy_of(a):
    """-a log a - (1 - a) log(1 - a), exactly enough."""
    a = [mpmath.mpf(float(x)) for x in a]
    terms = [-(x * mpmath.log(x) if x > 0 else 0) for x in a]
    return [
        t - ((1 - x) * mpmath.log(1 - x) if x < 1 else 0) for t, x in zip(terms, a, strict=True)
    ]


@pytest.mark.parametrize("largest", [1e-3, 0.3, 1.0, 8.0])
def test_a_moved_point_loses_no_more_entropy_than_is_said(largest):
    """And hardly less where steps are small: the bound is exact to second order and beyond."""
    rng = np.random.default_rng(0)
    u, t = 3 * rng.normal(size=300), largest * rng.uniform(-1, 1, 300)
    one, q = np.ones(1), np.empty(1)
    n_clipped = 0
    for u_m, t_m in zip(u, t, strict=True):
        decay, (a, b, _, _) = decay_of(np.array([u_m])), np.empty((4, 1))
        logistic_rows(np.array([u_m]), one, decay, a, b, q.copy(), q.copy())
        lost, mass, n_outside = moved_rows(np.array([u_m]), one, a, b, np.array([t_m]), q)
        if n_outside:
            n_clipped += 1
            lost, mass = clipped_rows(np.array([u_m]), one, a, b, np.array([t_m]), q)
        moved = min(max(a[0] + a[0] * b[0] * t_m, 0.0), 1.0)
        assert mass == q[0] == pytest.approx(moved, abs=1e-15)
        before, after = entropy_of([a[0], q[0]])
        truth = float(before - after)
        assert lost >= truth - 1e-14
        if abs(t_m) <= 0.3:
            second_order = a[0] * b[0] * t_m**2
            assert lost - truth <= 0.02 * second_order * abs(t_m) + 1e-14
    assert (n_clipped > 0) == (largest > 1)
