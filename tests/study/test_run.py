"""A study in a folder: finished, interrupted, killed and resumed, misused."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep

import numpy as np
import pandas as pd
import pytest

from shortlist import InvalidFileError, InvalidProblemError, evaluate
from shortlist.evaluation import evaluate_resample, stability
from study import run as module
from study.plan import KEYS, METHODS, PRESETS, Arm, Preset, Run
from study.run import evaluate_run, resume, start, status, write_tables
from study.tables import FILES

SEEDS = (1, 2023)
SMALL = Preset(
    {
        "selections": Arm(METHODS, range(1, 5), SEEDS, nested=False),
        "aucs": Arm(METHODS, range(1), SEEDS),
        "methods": Arm(("lasso", "full"), range(1), SEEDS[:1], rotating=True),
        "intervals": Arm(METHODS, range(3), SEEDS[:1], selecting=False, rotating=True),
        "extremes": Arm(METHODS, range(2), SEEDS[:1], selecting=False, extremes_of="aucs"),
    },
    shapes=((82, 14),),
)
N_RUNS = {"selections": 72, "aucs": 72, "methods": 8, "intervals": 8, "extremes": 8}
N_BLOCKS = {"selections": 2, "intervals": 2}  # of two resamples each
N_TASKS = {name: count * N_BLOCKS.get(name, 1) for name, count in N_RUNS.items()}


def read(folder, name):
    """A table as anybody would read it."""
    return pd.read_csv(folder / FILES[name])


@pytest.fixture(scope="module", autouse=True)
def _small_preset():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PRESETS, "small", SMALL)
        patch.setattr(module, "_BLOCK", 2)
        yield


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study") / "made"
    start(folder, "small", progress=False)
    return folder


@pytest.fixture
def copy(study, tmp_path):
    return Path(shutil.copytree(study, tmp_path / "again"))


def supports(texts):
    return [[int(g) for g in text.split()] for text in texts.split(",")]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("study", "number"), [("cardinality", 4), ("budget", 2)])
def test_selections_are_those_of_the_whole_evaluation(method, study, number):
    run = Run(study, 5, 82, 14, 0.05, number, method)
    expected = [evaluate_resample(run.experiment(), i, nested=False) for i in range(1, 5)]
    found = evaluate_run(run, range(1, 5), nested=False)
    assert found["supports"] == [result["support"] for result in expected]


def test_aucs_are_those_of_an_evaluation(study):
    one = Run("cardinality", 1, 82, 14, 0.05, 3, "optimal")
    expected = evaluate(one.experiment(), n_resamples=2, progress=False).rows
    rows = read(study, "intervals").query("arm == 'intervals'").set_index(list(KEYS))
    aucs = [float(text) for text in rows.loc[tuple(vars(one).values()), "aucs"].split()]
    np.testing.assert_allclose(aucs, expected["test_auc"], rtol=1e-5)
    line = read(study, "runs").set_index(list(KEYS)).loc[tuple(vars(one).values())]
    assert line["auc"] == pytest.approx(expected["test_auc"].iloc[0], rel=1e-5)
    support = [int(g) for g in expected["support"].iloc[0].split()]
    assert line["informative_data"] == pytest.approx(sum(g < 3 for g in support) / 3, rel=1e-5)


def test_the_measures_of_runs_are_those_of_their_selections(study):
    runs = read(study, "runs").set_index(list(KEYS))
    selections = read(study, "selections")
    assert len(selections) == N_RUNS["selections"]
    for values in selections.itertuples(index=False):
        line = runs.loc[tuple(values[:-1])]
        chosen = supports(values.selected)
        assert len(chosen) == 4
        n_informative = 5 if values.study == "budget" else values.run
        found = [sum(g < n_informative for g in support) for support in chosen]
        assert line["informative"] == pytest.approx(np.mean(found) / n_informative, rel=1e-5)
        redundant = [n_informative in support for support in chosen]
        assert line["redundant"] == pytest.approx(np.mean(redundant))
        shares = [f / len(s) for f, s in zip(found, chosen, strict=True)]
        assert line["informative_of_selected"] == pytest.approx(np.mean(shares), rel=1e-5)
        matrix = [[g in support for g in range(14)] for support in chosen]
        assert line["stability"] == pytest.approx(stability(matrix).value, rel=1e-5)


def test_optima_are_proven_and_extremes_are_the_lowest_and_the_highest_auc(study):
    parts = json.loads((study / "provenance.json").read_text())["parts"]
    assert {name: part["runs"] for name, part in parts.items()} == N_RUNS
    assert all(part["unproven"] == 0 for part in parts.values())
    assert parts["selections"]["solves"] == 36 * 4 * 10
    assert parts["aucs"]["solves"] == 36 * 40
    runs = read(study, "runs").query("seed == 1")
    extremes = read(study, "intervals").query("arm == 'extremes'")
    extremes = extremes.assign(auc=extremes["aucs"].str.split().str[0].astype(float))
    for keys, rows in runs[runs["method"].isin(METHODS)].groupby(["study", "method"]):
        part = extremes.set_index(["study", "method"]).loc[[keys]]
        assert sorted(part["auc"]) == [rows["auc"].min(), rows["auc"].max()]


def assert_same_tables(folder, study):
    for name in FILES.values():
        assert (folder / name).read_bytes() == (study / name).read_bytes()


def test_an_interrupted_study_ends_with_the_same_tables(study, copy):
    for name in FILES.values():
        (copy / name).unlink()
    (copy / "journals" / "extremes.jsonl").unlink()
    journal = copy / "journals" / "selections.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:100]) + lines[100][:20])  # the last one is torn
    parts = {part.name: (part.finished, part.total) for part in status(copy)}
    whole = {name: (count, count) for name, count in N_TASKS.items()}
    assert parts == whole | {"selections": (99, 144), "extremes": (0, 8)}

    tables = write_tables(copy)  # of what is finished
    assert 0 < len(tables.selections) < 72
    parts = json.loads((copy / "provenance.json").read_text())["parts"]
    assert parts["selections"]["runs"] == len(tables.selections)

    resume(copy, progress=False)
    assert {part.name: (part.finished, part.total) for part in status(copy)} == whole
    assert_same_tables(copy, study)


KILLED = """
from study import run
from study.plan import PRESETS
import sys
sys.path.insert(0, {tests!r})
from test_run import SMALL
PRESETS["small"] = SMALL
run._BLOCK = 2
run.start({folder!r}, "small", n_jobs=2, progress=False)
"""


@pytest.mark.slow
def test_a_killed_study_loses_nothing(study, tmp_path):
    folder = tmp_path / "killed"
    root = Path(__file__).parents[2]
    code = KILLED.format(tests=str(Path(__file__).parent), folder=str(folder))
    paths = os.pathsep.join([str(root), *sys.path])
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": paths},
        start_new_session=True,  # so that its workers are killed with it
    )
    journal = folder / "journals" / "selections.jsonl"
    until = monotonic() + 120
    while not (journal.exists() and journal.read_bytes().count(b"\n") > 20):
        assert process.poll() is None
        assert monotonic() < until
        sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    n_kept = status(folder)[0].finished
    assert 20 <= n_kept < N_TASKS["selections"]
    kept = journal.read_bytes()
    resume(folder, progress=False)
    assert journal.read_bytes().startswith(kept[: kept.rindex(b"\n") + 1])
    assert_same_tables(folder, study)


@pytest.mark.parametrize(
    ("garbage", "message"),
    [
        (b"garbage\n", r"line 4 of .*selections\.jsonl is damaged; delete it"),
        (b'{"task":"x"}\n', r"line 4 of .*selections\.jsonl is damaged; delete it"),
        (b"garbage", r"line 4 of .*selections\.jsonl is damaged; delete it"),
        (None, r"selections\.jsonl: what it has of '.*/1-2' is no result; delete that line"),
    ],
)
def test_garbage_in_a_journal_is_refused(copy, garbage, message):
    journal = copy / "journals" / "selections.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    if garbage is None:  # a whole line with the key of a task
        entry = json.loads(lines[3]) | {"result": {"supports": "garbage"}}
        garbage = json.dumps(entry, separators=(",", ":")).encode() + b"\n"
    is_torn = not garbage.endswith(b"\n")
    journal.write_bytes(b"".join([*lines[:3], garbage, *([] if is_torn else lines[4:])]))
    with pytest.raises((InvalidProblemError, InvalidFileError), match=message):
        resume(copy, progress=False)


def test_provenance_says_what_was_run(study):
    provenance = json.loads((study / "provenance.json").read_text())
    assert provenance["preset"] == "small"
    assert {name: part["tasks"] for name, part in provenance["journals"].items()} == N_TASKS
    assert all(part["core_seconds"] > 0 for part in provenance["journals"].values())
    assert {"shortlist", "numpy", "python"} <= set(provenance["versions"])


def test_another_plan_is_refused(study, monkeypatch):
    more = replace(SMALL, arms=SMALL.arms | {"aucs": replace(SMALL.arms["aucs"], seeds=(1, 2))})
    monkeypatch.setitem(PRESETS, "small", more)
    for function in (status, resume):
        with pytest.raises(InvalidFileError, match="has another plan than the preset 'small'"):
            function(study)


def test_a_finished_study_runs_nothing_again(study, copy):
    announced = []
    resume(copy, progress=False, announce=announced.append)
    for journal in (study / "journals").iterdir():
        assert (copy / "journals" / journal.name).read_bytes() == journal.read_bytes()
    assert [line.partition(":")[0] for line in announced] == list(SMALL.arms)


def test_ctrl_c_leaves_the_tables_of_finished_runs(study, copy, monkeypatch):
    for name in FILES.values():
        (copy / name).unlink()

    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("study.run.run_arm", interrupt)
    with pytest.raises(KeyboardInterrupt):
        resume(copy, progress=False)
    assert_same_tables(copy, study)


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
