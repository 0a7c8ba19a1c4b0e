"""The model file: to the bit when it is right, one sentence when it is wrong."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shortlist as sl
from shortlist.patients.term import BooleanTerm, CategoricalTerm, NumericTerm

finite = st.floats(allow_nan=False, allow_infinity=False)


@pytest.fixture(scope="module")
def card(patients):
    table, y = patients
    return (
        sl.PrognosticModel(
            budget=20,
            costs=dict.fromkeys(table.columns, 2.5),
            fees=[(1.1, ["age", "sex"])],
            include=["marker"],
            exclude=["noise"],
            preparation=sl.Preparation(spline_knots=4, missing_indicator=True),
            tuning=sl.Tuning(cv=3),
        )
        .fit(table, y)
        .card_
    )


@pytest.fixture
def saved(card, tmp_path):
    path = tmp_path / "model.json"
    card.save(path)
    return path


def test_loaded_model_predicts_the_same_bits(card, saved, patients):
    table, _ = patients
    loaded = sl.ModelCard.load(saved)
    assert loaded == card
    assert loaded.log_odds(table).tobytes() == card.log_odds(table).tobytes()
    one_by_one = [loaded.log_odds(table.iloc[[row]])[0] for row in range(len(table))]
    assert np.array(one_by_one).tobytes() == card.log_odds(table).tobytes()


def test_saving_twice_writes_the_same_bytes(card, saved, tmp_path):
    sl.ModelCard.load(saved).save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == saved.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.json", "model.json"]


def test_file_says_how_the_model_was_fitted(saved):
    content = json.loads(saved.read_text())
    assert content["format"] == "shortlist model"
    assert content["shortlist_version"] == sl.__version__
    assert content["outcome"] == {"name": "fate", "event": "dead", "no_event": "alive"}
    assert content["limits"]["budget"] == 20
    assert content["limits"]["fees"] == [{"amount": 1.1, "members": ["age", "sex"]}]
    assert content["limits"]["exclude"] == ["noise"]
    assert [entry["ridge"] for entry in content["search"]["tuning"]] == [
        10,
        3,
        1,
        0.3,
        0.1,
        0.03,
        0.01,
    ]
    assert content["data"]["rows"] == 150
    assert {entry["cost"] for entry in content["candidates"]} == {2.5}


def test_contributions_add_up(card, patients):
    table, _ = patients
    total = card.intercept + card.contributions(table).sum(axis=1)
    assert total.to_numpy() == pytest.approx(card.log_odds(table))


numeric_terms = st.builds(
    lambda value, coefficient, fill, missing: NumericTerm(
        name="a",
        fill=fill,
        quartiles=(value, value),
        range=(value, value),
        knots=(),
        coefficients=(coefficient,),
        missing_coefficient=missing,
    ),
    finite,
    finite,
    finite,
    st.none() | finite,
)
levels = st.dictionaries(st.text(), finite, min_size=1)
categorical_terms = levels.map(
    lambda levels: CategoricalTerm(
        name="a",
        reference=next(iter(levels)),
        coefficients=levels | {next(iter(levels)): 0.0},
        missing_coefficient=None,
    )
)
boolean_terms = st.builds(
    BooleanTerm, name=st.just("a"), fill=st.booleans(), coefficient=finite,
    missing_coefficient=st.none() | finite,
)  # fmt: skip


@given(st.one_of(numeric_terms, categorical_terms, boolean_terms))
def test_every_term_survives_json_to_the_bit(term):
    again = type(term).model_validate_json(term.model_dump_json())
    assert again == term
    assert again.model_dump_json() == term.model_dump_json()
    assert repr(again) == repr(term)  # tells -0.0 from 0.0


def paths_in(content, place=()):
    """Yield the place of everything in a JSON value."""
    if place:
        yield place
    entries = content.items() if isinstance(content, dict) else enumerate(content)
    for key, value in entries:
        if isinstance(value, dict | list):
            yield from paths_in(value, (*place, key))
        else:
            yield (*place, key)


def value_at(content, place):
    for key in place:
        content = content[key]
    return content


def tampered(content, place, value):
    copy = json.loads(json.dumps(content))
    target = copy
    for key in place[:-1]:
        target = target[key]
    if value is DELETED:
        del target[place[-1]]
    else:
        target[place[-1]] = value
    return copy


DELETED = object()


def assert_one_sentence(path):
    with pytest.raises(sl.InvalidFileError) as caught:
        sl.ModelCard.load(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(path))
    assert message.endswith(".")


def test_nothing_may_be_missing(saved):
    content = json.loads(saved.read_text())
    for place in paths_in(content):
        newer = ("update", "imputation", "repeats", "draws", "stable", "imputed", "values")
        if place[-1] in newer:
            continue  # files of before there were these lack them
        if isinstance(place[-1], str) and "coefficients" not in place:
            saved.write_text(json.dumps(tampered(content, place, DELETED)))
            assert_one_sentence(saved)


@pytest.mark.parametrize("value", [{}, [{}], "1", [[1, "x"]]], ids=str)
def test_nothing_may_have_another_type(saved, value):
    content = json.loads(saved.read_text())
    for place in paths_in(content):
        if isinstance(value, str) and isinstance(value_at(content, place), str):
            continue
        if value == value_at(content, place):
            continue
        saved.write_text(json.dumps(tampered(content, place, value)))
        assert_one_sentence(saved)


def test_nothing_may_be_added(saved):
    content = json.loads(saved.read_text())
    for place in paths_in(content):
        if isinstance(place[-1], str) and "coefficients" not in place:
            extra = tampered(content, (*place[:-1], "__class__"), "os.system")
            saved.write_text(json.dumps(extra))
            assert_one_sentence(saved)


@pytest.mark.parametrize(
    "change",
    [
        {"intercept": float("nan")},
        {"intercept": float("inf")},
        {"intercept": True},
        {"format": "another model"},
        {"format_version": 2},
        {"cost": -1},
        {"cost": 3},
        {"terms": []},
        {"candidates": []},
    ],
    ids=str,
)
def test_wrong_values(saved, change):
    saved.write_text(json.dumps(json.loads(saved.read_text()) | change))
    assert_one_sentence(saved)


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("search", {"lower_bound": 1e9}),
        ("search", {"lower_bound": 0}),
        ("search", {"gap": 0.5}),
        ("search", {"ridge": 0}),
        ("search", {"status": "best"}),
        ("data", {"events": 1000}),
        ("data", {"sha256": "abc"}),
    ],
    ids=str,
)
def test_wrong_values_inside(saved, part, change):
    content = json.loads(saved.read_text())
    content[part] |= change
    saved.write_text(json.dumps(content))
    assert_one_sentence(saved)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'{"format": "shortlist model", "format": "shortlist model"}',
        pickle.dumps(pd.DataFrame()),
    ],
    ids=range(8),
)
def test_other_files(tmp_path, content):
    path = tmp_path / "model.json"
    path.write_bytes(content)
    assert_one_sentence(path)


def test_no_file(tmp_path):
    assert_one_sentence(tmp_path / "none.json")
    assert_one_sentence(tmp_path)


def test_a_place_that_cannot_be_written(card, tmp_path):
    for path in (tmp_path, tmp_path / "none" / "model.json"):
        with pytest.raises(sl.InvalidFileError, match=r"is not a regular file|cannot be written"):
            card.save(path)
    assert list(tmp_path.iterdir()) == []


def test_a_padded_file_is_refused_before_it_is_parsed(saved):
    saved.write_text(saved.read_text() + " " * 6_000_000)
    with pytest.raises(sl.InvalidFileError, match="is too large to be a model file"):
        sl.ModelCard.load(saved)
