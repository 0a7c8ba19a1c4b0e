"""Columns of a Parquet file as an array on disk."""

import numpy as np
import pandas as pd
import pytest

import shortlist as sl
from shortlist.tables import on_disk, store_columns


@pytest.fixture
def source(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((1000, 3)), columns=["a", "b", "c"])
    frame = frame.assign(n=np.arange(1000), word="x")
    frame.to_parquet(tmp_path / "patients.parquet", row_group_size=130)
    return tmp_path / "patients.parquet"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_are_stored_in_order(source, tmp_path, dtype, monkeypatch):
    monkeypatch.setattr(on_disk, "_ROWS", 77)
    X = store_columns(source, tmp_path / "X.npy", ["n", "c", "a"], dtype)
    assert isinstance(X, np.memmap)
    assert X.dtype == dtype
    assert np.array_equal(X, pd.read_parquet(source)[["n", "c", "a"]].to_numpy().astype(dtype))
    assert not X.flags.writeable
    assert {path.name for path in tmp_path.iterdir()} == {"patients.parquet", "X.npy"}
    y = X[:, 0] > 400
    assert sl.solve(sl.SubsetProblem(X, y, ridge=1.0, max_features=1), sample=200).support == (0,)


@pytest.mark.parametrize(
    ("columns", "message"),
    [(["a", "d"], "has no column 'd'"), ([], "has no column"), (["word"], "'word' is not one of")],
)
def test_wrong_columns_leave_no_file(source, tmp_path, columns, message):
    with pytest.raises(sl.InvalidFileError, match=message):
        store_columns(source, tmp_path / "X.npy", columns)
    assert [path.name for path in tmp_path.iterdir()] == ["patients.parquet"]


def test_other_files_and_types_are_refused(source, tmp_path):
    with pytest.raises(sl.InvalidFileError, match=r"^dtype: must be float32 or float64"):
        store_columns(source, tmp_path / "X.npy", ["a"], np.int64)
    (tmp_path / "text.parquet").write_text("a,b\n1,2\n")
    with pytest.raises(sl.InvalidFileError, match="is not a Parquet file"):
        store_columns(tmp_path / "text.parquet", tmp_path / "X.npy", ["a"])
