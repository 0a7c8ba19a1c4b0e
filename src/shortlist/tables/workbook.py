"""The first sheet of an Excel workbook, as it is."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pandas as pd

from ..errors import InvalidFileError, import_extra, shown

_UNPACKED_LIMIT = 1_000_000_000  # bytes; a workbook is an archive, and a small one may hold a lot
_ZIP, _OLD_EXCEL = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"


def is_workbook(path: Path) -> bool:
    """Whether a file is a workbook by its name or, whatever it is called, by its first bytes."""
    with path.open("rb") as file:
        start = file.read(4)
    if path.suffix.lower() == ".xls" or start == _OLD_EXCEL:
        raise InvalidFileError(f"{path}: is in the old Excel format; save it as .xlsx.")
    return path.suffix.lower() in (".xlsx", ".xlsm") or start == _ZIP


def read_sheet(path: Path, missing: list[str]) -> tuple[pd.DataFrame, list[str]]:
    """Return the cells of the first sheet, without names, and what should be noted about it."""
    import_extra("openpyxl", "excel", ", or save the table as CSV")
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
        if unpacked > _UNPACKED_LIMIT:
            raise InvalidFileError(
                f"{path}: is too large; keep only the rows and columns you need."
            )
        with pd.ExcelFile(path, engine="openpyxl") as book:
            sheets = book.sheet_names
            # Without a header: pandas would rename columns of the same name.
            cells: Any = pd.read_excel(book, sheet_name=0, header=None, na_values=missing)
    except InvalidFileError:
        raise
    except Exception as error:  # zip, XML and openpyxl each have their own
        raise InvalidFileError(f"{path}: is not an Excel workbook ({first_line(error)}).") from None
    if len(cells) == 0:
        raise InvalidFileError(f"{path}: the first sheet is empty.")
    if len(sheets) == 1:
        return cells, []
    return cells, [f"{path}: only the first of {len(sheets)} sheets, {shown(sheets[0])}, is read."]


def first_line(error: Exception) -> str:
    """Return the first line of what an error says."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
