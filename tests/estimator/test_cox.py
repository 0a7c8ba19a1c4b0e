"""Survival: scikit-survival's and lifelines' models on all columns, the best on some, and laws."""

import json
import pickle
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, ShuffleSplit, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.metrics import (
    as_concordance_index_ipcw_scorer,
    as_cumulative_dynamic_auc_scorer,
    as_integrated_brier_score_scorer,
)
from survival_data import DATA_SETS, load_survival

import shortlist as sl
from shortlist.estimator import StepFunction

LIFELINES = json.loads((Path(__file__).parent / "lifelines.json").read_text())
TIES = pytest.mark.parametrize("ties", ["efron", "breslow"])


def simulated(n=90, seed=0, decimals=1):
    """Whole tenths of a time, so that some are equal; columns a, c and f matter."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 7)), columns=list("abcdefg"))
    death = rng.exponential(np.exp(-X["a"] + 0.8 * X["c"] - 0.6 * X["f"]))
    end = rng.uniform(0.5, 3.0, n)
    times = np.maximum(np.minimum(death, end).round(decimals), 0.1)
    return X, sl.survival(times, death <= end)


X, Y = simulated()


def log_likelihood(u, y, ties):
    """The log partial likelihood with Breslow's or Efron's formula, a time after the other."""
    total = 0.0
    for time in np.unique(y["time"][y["event"]]):
        dead = y["event"] & (y["time"] == time)
        n_dead = np.count_nonzero(dead)
        for gone in range(n_dead):
            share = gone / n_dead if ties == "efron" else 0.0
            at_risk = np.exp(u[y["time"] >= time]).sum() - share * np.exp(u[dead]).sum()
            total -= np.log(at_risk)
        total += u[dead].sum()
    return total


def coefficients(columns, y, ties, ridge):
    def objective(coef):
        return ridge / 2 * coef @ coef - log_likelihood(columns @ coef, y, ties)

    found = minimize(objective, np.zeros(columns.shape[1]), method="BFGS", options={"gtol": 1e-6})
    return found.x, found.fun


# Oracles


@TIES
@pytest.mark.parametrize("ridge", [1e-4, 1.0])
@pytest.mark.parametrize("name", DATA_SETS)
def test_all_columns_are_the_model_of_scikit_survival(name, ridge, ties):
    columns, y = load_survival(name)
    model = sl.BestSubsetCox(ridge=ridge, ties=ties).fit(columns, y)
    expected = CoxPHSurvivalAnalysis(alpha=ridge, ties=ties, tol=1e-14, n_iter=200).fit(columns, y)
    assert model.coef_ == pytest.approx(expected.coef_, rel=0, abs=1e-7)
    theirs = model.problem(columns, y).objective(expected.coef_, 0.0)
    assert model.objective_ == pytest.approx(theirs, rel=0, abs=1e-7)
    assert np.array_equal(model.unique_times_, expected.unique_times_)
    some = columns.iloc[:4]
    for kind in ("survival", "cumulative_hazard"):
        ours, other = (getattr(m, f"predict_{kind}_function") for m in (model, expected))
        assert ours(some, return_array=True) == pytest.approx(other(some, return_array=True))
    assert model.score(columns, y) == pytest.approx(expected.score(columns, y), abs=1e-7)


@pytest.mark.parametrize("ridge", ["0.0001", "1.0"])
@pytest.mark.parametrize("name", DATA_SETS)
def test_all_columns_are_the_model_of_lifelines(name, ridge):
    columns, y = load_survival(name)
    model = sl.BestSubsetCox(ridge=float(ridge)).fit(columns, y)
    expected = LIFELINES[name][ridge]
    assert model.coef_ == pytest.approx(np.array(expected["coef"]), rel=0, abs=1e-7)
    log_likelihood = expected["penalised_log_likelihood"]
    assert model.objective_ == pytest.approx(-log_likelihood, rel=0, abs=1e-7)


@TIES
def test_the_best_are_those_of_all_subsets(ties):
    costs, budget = np.array([2.0, 1.0, 2.0, 1.0, 1.0, 3.0, 1.0]), 4.0
    model = sl.BestSubsetCox(budget=budget, costs=costs, ridge=0.5, ties=ties).fit(X, Y)
    assert model.status_ is sl.Status.OPTIMAL
    affordable = [s for n in range(1, 5) for s in combinations(range(7), n)]
    affordable = [s for s in affordable if costs[list(s)].sum() <= budget]
    fits = {s: coefficients(X.to_numpy()[:, s], Y, ties, 0.5) for s in affordable}
    best = min(fits, key=lambda s: fits[s][1])
    assert tuple(model.support_) == best
    assert model.objective_ == pytest.approx(fits[best][1], rel=1e-9)
    assert model.coef_[list(best)] == pytest.approx(fits[best][0], abs=1e-4)
    assert model.cost_ == costs[list(best)].sum()
    assert sl.verify(model.problem(X, Y), model.certificate_).valid


# Two ways to say the same


FORMS = {
    "scikit-survival": Y,
    "time first": np.array(
        list(zip(Y["time"], Y["event"], strict=True)), dtype=[("days", float), ("died", bool)]
    ),
    "two columns": np.column_stack([Y["time"], Y["event"]]),
    "a frame": pd.DataFrame({"days": Y["time"], "died": Y["event"].astype(int)}),
    "a frame of scikit-survival's order": pd.DataFrame({"died": Y["event"], "days": Y["time"]}),
    "a list": np.column_stack([Y["time"], Y["event"]]).tolist(),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_outcomes_have_several_forms(form):
    model = sl.BestSubsetCox(max_features=2).fit(X, form)
    reference = sl.BestSubsetCox(max_features=2).fit(X, Y)
    assert np.array_equal(model.coef_, reference.coef_)
    assert model.score(X, form) == reference.score(X, Y)
    assert model.problem(X, form).digest == reference.problem(X, Y).digest


def test_weights_are_repeated_rows_with_the_ties_of_breslow():
    """Efron's formula averages the weights of events at one time, as R's survival does."""
    counts = np.random.default_rng(0).integers(0, 3, len(X))
    rows = np.repeat(np.arange(len(X)), counts)
    weighted = sl.BestSubsetCox(max_features=3, ties="breslow").fit(X, Y, sample_weight=counts)
    repeated = sl.BestSubsetCox(max_features=3, ties="breslow").fit(X.iloc[rows], Y[rows])
    assert weighted.selected_features_ == repeated.selected_features_
    assert weighted.coef_ == pytest.approx(repeated.coef_, rel=1e-8)
    assert np.array_equal(weighted.unique_times_, repeated.unique_times_)
    expected = repeated.predict_survival_function(X, return_array=True)
    assert weighted.predict_survival_function(X, return_array=True) == pytest.approx(expected)
    score = repeated.score(X.iloc[rows], Y[rows])
    assert weighted.score(X, Y, sample_weight=counts) == pytest.approx(score, rel=1e-12)


def test_the_order_of_rows_and_columns_does_not_matter():
    rng = np.random.default_rng(3)
    rows, columns = rng.permutation(len(X)), rng.permutation(7)
    options = {"max_features": 3, "ridge": None, "ridges": (10.0, 1.0)}
    model = sl.BestSubsetCox(**options).fit(X, Y)
    # Rows of the same time and event are dealt out to folds in their order.
    other = sl.BestSubsetCox(**options).fit(X.iloc[:, columns], Y)
    assert sorted(other.selected_features_) == model.selected_features_
    assert other.coef_ == pytest.approx(model.coef_[columns], abs=1e-7)
    assert other.ridge_ == model.ridge_
    shuffled = sl.BestSubsetCox(max_features=3).fit(X.iloc[rows], Y[rows])
    assert shuffled.coef_ == pytest.approx(sl.BestSubsetCox(max_features=3).fit(X, Y).coef_)


def test_the_unit_and_the_scale_of_time_do_not_matter():
    changed = sl.survival(np.log1p(365 * Y["time"]), Y["event"])
    model, other = (sl.BestSubsetCox(max_features=2).fit(X, y) for y in (Y, changed))
    assert np.array_equal(other.coef_, model.coef_)
    assert other.unique_times_ == pytest.approx(np.log1p(365 * model.unique_times_))
    values = [m.predict_survival_function(X, return_array=True) for m in (model, other)]
    assert np.array_equal(*values)
    assert other.score(X, changed) == model.score(X, Y)


def test_moved_columns_change_the_baseline_only():
    """Also where the hazard of a row whose columns are 0 is beyond a double."""
    model, far = (sl.BestSubsetCox(max_features=2).fit(X + by, Y) for by in (0.0, 1000.0))
    assert far.coef_ == pytest.approx(model.coef_, rel=1e-9)
    expected = model.predict_survival_function(X, return_array=True)
    found = far.predict_survival_function(X + 1000.0, return_array=True)
    assert found == pytest.approx(expected, rel=1e-8)


# Survival functions


@TIES
def test_laws_of_survival_functions(ties):
    model = sl.BestSubsetCox(max_features=3, ties=ties).fit(X, Y)
    survivals = model.predict_survival_function(X, return_array=True)
    hazards = model.predict_cumulative_hazard_function(X, return_array=True)
    assert survivals.shape == hazards.shape == (len(X), len(np.unique(Y["time"])))
    assert (np.diff(hazards, axis=1) >= 0).all()
    assert survivals.min() >= 0 and survivals.max() <= 1
    assert np.array_equal(survivals, np.exp(-hazards))
    has_event = np.isin(model.unique_times_, Y["time"][Y["event"]])
    steps = np.diff(hazards, axis=1, prepend=0.0)
    assert (steps[:, has_event] > 0).all() and not steps[:, ~has_event].any()
    # A higher risk is a lower chance at all times.
    order = np.argsort(model.predict(X))
    assert (np.diff(survivals[order], axis=0) <= 0).all()
    # The baseline is that of columns which are all 0.
    zero = pd.DataFrame(np.zeros((1, 7)), columns=X.columns)
    for kind in ("survival", "cumulative_hazard"):
        (function,) = getattr(model, f"predict_{kind}_function")(zero)
        baseline = getattr(model, f"baseline_{kind}_")
        assert np.array_equal(function.y, baseline.y)
        assert np.array_equal(baseline.x, model.unique_times_)
    # The weighted sum of hazards at the ends of follow-up is the number of events (Breslow).
    functions = model.predict_cumulative_hazard_function(X)
    at_end = [hazard(t) for hazard, t in zip(functions, Y["time"], strict=True)]
    assert sum(at_end) == pytest.approx(Y["event"].sum(), rel=1e-9)


def test_without_predictors_it_is_the_nelson_aalen_estimate():
    model = sl.BestSubsetCox(max_features=0).fit(X, Y)
    assert not model.predict(X).any()
    increments = [
        (Y["event"] & (Y["time"] == t)).sum() / (Y["time"] >= t).sum() for t in model.unique_times_
    ]
    assert model.baseline_cumulative_hazard_.y == pytest.approx(np.cumsum(increments))
    assert model.score(X, Y) == 0.5


def test_step_functions_are_called_with_times():
    step = StepFunction(np.array([1.0, 2.5]), np.array([0.7, 0.4]), 1.0)
    assert step(1) == 0.7 and isinstance(step(1), float)
    assert step([[0, 0.99], [2.4, 2.5]]).tolist() == [[1.0, 1.0], [0.7, 0.4]]
    assert step.domain == (0.0, 2.5)
    for t in (2.6, -1, np.nan):
        with pytest.raises(ValueError, match=r"^t: \S+ is not from 0 to 2.5, the last time of"):
            step([1, t])


# The ridge


def test_the_ridge_is_chosen_by_the_cross_validated_partial_likelihood():
    ridges = (30.0, 3.0, 0.3)
    folds = list(StratifiedKFold(4, shuffle=True, random_state=1).split(X, Y["event"]))
    model = sl.BestSubsetCox(max_features=3, ridge=None, ridges=ridges, cv=folds, ties="breslow")
    model.fit(X, Y)
    table = pd.DataFrame(model.cv_results_)
    assert table["ridge"].tolist() == list(ridges)
    for row, ridge in enumerate(ridges):
        for fold, (train, _) in enumerate(folds):
            fitted = sl.BestSubsetCox(max_features=3, ridge=ridge, ties="breslow")
            u = fitted.fit(X.iloc[train], Y[train]).predict(X)
            expected = log_likelihood(u, Y, "breslow") - log_likelihood(
                u[train], Y[train], "breslow"
            )
            assert table[f"split{fold}_test_score"][row] == pytest.approx(expected, abs=1e-4)
    assert model.ridge_ == table["ridge"][table["mean_test_score"].idxmax()]
    splitter = StratifiedKFold(4, shuffle=True, random_state=1)
    other = clone(model).set_params(cv=splitter).fit(X, Y)
    assert np.array_equal(
        other.cv_results_["mean_test_score"], model.cv_results_["mean_test_score"]
    )


def test_rows_in_no_fold_do_not_count():
    few = [(np.arange(0, 60, 2), np.arange(1, 60, 2))]
    one = sl.BestSubsetCox(max_features=2, ridge=None, cv=few).fit(X, Y)
    rest = np.arange(len(X)) >= 60
    changed = sl.survival(np.where(rest, 0.1, Y["time"]), Y["event"] | rest)
    other = sl.BestSubsetCox(max_features=2, ridge=None, cv=few).fit(X, changed)
    found = [m.cv_results_["mean_test_score"] for m in (one, other)]
    assert found[0] == pytest.approx(found[1], rel=1e-9)


def test_folds_have_events_and_times_in_proportion_in_any_order_of_the_rows():
    ordered = np.argsort(Y["time"], kind="stable")
    model = sl.BestSubsetCox(max_features=2, cv=4)
    for y in (Y, Y[ordered]):
        folds = model._folds(X, y)
        tests = [test for _, test in folds]
        assert sorted(np.concatenate(tests)) == list(range(len(X)))
        assert np.ptp([y["event"][test].sum() for test in tests]) <= 1
        medians = [np.median(y["time"][test][y["event"][test]]) for test in tests]
        assert np.ptp(medians) < 0.3 * np.median(y["time"])


@pytest.mark.parametrize("scoring", [None, lambda model, X, y: model.score(X, y)])
def test_other_scores_choose_the_ridge(scoring):
    options = {"ridges": (100.0, 1.0), "cv": ShuffleSplit(3, random_state=0), "scoring": scoring}
    model = sl.BestSubsetCox(max_features=2, ridge=None, **options).fit(X, Y)
    scores = model.cv_results_["mean_test_score"]
    assert ((scores > 0.5) & (scores < 1)).all()


def test_processes_and_weights_change_no_score():
    doubled = [(np.tile(train, 2), np.tile(test, 2)) for train, test in masks()]
    plain = sl.BestSubsetCox(max_features=2, ridge=None, cv=list(masks()), n_jobs=2).fit(X, Y)
    model = sl.BestSubsetCox(max_features=2, ridge=None, cv=doubled).fit(
        pd.concat([X, -X]), np.concatenate([Y, Y]), sample_weight=np.repeat([1.0, 0.0], len(X))
    )
    assert model.cv_results_["mean_test_score"] == pytest.approx(
        plain.cv_results_["mean_test_score"], rel=1e-9
    )


def masks():
    for k in range(3):
        test = np.arange(len(X)) % 3 == k
        yield ~test, test


# Among the tools of others


def test_it_works_within_the_tools_of_scikit_learn():
    model = make_pipeline(StandardScaler(), sl.BestSubsetCox())
    grid = {"bestsubsetcox__max_features": [1, 3], "bestsubsetcox__ridge": [1.0, 10.0]}
    folds = list(StratifiedKFold(3).split(X, Y["event"]))
    search = GridSearchCV(model, grid, cv=folds).fit(X, Y)
    assert search.best_params_["bestsubsetcox__max_features"] == 3
    assert search.best_score_ == search.cv_results_["mean_test_score"].max() > 0.6
    for form in FORMS:
        if form not in ("a list", "time first"):
            assert (cross_val_score(model, X, FORMS[form], cv=3) > 0.6).all()
    chosen = sl.BestSubsetCox(max_features=2).set_output(transform="pandas").fit(X, Y)
    assert list(chosen.transform(X).columns) == chosen.selected_features_


def test_it_works_within_the_tools_of_scikit_survival():
    y = simulated()[1]
    times = np.quantile(y["time"][y["event"]], [0.2, 0.4, 0.6])
    pipeline = make_pipeline(StandardScaler(), sl.BestSubsetCox())
    survival = pipeline.fit(X, y).predict_survival_function(X.iloc[:2])
    assert [round(f(0.0), 3) for f in survival] == [1.0, 1.0]
    for scorer in (
        as_concordance_index_ipcw_scorer(pipeline, tau=times[-1]),
        as_cumulative_dynamic_auc_scorer(pipeline, times=times),
        as_integrated_brier_score_scorer(pipeline, times=times),
    ):
        grid = {"estimator__bestsubsetcox__max_features": [0, 3]}
        folds = StratifiedKFold(3, shuffle=True, random_state=0).split(X, y["event"])
        search = GridSearchCV(scorer, grid, cv=list(folds), error_score="raise").fit(X, y)
        assert search.best_params_["estimator__bestsubsetcox__max_features"] == 3


def test_clone_pickle_and_parameters():
    model = sl.BestSubsetCox(max_features=2, ties="breslow")
    assert {"loss", "class_weight"} & set(model.get_params()) == set()
    assert clone(model).get_params() == model.get_params()
    model.fit(X, Y)
    assert not hasattr(clone(model), "coef_")
    other = pickle.loads(pickle.dumps(model))
    assert np.array_equal(other.predict(X), model.predict(X))
    assert other.baseline_survival_(1.0) == model.baseline_survival_(1.0)
    assert other.certificate_ == model.certificate_


def test_attributes_are_those_of_the_solution():
    model = sl.BestSubsetCox(max_features=2, ridge=0.5).fit(X, Y)
    problem = sl.SubsetProblem(X, Y, ridge=0.5, max_features=2, loss="cox")
    solution = sl.solve(problem)
    assert model.problem(X, Y).digest == problem.digest
    assert model.support_.tolist() == list(solution.support)
    assert model.selected_features_ == [X.columns[g] for g in solution.support]
    assert model.objective_ == solution.objective
    assert model.lower_bound_ == solution.lower_bound
    assert model.gap_ == solution.gap
    assert model.ridge_ == 0.5
    assert model.cv_results_ is None
    assert not hasattr(model, "intercept_")


# What cannot be fitted


def with_row(time, event):
    y = np.column_stack([Y["time"], Y["event"]])
    y[0] = time, event
    return y


CV = "cv: must be at least 2 and at most the number of events,"
BAD = [
    ({}, Y["time"], "y: must have a time and an event indicator per row; use"),
    ({}, None, "y: must have a time and an event indicator per row; use"),
    ({}, with_row(0, 1), "y: times must be above 0, but one is 0; remove"),
    ({}, with_row(np.nan, 1), "y: a time is missing or infinite; remove"),
    ({}, with_row(1, 2), "y: the event indicator must be 0 or 1, or a boolean, but one is 2; "),
    ({}, sl.survival(Y["time"], 0 * Y["time"]), "y: no row has the event; check which value"),
    ({"ties": "exact"}, Y, "ties: must be 'efron' or 'breslow', not 'exact'"),
    ({"ridge": 0}, Y, "ridge: must be greater than 0"),
    ({"ridge": None, "ridges": ()}, Y, "ridges: must be a sequence of numbers greater than 0"),
    ({"ridge": None, "cv": 1}, Y, f"{CV} 58 (n_samples=90), not 1; use"),
    ({"ridge": None, "cv": 59}, Y, f"{CV} 58 (n_samples=90), not 59; use"),
]


@pytest.mark.parametrize(("options", "y", "message"), BAD)
def test_a_failed_fit_leaves_the_estimator_as_it_was(options, y, message):
    model = sl.BestSubsetCox(**options)
    with pytest.raises(sl.InvalidProblemError) as caught:
        model.fit(X, y)
    assert str(caught.value).startswith(message)
    assert vars(model).keys() == vars(sl.BestSubsetCox()).keys()


def test_lengths_that_differ_are_refused():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        sl.BestSubsetCox().fit(X, Y[:-1])
    model = sl.BestSubsetCox().fit(X, Y)
    for outcome, weights in ((Y[:-1], None), (Y, np.ones(3))):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            model.score(X, outcome, sample_weight=weights)
