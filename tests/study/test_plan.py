"""The plan is the paper's: data sets, runs, limits, and data that depend on what they should."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from study.plan import FULL, METHODS, PRESETS, Run, runs_of

CARDINALITY = Run("cardinality", 1, 82, 14, 0.0, 3, "optimal")
BUDGET = replace(CARDINALITY, study="budget", run=2)


def test_the_paper_preset_is_the_paper():
    preset = PRESETS["paper"]
    selections, aucs = preset.arms["selections"], preset.arms["aucs"]
    runs = [run for run in runs_of(preset, selections) if run.seed == 2023]
    assert {run.method for run in runs} == {"optimal", "univariable"}
    assert {run.epv for run in runs} == {0.36, 1.35, 4.73, 17.91}
    assert {run.label_noise for run in runs} == {0.0, 0.05}
    assert {run.run for run in runs if run.study == "cardinality"} == {2, 3, 4, 5}
    assert {run.run for run in runs if run.study == "budget"} == {1, 2, 3, 4, 5}
    assert len(runs) == 8 * (4 + 5) * 2
    assert selections.seeds == aucs.seeds == (*range(1, 101), 2023)
    assert len(selections.resamples) >= 20
    assert list(aucs.resamples) == [0]


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_runs_have_names_of_their_own(preset):
    for arm in preset.arms.values():
        names = [run.name for run in runs_of(preset, arm)]
        assert len(set(names)) == len(names)


def test_all_methods_have_the_same_runs_in_turn():
    preset = PRESETS["paper"]
    arm = preset.arms["methods"]
    runs = list(runs_of(preset, arm))
    by_method = {
        method: {replace(run, method="") for run in runs if run.method == method}
        for method in arm.methods
    }
    assert len(set(map(frozenset, by_method.values()))) == 1
    assert len(by_method["lasso"]) == 16 * len(arm.seeds) >= 16 * 50
    every = set(runs_of(preset, preset.arms["aucs"]))
    for method in METHODS:
        assert {replace(run, method=method) for run in by_method["lasso"]} <= every
    for study, n_runs in (("cardinality", 4), ("budget", 5)):
        counts = np.bincount([run.run for run in by_method["lasso"] if run.study == study])
        counts = counts[counts > 0]
        assert len(counts) == n_runs
        assert np.ptp(counts) <= 8  # once more on each data set at most


def test_intervals_have_all_runs_of_all_data_sets_alike():
    preset = PRESETS["paper"]
    arm = preset.arms["intervals"]
    assert len(arm.seeds) >= 100
    runs = [run for run in runs_of(preset, arm) if run.method == "optimal"]
    shapes = Counter((run.study, run.seed, run.n_samples, run.n_features) for run in runs)
    assert len(shapes) == 2 * len(arm.seeds) * len(preset.shapes)
    assert set(shapes.values()) == {1}
    for study, n_runs in (("cardinality", 4), ("budget", 5)):
        cells = Counter((run.epv, run.label_noise, run.run) for run in runs if run.study == study)
        assert len(cells) == 8 * n_runs
        assert max(cells.values()) - min(cells.values()) <= 1
    methods = {replace(run, method="") for run in runs}
    assert methods == {replace(run, method="") for run in runs_of(preset, arm)}


def test_limits_are_the_paper_s():
    experiment = CARDINALITY.experiment()
    assert experiment.problem.limits.max_features == 3
    assert experiment.problem.limits.budget == np.inf
    assert experiment.ridges == (0.1, 0.02, 0.004)
    assert experiment.n_folds == 3
    assert experiment.protocol == "paper"
    assert list(CARDINALITY.data().roles).count("informative") == 3

    experiment = BUDGET.experiment()
    assert experiment.problem.limits.budget == 10
    assert experiment.problem.limits.max_features == 14
    assert list(BUDGET.data().roles).count("informative") == 5
    np.testing.assert_array_equal(experiment.problem.limits.costs, BUDGET.costs())

    full = replace(BUDGET, method=FULL).experiment()
    assert full.problem.limits.budget == np.inf
    assert list(full.problem.limits.include) == list(range(14))


def test_methods_noise_and_draws_of_costs_share_the_features():
    data = BUDGET.data()
    for change in ({"method": "univariable"}, {"label_noise": 0.05}, {"run": 3}):
        assert replace(BUDGET, **change).data().X.equals(data.X)
    assert replace(CARDINALITY, run=5).data().X.equals(data.X)
    assert (replace(BUDGET, label_noise=0.05).data().y != data.y).sum() == 4
    assert not replace(BUDGET, seed=2).data().X.equals(data.X)


def test_costs_are_drawn_for_each_run_from_1_to_10():
    draws = [tuple(replace(BUDGET, run=run).costs()) for run in range(1, 6)]
    assert len(set(draws)) == 5
    assert replace(BUDGET, label_noise=0.05).costs().tolist() == list(draws[1])
    every = np.concatenate([replace(BUDGET, seed=seed).costs() for seed in range(50)])
    assert set(every) == set(range(1, 11))
