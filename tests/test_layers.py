"""Imports go down the layers of the package, never up or sideways.

A module may import lower layers and its own package. The package's `__init__` collects the public
names from all layers, so nothing inside may import it, its version excepted.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import shortlist

LAYERS: tuple[frozenset[str], ...] = (
    frozenset({"cli"}),
    frozenset({"explorer"}),
    frozenset({"report", "study"}),
    frozenset({"evaluation"}),
    frozenset({"patients"}),
    frozenset({"estimators", "baselines"}),
    frozenset({"choice"}),
    frozenset({"plots"}),
    frozenset({"backends"}),
    frozenset({"sampling"}),
    frozenset({"solver", "conic"}),
    frozenset({"verification", "result", "options"}),
    frozenset({"certificate"}),
    frozenset({"problem", "arguments", "limits", "constraints", "coefficients", "losses"}),
    frozenset({"tables"}),
    frozenset({"files", "display", "blocks"}),
    frozenset({"errors"}),
)
# The parts of one definition may know each other.
OPEN_LAYER = frozenset({"problem", "arguments", "limits", "constraints", "coefficients", "losses"})
# Data imports nothing of the package, and what solves or fits does not import data.
ALONE = "datasets"
USERS_OF_DATA = LAYERS[0] | LAYERS[1] | LAYERS[2] | LAYERS[3]

DEPTH = {part: depth for depth, layer in enumerate(LAYERS) for part in layer}
PARTS = frozenset(DEPTH) | {ALONE}
PACKAGE = Path(shortlist.__file__).parent
ROOT = "__init__"


def module_name(path: Path, package: Path) -> tuple[str, ...]:
    """`("solver", "kernels", "rows")` for a file; the name of a package ends in `__init__`."""
    return path.relative_to(package).with_suffix("").parts


def imported_parts(name: tuple[str, ...], source: str) -> set[str]:
    """Top-level parts of shortlist that a module imports, `__init__` for the package itself."""
    parts: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            targets = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module.split(".") if node.module else []
            if node.level:
                base = ["shortlist", *name[: len(name) - node.level], *base]
            targets = [[*base, alias.name] for alias in node.names]
        else:
            continue
        for target in targets:
            if target[0] == "shortlist" and target[1:] != ["__version__"]:
                part = target[1] if len(target) > 1 else ROOT
                parts.add(part if part in PARTS else ROOT)
    return parts


def is_allowed(importer: str, imported: str) -> bool:
    if importer == imported:
        return imported != ROOT
    if imported == ROOT or importer == ALONE:
        return False
    if imported == ALONE:
        return importer in USERS_OF_DATA
    if {importer, imported} <= OPEN_LAYER:
        return True
    return DEPTH[importer] < DEPTH[imported]


def violations(package: Path) -> list[str]:
    found = []
    for path in sorted(package.rglob("*.py")):
        name = module_name(path, package)
        if name == (ROOT,):
            continue
        if name[0] not in PARTS:
            found.append(f"{'.'.join(name)} is in no layer")
            continue
        found += [
            f"{'.'.join(name)} imports {part}"
            for part in sorted(imported_parts(name, path.read_text(encoding="utf-8")))
            if not is_allowed(name[0], part)
        ]
    return found


def test_imports_go_down() -> None:
    assert violations(PACKAGE) == []


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("problem.py", "from .backends import solve"),
        ("problem.py", "from shortlist.backends import solve"),
        ("problem.py", "import shortlist.backends.native"),
        ("problem.py", "def f():\n    from . import backends"),
        ("result.py", "from .options import Options"),
        ("errors.py", "from . import problem"),
        ("solver/search.py", "from ..backends.native import Native"),
        ("solver/search.py", "from .. import backends"),
        ("solver/kernels/rows.py", "from ...backends import native"),
        ("solver/kernels/__init__.py", "from ...backends import native"),
        ("baselines/univariable.py", "from ..estimators import BestSubsetClassifier"),
        ("backends/native.py", "import shortlist as sl"),
        ("backends/native.py", "from shortlist import solve"),
        ("backends/native.py", "from ..datasets import make_prognostic"),
        ("datasets/prognostic.py", "from ..errors import InvalidProblemError"),
        ("helpers.py", "import numpy"),
    ],
)
def test_planted_violation_is_found(tmp_path: Path, file: str, source: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source, encoding="utf-8")
    assert len(violations(tmp_path)) == 1


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("__init__.py", "from .cli import main"),
        ("cli/demo.py", "from ..backends import solve\nfrom ..datasets import make_prognostic"),
        ("cli/demo.py", "from .table import comparison\nfrom ..errors import InvalidProblemError"),
        ("cli/app.py", "from .. import __version__"),
        ("problem.py", "from .constraints import Constraints\nimport numpy as np"),
        ("solver/kernels/rows.py", "from ..bounds import bound\nfrom . import gram"),
        ("solver/kernels/rows.py", "from ...problem import SubsetProblem"),
        ("solver/__init__.py", "from .search import search\nfrom .. import result"),
    ],
)
def test_allowed_import_passes(tmp_path: Path, file: str, source: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source, encoding="utf-8")
    assert violations(tmp_path) == []


def test_the_checker_shares_nothing_with_what_it_checks() -> None:
    """Through whatever it imports, only the problem and the file of the proof."""
    sources = [(module_name(path, PACKAGE), path) for path in PACKAGE.rglob("*.py")]
    known, new = set(), {"verification"}
    while new:
        known |= new
        new = {
            part
            for name, path in sources
            if name[0] in known
            for part in imported_parts(name, path.read_text(encoding="utf-8"))
        } - known
    assert known == {
        "verification",
        "certificate",
        "files",
        "blocks",
        "problem",
        "arguments",
        "constraints",
        "coefficients",
        "losses",
        "errors",
    }
