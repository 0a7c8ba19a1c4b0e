"""Synthetic studies: the same bytes everywhere, exact counts, known roles, and their files."""

from __future__ import annotations

import json
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyarrow import parquet

from shortlist import SubsetProblem
from shortlist.datasets import (
    PrognosticData,
    make_prognostic,
    paper_datasets,
    sample_prognostic,
)


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


def test_the_same_parameters_give_the_same_bytes() -> None:
    data = make_prognostic(82, 20, 3, 2, label_noise=0.05, random_state=7)
    assert as_bytes(make_prognostic(**data.parameters)) == as_bytes(data)
    assert as_bytes(make_prognostic(**data.parameters | {"random_state": 8})) != as_bytes(data)
    # Fewer decimals than the digits in which machines differ.
    np.testing.assert_array_equal(data.X, data.X.round(6))


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
    names = ["informative_4", "redundant_1", "redundant_2", "uninformative_1"]
    assert list(data.X.columns[3:7]) == names
    assert [f"{role}_" in name for role, name in zip(data.roles, data.X, strict=True)] == [True] * 9


def test_redundant_columns_are_combinations_of_informative_ones() -> None:
    data = make_prognostic()
    informative = data.X.loc[:, data.roles == "informative"].to_numpy()
    design = np.column_stack([np.ones(len(informative)), informative])
    for name, is_combination in (("redundant_1", True), ("uninformative_1", False)):
        fitted = design @ np.linalg.lstsq(design, data.X[name], rcond=None)[0]
        assert np.allclose(fitted, data.X[name], rtol=0, atol=5e-6) == is_combination


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


def test_rows_are_shuffled_and_a_problem_takes_the_data_as_they_are() -> None:
    data = make_prognostic()
    assert 0.1 < data.y[:300].mean() < 0.4
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


DATA = make_prognostic(82, 14, label_noise=0.05, random_state=3)


def assert_is_data(table: pd.DataFrame) -> None:
    assert list(table.columns) == [*DATA.X.columns, "outcome"]
    assert table.drop(columns="outcome").equals(DATA.X)
    np.testing.assert_array_equal(table["outcome"], DATA.y)


def assert_describes_data(description: dict[str, Any]) -> None:
    assert description["parameters"] == DATA.parameters
    assert description["epv"] == DATA.epv
    assert list(description["costs"].values()) == DATA.costs.tolist()
    assert description["roles"]["redundant_1"] == "redundant"
    assert list(description["roles"]) == list(DATA.X.columns)


def test_csv_holds_every_digit_and_the_rest_lies_next_to_it(tmp_path: Path) -> None:
    DATA.to_csv(tmp_path / "study.csv")
    # Python's float is exact, which the parser of pandas need not be.
    assert_is_data(pd.read_csv(tmp_path / "study.csv", dtype=str).map(float))
    assert_describes_data(json.loads((tmp_path / "study.csv.json").read_text()))


def test_parquet_holds_everything_in_one_file(tmp_path: Path) -> None:
    DATA.to_parquet(str(tmp_path / "study.parquet"))
    assert_is_data(pd.read_parquet(tmp_path / "study.parquet"))
    metadata = parquet.read_schema(tmp_path / "study.parquet").metadata
    assert_describes_data(json.loads(metadata[b"shortlist"]))
    assert [path.name for path in tmp_path.iterdir()] == ["study.parquet"]


def test_two_exports_have_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        DATA.to_csv(tmp_path / f"{name}.csv")
        DATA.to_parquet(tmp_path / f"{name}.parquet")
    for suffix in ("csv", "csv.json", "parquet"):
        first, second = ((tmp_path / f"{name}.{suffix}").read_bytes() for name in ("a", "b"))
        assert first == second
    assert b"\r" not in (tmp_path / "a.csv").read_bytes()


def crash(*_: Any, **__: Any) -> None:
    raise OSError("no space left")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    path = tmp_path / f"study.{kind}"
    export = {"csv": PrognosticData.to_csv, "parquet": PrognosticData.to_parquet}[kind]
    export(DATA, path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    monkeypatch.setattr(pd.DataFrame, "to_csv", crash)
    monkeypatch.setattr(parquet, "write_table", crash)
    with pytest.raises(OSError, match="no space left"):
        export(make_prognostic(82, 14, label_noise=0.05, random_state=3), path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_without_pyarrow_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"^to_parquet: .*'shortlist\[parquet\]' brings it\.$"):
        DATA.to_parquet(tmp_path / "study.parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_seed_always_gives_the_same_study_and_its_parameters_give_it_again() -> None:
    data = sample_prognostic(5)
    assert as_bytes(data) == as_bytes(sample_prognostic(5))
    assert as_bytes(data) == as_bytes(make_prognostic(**data.parameters))
    assert data.parameters != sample_prognostic(6).parameters


def test_a_generator_gives_the_next_study_each_time() -> None:
    rng = np.random.default_rng(5)
    first, second = sample_prognostic(rng), sample_prognostic(rng)
    assert as_bytes(first) == as_bytes(sample_prognostic(5))
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
