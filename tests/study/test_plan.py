"""The plan is the paper's: data sets, runs, limits, and data that depend on what they should."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shortlist.study import PRESETS, Run, runs_of

CARDINALITY = Run("cardinality", 0, "paper", 82, 14, 0.0, 3, "optimal")
BUDGET = replace(CARDINALITY, study="budget", run=2)


def test_the_paper_preset_is_the_paper():
    preset = PRESETS["paper"]
    arm = preset.arms["paper"]
    runs = list(runs_of(preset, arm))
    assert arm.n_resamples == 399
    assert {run.method for run in runs} == {"optimal", "univariable"}
    assert {(run.n_samples, run.n_features) for run in runs} == {
        (82, 53), (82, 14), (1090, 53), (1090, 14),
    }  # fmt: skip
    assert {run.label_noise for run in runs} == {0.0, 0.05}
    assert {run.run for run in runs if run.study == "cardinality"} == {2, 3, 4, 5}
    assert {run.run for run in runs if run.study == "budget"} == {1, 2, 3, 4, 5}
    assert len(runs) == 8 * (4 + 5) * 2


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_runs_have_names_of_their_own(preset):
    names = [run.name for arm in preset.arms.values() for run in runs_of(preset, arm)]
    assert len(set(names)) == len(names)


def test_limits_are_the_paper_s():
    experiment = CARDINALITY.experiment()
    assert experiment.max_features == 3
    assert experiment.budget is None
    assert experiment.ridges == (0.1, 0.02, 0.004)
    assert experiment.n_folds == 3
    assert list(CARDINALITY.data().roles).count("informative") == 3

    experiment = BUDGET.experiment()
    assert experiment.budget == 10
    assert experiment.max_features == 14
    assert list(BUDGET.data().roles).count("informative") == 5
    np.testing.assert_array_equal(experiment.costs, BUDGET.data().costs)


def test_methods_and_noise_share_the_features():
    data = BUDGET.data()
    for same in (replace(BUDGET, method="univariable"), replace(BUDGET, label_noise=0.05)):
        assert same.data().X.equals(data.X)
    assert (replace(BUDGET, label_noise=0.05).data().y != data.y).sum() == 4


@pytest.mark.parametrize("change", [{"run": 3}, {"seed": 1}, {"seed": 1, "run": 5}])
def test_other_draws_have_other_data(change):
    assert not replace(BUDGET, **change).data().X.equals(BUDGET.data().X)


def test_no_two_draws_share_a_seed():
    preset = PRESETS["paper"]
    drawn = {
        (run.study, run.seed, run.run): run.data().parameters["random_state"]
        for arm in preset.arms.values()
        for run in runs_of(preset, arm)
        if run.n_samples == 82 and run.n_features == 14
    }
    assert len(set(drawn.values())) == len(drawn)
