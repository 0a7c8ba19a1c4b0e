"""A study in a folder: finished, interrupted and resumed, misused."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from shortlist import evaluate
from shortlist.errors import InvalidFileError, InvalidProblemError
from shortlist.evaluation import Journal
from shortlist.study import PRESETS, Arm, Preset, Results, Run, resume, start, status
from shortlist.study.provenance import timing
from shortlist.study.results import most_frequent

SMALL = Preset(
    {"paper": Arm(("optimal", "univariable"), 2), "clean": Arm(("optimal",), 1, protocol="clean")},
    shapes=((82, 14),),
)
TABLES = ("results.csv.gz", "summary.csv", "features.csv.gz")


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
    np.testing.assert_allclose(rows["test_auc"], expected.rows["test_auc"], rtol=1e-6)


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


def test_journals_tell_the_work_of_all_runs(study):
    journals = json.loads((study / "provenance.json").read_text())["journals"]
    assert {name: part["tasks"] for name, part in journals.items()} == {"clean": 36, "paper": 108}
    assert all(part["core_seconds"] > 0 for part in journals.values())


def test_an_interrupted_part_is_timed(tmp_path):
    path = tmp_path / "journal.jsonl"
    with pytest.raises(KeyboardInterrupt), timing(tmp_path, path, arm="paper"):
        with Journal(path, work="") as journal:
            journal.append("0", {}, seconds=2.0)
        raise KeyboardInterrupt
    noted = json.loads((tmp_path / "times.jsonl").read_text())
    assert (noted["arm"], noted["tasks"], noted["core_seconds"]) == ("paper", 1, 2.0)


def test_another_plan_is_refused(study, tmp_path, monkeypatch):
    folder = tmp_path / "again"
    shutil.copytree(study, folder)
    assert json.loads((folder / "study.json").read_text())["plan"]["shapes"] == [[82, 14]]
    more = replace(SMALL, arms=SMALL.arms | {"paper": replace(SMALL.arms["paper"], n_resamples=3)})
    monkeypatch.setitem(PRESETS, "small", more)
    for function in (status, resume):
        with pytest.raises(InvalidFileError, match="has another plan than the preset 'small'"):
            function(folder)
    (folder / "study.json").write_text('{"preset": "small"}')  # of an older version
    assert status(folder).total == 36 * 4 + 18 * 2


def test_tasks_of_another_plan_do_not_count(study, tmp_path, monkeypatch):
    folder = tmp_path / "again"
    shutil.copytree(study, folder)
    fewer = replace(SMALL, arms=SMALL.arms | {"paper": replace(SMALL.arms["paper"], n_resamples=1)})
    monkeypatch.setitem(PRESETS, "small", fewer)
    (folder / "study.json").write_text('{"preset": "small"}')
    state = status(folder)
    assert state.finished == state.total == 36 * 2 + 18 * 2


def test_protocols_are_compared_over_the_same_resamples(study):
    results = read_results(study)
    keys = list(Run.__dataclass_fields__)
    for values, rows in results.rows.groupby(keys):
        line = results.summary.set_index(keys).loc[values]
        if "optimal" not in values:
            assert np.isnan(line["matched_mean"])
            continue
        first = rows.loc[rows["resample"] == 1, "test_auc"].item()
        assert line["matched_resamples"] == 1
        assert line["matched_mean"] == pytest.approx(first)


def test_differences_are_paired(study):
    results = read_results(study)
    rows = results.rows[(results.rows["resample"] == 0) & (results.rows["protocol"] == "paper")]
    keys = ["study", "label_noise", "run"]
    auc = rows.pivot(index=keys, columns="method", values="test_auc")
    own = results.summary.query("protocol == 'paper' and method == 'optimal'").set_index(keys)
    pd.testing.assert_series_equal(
        own["auc_difference"].sort_index(),
        auc["optimal"] - auc["univariable"],
        check_names=False,
        atol=1e-6,  # the tables have 7 digits
    )
    assert results.summary.query("protocol == 'clean'")["auc_difference"].isna().all()


def test_equally_frequent_selections_are_all_kept():
    selection = pd.DataFrame(
        [[1, 0], [0, 1], [1, 0], [0, 1], [1, 1]], columns=["a", "b"], dtype=bool
    )
    assert most_frequent(selection).to_numpy().tolist() == [[True, False], [False, True]]


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
