"""What a command shows while it works, in a terminal and without one."""

import ast
import inspect
import textwrap
from time import sleep

import pytest

from shortlist.cli.app import app
from shortlist.cli.terminal import working
from shortlist.progress import telling


def test_nothing_is_written_if_it_is_quick(capsys):
    with telling(lambda: "Searching"):
        pass
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("news", ["Reading", "Listing models"])
def test_a_command_says_what_it_does(monkeypatch, capsys, news):
    monkeypatch.setattr("shortlist.progress.FIRST_SECONDS", 0.05)
    monkeypatch.setattr("shortlist.progress.SECONDS_BETWEEN", 0.05)
    with working("Reading") as announce:
        announce(news)
        sleep(0.3)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) > 2
    assert set(lines) == {f"{news} (0 s)"}


def test_a_terminal_shows_the_seconds(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes the output for a terminal
    now = iter(range(0, 1000, 2))
    monkeypatch.setattr("shortlist.cli.terminal.perf_counter", lambda: next(now))
    with working("Reading") as announce:
        announce("Listing models")
        sleep(0.3)
    shown = capsys.readouterr().err
    assert "Listing models… 4 s" in shown
    assert "…  0 s" not in shown


@pytest.mark.parametrize("command", app.registered_commands, ids=lambda c: c.callback.__name__)
def test_no_command_loads_large_parts_in_silence(command):
    source = inspect.getsource(inspect.unwrap(command.callback))
    body = ast.parse(textwrap.dedent(source)).body[0].body
    loaded = {node.module for node in body if isinstance(node, ast.ImportFrom)}
    assert loaded <= {"families"}, "import inside `with working(...)`, which shows that it is alive"
