"""Commands as a user calls them, and files that they are called with."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from shortlist.cli.app import app


@pytest.fixture
def run():
    """Run a command that ends with a code; `text` and `notes` are its output without line ends."""

    def invoke(*arguments, code=0):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert code is None or result.exit_code == code, result.output
        assert result.exception is None or isinstance(result.exception, SystemExit)
        result.text, result.notes = (" ".join(s.split()) for s in (result.stdout, result.stderr))
        return result

    return invoke


@pytest.fixture
def record(run):
    """Return the JSON that a command prints."""
    return lambda *arguments: json.loads(run(*arguments, "--json").stdout)


@pytest.fixture
def refusal(run):
    """Return the sentence by which a command refuses its input, with exit code 2."""
    return lambda *arguments: run(*arguments, code=2).notes


@pytest.fixture
def clinic(tmp_path, monkeypatch):
    """The current folder, with patients, a price list and fees."""
    rng = np.random.default_rng(1)
    rows = ["age,sex,stage,lab,smoker,visit,fate"]
    for number in range(80):
        age = "" if number == 3 else int(rng.normal(60, 12))
        sex, stage = rng.choice(["f", "m"]), rng.choice(["I", "II", "III"])
        risk = 0.1 * ((age or 60) - 60) + 2 * (stage == "III") - 0.5
        fate = "dead" if risk + rng.logistic() > 0 else "alive"
        lab, smoker = f"{rng.random():.3f}", rng.choice(["TRUE", "FALSE"])
        rows.append(f"{age},{sex},{stage},{lab},{smoker},2020-01-{number % 28 + 1:02d},{fate}")
    (tmp_path / "patients.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "costs.csv").write_text("predictor,cost\nage,1\nsex,1\nstage,3\nlab,5\nsmoker,1\n")
    (tmp_path / "fees.csv").write_text("2,stage,lab\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path
