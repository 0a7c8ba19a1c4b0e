"""Whole points: what is claimed about them holds against all the points there are."""

import numpy as np
import pytest
from many_charts import best_points, failure, random_chart

import shortlist as sl
from shortlist.choice.points import _cone_minimum, _PointsModels

pytestmark = pytest.mark.filterwarnings("ignore::shortlist.ShortlistWarning")


@pytest.mark.parametrize("seed", [1185, 1696, 1787])
def test_points_are_not_discarded_by_a_fit_that_failed(seed):
    """Nearly separated patients at a weak ridge: Newton steps without a line search go anywhere."""
    charted = random_chart(seed)
    assert charted.chart.search.is_proven
    assert charted.chart.search.objective == pytest.approx(best_points(charted)[0], rel=2e-6)


@pytest.mark.parametrize(
    "seeds", [range(20), pytest.param(range(1000, 1300), marks=pytest.mark.slow)]
)
def test_random_charts_agree_with_enumeration(seeds):
    assert [failure(random_chart(seed)) for seed in seeds] == [None] * len(seeds)


@pytest.mark.parametrize("limits", [{}, {"max_coefficient": 0.4}])
def test_bounds_of_boxes_hold_for_their_points(limits):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (60, 3)).astype(float)
    y = X @ [5, -3, 2] + rng.logistic(size=60) > 1
    problem = sl.SubsetProblem(X, y, ridge=1e-3, **limits)
    models = _PointsModels(problem, [np.array([[0], [1]])] * 3, (0, 1, 2), 4)
    for _ in range(50):
        ends = np.sort(rng.integers(-4, 5, (2, 3)), axis=0)
        point = rng.integers(ends[0], ends[1] + 1)
        fit = models.fit(point)
        assert fit.lower_bound <= fit.objective * (1 + 1e-12)
        assert fit.lower_bound == pytest.approx(fit.objective, rel=1e-9)
        theta = fit.scale * point
        assert fit.objective == pytest.approx(problem.objective(theta, fit.intercept), rel=1e-12)
        for beta in (theta, theta + rng.normal(size=3), 20 * rng.normal(size=3)):
            assert models.dual_bound(beta, rng.normal(), *ends) <= fit.objective
        assert models.dual_bound(theta, fit.intercept, point, point) == pytest.approx(
            fit.objective, rel=1e-6
        )


def test_the_minimum_over_a_cone():
    """No point of the cone on a fine grid of scales is lower, and one is nearly as low."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        v, ridge = rng.normal(size=3) * 3, 10.0 ** rng.uniform(-2, 1)
        low, high = np.sort(rng.integers(-4, 5, (2, 3)), axis=0)
        ends = rng.choice([0.3, 2.0, np.inf], 3)
        largest = min(
            [ends[j] / low[j] for j in range(3) if low[j] > 0]
            + [-ends[j] / high[j] for j in range(3) if high[j] < 0]
            + [1e3]
        )
        scales = largest * np.linspace(0, 1, 20001)[:, np.newaxis] ** 3
        t = np.clip(np.clip(v / ridge, -ends, ends), scales * low, scales * high)
        values = ridge / 2 * (t**2).sum(axis=1) - t @ v
        least = _cone_minimum(v, ridge, low, high, -ends, ends)
        assert least <= values.min() + 1e-12
        assert least == pytest.approx(values.min(), abs=1e-3 * (1 + abs(least)))
