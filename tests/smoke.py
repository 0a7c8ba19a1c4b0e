"""Whether an installed package works: run by `make smoke` in environments without pytest.

Everything is done once, on a few patients: core, proof, command line, report, explorer. What is
missing from the wheel, or from an old dependency, fails here.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import sysconfig
from importlib.metadata import files, version
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import urlopen

import shortlist as sl

COMMAND = Path(sysconfig.get_path("scripts")) / "shortlist"


def run(folder: Path, *arguments: str) -> str:
    """Run the command line in a folder and return what it prints."""
    done = subprocess.run(
        [COMMAND, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"shortlist {' '.join(arguments)}\n{done.stdout}{done.stderr}")
    return done.stdout


def check_library() -> None:
    """Solve, prove, list, and climb the staircase."""
    installed = files("shortlist")
    assert installed  # a wheel lists its files
    assert not any("study" in file.parts for file in installed)
    data = sl.datasets.make_prognostic(n_samples=60, n_features=8, random_state=0)
    problem = sl.SubsetProblem(data.X, data.y, ridge=0.1, budget=8, costs=data.costs)
    solution = sl.solve(problem)
    assert solution.status is sl.Status.OPTIMAL
    assert sl.verify(problem, solution.certificate).valid
    assert solution.support == sl.solve(problem, "enumeration").support
    assert sl.solve_path(problem)[-1].solution.support == solution.support
    assert sl.near_optimal(problem)[0].support == solution.support
    assert "Proven optimal" in solution._repr_html_()
    classifier = sl.BestSubsetClassifier(max_features=2, ridge=0.1).fit(data.X, data.y)
    assert classifier.predict_proba(data.X).shape == (60, 2)


def check_commands(folder: Path) -> None:
    """From simulated patients to a model, its proof, its report and a prediction."""
    assert "costs-template" in run(folder, "--help")
    run(folder, "simulate", "patients.csv", "costs.csv", "--seed", "11", "--rows", "60")
    fit = ["fit", "patients.csv", "--outcome", "outcome", "--costs", "costs.csv", "--budget", "6"]
    files = ["--model", "model.json", "--certificate", "proof.json", "--report", "report.html"]
    run(folder, *fit, "--ridge", "1", "--resamples", "9", *files)
    assert "proof holds" in run(folder, "verify", "proof.json", "patients.csv").lower()
    assert len(run(folder, "predict", "model.json", "patients.csv").splitlines()) == 61
    assert "<svg" in (folder / "report.html").read_text(encoding="utf-8")
    assert json.loads((folder / "report.json").read_text(encoding="utf-8"))


def check_explorer(folder: Path) -> None:
    """The page, its style and its first script come from the installed package."""
    command = [COMMAND, "explore", "patients.csv", "--outcome", "outcome", "--no-browser"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            said = (re.search(r"http://\S+/", line) for line in server.stdout)
            address = next(found[0] for found in said if found)
            for name in ("", "style.css", "main.js"):
                with urlopen(address + name) as answer:
                    assert answer.read()
        finally:
            server.terminate()


def main() -> None:
    """Check everything, in a folder of its own."""
    names = ("shortlist", "numpy", "pandas", "scikit-learn", "scipy")
    print(f"Python {sys.version.split()[0]}:", *(f"{name} {version(name)}" for name in names))
    check_library()
    with TemporaryDirectory() as folder:
        check_commands(Path(folder))
        check_explorer(Path(folder))
    print("All of it works.")


if __name__ == "__main__":
    main()
