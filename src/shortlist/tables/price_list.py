"""What predictors cost and mean, and shared fees, read from small files."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import InvalidFileError, ShortlistWarning, nearest, shown
from .delimited import check_size, find_delimiter, original, read_rows, with_point
from .table import is_workbook, read_sheet

PRICE_LIST = ("predictor", "cost", "label", "unit", "reference", "kind", "note")
_SIZE_LIMIT = 10_000_000


class PriceList(NamedTuple):
    """What a table of predictors says of each: its cost, its kind, and what it means."""

    costs: dict[str, float]
    kinds: dict[str, str]
    labels: dict[str, str]
    units: dict[str, str]
    references: dict[str, str]


def read_costs(path: str | Path, columns: Sequence[str]) -> dict[str, float]:
    r"""Read the costs of a table of predictors, as `read_price_list` does.

    Parameters
    ----------
    path : str or Path
        The file, as `shortlist costs-template` makes it, or an Excel workbook.
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
    return read_price_list(path, columns).costs


def read_price_list(path: str | Path, columns: Sequence[str]) -> PriceList:
    r"""Read a table of predictors: in each row one of them, its cost, and what it means.

    Parameters
    ----------
    path : str or Path
        The file, or an Excel workbook. With a header, `predictor` is the only column it must have;
        `cost`, `label`, `unit`, `reference` and `kind` are read, `note` is passed over, and others
        are passed over with a warning. Without a header there are two columns, the predictor and
        its cost. Where cells have no comma between them, prices may have decimal commas.
    columns : sequence of str
        The columns of the table that it is about.

    Returns
    -------
    PriceList
        Mappings from predictor, in the order of the file, without empty cells.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from shortlist.tables import read_price_list
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "costs.csv"
    ...     _ = path.write_text("predictor,cost,label,unit\nchol,5.17,Cholesterol,mg/dl\n")
    ...     found = read_price_list(path, ["age", "chol"])
    >>> found.costs, found.labels, found.units
    ({'chol': 5.17}, {'chol': 'Cholesterol'}, {'chol': 'mg/dl'})
    """
    path = Path(path)
    rows = _rows(path)
    header, n_above = _header(path, rows, columns)
    found = PriceList({}, {}, {}, {}, {})
    texts = {"label": found.labels, "unit": found.units, "reference": found.references}
    seen: set[str] = set()
    for number, row in enumerate(rows[n_above:], start=1 + n_above):
        cells = [*row, *[""] * (len(header) - len(row))]
        if len(cells) != len(header) or (len(row) < 2 <= len(header)):
            raise InvalidFileError(
                f"{path}: row {number} has {len(row)} cells, not {len(header)}; write one "
                "predictor per row, and quote text that contains the delimiter."
            )
        said = dict(zip(header, cells, strict=True))
        name = _column(path, said["predictor"], columns)
        if name in seen:
            raise InvalidFileError(f"{path}: {shown(name)} has two costs; remove one.")
        seen.add(name)
        if said.get("cost"):
            found.costs[name] = _amount(path, f"the price of {shown(name)}", said["cost"])
        if said.get("kind"):
            found.kinds[name] = said["kind"].lower()
        for column, mapping in texts.items():
            if said.get(column):
                mapping[name] = original(said[column])
    return found


def _header(
    path: Path, rows: Sequence[Sequence[str]], columns: Sequence[str]
) -> tuple[list[str], int]:
    """Return the columns of a price list, and how many rows they take; warn of those not read."""
    plain = ["predictor", "cost"]
    if not rows:
        return plain, 0
    header = [cell.lower() for cell in rows[0]]
    if header[0] != "predictor" or rows[0][0] in columns:
        has_words = len(header) == 2 and header[1] and _number(header[1]) is None
        return plain, int(bool(has_words and rows[0][0] not in columns))
    if len({*header}) < len(header):
        raise InvalidFileError(f"{path}: two columns have the same name; remove one.")
    unknown = [name for name in header if name not in PRICE_LIST]
    if unknown:
        warnings.warn(
            f"{path}: {', '.join(map(shown, unknown))} is not read; the columns of a price list "
            f"are {', '.join(PRICE_LIST)}.",
            ShortlistWarning,
            stacklevel=4,
        )
    return header, 1


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
