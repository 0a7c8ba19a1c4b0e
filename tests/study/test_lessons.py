"""Advice is given only where the numbers speak for it."""

from __future__ import annotations

import pandas as pd
import pytest
from fake_study import fake_tables

from shortlist.study.lessons import lessons

NOT_SHOWN = "The study does not show that "


def informative(summary, value):
    """Set the informative fraction of the optimum; `value` gives it for a row."""
    summary = summary.copy()
    optimal = summary["method"] == "optimal"
    summary.loc[optimal, "informative"] = summary[optimal].apply(value, axis=1)
    return summary


def lesson(text, word):
    """Return the one lesson with a word in it, on one line."""
    found = [line for line in " ".join(text.split()).split("- ") if word in line]
    assert len(found) == 1
    return found[0]


@pytest.fixture
def summary():
    return fake_tables()[0]


@pytest.mark.parametrize(("noisy", "advises"), [(0.4, True), (0.6, False), (0.5, False)])
def test_noise(summary, noisy, advises):
    summary = informative(summary, lambda row: noisy if row["label_noise"] else 0.5)
    text = lesson(lessons(summary, None), "label noise lowered")
    assert text.startswith("Check labels" if advises else f"{NOT_SHOWN}label noise harms")
    assert f"in {16 if advises else 0} of 16 cases (EPV, draw)" in text
    assert f"at EPV 0.36 from 50% to {noisy:.0%}; at EPV 17.91 from 50% to {noisy:.0%}" in text


@pytest.mark.parametrize(("slope", "advises"), [(0.02, True), (-0.02, False)])
def test_events(summary, slope, advises):
    summary = informative(summary, lambda row: 0.5 + slope * row["epv"])
    text = lesson(lessons(summary, None), "at EPV 17.91 than at")
    assert text.startswith("Count events" if advises else f"{NOT_SHOWN}more events")
    assert f"in {8 if advises else 0} of 8 cases" in text


@pytest.mark.parametrize(("value", "advises"), [(0.99, True), (0.0, False)])
def test_method(summary, value, advises):
    text = lesson(lessons(informative(summary, lambda row: value), None), "and fewer in")
    assert text.startswith("Prefer optimal" if advises else f"{NOT_SHOWN}optimal selection")
    assert f"more in {32 if advises else 0} and fewer in {0 if advises else 32} of 32" in text


def test_stability(summary):
    for value, start in ((0.1, "Report how often"), (0.9, "Most optimal selections are stable")):
        text = lesson(lessons(summary.assign(stability=value), None), "mean stability")
        assert text.startswith(start)


def test_one_seed_says_nothing_of_the_draw(summary):
    assert "draw to draw" in lessons(summary, None).replace("\n  ", " ")
    alone = lessons(summary[summary["seed"] == 0], None)
    assert "draw to draw" not in alone.replace("\n  ", " ")
    assert "of 4 cases (EPV, draw)" in alone.replace("\n  ", " ")


def test_equal_protocols_show_no_leak(summary):
    text = lesson(lessons(summary, None), "copies")
    assert text.startswith("Keep all copies")
    assert "in 72 of 72 runs" in text
    same = summary.assign(matched_mean=summary["auc"].where(summary["matched_mean"].notna()) + 0.01)
    text = lesson(lessons(same, None), "copies")
    assert text.startswith(f"{NOT_SHOWN}copies")
    assert "in 0 of 72 runs" in text


@pytest.mark.parametrize(("by_person", "advises"), [(0.8, True), (0.9, False)])
def test_persons(summary, by_person, advises):
    variants = pd.DataFrame(
        {"variant": ["columns-22-rows", "columns-22-persons"], "accuracy": [0.87, by_person]}
    )
    text = lesson(lessons(summary, variants), "persons")
    assert text.startswith("If persons have" if advises else f"{NOT_SHOWN}it matters")


def test_a_study_without_complete_draws_teaches_nothing(summary):
    part = summary[(summary["n_features"] == 14) & (summary["protocol"] == "paper")]
    assert lessons(part, None) == ""
