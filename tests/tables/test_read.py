"""Tables from files: what they are taken for, and what is refused in one sentence."""

import sys
from time import perf_counter

import numpy as np
import openpyxl
import pandas as pd
import pytest

import shortlist as sl
from shortlist.tables import delimited, read_table
from shortlist.tables.delimited import check_names


def write(folder, content, name="data.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_types_and_missing_values(tmp_path):
    table = read_table(
        write(tmp_path, "age,sex,ill,code\n1,f,TRUE,3\n2.5,,False,?\n., m ,true,NA\n")
    )
    assert table["age"].tolist()[:2] == [1, 2.5]
    assert table["age"].isna().tolist() == [False, False, True]
    assert table["sex"].isna().tolist() == [False, True, False]
    assert table["ill"].tolist() == [True, False, True]
    assert table["code"].isna().tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("a,b\n1.5,x\n2,y\n", "t.csv"),
        ("a;b\n1,5;x\n2;y\n", "t.csv"),
        ("a;b\n+1,5;x\n2;y\n", "t.csv"),
        ("a;b\n1.5;x\n2;y\n", "t.csv"),
        ("a\tb\n1.5\tx\n2\ty\n", "t.tsv"),
        ("a\tb\n1.5\tx\n2\ty\n", "t.txt"),
        ("a|b\n1.5|x\n2|y\n", "t.data"),
        ("\ufeffa,b\r\n1.5,x\r\n2,y\r\n", "t.csv"),
        ('"a","b"\n"1.5","x"\n"2","y"\n', "t.csv"),
        ("\n\na , b\n1.5, x\n\n2, y\n\n", "t.csv"),
    ],
)
def test_kinds_of_text(tmp_path, content, name):
    table = read_table(write(tmp_path, content, name))
    assert table.columns.tolist() == ["a", "b"]
    assert table["a"].tolist() == [1.5, 2]
    assert table["b"].str.strip().tolist() == ["x", "y"]


def test_names_are_kept_as_they_are(tmp_path):
    names = ["=1+1", "<b>x</b>", 'say "hi"', "👩‍⚕️", "it's", "a,b", "[red]", "age.1", "age"]
    path = tmp_path / "t.csv"
    pd.DataFrame([range(9), range(9)], columns=names).to_csv(path, index=False)
    assert read_table(path).columns.tolist() == names


def test_columns_without_a_name_are_left_out_and_told(tmp_path):
    path = write(tmp_path, ",a,b,\n0,1,2,\n1,3,4,\n")
    with pytest.warns(sl.ShortlistWarning, match="2 column"):
        assert read_table(path).columns.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("\n\n", "must hold the names"),
        (",,\n1,2,3\n", "must hold the names"),
        ("a,b\n", "has no rows"),
        ("a,a\n1,2\n", "two columns are named 'a'"),
        ("a, a\n1,2\n", "two columns are named 'a'"),
        ("a,b\n1,2\n1,2,3\n", "row 2 has 3 cells but there are 2 columns"),
        ("a,b\n1,2\n1\n", "row 2 has 1 cells"),
        ("a,b\n1,2,3\n1,2,3\n", "row 1 has 3 cells"),
        ('a,b\n1,"2\n', "cells but there are 2 columns|cannot be read"),
        ('""\na,b\n1,2\n', "ambiguous"),
        ('"a\x1b[2J",b\n1,2\n', "control character"),
        ("größe,b\n1,2\n".encode("latin-1"), r"not UTF-8 text \(byte 0xf6\)"),
        ("a,b\n1,2\n".encode("utf-16"), "not UTF-8 text"),
        (b"a,b\n1,\x002\n", "binary data"),
        (b"PK\x03\x04\x00\x00", "is not an Excel workbook"),
        ("a,b\n" + "x" * 200_000 + ",1\n", "not a table of text"),
    ],
)
def test_what_is_no_table(tmp_path, content, message):
    path = write(tmp_path, content)
    with pytest.raises(sl.InvalidFileError, match=message) as caught:
        read_table(path)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_no_file_and_no_folder(tmp_path):
    with pytest.raises(sl.InvalidFileError, match="no such file"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(sl.InvalidFileError, match="not a regular file"):
        read_table(tmp_path)


def test_a_file_that_is_too_large(tmp_path):
    path = tmp_path / "large.csv"
    with path.open("wb") as file:
        file.truncate(delimited.SIZE_LIMIT + 1)  # sparse: takes no room on the disk
    with pytest.raises(sl.InvalidFileError, match="more than the limit of 2000 MB"):
        read_table(path)


@pytest.fixture
def frame():
    return pd.DataFrame({"age": [1.5, np.nan], "sex": ["f", None], "ill": [True, False]})


def test_parquet(tmp_path, frame):
    path = tmp_path / "t.parquet"
    frame.to_parquet(path)
    pd.testing.assert_frame_equal(
        read_table(path), frame, check_dtype=False, check_column_type=False
    )
    with pytest.raises(sl.InvalidFileError, match="is not a Parquet file"):
        read_table(write(tmp_path, "a,b\n1,2\n", "u.parquet"))


def test_excel(tmp_path, frame):
    path = tmp_path / "t.xlsx"
    with pd.ExcelWriter(path) as book:
        frame.to_excel(book, index=False)
        frame.to_excel(book, sheet_name="more")
    with pytest.warns(sl.ShortlistWarning, match="only the first of 2 sheets"):
        table = read_table(path)
    assert table.columns.tolist() == ["age", "sex", "ill"]
    assert table["age"].dtype == float
    assert table["sex"].isna().tolist() == [False, True]
    with pytest.raises(sl.InvalidFileError, match="is not an Excel workbook"):
        read_table(write(tmp_path, "a,b\n1,2\n", "u.xlsx"))
    with pytest.raises(sl.InvalidFileError, match="old Excel format"):
        read_table(write(tmp_path, "a,b\n1,2\n", "u.xls"))
    pd.DataFrame([[1, 2]], columns=["a", "a"]).to_excel(tmp_path / "v.xlsx", index=False)
    with pytest.raises(sl.InvalidFileError, match="two columns are named 'a'"):
        read_table(tmp_path / "v.xlsx")


@pytest.mark.parametrize(("package", "ending"), [("pyarrow", "parquet"), ("openpyxl", "xlsx")])
def test_missing_extra(tmp_path, monkeypatch, package, ending):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=r"install 'shortlist\[\w+\]"):
        read_table(write(tmp_path, "a,b\n1,2\n", f"t.{ending}"))


