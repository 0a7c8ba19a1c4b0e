"""The rows of the core's families, their dual points and entropies, against mpmath and Python's."""

import math

import mpmath
import numpy as np
import pytest

from shortlist.families import FAMILIES
from shortlist.native.core import core

# Families whose rows have a loss each; test_cox.py has the other one.
OF_ROWS = [name for name, family in FAMILIES.items() if not family.is_coupled]
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


def evaluate(u, w=None, t=None, family="logistic", smoothing=0.0, s=None, y=None):
    """Rows of the negative class, whose u is minus the margin, unless it is said otherwise."""
    w, t = np.ones_like(u) if w is None else w, np.zeros_like(u) if t is None else t
    s, y = np.ones_like(u) if s is None else s, np.zeros_like(u) if y is None else y
    return core.testing.evaluate_rows(family, u, w, s, y, t, smoothing)


def evaluate_one_by_one(u, w=None, t=None):
    """The same of every row on its own, so that sums are values of rows.

    Each has a row of the other class beside it, of the same loss, so that both have the same mass.
    """
    w, t = np.ones_like(u) if w is None else w, np.zeros_like(u) if t is None else t
    each = [
        evaluate(*(np.repeat(given[m], 2) for given in (u, w, t)), s=np.array([1.0, -1.0]))
        for m in range(len(u))
    ]
    rows = {}
    for name in ("a", "b", "q", "d", "moved_q"):
        rows[name] = np.array([row[name][0] for row in each])
    for name in ("entropy", "moved_entropy"):
        rows[name] = np.array([row[name] / 2 for row in each])
    rows["loss"] = np.array([evaluate(u[m : m + 1], w[m : m + 1])["loss"] for m in range(len(u))])
    return rows


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


@pytest.mark.parametrize("family", OF_ROWS)
@pytest.mark.parametrize("size", [2, 3, 4, 5, 7, 8, 64, 1001])
def test_sums_are_those_of_the_rows(size, family):
    """Rows are padded to whole lanes: every length gives the same values."""
    rng = np.random.default_rng(size)
    u, w, t = rng.normal(scale=2.0, size=size), rng.gamma(1.0, size=size), rng.normal(size=size)
    s = np.where(np.arange(size) % 2, 1.0, -1.0) if FAMILIES[family].outcome == "labels" else None
    y = rng.poisson(2.0, size) + 0.0
    together = evaluate(u, w, t, family, 0.1, s, y)
    alone = [
        evaluate(u[m : m + 1], w[m : m + 1], t[m : m + 1], family, 0.1, None, y[m : m + 1])
        for m in range(size)
    ]
    for name in ("a", "q", "d"):
        assert together[name].tolist() == [row[name][0] for row in alone], name
    for name in ("loss", "curvature", "size"):
        exact = math.fsum(row[name] for row in alone)
        assert together[name] == pytest.approx(exact, rel=1e-12), name
    factor = np.ones(size) if s is None else s
    scale = 1e-12 * together["size"]
    assert together["mismatch"] == pytest.approx(factor @ together["q"], abs=scale)
    assert factor @ together["dual"] == pytest.approx(0.0, abs=scale)
    assert factor @ together["moved_q"] == pytest.approx(0.0, abs=100 * scale)


@pytest.mark.parametrize("width", [0.2, 1e-3])
@pytest.mark.parametrize("loss", OF_ROWS)
def test_rows_of_the_core_are_those_of_the_families(loss, width):
    """Outcomes, linear predictors and a of Python are those of rows times their factor."""
    family, rng, n = FAMILIES[loss], np.random.default_rng(0), 303
    u, w, t = rng.normal(scale=2, size=n), rng.random(n), 0.5 * rng.normal(size=n)
    y, s, beside = np.where(rng.random(n) < 0.4, 1.0, -1.0), np.ones(n), np.zeros(n)
    if family.outcome == "labels":
        s = -y
    else:
        y = beside = (
            rng.normal(size=n) if family.outcome == "numbers" else rng.poisson(2.0, n) + 0.0
        )
    rows = evaluate(s * u, w, s * t, loss, width, s, beside)
    a, d = family.slope(y, u, width), family.curvature(y, u, width)
    close = {"rel": 1e-12, "abs": 1e-13}
    assert s * rows["a"] == pytest.approx(a, **close)
    assert rows["d"] == pytest.approx(w * d, **close)
    assert rows["mismatch"] == pytest.approx(w @ a, rel=1e-10)
    value = w @ family.value(y, u)
    if loss == "hinge":
        assert value - w.sum() * width / 2 <= rows["loss"] <= value * (1 + 1e-12)
    else:
        assert rows["loss"] == pytest.approx(value, rel=1e-12)
    dual = family.feasible(y, a, w)
    assert s * rows["dual"] == pytest.approx(w * dual, rel=1e-9, abs=1e-12)
    entropy, scale = w @ family.entropy(y, dual), abs(w) @ abs(family.entropy(y, dual))
    assert entropy - 1e-12 * scale >= rows["entropy"] - 2e-12 * scale
    if family.outcome != "labels":  # H(rho a) is more than rho H(a)
        assert rows["entropy"] == pytest.approx(entropy, abs=1e-12 * scale)
    moved = family.feasible(y, family.allowed(y, a + d * t), w)
    if loss != "hinge":  # where an a at its end does not move
        assert s * rows["moved_q"] == pytest.approx(w * moved, rel=1e-9, abs=1e-12)
    truth = w @ family.entropy(y, family.allowed(y, s * rows["moved_q"] / w))
    assert rows["moved_entropy"] <= truth + 1e-12 * scale
    assert rows["null_intercept"] == pytest.approx(family.null_intercept(y, w), rel=1e-12)
    null = w @ family.value(y, np.full(n, rows["null_intercept"]))
    assert rows["null_objective"] == pytest.approx(null, rel=1e-12)


@pytest.mark.parametrize("largest", [0.1, 1.0, 3.0])
def test_a_moved_mean_loses_no_more_entropy_than_is_said(largest):
    """And hardly less where steps are small; means below 0 are none."""
    rng = np.random.default_rng(0)
    u, t = rng.normal(size=200), largest * rng.uniform(-1, 1, 200)
    y, w = rng.poisson(3.0, 200) + 0.0, rng.random(200)
    rows = evaluate(u, w, t, "poisson", y=y)
    assert (rows["moved_q"] >= -w * y - 1e-12).all()
    truth = w @ FAMILIES["poisson"].entropy(y, np.maximum(rows["moved_q"] / w, -y))
    assert rows["moved_entropy"] <= truth + 1e-10
    if largest < 0.5:
        assert rows["moved_entropy"] == pytest.approx(truth, rel=1e-5)


@pytest.mark.parametrize("u", [601.0, 1e4, 1e300, math.inf, -1e4, -1e300])
def test_a_mean_that_is_no_number_is_an_infinite_loss(u):
    rows = evaluate(np.array([u, 0.0]), family="poisson", y=np.array([1.0, 2.0]))
    assert rows["loss"] == math.inf if u > 0 else 9e3 <= rows["loss"] < math.inf
    assert np.isfinite(rows["a"]).all()


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
    assert (n_clipped > 0) == (largest > 1)
