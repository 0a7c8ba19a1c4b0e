"""Other methods: the ridge model of all candidates, and differences with their intervals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from study.methods import differences
from study.plan import FULL, OTHER_METHODS, Run
from study.run import evaluate_run

KEYS = {"study": "budget", "n_samples": 82, "n_features": 14, "label_noise": 0.0}


def test_the_full_model_is_ridge_regression_on_all_candidates():
    run = Run("budget", 3, 82, 14, 0.05, 1, FULL)
    outcome = evaluate_run(run, range(1), nested=True)
    assert outcome["supports"] == [list(range(14))]
    assert outcome["unproven"] == 0
    experiment = run.experiment()
    solution = experiment.problem_of(experiment.columns(np.arange(82)))
    import shortlist as sl

    found = sl.solve(solution.with_ridge(0.1))
    other = LogisticRegression(C=1 / 0.1, tol=1e-10, max_iter=1000).fit(experiment.X, experiment.y)
    np.testing.assert_allclose(found.coef, other.coef_[0], atol=1e-3)


def runs_table(methods):
    return pd.DataFrame(
        [
            KEYS
            | {"seed": seed, "run": run, "method": method, "auc": auc + seed / 100}
            | {"informative_data": seed / 10 + run / 20, "uninformative_data": seed * auc / 10}
            for method, auc in methods.items()
            for seed in (1, 2, 3)
            for run in (1, 2)
        ]
    )


def test_methods_differ_by_the_mean_over_seeds():
    runs = runs_table({"optimal": 0.8, "univariable": 0.75} | dict.fromkeys(OTHER_METHODS, 0.7))
    runs = pd.concat([runs, runs.assign(study="cardinality")])
    is_third = (runs["method"] == "lasso") & (runs["seed"] == 3)
    runs.loc[is_third, "auc"] -= 0.03
    table = differences(runs).set_index(["study", "method", "measure"])
    line = table.loc["budget", "lasso", "auc"]
    assert line["estimate"] == pytest.approx(-0.11)
    half = 4.302652729911275 * 0.01  # Student's quantile, and the standard error of -.1, -.1, -.13
    assert line["upper"] - line["estimate"] == pytest.approx(half)
    assert line["n_draws"] == 3
    same = table.loc["all", "lasso", "informative_data"]
    assert (same["lower"], same["estimate"], same["upper"]) == (0, 0, 0)


def test_without_other_methods_there_is_nothing_to_compare():
    assert differences(runs_table({"optimal": 0.8, "univariable": 0.75})).empty
