"""Functions on selections: by hand, by counting, by laws."""

from __future__ import annotations

from itertools import combinations
from math import isnan
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis.extra.numpy import array_shapes, arrays

import shortlist as sl
from shortlist.evaluation import (
    co_selection,
    inclusion_frequencies,
    model_frequencies,
    stability,
)

selections = arrays(bool, array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=7))


def random_selection(n_resamples: int, chances: list[float], seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((n_resamples, len(chances))) < chances


@given(selections)
def test_frequencies_count(selection: np.ndarray) -> None:
    table = inclusion_frequencies(selection)
    n_resamples = len(selection)
    for g, (name, line) in enumerate(table.iterrows()):
        assert name == f"x{g}"
        assert line["frequency"] == sum(selection[:, g]) / n_resamples
        assert 0 <= line["lower"] <= line["frequency"] <= line["upper"] <= 1
    models = model_frequencies(selection)
    assert models["count"].sum() == n_resamples
    assert models["model"].is_unique
    assert models["count"].is_monotonic_decreasing
    assert (models["size"] * models["frequency"]).sum() == pytest.approx(table["frequency"].sum())
    pairs = co_selection(selection).set_index(["first", "second"])
    for i, j in combinations(range(selection.shape[1]), 2):
        line = pairs.loc[(f"x{i}", f"x{j}")]
        assert line["together"] == pytest.approx((selection[:, i] & selection[:, j]).mean())
        constant = any(len(set(selection[:, g])) == 1 for g in (i, j))
        assert constant == isnan(line["correlation"])
        if not constant:
            correlation = np.corrcoef(selection[:, i], selection[:, j])[0, 1]
            assert line["correlation"] == pytest.approx(correlation, abs=1e-9)


def test_names_come_from_the_columns() -> None:
    selection = pd.DataFrame([[True, False], [True, True]], columns=["age", "sex"])
    assert inclusion_frequencies(selection).index.tolist() == ["age", "sex"]
    assert model_frequencies(selection)["model"].tolist() == [("age",), ("age", "sex")]
    assert co_selection(selection)[["first", "second"]].to_numpy().tolist() == [["age", "sex"]]


def test_interval_of_an_inclusion_frequency_covers_the_truth() -> None:
    truth, hits = 0.3, 0
    for seed in range(400):
        table = inclusion_frequencies(random_selection(100, [truth], seed))
        hits += bool(table.loc["x0", "lower"] <= truth <= table.loc["x0", "upper"])
    assert 0.92 <= hits / 400 <= 0.98


@given(selections)
def test_stability_is_one_less_the_mean_disagreement(selection: np.ndarray) -> None:
    # For selections of equal size: the mean over pairs of their overlap, corrected for chance.
    size = 1 + selection.sum() % (selection.shape[1] - 1)
    order = np.argsort(np.argsort(~selection, axis=1, kind="stable"), axis=1, kind="stable")
    equal = order < size
    n_predictors = selection.shape[1]
    chance = size**2 / n_predictors
    overlaps = [(a & b).sum() for a, b in combinations(equal, 2)]
    kuncheva = (np.mean(overlaps) - chance) / (size - chance)
    assert stability(equal).value == pytest.approx(kuncheva, abs=1e-9)


def test_stability_of_equal_selections_is_one() -> None:
    assert stability([[1, 0, 1]] * 4) == pytest.approx((1, 1, 1))


def test_stability_of_random_selections_is_about_zero() -> None:
    interval = stability(random_selection(400, [0.4] * 20))
    assert interval.lower < 0 < interval.upper
    assert interval.upper - interval.lower < 0.03


def test_interval_of_the_stability_agrees_with_the_jackknife() -> None:
    selection = random_selection(150, [0.9, 0.7, 0.5, 0.3, 0.1, 0.1])
    n = len(selection)
    left_out = [stability(np.delete(selection, i, axis=0)).value for i in range(n)]
    error = np.sqrt((n - 1) / n * np.sum((left_out - np.mean(left_out)) ** 2))
    interval = stability(selection)
    assert (interval.upper - interval.lower) / 2 == pytest.approx(1.96 * error, rel=0.05)


@pytest.mark.parametrize("value", [0, 1])
def test_stability_is_undefined_where_there_is_no_choice(value: int) -> None:
    assert all(map(isnan, stability(np.full((3, 4), value))))


@pytest.mark.parametrize("selection", [[], [[]], [1, 0], [[0.5, 1]], [["a"]]])
def test_bad_selections(selection: Any) -> None:
    with pytest.raises(sl.InvalidProblemError, match="selection: expected a table"):
        inclusion_frequencies(selection)


def test_stability_of_one_resample() -> None:
    with pytest.raises(sl.InvalidProblemError, match="at least 2 resamples"):
        stability([[1, 0]])
