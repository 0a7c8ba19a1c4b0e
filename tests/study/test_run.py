"""A study in a folder: finished, interrupted and resumed, misused."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from shortlist import InvalidFileError, InvalidProblemError, evaluate
from shortlist.evaluation import Journal, stability
from study.plan import KEYS, METHODS, PRESETS, Arm, Preset, Run
from study.provenance import timing
from study.run import resume, start, status, write_tables
from study.tables import FILES

SMALL = Preset(
    {
        "selections": Arm(METHODS, range(1, 3), range(1, 2), nested=False),
        "aucs": Arm(METHODS, range(1), range(1, 2)),
        "paper": Arm(METHODS, range(3)),
        "extremes": Arm(METHODS, range(2), range(1, 2), extremes_of="aucs"),
    },
    shapes=((82, 14),),
)
N_TASKS = {"selections": 36 * 2, "aucs": 36, "paper": 36 * 3, "extremes": 8 * 2}


def read(folder, name):
    """A table as anybody would read it."""
    return pd.read_csv(folder / FILES[name], na_filter=name != "rows")


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


@pytest.fixture
def copy(study, tmp_path):
    return Path(shutil.copytree(study, tmp_path / "again"))


def test_rows_are_those_of_an_evaluation(study):
    one = Run("cardinality", 2023, "paper", 82, 14, 0.05, 4, "optimal")
    expected = evaluate(one.experiment(), n_resamples=2, progress=False)
    rows = read(study, "rows").query("arm == 'paper'")
    for name, value in one.keys().items():
        rows = rows[rows[name] == value]
    assert rows["support"].tolist() == expected.rows["support"].tolist()
    np.testing.assert_allclose(rows["test_auc"].astype(float), expected.rows["test_auc"], rtol=1e-5)


def test_the_summary_summarises_the_rows(study):
    summary = read(study, "summary").set_index(["arm", *KEYS])
    for values, rows in read(study, "rows").groupby(["arm", *KEYS]):
        line = summary.loc[values]
        resamples = rows[rows["resample"] > 0]
        if values[0] == "selections":
            assert np.isnan(line["auc"])
        else:
            own = rows.loc[rows["resample"] == 0, "test_auc"].item()
            assert line["auc"] == pytest.approx(float(own), rel=1e-5)
        if values[0] == "aucs":
            resamples = rows
        run = dict(zip(["arm", *KEYS], values, strict=True))
        n_informative = 5 if run["study"] == "budget" else run["run"]
        supports = [[int(g) for g in support.split()] for support in resamples["support"]]
        found = [sum(g < n_informative for g in support) for support in supports]
        assert line["informative"] == pytest.approx(np.mean(found) / n_informative, rel=1e-5)
        redundant = [n_informative in support for support in supports]
        assert line["redundant"] == pytest.approx(np.mean(redundant))
        shares = [f / len(s) for f, s in zip(found, supports, strict=True)]
        assert line["informative_of_selected"] == pytest.approx(np.mean(shares), rel=1e-5)
        if len(supports) > 1:
            chosen = [[g in support for g in range(14)] for support in supports]
            assert line["stability"] == pytest.approx(stability(chosen).value, rel=1e-5)
        assert (
            line["solves"]
            == rows["solves"].sum()
            == len(rows) * (10 if run["arm"] == "selections" else 40)
        )


def test_frequencies_of_features_add_up_to_the_size_of_the_selection(study):
    features = read(study, "features")
    rows = read(study, "rows").query("arm == 'paper' and resample > 0")
    sizes = rows["support"].str.split().str.len().groupby([rows[key] for key in KEYS]).mean()
    frequencies = features.groupby(list(KEYS))["frequency"].sum()
    pd.testing.assert_series_equal(frequencies, sizes, check_names=False)
    counts = features.query("study == 'budget' and method == 'optimal'")["role"].value_counts()
    assert (counts["informative"] / counts["redundant"]) == 5


def test_optima_are_proven_and_extremes_are_the_lowest_and_the_highest_auc(study):
    summary = read(study, "summary")
    assert (summary.query("method == 'optimal'")["unproven"] == 0).all()
    aucs, extremes = (summary[summary["arm"] == arm] for arm in ("aucs", "extremes"))
    assert len(extremes) == 8
    for keys, rows in aucs.groupby(["study", "method"]):
        part = extremes.set_index(["study", "method"]).loc[[keys]]
        assert sorted(part["auc"]) == [rows["auc"].min(), rows["auc"].max()]


def test_an_interrupted_study_ends_with_the_same_tables(study, copy):
    folder = copy
    for name in FILES.values():
        (folder / name).unlink()
    (folder / "journals" / "extremes.jsonl").unlink()
    journal = folder / "journals" / "paper.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:90]) + lines[90][:20])  # the last one is torn
    parts = {part.name: (part.finished, part.total) for part in status(folder)}
    whole = {name: (count, count) for name, count in N_TASKS.items()}
    assert parts == whole | {"paper": (89, 108), "extremes": (0, 16)}

    summary = write_tables(folder).summary  # of what is finished
    runs = set(summary.query("arm == 'paper'").groupby(list(KEYS)).groups)
    assert 0 < len(runs) < 36
    assert (summary["arm"] == "selections").sum() == 36
    parts = json.loads((folder / "provenance.json").read_text())["parts"]
    assert parts["paper"] == [89, 108]

    resume(folder, progress=False)
    assert {part.name: (part.finished, part.total) for part in status(folder)} == whole
    for name in FILES.values():
        assert (folder / name).read_bytes() == (study / name).read_bytes()


def test_provenance_says_what_was_run(study):
    provenance = json.loads((study / "provenance.json").read_text())
    assert provenance["preset"] == "small"
    assert {part["arm"]: part["tasks"] for part in provenance["times"]} == N_TASKS
    assert {name: part["tasks"] for name, part in provenance["journals"].items()} == N_TASKS
    assert all(part["core_seconds"] > 0 for part in provenance["times"])
    assert {"shortlist", "numpy", "python"} <= set(provenance["versions"])


def test_an_interrupted_part_is_timed(tmp_path):
    path = tmp_path / "journal.jsonl"
    with pytest.raises(KeyboardInterrupt), timing(tmp_path, path, arm="paper"):
        with Journal(path, work="") as journal:
            journal.append("0", {}, seconds=2.0)
        raise KeyboardInterrupt
    noted = json.loads((tmp_path / "times.jsonl").read_text())
    assert (noted["arm"], noted["tasks"], noted["core_seconds"]) == ("paper", 1, 2.0)


def test_another_plan_is_refused(study, monkeypatch):
    more = replace(
        SMALL, arms=SMALL.arms | {"aucs": replace(SMALL.arms["aucs"], seeds=range(1, 3))}
    )
    monkeypatch.setitem(PRESETS, "small", more)
    for function in (status, resume):
        with pytest.raises(InvalidFileError, match="has another plan than the preset 'small'"):
            function(study)


def test_differences_are_paired(study):
    rows = read(study, "rows").query("arm == 'paper' and resample == 0")
    keys = ["study", "label_noise", "run"]
    auc = rows.pivot(index=keys, columns="method", values="test_auc").astype(float)
    own = read(study, "summary").query("arm == 'paper' and method == 'optimal'").set_index(keys)
    difference = (auc["optimal"] - auc["univariable"]).rename("difference")
    pd.testing.assert_series_equal(own["difference"].sort_index(), difference, atol=1e-5)


def test_a_finished_study_runs_nothing_again(study, copy):
    announced = []
    resume(copy, progress=False, announce=announced.append)
    assert (copy / "times.jsonl").read_text() == (study / "times.jsonl").read_text()
    assert [line.partition(":")[0] for line in announced] == list(SMALL.arms)


def test_ctrl_c_leaves_the_tables_of_finished_runs(study, copy, monkeypatch):
    for name in FILES.values():
        (copy / name).unlink()

    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("study.run.run_arm", interrupt)
    with pytest.raises(KeyboardInterrupt):
        resume(copy, progress=False)
    for name in FILES.values():
        assert (copy / name).read_bytes() == (study / name).read_bytes()


def test_folders_and_presets_that_do_not_fit(study, tmp_path):
    with pytest.raises(InvalidProblemError, match="preset: there is no 'long'; use one of"):
        start(tmp_path, "long")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InvalidFileError, match="holds a study; resume it"):
        start(study, "small")
    with pytest.raises(InvalidFileError, match="holds no study"):
        resume(tmp_path)
    (tmp_path / "study.json").write_text('{"preset": "gone", "plan": {}}')
    with pytest.raises(InvalidFileError, match="names no known preset"):
        status(tmp_path)
