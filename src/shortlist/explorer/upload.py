"""Files that a page sends: read in a folder of their own, under a name that is ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..errors import InvalidFileError, InvalidProblemError
from ..patients.column import level_of, obvious_event
from ..patients.table import split_patients
from ..patients.term import StrictModel
from ..tables import read_costs, read_table_and_notes
from .prepared import PreparedPatients, n_bytes_of
from .session import Upload
from .state import check_amounts

MOST_BYTES = 10_000_000
_MOST_COLUMNS = 1000
_FEW_VALUES = 10
_ENDINGS = (".xlsx", ".xlsm", ".xls", ".parquet", ".tsv", ".tab")


class UploadChoice(StrictModel):
    """What the columns of an upload are."""

    outcome: str
    event: str
    exclude: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()


def read_upload(name: str, content: bytes) -> Upload:
    """Read a table; messages call it by the name that the person knows."""
    first_line = content.split(b"\n", 1)[0]
    n_columns = max(first_line.count(delimiter) for delimiter in (b",", b";", b"\t", b"|"))
    if n_columns <= _MOST_COLUMNS:
        with _stored(name, content) as path:
            table, notes = read_table_and_notes(path)
        n_columns = len(table.columns)
    if n_columns > _MOST_COLUMNS:
        raise InvalidFileError(
            f"{name}: has more than {_MOST_COLUMNS} columns; keep those you need."
        )
    if n_columns < 2:
        raise InvalidFileError(f"{name}: has one column; it needs an outcome and predictors.")
    notes_of_page = tuple(note.replace(str(path), name) for note in notes)
    return Upload(name, table, n_bytes_of(table), notes_of_page)


def read_prices(name: str, content: bytes, prepared: PreparedPatients) -> dict[str, float]:
    """Read a price list; prices of columns that are no predictors are left out."""
    columns = list(prepared.patients.predictors.columns)
    with _stored(name, content) as path:
        costs = read_costs(path, columns)
    check_amounts(name, costs.values())
    return {column: cost for column, cost in costs.items() if column in prepared.costs}


def describe_upload(upload: Upload) -> dict[str, Any]:
    """Return the columns: which can be an outcome, and which hold numbers that may be codes."""
    columns = []
    for name in upload.table.columns:
        known = upload.table[name].dropna()
        values = sorted({level_of(value) for value in known.unique()[: _FEW_VALUES + 1]})
        columns.append(
            {
                "name": name,
                "values": values if len(values) <= _FEW_VALUES else None,
                "event": obvious_event(values),
                "complete": len(known) == len(upload.table),
            }
        )
    return {
        "name": upload.name,
        "rows": len(upload.table),
        "columns": columns,
        "notes": upload.notes,
    }


def prepare_upload(upload: Upload, choice: UploadChoice) -> PreparedPatients:
    """Return the patients of an upload, now that the outcome and its event are known."""
    try:
        patients = split_patients(
            Path(upload.name), upload.table, choice.outcome, choice.event, None
        )
        kinds = {name: "categorical" for name in choice.categorical if name in patients.predictors}
        gone = [name for name in choice.exclude if name in patients.predictors]
        return PreparedPatients.prepare(upload.name, patients, kinds=kinds, exclude=gone)
    except (InvalidFileError, InvalidProblemError) as error:
        raise InvalidProblemError(_for_a_page(str(error), upload.name)) from None


def _for_a_page(message: str, name: str) -> str:
    """Return a message of the command line or the library as a page says it."""
    for prefix, said in (("--positive: ", "Event: "), ("X: ", f"{name}: ")):
        if message.startswith(prefix):
            return said + message.removeprefix(prefix)
    return message.replace(" for --outcome;", " for the outcome;")


@contextmanager
def _stored(name: str, content: bytes) -> Iterator[Path]:
    """Store a file under a name that is ours, but for an ending that says what it is."""
    ending = Path(name).suffix.lower()
    with TemporaryDirectory(prefix="shortlist-") as folder:
        path = Path(folder) / f"upload{ending if ending in _ENDINGS else '.csv'}"
        path.write_bytes(content)
        try:
            yield path
        except InvalidFileError as error:
            raise InvalidFileError(str(error).replace(str(path), name)) from None
