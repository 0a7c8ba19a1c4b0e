"""Other ways to get a model, on the same resamples and folds."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold

import shortlist as sl
from shortlist.report import compare_rules, validate_model
from shortlist.report.comparison import RULES, describe_comparison

N_RESAMPLES = 4


def compared(**limits):
    data = sl.datasets.make_prognostic(n_samples=120, label_noise=0.05, random_state=3)
    if "budget" in limits:
        limits["costs"] = dict(zip(data.X.columns, data.costs, strict=True))
    model = sl.PrognosticModel(**limits, tuning=sl.Tuning(ridges=(1.0, 0.1), n_repeats=2)).fit(
        data.X, data.y
    )
    evaluation = validate_model(model, data.X, data.y, n_resamples=N_RESAMPLES)
    rivals = compare_rules(model, data.X, data.y, n_resamples=N_RESAMPLES)
    problem = model.problem(data.X, data.y)
    return data, model, evaluation, rivals, describe_comparison(problem, rivals)


@pytest.fixture(scope="module")
def priced():
    return compared(budget=8)


def test_no_rule_within_the_limits_has_a_smaller_loss_or_a_larger_cost(priced):
    _, model, _, _, rows = priced
    others = [rule.name for name, rule in RULES.items() if name != "optimum"]
    assert [row["rule"] for row in rows] == others
    for row in rows:
        if row["is_limited"]:
            assert row["excess"] >= -1e-6
            assert row["cost"] <= model.budget
        else:
            assert row["excess"] is None
    assert rows[0]["predictors"] == model.selected_features_
    assert rows[0]["same_share"] == 1
    (univariable,) = [row for row in rows if row["rule"] == "univariable selection"]
    assert univariable["definition"].endswith("divided by the price")


def test_the_full_model_has_every_candidate_and_the_ridge_that_is_best_for_it(priced):
    data, model, _, rivals, _ = priced
    full = rivals["full"]
    assert list(full.selected) == list(data.X.columns)
    X, y = data.X.to_numpy(), np.asarray(data.y)
    losses = dict.fromkeys(model.tuning.ridges, 0.0)
    for seed in range(2):
        for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
            centre, scale = X[train].mean(axis=0), 2 * X[train].std(axis=0)
            for ridge in losses:
                fit = LogisticRegression(C=1 / ridge, tol=1e-8, max_iter=1000)
                fit.fit((X[train] - centre) / scale, y[train])
                risks = fit.predict_proba((X[test] - centre) / scale)
                losses[ridge] += log_loss(y[test], risks)
    assert full.rows["ridge"].unique().tolist() == [min(losses, key=losses.get)]


def test_the_lasso_is_that_of_another_solver(priced):
    data, _, _, rivals, _ = priced
    lasso = rivals["l1"]
    (penalty,) = lasso.rows["ridge"].unique()
    X = (data.X - data.X.mean()) / (2 * data.X.std(ddof=0))
    fit = LogisticRegression(
        C=1 / penalty, l1_ratio=1.0, solver="saga", tol=1e-8, max_iter=20_000, random_state=0
    ).fit(X, data.y)
    chosen = {name for name, coef in zip(data.X, fit.coef_[0], strict=True) if abs(coef) > 1e-6}
    assert set(lasso.selected) == chosen
    auc = roc_auc_score(data.y, fit.decision_function(X))
    assert lasso.rows["data_auc"].iloc[0] == pytest.approx(auc, abs=1e-3)


def test_differences_are_those_of_corrected_values(priced):
    _, _, _, rivals, rows = priced
    own = rivals["own"]
    for row, (name, rival) in zip(rows, rivals.items(), strict=True):
        assert row["rule"] == RULES[name].name
        same = rival.selected == own.selected and (rival.rows["ridge"] == own.rows["ridge"]).all()
        if same:
            assert row["differences"] == []
            continue
        (auc,) = [line for line in row["differences"] if line["metric"] == "auc"]
        gap = rival.optimism()["corrected"] - own.optimism()["corrected"]
        assert auc["estimate"] == pytest.approx(gap["auc"])
        assert auc["n_resamples"] == N_RESAMPLES


def test_without_prices_nothing_is_divided_by_them():
    *_, rows = compared(max_features=3)
    assert not any("price" in row["definition"] for row in rows)
    assert all(len(row["predictors"]) <= 3 for row in rows if row["is_limited"])


def test_a_stable_selection_is_compared_with_the_best_of_all_on_the_same_resamples():
    data, model, _, rivals, rows = compared(max_features=6, stable=True)
    assert [row["rule"] for row in rows] == [
        "best among stable predictors",
        *(rule.name for name, rule in RULES.items() if name != "own"),
    ]
    (row,) = [row for row in rows if row["rule"] == "proven best of all"]
    assert "all candidates" in row["definition"]
    plain = clone(model).set_params(stable=False).fit(data.X, data.y)
    assert row["predictors"] == plain.selected_features_ != model.selected_features_
    assert row["penalty"] == plain.ridge_
    assert row["excess"] < 0
    again = validate_model(
        clone(plain).set_params(ridge=plain.ridge_).fit(data.X, data.y),
        data.X,
        data.y,
        n_resamples=N_RESAMPLES,
    )
    pd.testing.assert_frame_equal(rivals["optimum"].rows, again.rows)
    same = (again.rows["support"] == rivals["own"].rows["support"]).iloc[1:].mean()
    assert row["same_share"] == same


def test_the_model_keeps_its_ridge_where_it_is_compared(priced):
    _, model, evaluation, rivals, _ = priced
    assert rivals["own"].rows["ridge"].unique().tolist() == [model.ridge_]
    assert rivals["own"].selected == evaluation.selected
