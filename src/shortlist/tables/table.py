"""A table of patients from a CSV, TSV, Parquet or Excel file."""

from __future__ import annotations

import io
import re
import warnings
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ..errors import InvalidFileError, ShortlistWarning, import_extra, shown
from ..files import write_whole
from .delimited import check_names, check_size, find_delimiter, read_rows, with_point

# How R, pandas, Excel, SAS and the UCI repository write a missing value. Words of pandas's own list
# that may be levels (None, null, N/A) are left to `patients.column`, which knows the whole column.
_MISSING = ["", "NA", "NaN", "nan", "<NA>", "#N/A", "?", "."]
_SAMPLE_ROWS = 1000  # in which decimal commas are looked for
_UNPACKED_LIMIT = 1_000_000_000  # bytes; a workbook is an archive, and a small one may hold a lot
_CELL = re.compile(rb'\sr="([A-Z]{1,3})([0-9]{1,7})"')  # the place of a cell in a sheet
_MOST_CELLS = 50_000_000  # of a sheet, those between its cells among them
_ZIP, _OLD_EXCEL = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
# Before version 3.1 pandas reads numbers to the last digit only if asked.
_EXACT: dict[str, Any] = (
    {}
    if [int(part) for part in pd.__version__.split(".")[:2]] >= [3, 1]
    else {"float_precision": "round_trip"}
)


def read_table(path: str | Path) -> pd.DataFrame:
    r"""Read a table whose first row holds the names of its columns.

    Parquet files (by the ending of their name) and Excel workbooks need an extra; all else is text,
    with commas, semicolons, tabs or bars between the cells. Empty cells, `NA`, `NaN`, `<NA>`,
    `#N/A`, `?` and `.` are missing values; words such as `None` are kept, since they may be levels.
    Text may have decimal commas where cells have no comma between them.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    DataFrame
        Columns of numbers, binary values or text, in the order of the file.

    Raises
    ------
    InvalidFileError
        If the file is not such a table; the message is one sentence.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from shortlist.tables import read_table
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "patients.csv"
    ...     _ = path.write_text("age,sex\n63,f\n,m\n")
    ...     read_table(path)["age"].tolist()
    [63.0, nan]
    """
    table, notes = read_table_and_notes(Path(path))
    for note in notes:
        warnings.warn(note, ShortlistWarning, stacklevel=2)
    return table


def read_table_and_notes(path: Path) -> tuple[pd.DataFrame, list[str]]:
    """Read a table as `read_table` does; return its warnings as a list instead."""
    check_size(path)
    notes: list[str] = []
    if path.suffix.lower() == ".parquet":
        table = _read_parquet(path)
    elif is_workbook(path):
        table, notes = _read_excel(path)
    else:
        table = _read_text(path)
    named = [position for position, name in enumerate(table.columns) if name]
    if len(named) < table.shape[1]:  # an index that was written too, or empty cells on the right
        nameless = table.shape[1] - len(named)
        columns = (
            "1 column without a name is"
            if nameless == 1
            else f"{nameless} columns without a name are"
        )
        notes.append(f"{path}: {columns} ignored.")
    table = table.iloc[:, named]
    if table.empty:
        raise InvalidFileError(f"{path}: has no rows below the names of the columns.")
    return table, notes


def _read_text(path: Path) -> pd.DataFrame:
    delimiter = find_delimiter(path)
    names, n_rows, decimal = _check_rows(path, delimiter)
    try:
        with warnings.catch_warnings(action="ignore", category=pd.errors.ParserWarning):
            # It warns of rows that are too long; the check of the shape below raises then.
            table: pd.DataFrame = pd.read_csv(
                path,
                sep=delimiter,
                decimal=decimal,
                encoding="utf-8-sig",
                skipinitialspace=True,
                na_values=_MISSING,
                keep_default_na=False,
                index_col=False,
                low_memory=False,  # one type per column, not per chunk
                **_EXACT,
            )
    except (ValueError, OverflowError) as error:  # the errors of its parser are ValueErrors
        raise InvalidFileError(
            f"{path}: cannot be read as a table ({first_line(error)})."
        ) from None
    # pandas and the csv module may disagree on damaged quotes; then neither is trusted.
    if table.shape != (n_rows, len(names)):
        raise InvalidFileError(
            f"{path}: quotes, blank lines or line ends in it are ambiguous; save it again as CSV."
        )
    table.columns = pd.Index(names, dtype=object)  # as they are, not as pandas renames them
    if decimal == ",":
        # A column with one bad cell stays text, and its good cells are numbers all the same.
        for position, kind in enumerate(table.dtypes):
            if not pd.api.types.is_numeric_dtype(kind):
                table.isetitem(position, [with_point(cell) for cell in table.iloc[:, position]])
    return table


