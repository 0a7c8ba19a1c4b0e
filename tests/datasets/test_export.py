from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyarrow import parquet

from shortlist.datasets import PrognosticData, make_prognostic

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
