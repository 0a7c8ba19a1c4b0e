"""The losses of rows, their dual points and entropies, against mpmath and the Python losses."""

import math

import mpmath
import numpy as np
import pytest

from shortlist.losses import HINGE, LOSSES
from shortlist.native.core import core

# Where exp(-|u|) is cut off: what is smaller changes no sum of doubles.
CLIP = 700.0
EPSILON = np.finfo(float).eps
SUMS = ("loss", "entropy", "mass", "curvature", "moved_entropy", "moved_mass")


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


def evaluate(u, w=None, t=None, loss="logistic", smoothing=0.0):
    w, t = np.ones_like(u) if w is None else w, np.zeros_like(u) if t is None else t
    return core.testing.evaluate_rows(loss, u, w, t, smoothing)


def evaluate_one_by_one(u, w=None, t=None):
    """The same of every row on its own, so that sums are values of rows."""
    w, t = np.ones_like(u) if w is None else w, np.zeros_like(u) if t is None else t
    each = [evaluate(u[m : m + 1], w[m : m + 1], t[m : m + 1]) for m in range(len(u))]
    return {name: np.array([row[name] for row in each]).reshape(len(u)) for name in each[0]}


def errors_in_ulp(values, exact):
    """Distance of doubles from exact values, in units in the last place of the exact value."""
    return [
        float(abs(mpmath.mpf(float(value)) - reference) / float(np.spacing(abs(float(reference)))))
        for value, reference in zip(values, exact, strict=True)
    ]


def entropy_of(a, b):
    """-a log a - b log b for b = 1 - a."""
    return sum(-(x * mpmath.log(x) if x > 0 else 0) for x in (a, b))


@pytest.fixture(autouse=True)
def many_digits():
    # exp(-700) is 1e-304; 1 - a of such rows needs as many digits and some more.
    with mpmath.workdps(340):
        yield


def test_all_digits_of_the_logistic_loss_are_right():
    """Also of rows that are classified well, whose loss is tiny, and of b = 1 - a."""
    u = arguments()
    rows = evaluate_one_by_one(u)
    clipped = [mpmath.mpf(float(x)) for x in np.clip(u, -CLIP, CLIP)]
    loss = [
        mpmath.mpf(x) if x >= CLIP else mpmath.log1p(mpmath.exp(max(mpmath.mpf(x), -CLIP)))
        for x in u.tolist()
    ]
    a = [1 / (1 + mpmath.exp(-x)) for x in clipped]
    b = [1 / (1 + mpmath.exp(x)) for x in clipped]
    entropy = [entropy_of(*shares) for shares in zip(a, b, strict=True)]
    curvature = [x * y for x, y in zip(a, b, strict=True)]
    for name, exact, largest in (
        ("loss", loss, 5), ("a", a, 5), ("q", a, 5), ("b", b, 5), ("entropy", entropy, 6),
        ("d", curvature, 6),
    ):  # fmt: skip
        assert max(errors_in_ulp(rows[name], exact)) <= largest, name
    assert 0 < rows["q"].min() < rows["q"].max() <= 1


def test_the_logistic_entropy_is_never_above_that_of_a_coin():
    """The bound of the null model is sum w log 2 at most, however wild the point is."""
    rng = np.random.default_rng(1)
    u = np.concatenate([arguments(), rng.normal(size=1000) * 1e-8])
    w = rng.gamma(1.0, size=len(u)) * 10.0 ** rng.integers(-6, 7, len(u))
    entropy = evaluate_one_by_one(u, w)["entropy"]
    assert (entropy >= 0).all()
    assert (entropy <= w * math.log(2) * (1 + 4 * EPSILON)).all()


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 7, 8, 64, 1001])
def test_sums_are_those_of_the_rows(size):
    """Rows are padded to whole lanes: every length gives the same values."""
    rng = np.random.default_rng(size)
    u, w, t = rng.normal(scale=5.0, size=size), rng.gamma(1.0, size=size), rng.normal(size=size)
    together, alone = evaluate(u, w, t), evaluate_one_by_one(u, w, t) if size else {}
    for name, values in alone.items():
        if name in SUMS:
            assert together[name] == pytest.approx(math.fsum(values), rel=1e-13), name
        elif name != "moved_q":
            assert np.array_equal(together[name], values), name
    assert together["a"] + together["b"] == pytest.approx(np.ones(size), rel=1e-15)
    if size == 0:
        assert [together[name] for name in SUMS] == [0.0] * len(SUMS)


