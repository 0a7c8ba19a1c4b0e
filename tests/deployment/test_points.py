"""Points: they agree with enumeration where they claim to be optimal, and their bounds hold."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

import shortlist as sl
from shortlist.deployment.bands import choose_cuts, make_bands
from shortlist.deployment.chart import PointsChart, band_problem


def make_patients(seed, n=50):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.normal(60, 10, n).round(),
            "flag": rng.choice([True, False], n),
            "grade": rng.choice(["a", "b", "c"], n),
            "other": rng.choice([0, 1], n, p=[0.7, 0.3]),
        }
    )
    signal = 0.08 * (table["age"] - 60) + table["flag"] + (table["grade"] == "c")
    return table, pd.Series(signal + rng.logistic(size=n) > 0.5, name="dead").astype(int)


def refitted(problem, columns, coef):
    """The best objective over scale and intercept, by a general optimiser."""
    theta = np.zeros(problem.n_columns)
    theta[columns] = coef
    with np.errstate(divide="ignore"):
        limits = np.where(theta > 0, problem.limits.upper, -problem.limits.lower)
        cap = np.where(theta == 0, np.inf, limits / np.maximum(np.abs(theta), 1)).min()
    result = minimize(
        lambda z: problem.objective(z[0] * theta, z[1]),
        [0.0, 0.0],
        bounds=[(0, None if cap == np.inf else cap), (None, None)],
        options={"ftol": 1e-13, "gtol": 1e-9},
    )
    return result.fun


def enumerate_points(problem, banded, most):
    """The best objective over all affordable selections and all points."""
    best = np.inf
    columns_of = {item.name: problem.columns_of([g]) for g, item in enumerate(banded)}
    choices = {}
    for item in banded:
        effects = item.effects
        steps = product(range(-most, most + 1), repeat=effects.shape[1])
        choices[item.name] = [p for p in steps if np.ptp(effects @ np.array(p)) <= most]
    g_of = {item.name: g for g, item in enumerate(banded)}
    for size in range(len(banded) + 1):
        for names in combinations(choices, size):
            if not problem.limits.is_affordable(tuple(sorted(g_of[name] for name in names))):
                continue
            columns = np.concatenate([columns_of[name] for name in names] or [[]]).astype(int)
            for parts in product(*(choices[name] for name in names)):
                coef = np.array([c for part in parts for c in part], dtype=float)
                low, high = problem.limits.lower[columns], problem.limits.upper[columns]
                if ((coef < 0) & (low == 0)).any() or ((coef > 0) & (high == 0)).any():
                    continue
                if len(coef) and np.gcd.reduce(np.abs(coef).astype(int)) > 1:
                    continue  # half of these points are the same model
                best = min(best, refitted(problem, columns, coef))
    return best


LIMITS = {
    "two of them": {"max_features": 2},
    "a budget": {"budget": 4, "costs": {"age": 1, "flag": 3, "grade": 2, "other": 1}},
    "a fee": {"budget": 5, "fees": [(2, ["age", "grade"])],
              "costs": {"age": 1, "flag": 3, "grade": 1, "other": 1}},
    "signs": {"max_features": 2, "signs": {"age": "negative", "flag": "positive"}},
    "small coefficients": {"max_features": 2, "max_coefficient": 0.3},
}  # fmt: skip


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_enumeration_agrees(limits, seed):
    X, y = make_patients(seed)
    model = sl.PrognosticModel(ridge=0.7, **limits)
    chart = sl.points(model, X, y, max_points=2, n_bands=3, time_limit=60)
    plain = model.check(X, y)
    banded = make_bands(plain, 3, False)
    problem = band_problem(model, plain, banded, 0.7)
    best = enumerate_points(problem, banded, 2)
    assert chart.search.is_proven
    assert chart.search.objective == pytest.approx(best, rel=2e-6)
    assert chart.search.points_bound <= best * (1 + 1e-9)
    assert chart.search.lower_bound <= best * (1 + 1e-9)
    assert chart.search.real_objective <= best * (1 + 1e-6)  # the gap of the solver


def chart_objective(chart, X, y):
    """The loss of the risks of a chart, and its penalty, recomputed from the chart alone."""
    risk = chart.probability(X)
    loss = -np.log(np.where(y == 1, risk, 1 - risk)).sum()
    steps = []
    for term in chart.terms:
        values = np.array(term.points)
        if term.bands.kind == "categorical":
            steps += list(values - values[term.bands.typical])
        else:
            steps += list(np.diff(values))
    return loss + chart.search.ridge / 2 * chart.scale**2 * np.square(steps).sum()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("most", [3, 10])
def test_the_chart_says_what_was_found(seed, most):
    X, y = make_patients(seed, 150)
    costs = {"age": 1, "flag": 3, "grade": 2, "other": 1}
    model = sl.PrognosticModel(ridge=0.5, budget=5, costs=costs)
    chart = sl.points(model, X, y, max_points=most, time_limit=5)
    assert chart_objective(chart, X, y) == pytest.approx(chart.search.objective, rel=1e-9)
    assert chart.cost == sum(costs[term.bands.name] for term in chart.terms) <= 5
    for term in chart.terms:
        assert min(term.points) == 0 and max(term.points) <= most
        assert len(term.points) == len(term.bands.labels)
    assert sum(row.patients for row in chart.totals) == len(y)
    assert sum(row.events for row in chart.totals) == y.sum()
    risks = {row.total: row.risk for row in chart.totals}
    shown = [risks[total] for total in chart.total(X)]
    assert chart.probability(X) == pytest.approx(shown)
    assert chart.search.lower_bound <= chart.search.points_bound <= chart.search.objective


def test_a_limit_of_time_is_no_proof():
    X, y = make_patients(0, 200)
    chart = sl.points(sl.PrognosticModel(ridge=0.1, max_features=4), X, y, time_limit=0.01)
    assert not chart.search.is_proven
    assert chart.search.points_bound < chart.search.objective


def test_missing_values_have_points_of_their_own_if_asked():
    X, y = make_patients(3, 200)
    X = X.astype({"flag": object})
    X.loc[y[y == 1].index[:40], "flag"] = None
    model = sl.PrognosticModel(
        ridge=0.5,
        include=["flag"],
        max_features=1,
        preparation=sl.Preparation(missing_indicator=True),
    )
    chart = sl.points(model, X, y)
    (term,) = chart.terms
    assert term.bands.labels == ["no", "yes", "not measured"]
    assert term.points[2] == max(term.points) > 0
    unknown = pd.DataFrame({"flag": [None, True]})
    assert chart.total(unknown).tolist() == [term.points[2], term.points[1]]


def test_a_chart_is_saved_and_read(tmp_path):
    chart = sl.points(sl.PrognosticModel(ridge=0.5, max_features=2), *make_patients(1))
    chart.save(tmp_path / "points.json")
    assert PointsChart.load(tmp_path / "points.json") == chart
    (tmp_path / "points.json").write_text("{}")
    with pytest.raises(sl.InvalidFileError, match="is not a file of points"):
        PointsChart.load(tmp_path / "points.json")


def test_optimism_is_corrected():
    chart = sl.points(
        sl.PrognosticModel(ridge=0.5, max_features=2), *make_patients(1), n_resamples=5
    )
    assert chart.auc_corrected < chart.auc
    assert 0 < chart.slope_corrected < 1.5


@pytest.mark.parametrize(
    ("values", "n_bands", "cuts"),
    [
        (np.arange(100), 4, (24.0, 50.0, 74.0)),
        (np.array([0] * 95 + list(range(1, 6))), 4, ()),
        (np.array([0.0, 1.0] * 5), 4, (1.0,)),
        (np.linspace(0.0001, 0.0009, 50), 2, (0.0005,)),
        (-np.arange(100), 2, (-50.0,)),
    ],
)
def test_cuts(values, n_bands, cuts):
    assert choose_cuts(values, n_bands) == pytest.approx(cuts)


@pytest.mark.parametrize("argument", ["max_points", "n_bands", "limit", "n_resamples"])
def test_wrong_arguments(argument):
    with pytest.raises(sl.InvalidProblemError, match=f"{argument}: must be an integer"):
        sl.points(sl.PrognosticModel(), *make_patients(0), **{argument: -1})
