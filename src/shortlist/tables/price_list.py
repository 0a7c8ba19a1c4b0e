"""Costs of predictors and shared fees, read from small files."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from ..errors import InvalidFileError, ShortlistWarning, nearest, shown
from .delimited import check_size, find_delimiter, original, read_rows, with_point
from .table import is_workbook, read_sheet

_SIZE_LIMIT = 10_000_000


def read_costs(path: str | Path, columns: Sequence[str]) -> dict[str, float]:
    r"""Read a price list: two columns, the predictor and its cost, with or without a header.

    A third column named `remark`, as `shortlist costs-template` writes it, is passed over.

    Parameters
    ----------
    path : str or Path
        The file, as `shortlist costs-template` makes it, or an Excel workbook. Where cells have no
        comma between them, prices may have decimal commas.
    columns : sequence of str
        The columns of the table that the prices are for.

    Returns
    -------
    dict from str to float
        The costs, in the order of the file. A predictor whose cost is empty is left out.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from shortlist.tables import read_costs
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "costs.csv"
    ...     _ = path.write_text("predictor,cost\nage,1\nchol,5.17\n")
    ...     read_costs(path, ["age", "chol"])
    {'age': 1.0, 'chol': 5.17}
    """
    path = Path(path)
    costs: dict[str, float] = {}
    seen: set[str] = set()
    rows = _rows(path)
    has_remarks = bool(rows) and rows[0] == ["predictor", "cost", "remark"]
    for number, row in enumerate(rows, start=1):
        if has_remarks and len(row) == 3:
            row = row[:2]
        if len(row) != 2:
            raise InvalidFileError(
                f"{path}: row {number} has {len(row)} cells, not 2; "
                "write one predictor and its cost per row."
            )
        if number == 1 and row[1] and _number(row[1]) is None and row[0] not in columns:
            continue  # the header
        name = _column(path, row[0], columns)
        if name in seen:
            raise InvalidFileError(f"{path}: {shown(name)} has two costs; remove one.")
        seen.add(name)
        if row[1]:
            costs[name] = _amount(path, f"the price of {shown(name)}", row[1])
    return costs


def read_fees(path: str | Path, columns: Sequence[str]) -> list[tuple[float, list[str]]]:
    r"""Read shared fees: in each row an amount, then the predictors that share it.

    Parameters
    ----------
    path : str or Path
        The file, with or without a header.
    columns : sequence of str
        The columns of the table that the fees are for.

    Returns
    -------
    list of (amount, members)
        As `SubsetProblem` takes them.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from shortlist.tables import read_fees
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "fees.csv"
    ...     _ = path.write_text("2.10,chol,fbs\n")
    ...     read_fees(path, ["age", "chol", "fbs"])
    [(2.1, ['chol', 'fbs'])]
    """
    path = Path(path)
    fees = []
    for number, row in enumerate(_rows(path), start=1):
        names_nothing = not any(original(cell) in columns or cell in columns for cell in row[1:])
        if number == 1 and _number(row[0]) is None and names_nothing:
            continue  # the header
        shared = f" for {', '.join(map(shown, filter(None, row[1:])))}" if any(row[1:]) else ""
        amount = _amount(path, f"the fee in row {number}{shared}", row[0])
        members = [_column(path, cell, columns) for cell in row[1:] if cell]
        if not members:
            raise InvalidFileError(
                f"{path}: row {number} names no predictor; write the amount, then the predictors."
            )
        fees.append((amount, members))
    return fees


def read_synonyms(path: str | Path, columns: Sequence[str]) -> dict[str, dict[str, str]]:
    r"""Read synonyms of levels: in each row a column, a level, and the level that is meant.

    Parameters
    ----------
    path : str or Path
        The file, with or without a header.
    columns : sequence of str
        The columns of the table that the levels are of.

    Returns
    -------
    dict from str to dict
        By column, as `PrognosticModel` takes them.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from shortlist.tables import read_synonyms
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "synonyms.csv"
    ...     _ = path.write_text("smoking,ex,former\nsmoking,Never,never\n")
    ...     read_synonyms(path, ["age", "smoking"])
    {'smoking': {'ex': 'former', 'Never': 'never'}}
    """
    path = Path(path)
    found: dict[str, dict[str, str]] = {}
    for number, row in enumerate(_rows(path), start=1):
        if len(row) != 3 or not all(row):
            raise InvalidFileError(
                f"{path}: row {number} must have 3 cells: a column, a level, and the level meant."
            )
        if number == 1 and original(row[0]) not in columns and row[0] not in columns:
            continue  # the header
        found.setdefault(_column(path, row[0], columns), {})[original(row[1])] = original(row[2])
    return found


def _rows(path: Path) -> list[list[str]]:
    check_size(path, _SIZE_LIMIT)
    if is_workbook(path):
        return _sheet_rows(path)
    delimiter = find_delimiter(path)
    rows = list(read_rows(path, delimiter))
    return rows if delimiter == "," else [[with_point(cell) for cell in row] for row in rows]


def _sheet_rows(path: Path) -> list[list[str]]:
    """Return the cells of a sheet as text, without empty rows and empty ends of rows."""
    cells, notes = read_sheet(path, [""])
    for note in notes:
        warnings.warn(note, ShortlistWarning, stacklevel=4)
    rows = []
    for values in cells.astype(object).where(cells.notna(), "").to_numpy().tolist():
        row = [with_point(_text(value)) for value in values]
        while len(row) > 2 and not row[-1]:
            row.pop()
        if any(row):
            rows.append(row)
    return rows


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def _column(path: Path, cell: str, columns: Sequence[str]) -> str:
    for name in (original(cell), cell):
        if name in columns:
            return name
    hint = nearest(cell, columns, "correct or remove it.")
    raise InvalidFileError(f"{path}: there is no predictor {shown(cell)} in the data; {hint}")


def _amount(path: Path, whose: str, cell: str) -> float:
    number = _number(cell)
    if number is None or number < 0:
        raise InvalidFileError(
            f"{path}: {whose} must be a number of at least 0, not {shown(cell)}."
        )
    return number


def _number(cell: str) -> float | None:
    try:
        number = float(cell)
    except ValueError:
        return None
    return number if isfinite(number) else None
