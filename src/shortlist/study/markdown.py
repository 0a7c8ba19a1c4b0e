"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table in Markdown.

    Parameters
    ----------
    header : sequence of str
        The names of the columns.
    rows : iterable of sequences
        The cells; whatever they are, they become text of one line.

    Returns
    -------
    str
        Lines that end in a line feed.

    Examples
    --------
    >>> from shortlist.study.markdown import table
    >>> print(table(["paper", "ours"], [["42 %", 0.4]]), end="")
    | paper | ours |
    | --- | --- |
    | 42 % | 0.4 |
    """
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def _cell(value: object) -> str:
    return " ".join(str(value).split()).replace("|", r"\|")
