"""From a Parquet file to an array on disk that can be mapped, a few rows at a time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..errors import InvalidFileError, import_extra
from .workbook import first_line

_ROWS = 2**16  # at a time


def store_columns(
    source: str | Path,
    target: str | Path,
    columns: Sequence[str],
    dtype: DTypeLike = np.float32,
) -> np.memmap[Any, Any]:
    """Write columns of a Parquet file to a `.npy` file, and return it mapped for reading.

    The memory this takes is that of some 65 000 rows. Needs the extra `parquet`.

    Parameters
    ----------
    source : str or Path
        The Parquet file.
    target : str or Path
        The `.npy` file, which appears whole or not at all.
    columns : sequence of str
        Names of columns of numbers, in the order that they should have.
    dtype : dtype
        float32 or float64.

    Returns
    -------
    memmap of shape (n_rows, n_columns)
        What `np.load(target, mmap_mode="r")` returns.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> from shortlist.tables import store_columns
    >>> with TemporaryDirectory() as folder:
    ...     source = Path(folder) / "patients.parquet"
    ...     pd.DataFrame({"age": [63.0, 41.0], "sex": ["f", "m"]}).to_parquet(source)
    ...     store_columns(source, Path(folder) / "X.npy", ["age"]).tolist()
    [[63.0], [41.0]]
    """
    ParquetFile = import_extra("pyarrow.parquet", "parquet").ParquetFile
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise InvalidFileError(f"dtype: must be float32 or float64, not {np.dtype(dtype)}.")
    try:
        file = ParquetFile(source)
    except Exception as error:  # pyarrow has an error for each of the many ways a file is damaged
        raise InvalidFileError(f"{source}: is not a Parquet file ({first_line(error)}).") from None
    target = Path(target)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    with file:
        missing = [name for name in columns if name not in file.schema_arrow.names]
        if missing or len(columns) == 0:
            name = repr(missing[0]) if missing else "that was asked for"
            raise InvalidFileError(f"{source}: has no column {name}; name columns of the file.")
        shape = (file.metadata.num_rows, len(columns))
        try:
            stored = np.lib.format.open_memmap(part, "w+", np.dtype(dtype), shape)
            first = 0
            for batch in file.iter_batches(_ROWS, columns=list(columns)):
                for j, name in enumerate(columns):
                    values = batch.column(name).to_numpy(zero_copy_only=False)
                    stored[first : first + len(values), j] = _numbers(source, name, values)
                first += batch.num_rows
            stored.flush()
            del stored
            part.replace(target)
        except OSError as error:
            raise InvalidFileError(
                f"{target}: cannot be written ({error.strerror}); choose another place."
            ) from None
        finally:
            part.unlink(missing_ok=True)
    mapped: np.memmap[Any, Any] = np.load(target, mmap_mode="r")
    return mapped


def _numbers(source: str | Path, name: str, values: np.ndarray[Any, Any]) -> Any:
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        raise InvalidFileError(
            f"{source}: column {name!r} is not one of numbers; encode it first."
        ) from None
