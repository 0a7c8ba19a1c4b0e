"""`shortlist warmup`, and what commands say while the kernels are compiled."""

import logging
import os
import subprocess
import sys
from contextlib import nullcontext

import pytest

from shortlist.cli.terminal import working
from shortlist.solver import compilation


@pytest.fixture
def cold(tmp_path, monkeypatch):
    """A process that has compiled nothing yet; compiling takes no time and counts to three."""

    def compile_three():
        for number in (1, 2, 3):
            logging.getLogger("shortlist").debug("%d of 3 kernels compiled", number)
        (tmp_path / "rows.dot-1.py311.nbi").write_text("x" * 2**21)

    class Counter:
        n_done = 3

        def wipe(self):
            pass

    monkeypatch.setattr(compilation, "_checked", False)
    monkeypatch.setattr(compilation, "machine_code_folder", lambda: tmp_path)
    monkeypatch.setattr(compilation, "_Counter", Counter)
    monkeypatch.setattr(compilation, "install_listener", lambda *_: nullcontext())
    monkeypatch.setattr(compilation, "_run_all", compile_three)
    return tmp_path


def test_it_says_what_it_did_and_where(run, cold, monkeypatch):
    first = run("warmup")
    assert first.exit_code == 0
    assert first.stdout.startswith("3 kernels were compiled in ")
    assert first.stdout.endswith(f"; their machine code, 2 MB, is in {cold}.\n")
    assert first.stderr.count("Compiling the solver's kernels") == 1
    monkeypatch.setattr(compilation, "_checked", False)
    second = run("warmup")
    assert second.stdout == (
        f"All kernels are compiled already; their machine code, 2 MB, is in {cold}.\n"
    )
    assert second.stderr == ""


def test_nothing_to_compile(run, monkeypatch):
    monkeypatch.setattr("numba.config.DISABLE_JIT", 1)
    assert "nothing is compiled" in run("warmup").stdout


def test_commands_announce_compilation_once(run, cold):
    result = run("demo", "--budget", "2")
    assert result.exit_code == 0
    assert result.stderr.count("Compiling") == 1
    assert "Compiling" not in result.stdout


def test_a_spinner_shows_details_and_leaves_the_log_as_it_was(cold, capsys):
    log = logging.getLogger("shortlist")
    before = (log.level, list(log.handlers))
    heard = []
    with working("Searching"):
        log.handlers[-1]._announce = heard.append
        compilation.ready_kernels()
    assert heard == [
        "1 of 3 kernels compiled",
        "2 of 3 kernels compiled",
        "3 of 3 kernels compiled",
    ]
    assert capsys.readouterr().err.count("Compiling") == 1
    assert (log.level, log.handlers) == before


@pytest.mark.slow  # half a minute of compilation
def test_warmup_from_an_empty_cache_is_all_that_is_needed(tmp_path):
    """Optimum, listing and staircase of the next process find all machine code on disk."""
    env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}

    def start(code):
        command = [sys.executable, "-c", code]
        return subprocess.run(command, env=env, capture_output=True, text=True, check=True)

    first = start("from shortlist.cli import main; import sys; sys.argv[1:] = ['warmup']; main()")
    assert str(tmp_path) in first.stdout
    files = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb[ic]")}
    assert len(files) > 200
    second = start(
        "import numpy as np, shortlist as sl\n"
        "X = np.random.default_rng(0).random((30, 4))\n"
        "p = sl.SubsetProblem(X, X[:, 0] > 0.5, ridge=0.1, budget=3, costs=[1, 2, 1, 1])\n"
        "sl.solve(p), sl.near_optimal(p, tolerance=0.1), sl.solve_path(p)\n"
    )
    assert second.stdout == second.stderr == ""
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb[ic]")} == files
