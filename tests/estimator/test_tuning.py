"""A ridge that is chosen: which one the folds take, and that nothing else decides it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss, make_scorer
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold

import shortlist as sl


def tuned(**parameters):
    return sl.BestSubsetClassifier(ridge=None, **parameters)


def test_agrees_with_a_grid_search(data):
    X, y = data
    ridges = [10.0, 0.01, 1.0]
    folds = StratifiedKFold(4, shuffle=True, random_state=3)
    model = tuned(max_features=3, ridges=ridges, cv=folds, scoring="neg_log_loss").fit(X, y)
    search = GridSearchCV(
        sl.BestSubsetClassifier(max_features=3),
        {"ridge": sorted(ridges, reverse=True)},
        cv=folds,
        scoring="neg_log_loss",
    ).fit(X, y)
    assert model.ridge_ == search.best_params_["ridge"]
    assert model.best_score_ == pytest.approx(search.best_score_, rel=1e-5)
    assert model.coef_ == pytest.approx(search.best_estimator_.coef_, abs=1e-5)
    for key in ("mean_test_score", "std_test_score", "split3_test_score"):
        assert model.cv_results_[key] == pytest.approx(search.cv_results_[key], rel=1e-4)
    assert model.cv_results_["rank_test_score"].tolist() == (
        search.cv_results_["rank_test_score"].tolist()
    )


def test_is_refitted_to_all_rows(data):
    X, y = data
    model = tuned(max_features=3).fit(X, y)
    reference = sl.BestSubsetClassifier(max_features=3, ridge=model.ridge_).fit(X, y)
    assert np.array_equal(model.coef_, reference.coef_)
    assert model.support_.tolist() == reference.support_.tolist()
    assert model.selected_features_ == ["b", "d", "e"]
    assert model.status_ is sl.Status.OPTIMAL
    assert model.feature_names_in_.tolist() == list("abcdefg")


def test_results_make_a_table(data):
    X, y = data
    model = tuned(max_features=2, ridges=(0.01, 1.0)).fit(X, y)
    table = pd.DataFrame(model.cv_results_)
    assert table["ridge"].tolist() == [1.0, 0.01]
    scores = table[["split0_test_score", "split1_test_score", "split2_test_score"]]
    assert scores.mean(axis=1).tolist() == pytest.approx(table["mean_test_score"].tolist())
    assert (table["max_gap"] <= 1e-6).all()
    best = table["mean_test_score"].idxmax()
    assert model.ridge_ == table["ridge"][best]
    assert model.best_score_ == table["mean_test_score"][best]


def test_ties_go_to_the_strongest_ridge(data):
    X, y = data
    model = tuned(max_features=1, ridges=(0.001, 0.1, 0.01), scoring=lambda *_: 0.5).fit(X, y)
    assert model.ridge_ == 0.1
    assert model.cv_results_["rank_test_score"].tolist() == [1, 1, 1]


def test_a_fold_goes_from_strong_to_weak_ridges_and_starts_from_the_last_support(data, monkeypatch):
    X, y = data
    calls = []

    def recorded(problem, backend, *, warm_start, **options):
        solution = sl.solve(problem, "enumeration")
        calls.append((problem.n_rows, problem.ridge, warm_start, solution.support))
        return solution

    monkeypatch.setattr("shortlist.estimator.selection.solve", recorded)
    model = tuned(max_features=2, ridges=(0.01, 10.0, 1.0)).fit(X, y)
    assert [ridge for _, ridge, _, _ in calls] == [10.0, 1.0, 0.01] * 3 + [model.ridge_]
    assert [n_rows for n_rows, *_ in calls] == [80] * 9 + [120]
    for number, (_, _, warm_start, _) in enumerate(calls[:9]):
        assert warm_start == (None if number % 3 == 0 else calls[number - 1][3])


def test_default_folds_are_stratified(data):
    X, y = data
    default = tuned(max_features=2).fit(X, y)
    explicit = tuned(max_features=2, cv=StratifiedKFold(3)).fit(X, y)
    listed = list(StratifiedKFold(3).split(X, y))
    from_list = tuned(max_features=2, cv=listed).fit(X, y)
    for model in (explicit, from_list):
        assert model.cv_results_["mean_test_score"].tolist() == (
            default.cv_results_["mean_test_score"].tolist()
        )


def test_jobs_change_nothing(data):
    X, y = data
    one, two = (tuned(max_features=3, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    assert np.array_equal(one.coef_, two.coef_)
    assert one.ridge_ == two.ridge_
    for key, values in one.cv_results_.items():
        assert np.array_equal(values, two.cv_results_[key]), key


def test_weights_count_in_fits_and_scores(data):
    """Rows of weight 0, with labels that contradict all others, must leave no trace."""
    X, y = data
    wrong = np.where(y == "ill", "healthy", "ill")
    n = len(y)
    folds = [(np.arange(n) % 3 != k, np.arange(n) % 3 == k) for k in range(3)]
    doubled = [(np.tile(train, 2), np.tile(test, 2)) for train, test in folds]
    plain_folds = [tuple(map(np.flatnonzero, fold)) for fold in folds]
    doubled_folds = [tuple(map(np.flatnonzero, fold)) for fold in doubled]
    plain = tuned(max_features=2, cv=plain_folds).fit(X, y)
    model = tuned(max_features=2, cv=doubled_folds).fit(
        pd.concat([X, X]), np.concatenate([y, wrong]), sample_weight=np.repeat([1.0, 0.0], n)
    )
    assert model.coef_ == pytest.approx(plain.coef_, abs=1e-6)
    assert model.cv_results_["mean_test_score"] == pytest.approx(
        plain.cv_results_["mean_test_score"]
    )


def test_scoring_of_your_own(data):
    X, y = data
    scorer = make_scorer(log_loss, greater_is_better=False, response_method="predict_proba")
    own = tuned(max_features=2, scoring=scorer).fit(X, y)
    named = tuned(max_features=2, scoring="neg_log_loss").fit(X, y)
    assert own.best_score_ == named.best_score_


def test_costs_by_name_reach_every_fold(data):
    X, y = data
    costs = dict.fromkeys(X.columns, 1.0) | {"b": 3.0}
    model = tuned(budget=2, costs=costs, exclude=["d"]).fit(X, y)
    assert model.cost_ == 2
    assert "b" not in model.selected_features_
    assert "d" not in model.selected_features_


@pytest.mark.filterwarnings("ignore")  # scikit-learn also warns about each fold without a score
def test_folds_without_a_score(data):
    X, y = data
    order = np.argsort(y)
    folds = [(np.arange(20, 100), np.arange(20))]
    with pytest.raises(sl.InvalidProblemError, match="scoring: no ridge has a score in every fold"):
        tuned(max_features=1, cv=folds).fit(X.iloc[order], y[order])


def test_folds_without_a_class(data):
    X, y = data
    order = np.argsort(y)
    with pytest.raises(sl.InvalidProblemError, match="y: has only 1 class"):
        tuned(max_features=1, cv=KFold(2)).fit(
            X.iloc[order].iloc[(y[order] == "ill").argmax() - 20 :][:40],
            y[order][(y[order] == "ill").argmax() - 20 :][:40],
        )


def test_limits_warn(data):
    X, y = data
    model = tuned(max_features=3, backend="enumeration", node_limit=2)
    with pytest.warns(ConvergenceWarning) as seen:
        model.fit(X, y)
    messages = [str(warning.message) for warning in seen]
    assert any(message.startswith("9 of the 9 cross-validated models") for message in messages)
    assert any("'node_limit'" in message for message in messages)
    assert {warning.filename for warning in seen} == {__file__}
    assert model.cv_results_["max_gap"].tolist() == [1, 1, 1]


def test_two_columns_of_one_name_are_refused_in_a_sentence():
    table = pd.DataFrame(np.eye(6)[:, :3], columns=["a", "a", "b"])
    with pytest.raises(sl.InvalidProblemError, match="two columns are named 'a'; rename one"):
        sl.BestSubsetClassifier(max_features=1, ridge=1.0).fit(table, [0, 1] * 3)