def _check_rows(path: Path, delimiter: str) -> tuple[list[str], int, str]:
    """Return the names of the columns, the number of rows, and the decimal sign.

    Every row must have as many cells as there are names.
    """
    rows = read_rows(path, delimiter)
    names = next(rows, [])
    check_names(path, names)
    number, decimal = 0, "."
    for number, row in enumerate(rows, start=1):
        if len(row) != len(names):
            raise InvalidFileError(
                f"{path}: row {number} has {len(row)} cells but there are {len(names)} columns; "
                "correct that row, and quote text that contains the delimiter."
            )
        is_sampled = delimiter != "," and number <= _SAMPLE_ROWS
        if is_sampled and row != [with_point(cell) for cell in row]:
            decimal = ","
    return names, number, decimal


def _read_parquet(path: Path) -> pd.DataFrame:
    import_extra("pyarrow", "parquet", ", or save the table as CSV")
    try:
        table = pd.read_parquet(path, engine="pyarrow")
    except Exception as error:  # pyarrow raises many kinds of errors for damaged files
        raise InvalidFileError(f"{path}: is not a Parquet file ({first_line(error)}).") from None
    table.columns = pd.Index([str(name).strip() for name in table.columns], dtype=object)
    check_names(path, list(table.columns))
    return table.reset_index(drop=True)


def _read_excel(path: Path) -> tuple[pd.DataFrame, list[str]]:
    cells, notes = read_sheet(path, _MISSING)
    names = ["" if pd.isna(name) else str(name).strip() for name in cells.iloc[0]]
    check_names(path, names)
    table: pd.DataFrame = cells.iloc[1:].reset_index(drop=True).infer_objects()
    table.columns = pd.Index(names, dtype=object)
    return table, notes


def is_workbook(path: Path) -> bool:
    """Return whether a file is a workbook, by the ending of its name or by its first bytes."""
    with path.open("rb") as file:
        start = file.read(4)
    if path.suffix.lower() == ".xls" or start == _OLD_EXCEL:
        raise InvalidFileError(f"{path}: is in the old Excel format; save it as .xlsx.")
    return path.suffix.lower() in (".xlsx", ".xlsm") or start == _ZIP


def read_sheet(path: Path, missing: list[str]) -> tuple[pd.DataFrame, list[str]]:
    """Return the cells of the first sheet, the names among them, and notes about the sheets."""
    import_extra("openpyxl", "excel", ", or save the table as CSV")
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
            if unpacked > _UNPACKED_LIMIT:
                raise InvalidFileError(
                    f"{path}: is too large; keep only the rows and columns you need."
                )
            _check_extent(path, archive)
        with pd.ExcelFile(path, engine="openpyxl") as book:
            sheets = book.sheet_names
            # Without a header: pandas would rename columns of the same name.
            cells: Any = pd.read_excel(
                book, sheet_name=0, header=None, na_values=missing, keep_default_na=False
            )
    except InvalidFileError:
        raise
    except Exception as error:  # zipfile, the XML parser and openpyxl raise their own kinds
        raise InvalidFileError(f"{path}: is not an Excel workbook ({first_line(error)}).") from None
    if len(cells) == 0:
        raise InvalidFileError(f"{path}: the first sheet is empty.")
    if len(sheets) == 1:
        return cells, []
    return cells, [f"{path}: only the first of {len(sheets)} sheets, {shown(sheets[0])}, is read."]


def _check_extent(path: Path, archive: zipfile.ZipFile) -> None:
    """Raise if few cells of a sheet lie so far apart that the table would fill the memory."""
    from openpyxl.utils import column_index_from_string

    for sheet in archive.namelist():
        if not re.fullmatch(r"xl/worksheets/[^/]*\.xml", sheet):
            continue
        last_column, last_row, rest = b"", 0, b""
        with archive.open(sheet) as file:
            while block := file.read(2**20):
                for column, row in _CELL.findall(rest + block):
                    last_column = max(last_column, column, key=lambda name: (len(name), name))
                    last_row = max(last_row, int(row))
                rest = block[-16:]  # a place may lie across two blocks
        if last_row and column_index_from_string(last_column.decode()) * last_row > _MOST_CELLS:
            raise InvalidFileError(
                f"{path}: has cells as far as {last_column.decode()}{last_row}; "
                "delete the rows and columns beyond the table."
            )


def write_workbook(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table as an Excel workbook; text that looks like a formula stays text."""
    openpyxl = import_extra("openpyxl", "excel", ", or write CSV")
    book = openpyxl.Workbook()
    book.active.title = "prices"
    for number, row in enumerate((header, *rows), start=1):
        for column, value in enumerate(row, start=1):
            put_cell(book.active, number, column, value)
    buffer = io.BytesIO()
    book.save(buffer)
    write_whole(path, buffer.getvalue())


def put_cell(sheet: Any, row: int, column: int, value: Any) -> Any:
    """Set a cell of a workbook; a text stays a text, also one that looks like a formula."""
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    if isinstance(value, str):
        value = ILLEGAL_CHARACTERS_RE.sub("", value)
    cell = sheet.cell(row, column, value)
    if isinstance(value, str):
        cell.data_type = "s"
    return cell


def first_line(error: Exception) -> str:
    """Return the first line of the message of an error."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
