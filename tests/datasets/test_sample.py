from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from shortlist.datasets import PrognosticData, make_prognostic, sample_prognostic


def assert_same(one: PrognosticData, other: PrognosticData) -> None:
    assert one.X.equals(other.X)
    np.testing.assert_array_equal(one.y, other.y)
    np.testing.assert_array_equal(one.costs, other.costs)
    assert one.parameters == other.parameters


def test_a_seed_always_gives_the_same_study_and_its_parameters_give_it_again() -> None:
    data = sample_prognostic(5)
    assert_same(data, sample_prognostic(5))
    assert_same(data, make_prognostic(**data.parameters))
    assert data.parameters != sample_prognostic(6).parameters


def test_a_generator_gives_the_next_study_each_time() -> None:
    rng = np.random.default_rng(5)
    first, second = sample_prognostic(rng), sample_prognostic(rng)
    assert_same(first, sample_prognostic(5))
    assert first.parameters["random_state"] != second.parameters["random_state"]


def test_parameters_fill_the_ranges_of_the_literature() -> None:
    drawn = [sample_prognostic(seed).parameters for seed in range(150)]
    for name, low, high in (
        ("n_samples", 82, 1090),
        ("n_features", 14, 53),
        ("n_informative", 2, 5),
        ("label_noise", 0.0, 0.05),
        ("positive_fraction", 0.23, 0.5),
    ):
        values = np.array([parameters[name] for parameters in drawn])
        assert low <= values.min() <= low + 0.1 * (high - low)
        assert high - 0.1 * (high - low) <= values.max() <= high
    assert {parameters["n_redundant"] for parameters in drawn} == {1}
    # On a logarithmic scale the middle is the geometric mean; on a linear one it is at 0.22.
    sizes = np.array([parameters["n_samples"] for parameters in drawn])
    assert 0.35 < np.mean(sizes < np.sqrt(82 * 1090)) < 0.65


@pytest.mark.parametrize("random_state", [None, -1, 1.5, "0", True])
def test_what_is_neither_seed_nor_generator_is_refused(random_state: Any) -> None:
    with pytest.raises(ValueError, match=r"^random_state: must be an integer [^\n]+\.$"):
        sample_prognostic(random_state)
