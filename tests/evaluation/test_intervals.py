"""Intervals have the ends they claim, or none."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest

import shortlist as sl
from shortlist.evaluation import percentile_interval


@pytest.mark.parametrize(("level", "fewest"), [(0.95, 39), (0.9, 19), (0.8, 9), (0.5, 3)])
def test_too_few_values_have_no_interval(level: float, fewest: int) -> None:
    values = np.arange(float(fewest))
    assert percentile_interval(values, level) == pytest.approx((0.0, fewest - 1.0))
    assert all(map(isnan, percentile_interval(values[:-1], level)))
    assert all(map(isnan, percentile_interval([], level)))


def test_evaluations_with_few_resamples_have_estimates_without_intervals() -> None:
    data = sl.datasets.make_prognostic(n_samples=82, random_state=1)
    evaluation = sl.evaluate(sl.Experiment(data.X, data.y, max_features=1, ridges=(1.0,)), 2)
    for table in (evaluation.summary(), evaluation.optimism()):
        assert table[["lower", "upper"]].isna().all(axis=None)
        assert (table["n_resamples"] > 0).all()
