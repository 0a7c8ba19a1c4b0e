"""CSV that no spreadsheet executes, and that is read back as it was."""

import csv
import io

from hypothesis import example, given
from hypothesis import strategies as st

from shortlist.tables import csv_text
from shortlist.tables.delimited import harmless, original

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


@given(st.text())
@example("=cmd|' /C calc'!A0")
@example("'=1")
@example("''=1")
@example("a;=1")
@example(';";\n=1')
def test_text_is_harmless_and_can_be_restored(text):
    assert not harmless(text).startswith(FORMULA)
    assert original(harmless(text)) == text


@given(st.lists(st.text(alphabet="a=;, '\"\n"), min_size=1))
@example(["a;=cmd()", "b"])
@example(["b", "a;=cmd()"])
@example(["b", "a\n=cmd()"])
@example([" =cmd()"])
def test_no_cell_is_a_formula_where_semicolons_split(names):
    text = csv_text(["predictor", "cost"], [(1, name) for name in names])
    for delimiter in (",", ";"):
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            assert not any(cell.lstrip().startswith(FORMULA[:4]) for cell in row)
    assert all(f'"{name}"' in text for name in names if set(name) == {"a", ";"})


@given(st.lists(st.tuples(st.text(st.characters(exclude_categories=["Cs"])), st.floats())))
def test_rows_can_be_read_back(rows):
    text = csv_text(["name", "=value"], rows)
    first, *rest = csv.reader(io.StringIO(text, newline=""))
    assert first == ["name", "'=value"]
    assert [original(name) for name, _ in rest] == ["\n".join(n.splitlines()) for n, _ in rows]
    assert [repr(float(value)) for _, value in rest] == [repr(value) for _, value in rows]
