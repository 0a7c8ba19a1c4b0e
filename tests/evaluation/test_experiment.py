"""Resamples and their folds: what may be on both sides of a split, and what may not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from flat_options import experiment_of
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sample_data import make_data
from sklearn.model_selection import StratifiedKFold

import shortlist as sl
from shortlist.cross_validation import shuffled_folds
from shortlist.evaluation.experiment import Sample, draw, split


def experiment(**arguments: object) -> sl.Experiment:
    X, y = make_data()
    return experiment_of(X, y, max_features=2, **arguments)  # type: ignore[arg-type]


def weight_vector(sample: Sample, n_rows: int) -> np.ndarray:
    return np.bincount(sample.rows, sample.weights, n_rows)


def test_resample_zero_is_the_data() -> None:
    sample, _ = draw(experiment(), 0)
    assert sample.rows.tolist() == list(range(60))
    assert set(sample.weights.tolist()) == {1}


@given(st.integers(1, 10**6), st.integers(0, 10**6))
@settings(max_examples=20)
def test_a_resample_has_as_many_rows_as_the_data(resample: int, seed: int) -> None:
    base = experiment()
    sample, _ = draw(replace(base, seed=seed), resample)
    assert sample.weights.sum() == base.n_rows
    assert (np.diff(sample.rows) > 0).all()
    assert sample.weights.min() >= 1


def test_resamples_do_not_depend_on_the_procedure() -> None:
    one = experiment()
    more = one.problem.with_limits(max_features=3)
    other = replace(one, problem=more, backend="enumeration", ridges=(1.0,))
    first, rng = draw(one, 7)
    second, other_rng = draw(other, 7)
    assert np.array_equal(first.weights, second.weights)
    for (train, _), (other_train, _) in zip(
        split(one, first, rng), split(other, second, other_rng), strict=True
    ):
        assert np.array_equal(train.rows, other_train.rows)


@pytest.mark.parametrize("protocol", ["clean", "paper"])
@pytest.mark.parametrize("resample", [0, 1, 2, 3])
def test_folds_divide_the_sample_and_are_stratified(protocol: str, resample: int) -> None:
    base = experiment(protocol=protocol)
    sample, rng = draw(base, resample)
    whole = weight_vector(sample, base.n_rows)
    tests = np.zeros(base.n_rows)
    for train, test in split(base, sample, rng):
        parts = weight_vector(train, base.n_rows) + weight_vector(test, base.n_rows)
        assert np.array_equal(parts, whole)
        tests += weight_vector(test, base.n_rows)
        # Units are spread evenly: copies in the paper's protocol, different rows in the clean one.
        for label in (0, 1):
            units, total = (
                (test.weights[base.y[test.rows] == label].sum(), (whole * (base.y == label)).sum())
                if protocol == "paper"
                else ((base.y[test.rows] == label).sum(), ((whole > 0) & (base.y == label)).sum())
            )
            assert abs(units - total / 3) < 1
    assert np.array_equal(tests, whole)


@given(st.integers(1, 10**6))
@settings(max_examples=20)
def test_clean_splits_keep_the_copies_of_a_row_together(resample: int) -> None:
    base = experiment()
    sample, rng = draw(base, resample)
    for train, test in split(base, sample, rng):
        assert set(train.rows).isdisjoint(test.rows)
        for inner_train, inner_test in split(base, train, rng):
            assert set(inner_train.rows).isdisjoint(inner_test.rows)
            assert set(inner_train.rows) | set(inner_test.rows) == set(train.rows)


def test_paper_splits_separate_copies() -> None:
    base = experiment(protocol="paper")
    sample, rng = draw(base, 1)
    assert any(set(train.rows) & set(test.rows) for train, test in split(base, sample, rng))


@given(st.integers(0, 10**6))
@settings(max_examples=20)
def test_persons_are_drawn_and_split_as_a_whole(resample: int) -> None:
    persons = np.repeat(np.arange(20), 3)
    base = experiment(persons=[f"person {p}" for p in persons])
    sample, rng = draw(base, resample)
    counts = weight_vector(sample, 60).reshape(20, 3)
    assert (counts == counts[:, :1]).all()
    assert counts[:, 0].sum() == 20
    for train, test in split(base, sample, rng):
        assert set(persons[train.rows]).isdisjoint(persons[test.rows])
        for inner_train, inner_test in split(base, train, rng):
            assert set(persons[inner_train.rows]).isdisjoint(persons[inner_test.rows])


def test_every_resample_has_rows_of_both_classes_for_every_fold() -> None:
    X, y = make_data()
    few = np.flatnonzero(y)[:4]
    rows = np.concatenate([few, np.flatnonzero(y == 0)])
    base = experiment_of(X[rows], y[rows], max_features=1)
    for resample in range(50):
        sample, rng = draw(base, resample)
        assert (base.y[sample.rows] == 1).sum() >= 3
        for _, test in split(base, sample, rng):
            assert set(base.y[test.rows]) == {0, 1}


def test_too_few_rows_of_a_class() -> None:
    X, y = make_data()
    rows = np.concatenate([np.flatnonzero(y)[:2], np.flatnonzero(y == 0)])
    base = experiment_of(X[rows], y[rows], max_features=1)
    with pytest.raises(sl.InvalidProblemError, match=r"n_folds: a class has fewer than 3"):
        sl.evaluate(base, n_resamples=1)


def test_resamples_that_can_hardly_be_drawn() -> None:
    X, y = make_data(150)
    base = experiment_of(X, y, max_features=1, n_folds=50)
    with pytest.raises(sl.InvalidProblemError, match="n_folds: hardly any resample"):
        draw(base, 1)


@pytest.mark.filterwarnings("ignore:The least populated class")
@given(
    st.lists(st.integers(0, 1), min_size=5, max_size=60),
    st.integers(2, 5),
    st.integers(0, 2**31 - 1),
)
@settings(max_examples=200)
def test_shuffled_folds_are_those_of_scikit_learn(
    labels: list[int], n_folds: int, seed: int
) -> None:
    y = np.array(labels)
    assume(np.bincount(y).max() >= n_folds)
    expected = StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(y, y)
    for ours, theirs in zip(shuffled_folds(y, n_folds, seed), expected, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            assert np.array_equal(one, other)
