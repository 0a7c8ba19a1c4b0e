"""HTML for notebooks: a headline about the proof, and a small table below it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice

_MOST_ROWS = 25
_STYLE = """<style>
.shortlist-display { font-size: 0.92em; line-height: 1.45; margin: 0.4em 0; overflow-x: auto; }
.shortlist-display p, .shortlist-display table { font-size: 1em; }
.shortlist-display p { margin: 0.2em 0; }
.shortlist-display table { border-collapse: collapse; margin: 0.5em 0; }
.shortlist-display th, .shortlist-display td { background: none; border: 0; color: inherit;
  padding: 0.2em 1.2em 0.2em 0; text-align: left; vertical-align: top; }
.shortlist-display thead th { border-bottom: 1px solid rgba(128, 128, 128, 0.7); }
.shortlist-display tbody tr { background: none;
  border-bottom: 1px solid rgba(128, 128, 128, 0.25); }
.shortlist-display .number { font-variant-numeric: tabular-nums; text-align: right;
  white-space: nowrap; }
.shortlist-display .proven::before { color: #2c9c69; content: "\\25cf\\2002"; }
.shortlist-display .open::before { color: #d98a00; content: "\\25cb\\2002"; }
</style>"""
_LIMITS = {
    "time_limit": "the time limit was reached",
    "memory_limit": "the memory limit was reached",
    "node_limit": "the node limit was reached",
    "interrupted": "the search was interrupted",
    "stalled": "rounding left a gap",
}


def describe_proof(status: str, gap: float) -> str:
    """Return the proof of a solve in words; `status` is the value of a `Status`."""
    if status == "optimal":
        return f"Proven optimal (relative gap {gap:.2g})"
    if status == "heuristic":
        return "Found by a heuristic: nothing is proven"
    return f"Not proven optimal: {_LIMITS[status]} (relative gap {gap:.2g})"


def panel(
    headline: str,
    *,
    is_proven: bool,
    rows: Iterable[Sequence[object]],
    header: Sequence[str] = (),
    note: str = "",
) -> str:
    """Return the HTML of a headline, a table and a note; all text is escaped.

    Parameters
    ----------
    headline : str
        The name of the object, and its proof.
    is_proven : bool
        Whether the headline is marked as proven.
    rows : iterable of sequences
        Cells: numbers are rounded and aligned, anything else is text. The first ones are shown.
    header : sequence of str
        Names of the columns. Without it, the first cell of each row is its name.
    note : str
        A line below the table.
    """
    remaining = iter(rows)
    shown = list(islice(remaining, _MOST_ROWS))
    n_more = sum(1 for _ in remaining)
    more = f"{n_more} more rows are not shown." if n_more else ""
    kinds = [_kind(cell) for cell in shown[0]] if shown else [""] * len(header)
    head = "".join(
        f"<th{kind}>{escape(name)}</th>" for name, kind in zip(header, kinds, strict=bool(header))
    )
    lines = [_row(cells, is_named=not header) for cells in shown]
    return "\n".join(
        [
            _STYLE,
            '<div class="shortlist-display">',
            f'<p class="{"proven" if is_proven else "open"}">{escape(headline)}</p>',
            f"<table>{f'<thead><tr>{head}</tr></thead>' if head else ''}",
            f"<tbody>{''.join(lines)}</tbody></table>",
            *(f"<p>{escape(text)}</p>" for text in (more, note) if text),
            "</div>",
        ]
    )


def _row(cells: Sequence[object], *, is_named: bool) -> str:
    tags = ["th" if is_named and place == 0 else "td" for place in range(len(cells))]
    return f"<tr>{''.join(_cell(tag, cell) for tag, cell in zip(tags, cells, strict=True))}</tr>"


def _cell(tag: str, value: object) -> str:
    text = f"{value:.6g}" if isinstance(value, float | int) else escape(str(value))
    return f"<{tag}{_kind(value)}>{text}</{tag}>"


def _kind(value: object) -> str:
    return ' class="number"' if isinstance(value, float | int) else ""
