"""Lines of progress without a terminal."""

from time import sleep

import pytest

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
