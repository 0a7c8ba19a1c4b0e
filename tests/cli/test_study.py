"""`shortlist study` as a person uses it."""

import pandas as pd
import pytest
from fake_study import write_fake_study

from shortlist.study import PRESETS, Arm, Preset


def test_run_status_and_misuse(run, tmp_path, monkeypatch):
    small = Preset({"paper": Arm(("univariable",), range(3))}, shapes=((82, 14),))
    monkeypatch.setitem(PRESETS, "tiny", small)
    folder = tmp_path / "made"
    first = run("study", "run", "--preset", "tiny", "--out", folder, "--jobs", 1)
    assert first.exit_code == 0, first.output
    assert "paper: 54 resamples of 18 runs" in first.stderr
    assert (folder / "summary.csv.gz").is_file()
    state = run("study", "status", folder)
    assert state.exit_code == 0
    assert "54" in state.stdout
    again = run("study", "run", "--preset", "tiny", "--out", folder)
    assert again.exit_code == 2
    assert "holds a study" in again.stderr
    compared = run("study", "compare", folder)
    assert compared.exit_code == 0
    assert "not run" in compared.stdout  # a single data set is not the paper's study


@pytest.mark.parametrize("command", ["resume", "status", "figures", "compare", "page"])
def test_an_empty_folder_is_one_sentence(run, tmp_path, command):
    result = run("study", command, tmp_path)
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1


def test_compare_and_page(run, tmp_path):
    write_fake_study(tmp_path)
    compared = run("study", "compare", tmp_path)
    assert compared.exit_code == 0, compared.output
    assert "37 numbers: " in compared.stdout
    assert "34 claims: " in compared.stdout
    assert len(pd.read_csv(tmp_path / "comparison.csv")) == 71
    page = tmp_path / "page.md"
    assert run("study", "page", tmp_path, "--output", page).exit_code == 0
    assert page.read_text().startswith("# The paper's study")


def test_parkinson_with_bad_input(run, tmp_path):
    result = run("study", "parkinson", "--data", tmp_path / "nothing", "--out", tmp_path)
    assert result.exit_code == 2
    assert "cannot be read" in result.stderr


@pytest.mark.slow
def test_the_quick_preset_from_the_run_to_the_page(run, tmp_path):
    folder = tmp_path / "quick"
    for arguments in (
        ("run", "--preset", "quick", "--out", folder),
        ("resume", folder),
        ("figures", folder),
        ("compare", folder),
        ("page", folder, "--output", tmp_path / "page.md"),
    ):
        result = run("study", *arguments)
        assert result.exit_code == 0, result.output
    comparison = pd.read_csv(folder / "comparison.csv")
    numbers = comparison.query("place != 5.1 and kind == 'number'")
    # Three draws are too few for a verdict, and two resamples for an interval.
    assert set(numbers["verdict"]) == {"few draws", "not run"}
    drawn = {path.stem for path in (folder / "figures").glob("*.svg")}
    studies = ("budget", "cardinality")
    parts = {f"{kind}-{study}" for kind in ("auc", "appendix") for study in studies}
    assert drawn == parts | {"fig1a", "fig1b", "numbers"}
    assert "nan" not in (tmp_path / "page.md").read_text()
