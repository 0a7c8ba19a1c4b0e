"""A study in a folder: finished, interrupted and resumed, misused."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pandas as pd
import pytest

from shortlist import evaluate
from shortlist.errors import InvalidFileError, InvalidProblemError
from shortlist.study import PRESETS, Arm, Preset, Results, Run, resume, start, status

SMALL = Preset(
    {"paper": Arm(("optimal", "univariable"), 2), "clean": Arm(("optimal",), 1, protocol="clean")},
    shapes=((82, 14),),
)
TABLES = ("results.csv.gz", "summary.csv", "features.csv")


def read_results(folder):
    """The tables as anybody would read them."""
    return Results(*(pd.read_csv(folder / name, na_filter=name != TABLES[0]) for name in TABLES))


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study") / "made"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PRESETS, "small", SMALL)
        start(folder, "small", progress=False)
    return folder


@pytest.fixture(autouse=True)
def _small_preset(monkeypatch):
    monkeypatch.setitem(PRESETS, "small", SMALL)


def test_rows_are_those_of_an_evaluation(study):
    one = Run("cardinality", 0, "paper", 82, 14, 0.05, 4, "optimal")
    expected = evaluate(one.experiment(), n_resamples=2, progress=False)
    rows = read_results(study).rows
    for name, value in one.keys().items():
        rows = rows[rows[name] == value]
    assert rows["support"].tolist() == expected.rows["support"].tolist()
    np.testing.assert_allclose(rows["test_auc"], expected.rows["test_auc"], rtol=1e-8)


def test_the_summary_summarises_the_rows(study):
    results = read_results(study)
    keys = list(Run.__dataclass_fields__)
    assert len(results.summary) == 18 * (2 + 1) + 18 * (1 + 1)  # the last of each is stabilised
    for values, rows in results.rows.groupby(keys):
        line = results.summary.set_index(keys).loc[values]
        assert line["auc"] == pytest.approx(rows.loc[rows["resample"] == 0, "test_auc"].item())
        resamples = rows[rows["resample"] > 0]
        assert line["auc_mean"] == pytest.approx(resamples["test_auc"].mean())
        n_informative = dict(zip(keys, values, strict=True))["run"]
        n_informative = 5 if "budget" in values else n_informative
        found = [sum(int(g) < n_informative for g in s.split()) for s in resamples["support"]]
        assert line["informative"] == pytest.approx(np.mean(found) / n_informative)
        assert line["solves"] == rows["solves"].sum()


def test_frequencies_of_features_add_up_to_the_size_of_the_selection(study):
    results = read_results(study)
    keys = list(Run.__dataclass_fields__)
    frequencies = results.features.groupby(keys)["frequency"].sum()
    resamples = results.rows[results.rows["resample"] > 0]
    sizes = resamples["support"].str.split().str.len().groupby([resamples[k] for k in keys]).mean()
    pd.testing.assert_series_equal(frequencies, sizes, check_names=False)


def test_every_optimum_is_proven(study):
    summary = read_results(study).summary
    assert (summary.loc[summary["method"] == "optimal", "unproven"] == 0).all()


def test_the_stabilised_method_is_the_most_frequent_selection(study):
    results = read_results(study)
    clean = results.summary[results.summary["protocol"] == "clean"].set_index(
        ["study", "label_noise", "run", "method"]
    )
    # With one resample the most frequent selection is its selection.
    optimal, stabilised = (clean.xs(m, level="method") for m in ("optimal", "stabilised"))
    pd.testing.assert_series_equal(optimal["informative"], stabilised["informative"])
    assert stabilised["auc"].isna().all()


def test_an_interrupted_study_ends_with_the_same_tables(study, tmp_path):
    folder = tmp_path / "again"
    shutil.copytree(study, folder)
    for name in TABLES:
        (folder / name).unlink()
    journal = folder / "journals" / "paper.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:90]) + lines[90][:20])  # the last one is torn
    before = status(folder)
    assert (before.finished, before.total) == (89 + 18 * 2, 36 * 3 + 18 * 2)

    resume(folder, progress=False)
    assert status(folder).finished == before.total
    for name in TABLES:
        assert (folder / name).read_bytes() == (study / name).read_bytes()


def test_provenance_tells_what_was_run(study):
    provenance = json.loads((study / "provenance.json").read_text())
    assert provenance["preset"] == "small"
    assert [(t["arm"], t["tasks"]) for t in provenance["times"]] == [("paper", 108), ("clean", 36)]
    assert all(t["core_seconds"] > 0 for t in provenance["times"])
    assert {"shortlist", "numpy", "python"} <= set(provenance["versions"])


def test_a_finished_study_runs_nothing_again(study, tmp_path):
    folder = tmp_path / "again"
    shutil.copytree(study, folder)
    told = []
    resume(folder, progress=False, announce=told.append)
    assert (folder / "times.jsonl").read_text() == (study / "times.jsonl").read_text()
    assert [line.partition(":")[0] for line in told] == ["paper", "clean"]


def test_unknown_preset(tmp_path):
    with pytest.raises(InvalidProblemError, match="preset: there is no 'long'; use one of"):
        start(tmp_path, "long")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_a_study_is_not_started_again(study):
    with pytest.raises(InvalidFileError, match="holds a study; resume it"):
        start(study, "small")


@pytest.mark.parametrize("function", [resume, status])
def test_a_folder_without_a_study(function, tmp_path):
    with pytest.raises(InvalidFileError, match="holds no study; start one"):
        function(tmp_path)


def test_a_damaged_description(tmp_path):
    (tmp_path / "study.json").write_text('{"preset": "no such"}')
    with pytest.raises(InvalidFileError, match="names no known preset"):
        status(tmp_path)


def test_a_file_in_the_way(tmp_path):
    place = tmp_path / "file"
    place.write_text("")
    with pytest.raises(InvalidFileError, match="cannot be made"):
        start(place / "study")
