"""The Parkinson experiment, on small files that look like the real one."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from shortlist import InvalidFileError, InvalidProblemError
from study import recordings as module
from study.parkinson import (
    VARIANTS,
    describe,
    parkinson_experiment,
    read_findings,
    run_parkinson,
)
from study.recordings import download_recordings, read_recordings

NOT_LITTLES = ["MDVP:Fo(Hz)", "MDVP:Fhi(Hz)", "MDVP:Flo(Hz)", "spread1", "spread2"]


@pytest.fixture
def data_file(tmp_path):
    """12 persons of 5 recordings and 7 measures, two of them Little's."""
    rng = np.random.default_rng(3)
    persons = np.repeat(np.arange(12), 5)
    status = (persons >= 4).astype(int)
    names = [*NOT_LITTLES, "PPE", "D2"]
    frame = pd.DataFrame(rng.normal(size=(60, 7)), columns=names)
    frame["PPE"] += 2 * status
    frame.insert(0, "name", [f"phon_R01_S{p:02d}_{i % 5 + 1}" for i, p in enumerate(persons)])
    frame.insert(5, "status", status)
    frame.to_csv(tmp_path / "parkinsons.data", index=False)
    return tmp_path / "parkinsons.data"


def test_reads_persons_and_measures(data_file):
    recordings = read_recordings(data_file)
    assert recordings.measures.shape == (60, 7)
    assert list(recordings.of_little().measures) == ["PPE", "D2"]
    assert len(set(recordings.persons)) == 12
    assert recordings.persons[0] == "phon_R01_S00"
    assert recordings.status.sum() == 40


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("spread1", "spread3", "has no column 'spread1'"),
        ("phon_R01_S00_1,", "phon_R01_S00_1,x", "not a number"),
        (",0,", ",2,", "status must be 0 or 1"),
        ("name,", "name,,,\n1,2,3,4,5,6,7,8,9,10,11,12,13\n", "has no column|cannot be read"),
    ],
)
def test_another_file_is_refused(data_file, old, new, message):
    text = data_file.read_text()
    data_file.write_text(text.replace(old, new, 1))
    with pytest.raises(InvalidFileError, match=message):
        read_recordings(data_file)


def test_a_download_is_checked(data_file, tmp_path, monkeypatch):
    source, place = data_file.as_uri(), tmp_path / "copy"
    with pytest.raises(InvalidFileError, match="SHA-256"):
        download_recordings(place, source)
    assert not place.exists()
    monkeypatch.setattr(module, "SHA256", module._digest(data_file.read_bytes()))
    assert download_recordings(place, source).read_bytes() == data_file.read_bytes()
    data_file.unlink()
    assert download_recordings(place, source) == place  # is there already
    place.unlink()
    with pytest.raises(InvalidFileError, match="cannot be downloaded"):
        download_recordings(place, source)


@pytest.mark.parametrize("variant", VARIANTS)
def test_variants_are_what_their_names_say(data_file, variant):
    experiment = parkinson_experiment(read_recordings(data_file), variant)
    n_measures = 2 if "-17-" in variant else 7
    assert len(experiment.names) == n_measures * (4 if variant.startswith("columns") else 1)
    columns = experiment.columns(np.arange(60)).X
    assert columns.shape == (60, 4 * n_measures)
    assert columns.min() == 0
    assert columns.max() == pytest.approx(1)
    assert experiment.problem.limits.max_features == min(4, len(experiment.names))
    assert experiment.protocol == ("paper" if "-rows" in variant else "clean")
    assert (experiment.persons is None) == ("-rows" in variant)
    assert ("person" in describe(variant)) == ("-persons" in variant)


def test_wrong_settings_are_refused(data_file, tmp_path):
    recordings = read_recordings(data_file)
    with pytest.raises(InvalidProblemError, match="n_by_person: must be at least 1"):
        run_parkinson(recordings, tmp_path / "out", n_by_person=0)
    with pytest.raises(InvalidProblemError, match="there is no 'rows'; use one of columns-17-rows"):
        parkinson_experiment(recordings, "rows")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_tables_are_whole_and_a_second_run_changes_nothing(data_file, tmp_path):
    recordings = read_recordings(data_file)
    out = tmp_path / "out"
    variants = run_parkinson(recordings, out, 2, 1, progress=False)
    assert variants["variant"].tolist() == ["columns-17-rows", "columns-17-persons"]
    assert variants["n_resamples"].tolist() == [2, 1]
    assert all("PPE" in measures for measures in variants["measures"])
    provenance = json.loads((out / "provenance.json").read_text())
    tasks = {name: part["tasks"] for name, part in provenance["journals"].items()}
    assert tasks == {"parkinson-own": 3, "parkinson-persons": 2, "parkinson-splits": 39}
    assert "numpy" in provenance["versions"]
    files = {path: path.read_bytes() for path in out.glob("*.csv*")}
    assert {path.stem for path in files} == {
        "parkinson", "parkinson_accuracy", "parkinson_optima",
    }  # fmt: skip
    run_parkinson(recordings, out, 2, 1, progress=False)
    assert {path: path.read_bytes() for path in files} == files

    optima = pd.read_csv(out / "parkinson_optima.csv")
    assert optima["ridge"].tolist() == [0.1, 0.02, 0.004] * 7  # how it is split plays no part
    assert (optima["status"] == "optimal").all()
    findings = read_findings(out)
    assert len(findings.splits) == 1 + 39
    assert findings.splits[0] == pytest.approx(variants["accuracy"][0])
    assert len(findings.resamples) == 2
    assert all("PPE" in measures for measures in findings.optima)
    assert read_findings(tmp_path) is None
