"""`python -m study` as a person uses it."""

from __future__ import annotations

import pandas as pd
import pytest
from fake_study import write_fake_study

from study.__main__ import main
from study.plan import PRESETS, Arm, Preset, make_preset


@pytest.fixture
def run(capsys):
    """Run a command; give its exit code, output and notes."""

    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main([str(argument) for argument in arguments])
        return (end.value.code, *capsys.readouterr())

    return run


def test_run_status_and_misuse(run, tmp_path, monkeypatch):
    small = Preset(
        {"selections": Arm(("univariable",), range(1, 4), (1,), nested=False)}, shapes=((82, 14),)
    )
    monkeypatch.setitem(PRESETS, "tiny", small)
    folder = tmp_path / "made"
    code, _, notes = run("run", "--preset", "tiny", "--out", folder, "--jobs", 1)
    assert code == 0, notes
    assert "selections: 3 resamples of 18 runs each" in notes
    assert (folder / "runs.csv.gz").is_file()
    code, output, _ = run("status", folder)
    assert code == 0
    assert "18" in output
    code, _, notes = run("run", "--preset", "tiny", "--out", folder)
    assert code == 2
    assert "holds a study" in notes
    code, output, _ = run("compare", folder)
    assert code == 0
    assert "not run" in output  # a single data set is not the paper's study


@pytest.mark.parametrize(
    "arguments",
    [
        ("resume", "{}"),
        ("status", "{}"),
        ("figures", "{}"),
        ("compare", "{}"),
        ("page", "{}", "--output", "{}/page.md"),
        ("parkinson", "--data", "{}/nothing", "--out", "{}"),
        ("figures", "{}/nothing", "--figures", "/dev/null/figures"),
    ],
)
def test_wrong_input_is_one_sentence(run, tmp_path, arguments):
    code, _, notes = run(*(argument.format(tmp_path) for argument in arguments))
    assert code == 2
    assert notes.startswith("Error: ")
    assert notes.count("\n") == 1


def test_compare_and_page(run, tmp_path):
    write_fake_study(tmp_path)
    code, output, notes = run("compare", tmp_path)
    assert code == 0, notes
    assert "34 numbers: " in output
    assert "31 claims: " in output
    for name, n_rows in (("numbers", 34), ("claims", 31), ("comparisons", 240), ("averages", 270)):
        assert len(pd.read_csv(tmp_path / f"{name}.csv")) == n_rows
    page = tmp_path / "page.md"
    assert run("page", tmp_path, "--output", page)[0] == 0
    assert page.read_text().startswith("# The paper's study")


@pytest.mark.slow
def test_from_the_run_to_the_page(run, tmp_path, monkeypatch):
    few = make_preset(seeds=1, resamples=2, others=2, some=1, ends=1)
    monkeypatch.setitem(PRESETS, "quick", few)
    folder = tmp_path / "quick"
    for arguments in (
        ("run", "--preset", "quick", "--out", folder),
        ("resume", folder),
        ("figures", folder),
        ("compare", folder),
        ("page", folder, "--output", tmp_path / "page.md"),
    ):
        code, _, notes = run(*arguments)
        assert code == 0, notes
    # A few draws are too few for a verdict.
    numbers = pd.read_csv(folder / "numbers.csv").query("place != 5.1")
    assert set(numbers["verdict"]) <= {"few draws", "not run"}
    claims = pd.read_csv(folder / "claims.csv").query("place != 5.1")
    assert set(claims["verdict"]) == {"few draws"}
    drawn = {path.stem for path in (folder / "figures").glob("*.svg")}
    assert drawn == {"fractions", "stability", "aucs", "methods"}
    assert "nan" not in (tmp_path / "page.md").read_text()
