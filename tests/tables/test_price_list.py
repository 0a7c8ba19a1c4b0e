"""Prices and fees from files."""

import pandas as pd
import pytest

import shortlist as sl
from shortlist.tables import csv_text, read_costs, read_fees

COLUMNS = ["age", "chol", "=x", "'=x", "a,b"]


def write(folder, content):
    path = folder / "costs.csv"
    path.write_text(content)
    return path


@pytest.mark.parametrize(
    "content",
    [
        "predictor,cost\nage,1\nchol,5.17\n",
        "age,1\nchol,5.17\n",
        "age;1\nchol;5.17\n",
        "age\t1\nchol\t5.17\n",
        "\ufeffage, 1\r\n\r\nchol, 5.17\r\n",
        "predictor;cost\nage;1,0\nchol;5,17\n",
        "age;1\nchol;5,17\n",
        "chol;5,17\nage;1\n",
        "chol\t5,17\nage\t1\n",
    ],
)
def test_costs(tmp_path, content):
    assert read_costs(write(tmp_path, content), COLUMNS) == {"age": 1, "chol": 5.17}


def test_a_template_that_is_not_filled_in_has_no_costs(tmp_path):
    assert read_costs(write(tmp_path, "predictor,cost\nage,\nchol,2\n"), COLUMNS) == {"chol": 2}


def test_names_survive_being_made_harmless(tmp_path):
    text = csv_text(["predictor", "cost"], [(name, i) for i, name in enumerate(COLUMNS)])
    assert "\n=" not in text
    assert read_costs(write(tmp_path, text), COLUMNS) == {n: i for i, n in enumerate(COLUMNS)}
    # Written by hand, without the apostrophe.
    assert read_costs(write(tmp_path, "=x,1\nage,2\n"), COLUMNS) == {"=x": 1, "age": 2}


@pytest.mark.parametrize("header", [True, False])
def test_costs_and_fees_from_a_workbook(tmp_path, header):
    costs, fees = tmp_path / "costs.xlsx", tmp_path / "fees.xlsx"
    rows = [("age", 1, None), ("chol", 5.17, None), (None, None, None), ("a,b", "2,5", None)]
    pd.DataFrame(rows, columns=["predictor", "cost", ""]).to_excel(
        costs, index=False, header=header
    )
    assert read_costs(costs, COLUMNS) == {"age": 1, "chol": 5.17, "a,b": 2.5}
    pd.DataFrame([(2.1, "chol", "age"), (3, "age", None)]).to_excel(fees, index=False, header=False)
    assert read_fees(fees, COLUMNS) == [(2.1, ["chol", "age"]), (3, ["age"])]


@pytest.mark.parametrize(
    "content", ["amount,members\n2.10,chol,age\n0,age,,\n", "2,10;chol;age\n0;age\n"]
)
def test_fees(tmp_path, content):
    path = write(tmp_path, content)
    assert read_fees(path, COLUMNS) == [(2.1, ["chol", "age"]), (0, ["age"])]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("age\n", "row 1 has 1 cells, not 2"),
        ("age,1,2\n", "row 1 has 3 cells, not 2"),
        ("age,1\nheight,2\n", "there is no predictor 'height'"),
        ("age,1\nage,2\n", "'age' has two costs"),
        ("age,-1\n", "must be a number of at least 0, not '-1'"),
        ("age,cheap\n", "not 'cheap'"),
        ("chol,1\nage,nan\n", "not 'nan'"),
        ("chol,1\nage,inf\n", "not 'inf'"),
        ("chol,1\nage,1e999\n", "not '1e999'"),
    ],
)
def test_wrong_costs(tmp_path, content, message):
    with pytest.raises(sl.InvalidFileError, match=message) as caught:
        read_costs(write(tmp_path, content), COLUMNS)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("2.10\n", "row 1 names no predictor"),
        ("2.10,height\n", "there is no predictor 'height'"),
        ("amount,members\nfree,age\n", "not 'free'"),
        ("-2,age\n", "at least 0"),
        ("$2.10,chol,age\n3,age\n", r"the fee in row 1 for 'chol', 'age' must be .* not '\$2.10'"),
    ],
)
def test_wrong_fees(tmp_path, content, message):
    with pytest.raises(sl.InvalidFileError, match=message):
        read_fees(write(tmp_path, content), COLUMNS)
