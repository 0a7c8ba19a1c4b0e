"""Imports go down the layers of the package, never up or sideways.

A module may import lower layers and its own package, in which `BACKENDS` are layers of their own.
An `import_module` counts as the import that its literal, or the beginning of its f-string, names.
The package's `__init__` collects the public names from all layers, so nothing inside may import
it, its version excepted.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import shortlist

LAYERS: tuple[frozenset[str], ...] = (
    frozenset({"cli"}),
    frozenset({"explorer"}),
    frozenset({"external"}),
    frozenset({"report", "deployment"}),
    frozenset({"evaluation"}),
    frozenset({"patients"}),
    frozenset({"estimator"}),
    frozenset({"cross_validation", "sample_size"}),
    frozenset({"choice"}),
    frozenset({"plots"}),
    frozenset({"backends"}),
    frozenset({"sampling"}),
    frozenset({"native", "conic"}),
    frozenset({"search_log"}),
    frozenset({"verification", "solution"}),
    frozenset({"certificate"}),
    frozenset(
        {"problem", "arguments", "limits", "families", "predictors", "response", "event_times"}
    ),
    frozenset({"tables"}),
    frozenset({"files", "archive", "display", "page", "blocks", "progress"}),
    frozenset({"errors", "lazy"}),
)
# The registry stands above all backends.
BACKENDS: tuple[frozenset[str], ...] = (
    frozenset({"__init__"}),
    frozenset({"heuristics"}),
    frozenset({"native", "enumeration", "scip", "mosek"}),
    frozenset({"conic_search", "ranking"}),
    frozenset({"backend"}),
    frozenset({"support_fit"}),
)
# The parts of one definition may know each other.
OPEN_LAYER = frozenset(
    {"problem", "arguments", "limits", "families", "predictors", "response", "event_times"}
)
# Data imports nothing of the package, and what solves or fits does not import data.
ALONE = "datasets"
USERS_OF_DATA = frozenset({"cli", "explorer", "report", "deployment", "evaluation"})

DEPTH = {part: depth for depth, layer in enumerate(LAYERS) for part in layer}
PARTS = frozenset(DEPTH) | {ALONE}
PACKAGE = Path(shortlist.__file__).parent
ROOT = "__init__"


def module_name(path: Path, package: Path) -> tuple[str, ...]:
    """`("backends", "native")` for a file; the name of a package ends in `__init__`."""
    return path.relative_to(package).with_suffix("").parts


def imports(name: tuple[str, ...], source: str) -> Iterator[list[str]]:
    """Yield the path of everything that a module imports, as `["shortlist", "problem", ...]`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = absolute(name, node.level, node.module or "")
            yield from ([*base, alias.name] for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            target = node.args[0]
            if isinstance(target, ast.JoinedStr):
                target = target.values[0]
            if isinstance(target, ast.Constant):
                tail = target.value.lstrip(".")
                yield absolute(name, len(target.value) - len(tail), tail)


def absolute(name: tuple[str, ...], level: int, module: str) -> list[str]:
    """The path of a module that is named relative to another one, `level` dots up."""
    parts = [part for part in module.split(".") if part]
    return ["shortlist", *name[: len(name) - level], *parts] if level else parts


def imported_parts(name: tuple[str, ...], source: str) -> set[str]:
    """Top-level parts of shortlist that a module imports, `__init__` for the package itself."""
    parts: set[str] = set()
    for target in imports(name, source):
        if target[:1] == ["shortlist"] and target[1:] != ["__version__"]:
            part = target[1] if len(target) > 1 else ROOT
            parts.add(part if part in PARTS else ROOT)
    return parts


def imported_backends(name: tuple[str, ...], source: str) -> set[str]:
    """Modules of `backends` that one of them imports, `__init__` for the registry."""
    known = {module for layer in BACKENDS for module in layer}
    targets = (target[2:] for target in imports(name, source) if target[1:2] == ["backends"])
    return {next((part for part in target[:1] if part in known), ROOT) for target in targets}


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
        if name[0] == "backends" and name[1] != ROOT:
            depth = {module: depth for depth, layer in enumerate(BACKENDS) for module in layer}
            found += [
                f"{'.'.join(name)} imports backends.{module}"
                for module in sorted(imported_backends(name, path.read_text(encoding="utf-8")))
                if depth.get(name[1], len(BACKENDS)) >= depth[module]
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
        ("certificate.py", "from .solution import Options"),
        ("certificate.py", "import_module('.solution', __name__)"),
        ("native/search.py", "importlib.import_module(f'..backends.{name}', __package__)"),
        ("native/search.py", "import_module(f'..{name}', __package__)"),
        ("native/search.py", "import_module('shortlist.backends.native')"),
        ("errors.py", "from . import problem"),
        ("native/search.py", "from ..backends.native import Native"),
        ("native/search.py", "from .. import backends"),
        ("native/rows.py", "from .. import sampling"),
        ("native/__init__.py", "from ..backends import native"),
        ("backends/heuristics.py", "from ..estimator import BestSubsetClassifier"),
        ("backends/heuristics.py", "from . import solve"),
        ("backends/native.py", "from .heuristics import HEURISTICS"),
        ("backends/native.py", "from .enumeration import EnumerationBackend"),
        ("backends/native.py", "import_module('.heuristics', __package__)"),
        ("backends/unknown.py", "from .backend import Backend"),
        ("backends/native.py", "import shortlist as sl"),
        ("backends/native.py", "from shortlist import solve"),
        ("backends/native.py", "from ..datasets import make_prognostic"),
        ("datasets.py", "from .errors import InvalidProblemError"),
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
        ("backends/__init__.py", "import_module(f'.{name}', __name__)"),
        ("backends/heuristics.py", "from .native import NativeBackend\nfrom .. import problem"),
        ("errors.py", "import_module(package)\nimport_module('matplotlib.pyplot')"),
        ("problem.py", "from .limits import Limits\nimport numpy as np"),
        ("native/search.py", "from .core import core\nfrom . import proof"),
        ("native/core.py", "from ..problem import SubsetProblem"),
        ("native/__init__.py", "from .search import search\nfrom .. import solution"),
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
        "archive",
        "files",
        "blocks",
        "problem",
        "arguments",
        "limits",
        "families",
        "predictors",
        "response",
        "event_times",
        "errors",
    }