@pytest.mark.parametrize("between", [";", "\t", "|"])
def test_a_bad_cell_does_not_spoil_the_decimal_commas_of_its_column(tmp_path, between):
    lines = ["age,lab,sex", "63,1_5,f", "abc,2_5,m", "70_5,3,f"]
    text = "\n".join(line.replace(",", between).replace("_", ",") for line in lines)
    table = read_table(write(tmp_path, text))
    assert table["age"].tolist() == ["63", "abc", "70.5"]
    assert table["lab"].tolist() == [1.5, 2.5, 3]


def test_a_workbook_is_known_by_its_content(tmp_path):
    path = tmp_path / "t.xlsx"
    pd.DataFrame({"age": [1.5, 2], "sex": ["f", "m"]}).to_excel(path, index=False)
    renamed = path.rename(tmp_path / "upload.csv")
    assert read_table(renamed)["age"].tolist() == [1.5, 2]


def test_a_workbook_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "t.xlsx"
    pd.DataFrame({"age": [1.5, 2], "sex": ["f", "m"]}).to_excel(path, index=False)
    monkeypatch.setattr("shortlist.tables.table._UNPACKED_LIMIT", 100)
    with pytest.raises(sl.InvalidFileError, match="is too large"):
        read_table(path)


def test_names_of_many_columns_are_checked_in_a_moment(tmp_path):
    names = [f"gene {i}" for i in range(20_000)]
    path = tmp_path / "wide.csv"
    path.write_text(",".join(names) + "\n" + ",".join("1" for _ in names) + "\n")
    started = perf_counter()
    check_names(path, names)
    assert perf_counter() - started < 1  # it was 45 s with a count per name
    with pytest.raises(sl.InvalidFileError, match="two columns are named 'gene 7'"):
        check_names(path, [*names, "gene 7"])


@pytest.mark.parametrize("place", ["XFD1048576", "ZZ1048576", "XFD4000"])
def test_a_workbook_with_a_cell_far_away_is_refused(tmp_path, place):
    """Reading it would fill the memory with empty cells."""
    book = openpyxl.Workbook()
    for position, value in {"A1": "age", "B1": "sex", "A2": 1, "B2": "f", place: 1}.items():
        book.active[position] = value
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(sl.InvalidFileError, match=f"has cells as far as {place}; delete the rows"):
        read_table(tmp_path / "t.xlsx")


def test_a_table_of_too_many_columns_is_refused(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"x{i}" for i in range(100_000)) + "\n" + "1," * 99_999 + "1\n")
    with pytest.raises(sl.InvalidFileError, match="has 100000 columns, more than the limit"):
        read_table(path)


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_words_that_may_be_levels_are_kept(tmp_path, kind):
    words = ["None", "null", "N/A", "none", "NULL"]
    gone = ["NA", "NaN", "", "?", ".", "<NA>", "#N/A"]
    rows = [(word, i) for i, word in enumerate([*words, *gone])]
    path = tmp_path / f"data.{kind}"
    if kind == "csv":
        path.write_text("coma,n\n" + "".join(f"{word},{i}\n" for word, i in rows))
    else:
        book = openpyxl.Workbook()
        for row in [("coma", "n"), *rows]:
            book.active.append(row)
        book.save(path)
    table = read_table(path)
    assert table["coma"].dropna().tolist() == words
    assert table["coma"].isna().sum() == len(gone)
    assert pd.api.types.is_numeric_dtype(table["n"])
