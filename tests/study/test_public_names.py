"""The study uses shortlist as any user does: names that it publishes, and no others."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

import shortlist
import study

PUBLIC = ("shortlist", *(f"shortlist.{name}" for name in ("datasets", "evaluation", "plots")))
LOOK = "shortlist.plots.style"  # documented in docs/api.rst, for figures that look like ours


def hidden_names(source: str) -> list[str]:
    """Names of shortlist that a source uses and that are not public."""
    used = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("shortlist"):
            used += [(node.module, alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            used += [(a.name, "") for a in node.names if a.name.startswith("shortlist")]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            used += [("shortlist", node.attr)] if node.value.id == "sl" else []
    return [
        f"{module}.{name}"
        for module, name in used
        if module not in (*PUBLIC, LOOK) or (name and name not in import_module(module).__all__)
    ]


@pytest.mark.parametrize("path", sorted(Path(study.__file__).parent.glob("*.py")), ids=str)
def test_public_names_only(path):
    assert hidden_names(path.read_text(encoding="utf-8")) == []


def test_hidden_names_are_found():
    source = "import shortlist.files\nfrom shortlist.backends import solve\nsl.solver\nsl.solve"
    assert len(hidden_names(source)) == 3


def test_the_package_has_no_trace_of_the_study():
    package = Path(shortlist.__file__).parent
    for path in package.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert path.stem != "study"
        assert "shortlist study" not in text
        assert "import study" not in text
        assert "from study" not in text