def test_fenchel_young():
    """With its a and H, a row's loss is a u + H(a); with any other a it is larger."""
    u = np.linspace(-30, 30, 601)
    rows = evaluate_one_by_one(u)
    loss, entropy, a = rows["loss"], rows["entropy"], rows["a"]
    assert loss == pytest.approx(a * u + entropy, rel=1e-14, abs=1e-14)
    for m in range(0, len(u), 50):
        assert (loss >= a[m] * u + entropy[m] - 1e-14 * (1 + abs(u))).all()


@pytest.mark.parametrize("largest", [1e-3, 0.3, 1.0, 8.0])
def test_a_moved_point_loses_no_more_entropy_than_is_said(largest):
    """And hardly less where steps are small: the bound is exact to second order and beyond."""
    rng = np.random.default_rng(0)
    u, t = 3 * rng.normal(size=300), largest * rng.uniform(-1, 1, 300)
    rows = evaluate_one_by_one(u, t=t)
    n_clipped = 0
    for u_m, t_m, a, b, q, before, after in zip(
        u, t, rows["a"], rows["b"], rows["moved_q"], rows["entropy"], rows["moved_entropy"],
        strict=True,
    ):  # fmt: skip
        moved = a + a * b * t_m
        n_clipped += not 0 <= moved <= 1
        assert q == pytest.approx(min(max(moved, 0.0), 1.0), abs=1e-15), u_m
        exact = entropy_of(mpmath.mpf(float(q)), 1 - mpmath.mpf(float(q)))
        truth = float(entropy_of(mpmath.mpf(float(a)), 1 - mpmath.mpf(float(a))) - exact)
        assert before - after >= truth - 1e-14
        if abs(t_m) <= 0.3:
            assert before - after - truth <= 0.02 * a * b * t_m**2 * abs(t_m) + 1e-14
    assert rows["moved_mass"] == pytest.approx(rows["moved_q"], rel=1e-15)
    assert (n_clipped > 0) == (largest > 1)


@pytest.mark.parametrize("width", [1.0, 0.05, 1e-6])
def test_rows_of_the_core_are_those_of_the_other_losses(width):
    rng = np.random.default_rng(0)
    margins = np.concatenate([rng.normal(scale=3, size=200), 1 - width * rng.random(50), [0, 1, 2]])
    w, t = rng.random(len(margins)), rng.normal(size=len(margins))

    squared = LOSSES["squared_hinge"]
    rows = evaluate(-margins, w, t, "squared_hinge")
    expected = squared.dual(margins, 0.0)
    assert rows["a"] == pytest.approx(expected, rel=1e-14)
    assert rows["d"] == pytest.approx(w * squared.curvature(margins, 0.0), rel=1e-14)
    totals = (w @ squared.value(margins), w @ squared.entropy(expected), rows["q"].sum())
    assert [rows[name] for name in SUMS[:3]] == pytest.approx(totals, rel=1e-12)
    moved = rows["moved_q"] / w
    assert (moved >= 0).all()
    assert rows["moved_entropy"] == pytest.approx(w @ squared.entropy(moved), rel=1e-12)

    rows = evaluate(-margins, w, t, "hinge", width)
    assert rows["a"] == pytest.approx(HINGE.dual(margins, width), rel=1e-9, abs=1e-12)
    assert rows["q"] == pytest.approx(w * rows["a"], rel=1e-14)
    totals = rows["q"].sum(), rows["d"].sum()
    assert (rows["mass"], rows["curvature"]) == pytest.approx(totals, rel=1e-12)
    hinge = w @ HINGE.value(margins)
    assert hinge - w.sum() * width / 2 <= rows["loss"] <= hinge * (1 + 1e-12)
    moved = rows["moved_q"] / w
    assert ((moved >= 0) & (moved <= 1 + EPSILON)).all()
    assert rows["moved_entropy"] == pytest.approx(rows["moved_q"].sum(), rel=1e-12)
