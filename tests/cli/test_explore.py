"""`shortlist explore`: its call of the server, and the input that it refuses."""

import json
import os
import socket
import subprocess
import sys
from urllib.request import urlopen

import pytest
from clinic_options import OUTCOME

from shortlist.explorer import serve


@pytest.fixture
def served(monkeypatch):
    """Serve nothing, and keep the arguments."""
    calls = []
    monkeypatch.setattr(
        serve, "serve", lambda prepared, **options: calls.append((prepared, options))
    )
    return calls


def test_a_table_with_prices(run, clinic, served):
    prices = ("--costs", "costs.csv", "--fees", "fees.csv", "--budget", "4,5")
    run("explore", "patients.csv", *OUTCOME, *prices, "--ridge", "0.5", "--no-browser")
    [(prepared, options)] = served
    assert prepared.name == "patients.csv"
    assert prepared.costs == {"age": 1, "sex": 1, "stage": 3, "lab": 5, "smoker": 1}
    assert [(fee.amount, fee.members) for fee in prepared.fees] == [(2, ("stage", "lab"))]
    assert prepared.first_state().budget == 4.5
    assert options["ridge"] == 0.5
    assert not options["open_browser"]


def test_without_a_ridge_it_starts_with_the_one_of_fit(run, record, clinic, served):
    posed = (
        "patients.csv",
        *OUTCOME,
        "--costs",
        "costs.csv",
        "--budget",
        "4",
        "--exclude",
        "visit",
    )
    run("explore", *posed, "--no-browser")
    assert served[0][1]["ridge"] == record("fit", *posed)["model"]["search"]["ridge"]


def test_without_data_there_are_synthetic_patients(run, served):
    run("explore")
    assert served[0][0].name == "synthetic patients"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["patients.csv"], "--outcome: name the column"),
        (["--outcome", "fate"], "DATA: is missing; give the table that the options refer to"),
        (["--exclude", "visit"], "DATA: is missing"),
        (["nowhere.csv", "--outcome", "fate"], "there is no such file"),
        (["--no-browser", "--settings", "settings.json"], "The settings cannot be used"),
    ],
)
def test_wrong_input_is_one_sentence(refusal, clinic, arguments, words):
    (clinic / "settings.json").write_text("{}")
    assert words in refusal("explore", *arguments)


def test_a_port_in_use_is_refused(refusal):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert "--port:" in refusal("explore", "--no-browser", "--port", taken.getsockname()[1])


def test_an_extra_that_is_missing_is_named(refusal, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert "pip install 'shortlist[explore]'" in refusal("explore")


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
