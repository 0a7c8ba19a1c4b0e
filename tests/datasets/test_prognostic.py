from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np
import pytest

from shortlist import SubsetProblem
from shortlist.datasets import PrognosticData, make_prognostic, paper_datasets


def as_bytes(data: PrognosticData) -> bytes:
    parts = (data.X.to_numpy(), data.y, data.costs, data.roles, data.flipped)
    return b"".join(part.tobytes() for part in parts)


def fingerprint(data: PrognosticData) -> str:
    return sha256(as_bytes(data)).hexdigest()[:16]


def test_the_bytes_are_those_of_every_other_machine() -> None:
    """Frozen: that it fails means other data, under the names of the old, for every user."""
    assert [fingerprint(data) for data in paper_datasets()] == [
        "439fa25573f13248",
        "36c9f0cc6d9fbd7f",
        "c852bd2d9fd9682a",
        "f804e4fd9d62b0c7",
        "c8d0621cbbd9f50d",
        "5e21bf8e877bc6cc",
        "b7b3b42ee7d6dda2",
        "c48c42af52c9dcb3",
    ]
    assert fingerprint(make_prognostic(300, 20, 2, 3, 0.1, 0.4, 2.0, 123)) == "d7ee461899ce6504"


def test_features_have_six_decimals() -> None:
    """Fewer than the digits in which machines differ: those that are left are the same."""
    X = make_prognostic().X.to_numpy()
    np.testing.assert_array_equal(X, X.round(6))


def test_same_seed_gives_the_same_bytes() -> None:
    assert as_bytes(make_prognostic(random_state=3)) == as_bytes(make_prognostic(random_state=3))
    assert as_bytes(make_prognostic(random_state=3)) != as_bytes(make_prognostic(random_state=4))


def test_parameters_give_the_data_again() -> None:
    data = make_prognostic(82, 20, 3, 2, label_noise=0.05, random_state=7)
    assert as_bytes(make_prognostic(**data.parameters)) == as_bytes(data)


@pytest.mark.parametrize("n_samples", [10, 37, 82, 100, 1090])
@pytest.mark.parametrize("positive_fraction", [0.1, 0.23, 0.5, 0.77])
def test_class_counts_are_exact(n_samples: int, positive_fraction: float) -> None:
    data = make_prognostic(n_samples, 8, 3, positive_fraction=positive_fraction)
    assert data.y.sum() == round(positive_fraction * n_samples)


@pytest.mark.parametrize("label_noise", [0.01, 0.05, 0.2])
def test_noise_flips_exactly_its_share_of_labels_and_nothing_else(label_noise: float) -> None:
    clean = make_prognostic(random_state=5)
    noisy = make_prognostic(random_state=5, label_noise=label_noise)
    assert (clean.y != noisy.y).sum() == round(label_noise * 1090)
    np.testing.assert_array_equal(clean.y != noisy.y, noisy.flipped)
    assert clean.X.equals(noisy.X)
    np.testing.assert_array_equal(clean.costs, noisy.costs)


def test_more_noise_keeps_the_flips_of_less() -> None:
    less = make_prognostic(label_noise=0.05).flipped
    more = make_prognostic(label_noise=0.10).flipped
    assert np.all(more[less])


def test_the_eight_settings_of_the_paper() -> None:
    datasets = paper_datasets()
    assert [round(data.epv, 2) for data in datasets[::2]] == [0.36, 1.35, 4.73, 17.91]
    assert [data.y.sum() for data in datasets[::2]] == [19, 19, 251, 251]
    assert [data.parameters["label_noise"] for data in datasets] == [0.0, 0.05] * 4
    assert [data.epv for data in datasets[::2]] == [data.epv for data in datasets[1::2]]
    assert [data.flipped.sum() for data in datasets[1::2]] == [4, 4, 54, 54]


def test_columns_are_scaled_named_and_ordered_by_role() -> None:
    data = make_prognostic(n_features=9, n_informative=4, n_redundant=2)
    np.testing.assert_array_equal(data.X.min(), 0.0)
    np.testing.assert_array_equal(data.X.max(), 1.0)
    assert list(data.X.columns[3:7]) == [
        "informative_4",
        "redundant_1",
        "redundant_2",
        "uninformative_1",
    ]
    assert [f"{role}_" in name for role, name in zip(data.roles, data.X, strict=True)] == [True] * 9


def test_redundant_columns_are_combinations_of_informative_ones() -> None:
    data = make_prognostic()
    informative = data.X.loc[:, data.roles == "informative"].to_numpy()
    design = np.column_stack([np.ones(len(informative)), informative])
    for column, is_combination in (
        (data.X["redundant_1"], True),
        (data.X["uninformative_1"], False),
    ):
        fitted = design @ np.linalg.lstsq(design, column, rcond=None)[0]
        assert np.allclose(fitted, column, rtol=0, atol=5e-6) == is_combination


def test_uninformative_columns_do_not_tell_the_classes_apart() -> None:
    data = make_prognostic(n_samples=20_000, n_features=30)
    noise = data.X.loc[:, data.roles == "uninformative"].to_numpy()
    difference = noise[data.y == 1].mean(axis=0) - noise[data.y == 0].mean(axis=0)
    standard_error = noise.std(axis=0) * np.sqrt(1 / 4600 + 1 / 15_400)
    assert np.all(np.abs(difference) < 4 * standard_error)


def test_costs_are_whole_numbers_from_1_to_10_whatever_the_rows() -> None:
    costs = make_prognostic(n_features=2000, n_samples=50).costs
    assert set(costs.tolist()) == set(range(1, 11))
    np.testing.assert_array_equal(costs[:14], make_prognostic(n_features=14).costs)


def test_rows_are_shuffled() -> None:
    y = make_prognostic().y
    assert 0.1 < y[:300].mean() < 0.4


def test_a_problem_takes_the_data_as_it_is() -> None:
    data = make_prognostic(n_samples=82)
    problem = SubsetProblem(data.X, data.y, ridge=0.1, budget=10, costs=data.costs)
    assert problem.name_of(0) == "informative_1"
    np.testing.assert_array_equal(problem.limits.costs, data.costs)


@pytest.mark.parametrize(
    "arguments",
    [
        {"n_samples": 1},
        {"n_samples": 10.5},
        {"n_features": 5},
        {"n_informative": 0},
        {"n_redundant": -1},
        {"label_noise": 0.6},
        {"label_noise": float("nan")},
        {"positive_fraction": 0.0},
        {"positive_fraction": "0.2"},
        {"class_sep": 0.0},
        {"random_state": -1},
        {"random_state": None},
    ],
)
def test_an_argument_out_of_range_is_named_in_one_sentence(arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=rf"^{next(iter(arguments))}: [^\n]+\.$"):
        make_prognostic(**arguments)


def test_flips_that_leave_one_class_are_refused() -> None:
    refused = 0
    for seed in range(20):
        try:
            data = make_prognostic(
                4, 4, 2, positive_fraction=0.25, label_noise=0.25, random_state=seed
            )
        except ValueError as error:
            assert str(error).startswith("label_noise: ")
            refused += 1
        else:
            assert set(data.y) == {0, 1}
    assert 0 < refused < 20
