"""Delimited text: read cell by cell, and written as CSV that no spreadsheet executes."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..errors import InvalidFileError, shown

_MOST_COLUMNS = 50_000  # of which every later step keeps a record
_LONGEST_CELL = 131_072  # characters: the limit of csv, which other packages change for all
SIZE_LIMIT = 2_000_000_000  # bytes; a larger table does not fit into the memory of a usual machine
_DELIMITERS = (",", ";", "\t", "|")
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
_NUMBER_WITH_COMMA = re.compile(r"\s*[+-]?\d+,\d+([eE][+-]?\d+)?\s*")
# A spreadsheet takes a cell that starts like this for a formula, unless an apostrophe comes first;
# some drop blanks before it.
# In many countries a semicolon starts a cell too, and quotation marks that then stand inside a cell
# keep neither it nor a line feed from that.
# The apostrophe itself is in the list so that `original` undoes every change and no more.
_START = r"""((?:^|[;\n])[ "]*)"""
_DANGEROUS = r"(?=[=+\-@\t\r\n'])"
_QUOTED = re.compile(r"[,;|\t\n\"]")


def check_size(path: Path, limit: int = SIZE_LIMIT) -> None:
    """Raise unless `path` is a file that is neither empty nor too large."""
    if not path.exists():
        raise InvalidFileError(f"{path}: there is no such file.")
    if not path.is_file():
        raise InvalidFileError(f"{path}: is not a regular file.")
    size = path.stat().st_size
    if size == 0:
        raise InvalidFileError(f"{path}: is empty; it needs a row of column names and rows below.")
    if size > limit:
        raise InvalidFileError(
            f"{path}: has {size / 1e6:.0f} MB, more than the limit of {limit / 1e6:g} MB; "
            "keep only the rows and columns you need."
        )


def find_delimiter(path: Path) -> str:
    """Return the delimiter that splits the first line into most parts, a comma if none does.

    A comma between digits may be a decimal comma, and does not count.
    """
    if path.suffix.lower() in (".tsv", ".tab"):
        return "\t"
    for line in read_lines(path):
        if line.strip():
            return max(_DELIMITERS, key=_DECIMAL_COMMA.sub("", line).count)
    return ","


def with_point(cell: Any) -> Any:
    """Return a number with a decimal comma as one with a point, and anything else as it is."""
    if isinstance(cell, str) and _NUMBER_WITH_COMMA.fullmatch(cell):
        return cell.replace(",", ".")
    return cell


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file; raise at the first byte that is not UTF-8."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for line in file:
                if "\0" in line:
                    raise InvalidFileError(
                        f"{path}: holds binary data, not text; save it as CSV with UTF-8 encoding."
                    )
                yield line
    except UnicodeDecodeError as error:
        raise InvalidFileError(
            f"{path}: is not UTF-8 text (byte 0x{error.object[error.start]:02x}); save it again "
            "with UTF-8 encoding, in Excel as 'CSV UTF-8'."
        ) from None
    except OSError as error:
        raise InvalidFileError(f"{path}: cannot be read ({error.strerror}).") from None


def read_rows(path: Path, delimiter: str) -> Iterator[list[str]]:
    """Yield the rows of a delimited file without blank lines, every cell stripped."""
    try:
        for row in csv.reader(read_lines(path), delimiter=delimiter, skipinitialspace=True):
            if max(map(len, row), default=0) > _LONGEST_CELL:  # the limit of csv may be higher
                raise csv.Error(f"a cell has more than {_LONGEST_CELL} characters")
            if row and (len(row) > 1 or row[0].strip()):
                yield [cell.strip() for cell in row]
    except csv.Error as error:
        raise InvalidFileError(f"{path}: is not a table of text ({error}).") from None


def check_names(path: Path, names: list[str]) -> None:
    """Raise unless the names of the columns can be used; some may be empty."""
    if len(names) > _MOST_COLUMNS:
        raise InvalidFileError(
            f"{path}: has {len(names)} columns, more than the limit of {_MOST_COLUMNS}; "
            "keep only those you need."
        )
    if not any(names):
        raise InvalidFileError(f"{path}: the first row must hold the names of the columns.")
    twice = {name for name, count in Counter(names).items() if name and count > 1}
    for name in names:
        if any(unicodedata.category(character) == "Cc" for character in name):
            raise InvalidFileError(
                f"{path}: the column name {shown(name)} contains a control character; rename it."
            )
        if name in twice:
            raise InvalidFileError(
                f"{path}: two columns are named {shown(name)}; rename one of them."
            )


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""Return a table as CSV, its text made harmless and its numbers to the last digit.

    Parameters
    ----------
    header : sequence of str
        The names of the columns.
    rows : iterable of sequences
        Numbers, text (of several lines with a line feed between them), or None for an empty cell.

    Returns
    -------
    str
        Lines that end in a line feed.

    Examples
    --------
    >>> from shortlist.tables import csv_text
    >>> csv_text(["predictor", "cost"], [["=cmd()", 0.1], ["age", None]])
    "predictor,cost\n'=cmd(),0.1\nage,\n"
    """
    return "".join(",".join(map(_cell, row)) + "\n" for row in (header, *rows))


def _cell(value: object) -> str:
    if not isinstance(value, str):
        return "" if value is None else str(value)
    text = harmless("\n".join(value.splitlines()))
    doubled = text.replace('"', '""')
    return f'"{doubled}"' if _QUOTED.search(text) else text


def harmless(text: str) -> str:
    """Return text that no spreadsheet takes for a formula, also one that splits at semicolons."""
    return re.sub(_START + _DANGEROUS, r"\1'", text)


def original(text: str) -> str:
    """Return the text that `harmless` was given."""
    return re.sub(f"{_START}'{_DANGEROUS}", r"\1", text)
