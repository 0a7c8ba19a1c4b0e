"""Environments of their own for peers whose requirements do not go with ours, and what runs there.

`workers/NAME.txt` pins every package of the environment NAME, and `workers/NAME_worker.py` runs in
it: it reads problems from its standard input and writes answers to its standard output, a line of
JSON each. The environments are made when they are first needed, in `benchmarks/.environments`.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import shortlist as sl
from shortlist.errors import MissingDependencyError

from ..settings import PROJECT
from .answer import Answer, PeerError

WORKERS = Path(__file__).parent / "workers"
ENVIRONMENTS = PROJECT / "benchmarks" / ".environments"
_STARTUP = 300.0  # seconds for imports and compilation before the first answer


def ask(name: str, problem: sl.SubsetProblem, time_limit: float, **options: Any) -> Answer:
    """Send a problem to the worker of this name and return its answer, as `reply` does."""
    found = reply(name, problem, time_limit, **options)
    return Answer(**(found | {"support": tuple(sorted(found["support"]))}))


def reply(
    name: str, problem: sl.SubsetProblem, time_limit: float, **options: Any
) -> dict[str, Any]:
    """Send a problem to the worker of this name and return what it says, timed by itself.

    Parameters
    ----------
    name : str
        The worker.
    problem : SubsetProblem
        Its X, labels and ridge are sent.
    time_limit : float
        CPU seconds. A worker that takes 30 times as long, on any clock, and a start, is ended.
    **options
        Further values for the worker; must be JSON.
    """
    with TemporaryDirectory() as folder:
        data = Path(folder) / "data.npz"
        np.savez(data, X=problem.X, signs=problem.response.values)
        request = {"data": str(data), "ridge": problem.ridge, "time_limit": time_limit, **options}
        found = _worker(name).ask(request, 30.0 * time_limit + _STARTUP)
    if "error" in found:
        raise PeerError(f"{name}: {found['error']}")
    return found


def version_of(name: str) -> str:
    """Return the pinned version of the package that a worker is about, its first requirement."""
    return (WORKERS / f"{name}.txt").read_text().splitlines()[0].partition("==")[2]


class Worker:
    """A process in an environment of its own."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, request: dict[str, Any], patience: float) -> dict[str, Any]:
        """Return the reply to a request; starts the process if it does not run."""
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [_python_of(self.name), WORKERS / f"{self.name}_worker.py"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        ready, _, _ = select.select([self._process.stdout], [], [], patience)
        line = self._process.stdout.readline() if ready else b""
        if not line:
            self._process.kill()
            self._process = None
            reason = "ended without an answer" if ready else f"gave no answer in {patience:g} s"
            raise PeerError(f"{self.name}: {reason}.")
        found: dict[str, Any] = json.loads(line)
        return found


@cache
def _worker(name: str) -> Worker:
    return Worker(name)


@cache
def _python_of(name: str) -> Path:
    """Return the interpreter of an environment, which is made if these versions have none yet."""
    requirements = WORKERS / f"{name}.txt"
    digest = sha256(requirements.read_bytes()).hexdigest()[:8]
    folder = ENVIRONMENTS / f"{name}-{digest}"
    python = folder / "bin" / "python"
    stamp = folder / "installed"
    if not stamp.is_file():
        print(f"Making an environment for {name} ...")
        try:
            _run(sys.executable, "-m", "venv", "--clear", folder)
            # All packages are pinned; some requirements of theirs are left out on purpose.
            _run(python, "-m", "pip", "install", "--quiet", "--no-deps", "-r", requirements)
        except (OSError, subprocess.CalledProcessError) as error:
            detail = getattr(error, "stderr", None) or str(error).encode()
            last = detail.decode(errors="replace").strip().splitlines()[-1]
            raise MissingDependencyError(
                f"{name}: its environment could not be made: {last}"
            ) from None
        stamp.touch()
    return python


def _run(*command: str | Path) -> None:
    subprocess.run(command, check=True, capture_output=True)
