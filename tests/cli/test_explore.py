"""`shortlist explore`: what it hands to the server, and what it refuses."""

import json
import os
import socket
import subprocess
import sys
from urllib.request import urlopen

import pytest

from shortlist.explorer import serve


@pytest.fixture
def served(monkeypatch):
    """Serve nothing, and remember what should have been."""
    calls = []
    monkeypatch.setattr(
        serve, "serve", lambda prepared, **options: calls.append((prepared, options))
    )
    return calls


def test_a_table_with_prices(run, clinic, served):
    result = run(
        "explore", clinic / "patients.csv", "--outcome", "fate", "--positive", "dead",
        "--costs", clinic / "costs.csv", "--fees", clinic / "fees.csv", "--exclude", "visit",
        "--ridge", "0.5", "--no-browser",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    [(prepared, options)] = served
    assert prepared.name == "patients.csv"
    assert prepared.costs == {"age": 1, "sex": 1, "stage": 3, "lab": 5, "smoker": 1}
    assert [(fee.amount, fee.members) for fee in prepared.fees] == [(2, ("stage", "lab"))]
    assert options["ridge"] == 0.5
    assert not options["open_browser"]


def test_without_data_there_are_synthetic_patients(run, served):
    assert run("explore").exit_code == 0
    assert served[0][0].name == "synthetic patients"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["patients.csv"], "--outcome: name the column"),
        (["--outcome", "fate"], "DATA: is missing"),
        (["nowhere.csv", "--outcome", "fate"], "there is no such file"),
    ],
)
def test_wrong_input_is_one_sentence(run, clinic, monkeypatch, arguments, words):
    monkeypatch.chdir(clinic)
    result = run("explore", *arguments)
    assert result.exit_code == 2
    assert words in result.output


def test_a_port_in_use_and_settings_of_other_data(run, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = run("explore", "--no-browser", "--port", taken.getsockname()[1])
    assert result.exit_code == 2
    assert "--port:" in result.output
    settings = tmp_path / "settings.json"
    settings.write_text("{}")
    result = run("explore", "--no-browser", "--settings", settings)
    assert result.exit_code == 2
    assert "The settings cannot be used" in result.output


def test_an_extra_that_is_missing_is_named(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    result = run("explore")
    assert result.exit_code == 2
    assert "install shortlist[explore]" in result.output


@pytest.mark.slow
def test_it_serves_its_page_until_it_is_interrupted():
    # Ctrl-C is ignored by whatever a shell started in the background, and so by its children.
    listen = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    command = [sys.executable, "-c", f"{listen}; from shortlist.cli import main; main()"]
    process = subprocess.Popen(
        [*command, "explore", "--no-browser"], stdout=subprocess.PIPE, text=True, env=os.environ
    )
    address = process.stdout.readline().split()[-1]
    assert address.startswith("http://127.0.0.1:")
    assert b"shortlist" in urlopen(address).read()
    opened = json.load(urlopen(f"{address}api/session", data=b"{}"))
    assert opened["patients"]["rows"] == 1090
    process.send_signal(2)
    assert process.wait(timeout=30) == 130
