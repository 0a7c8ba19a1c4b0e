"""Other methods: the most frequent optimum by hand, and differences with their intervals."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest

import shortlist as sl
from shortlist.evaluation import Sample, evaluate_resample
from study.methods import N_RESAMPLES, MostFrequentOptimum, differences
from study.plan import METHODS, MOST_FREQUENT, PRESETS, Run, runs_of
from study.run import evaluate_run

RUN = Run("budget", 3, "paper", 82, 14, 0.05, 1, MOST_FREQUENT)


def test_the_most_frequent_optimum_is_that_of_repeated_rows():
    experiment = RUN.experiment()
    rows = np.repeat(np.arange(2, 80), 1 + np.arange(78) % 2)
    models = MostFrequentOptimum(experiment).fit(Sample.of_copies(rows), experiment.ridges)
    limits = {"costs": experiment.costs, "budget": experiment.budget}
    for model in models:
        rng = np.random.default_rng(RUN.seed)
        optima = Counter()
        for _ in range(N_RESAMPLES):
            copies = rng.choice(rows, len(rows))
            X, y = experiment.X[copies], experiment.y[copies]
            optima[sl.solve(sl.SubsetProblem(X, y, ridge=model.ridge, **limits)).support] += 1
        assert optima[model.solution.support] == max(optima.values()) > 1
        problem = sl.SubsetProblem(
            experiment.X[rows], experiment.y[rows], ridge=model.ridge,
            include=model.solution.support, max_features=len(model.solution.support),
        )  # fmt: skip
        assert model.solution.objective == pytest.approx(sl.solve(problem).objective, rel=1e-6)


def test_all_its_solves_are_counted_and_its_folds_are_those_of_others():
    result = evaluate_run(RUN, 0, nested=False)
    assert result["solves"] == (3 * 3 + 1) * (N_RESAMPLES + 1)
    assert result["unproven"] == 0
    own = evaluate_resample(RUN.experiment(), 0, True, MostFrequentOptimum)
    assert own["test_auc"] == evaluate_run(RUN, 0, nested=True)["test_auc"]


def test_all_methods_have_the_same_runs():
    preset = PRESETS["paper"]
    arm = preset.arms["methods"]
    by_method = {
        method: {
            run.name.removesuffix(method) for run in runs_of(preset, arm) if run.method == method
        }
        for method in arm.methods
    }
    assert len(set(map(frozenset, by_method.values()))) == 1
    paper = {run.name for run in runs_of(preset, preset.arms["aucs"])}
    for method in METHODS:
        assert {name + method for name in by_method["lasso"]} <= paper
    assert {0} == set(arm.resamples) == set(preset.arms["aucs"].resamples)


def test_methods_differ_by_the_mean_over_seeds():
    summary = pd.DataFrame(
        [
            {"arm": arm, "seed": seed, "study": "budget", "n_samples": 82, "n_features": 14}
            | {"label_noise": 0.0, "run": run, "method": method, "auc": auc + seed / 100}
            | {"informative": seed / 10 + run / 20, "uninformative": seed * auc / 10}
            for arm, method, auc in (("aucs", "optimal", 0.8), ("methods", "lasso", 0.7))
            for seed in (1, 2, 3)
            for run in (1, 2)
        ]
    )
    summary.loc[(summary["method"] == "lasso") & (summary["seed"] == 3), "auc"] -= 0.03
    line = differences(summary).set_index(["method", "measure"]).loc["lasso", "auc"]
    assert line["estimate"] == pytest.approx(-0.11)
    half = 4.302652729911275 * 0.01  # Student's quantile, and the standard error of -.1, -.1, -.13
    assert line["upper"] - line["estimate"] == pytest.approx(half)
    assert line["n_seeds"] == 3
    same = differences(summary).set_index(["method", "measure"]).loc["lasso", "informative"]
    assert (same["lower"], same["estimate"], same["upper"]) == (0, 0, 0)
