"""Tables on disk, as CSV or Parquet: written beside their place, then moved to it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd


def write_csv(
    table: pd.DataFrame, description: dict[str, Any], path: str | os.PathLike[str]
) -> None:
    """Write a table, and its description to the same name with `.json` appended.

    The table is written last: where it is, its description is too.
    """
    target = Path(path)
    with _replacing(target.with_name(f"{target.name}.json")) as draft:
        draft.write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")
    with _replacing(target) as draft:
        table.to_csv(draft, index=False, lineterminator="\n", encoding="utf-8")


def write_parquet(
    table: pd.DataFrame, description: dict[str, Any], path: str | os.PathLike[str]
) -> None:
    """Write a table with its description in the metadata, under the key `shortlist`."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise ImportError(
            "to_parquet: pyarrow is not installed; pip install 'shortlist[parquet]' brings it."
        ) from None
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    metadata = {**(arrow.schema.metadata or {}), b"shortlist": json.dumps(description).encode()}
    with _replacing(Path(path)) as draft:
        parquet.write_table(arrow.replace_schema_metadata(metadata), draft)


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """Give a name to write to, and move what was written to `path` if all went well."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
