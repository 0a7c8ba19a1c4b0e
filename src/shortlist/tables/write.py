"""CSV that a spreadsheet opens without executing anything."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

# A spreadsheet takes a cell that starts like this for a formula, unless an apostrophe comes first.
# The apostrophe itself is in the list so that `original` undoes every change and no more.
_DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n", "'")


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
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([_cell(name) for name in header])
    for row in rows:
        writer.writerow([_cell(value) for value in row])
    return buffer.getvalue()


def _cell(value: object) -> object:
    # The writer does not quote a carriage return, and a reader would end the row there.
    return harmless("\n".join(value.splitlines())) if isinstance(value, str) else value


def harmless(text: str) -> str:
    """Return text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(_DANGEROUS) else text


def original(text: str) -> str:
    """Return the text that `harmless` was given."""
    return text[1:] if text.startswith("'") and text[1:].startswith(_DANGEROUS) else text
