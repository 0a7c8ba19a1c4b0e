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
        Numbers, text, or None for an empty cell.

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
    writer.writerow([harmless(name) for name in header])
    for row in rows:
        writer.writerow([harmless(cell) if isinstance(cell, str) else cell for cell in row])
    return buffer.getvalue()


def harmless(text: str) -> str:
    """Return text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(_DANGEROUS) else text


def original(text: str) -> str:
    """Return the text that `harmless` was given."""
    return text[1:] if text.startswith("'") and text[1:].startswith(_DANGEROUS) else text
