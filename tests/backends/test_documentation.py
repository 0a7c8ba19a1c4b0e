"""The backend of docs/backend.md works as it stands, once it has its line in the registry."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from sample_data import make_data

import shortlist as sl
from shortlist import backends

TEXT = (Path(__file__).parents[2] / "docs" / "backend.md").read_text(encoding="utf-8")


def test_the_backend_of_the_page_solves(monkeypatch: pytest.MonkeyPatch) -> None:
    listing = re.search(r"```python\n(.*?)```", TEXT, re.S)
    entry = re.search(r'^    "random": "(.*)",$', TEXT, re.M)
    assert listing is not None
    assert entry is not None
    module = ModuleType("shortlist.backends.random")
    module.__package__ = "shortlist.backends"
    exec(compile(listing[1], "backend.md", "exec"), vars(module))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(backends._SOLVERS, "random", entry[1])

    X, y = make_data()
    problem = sl.SubsetProblem(X, y, ridge=0.5, max_features=2, include=[4], exclude=[3])
    solution, best = sl.solve(problem, "random"), sl.solve(problem, "enumeration")
    assert solution.status is sl.Status.HEURISTIC
    assert solution.support == best.support  # a hundred tries find one of three
    assert solution.objective == pytest.approx(best.objective)
    assert solution.lower_bound == 0.0
