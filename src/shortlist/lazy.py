"""Packages that import a module when one of its names is first used.

So `import shortlist` costs milliseconds, not the seconds of pandas and scikit-learn, and a
prediction loads neither scikit-learn nor SciPy.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def public_names(package: str, file: str) -> tuple[Callable[[str], Any], list[str]]:
    """Return `__getattr__` and `__all__` of a package, given its `__name__` and `__file__`.

    The names stand in `__init__.pyi`, a line each: `from .problem import SubsetProblem as
    SubsetProblem`, or `from . import datasets as datasets` for a module.
    """
    stub = Path(file).with_suffix(".pyi").read_text(encoding="utf-8")
    lines = (line.split() for line in stub.splitlines() if line.startswith("from ."))
    homes = {name: module for _, module, _, name, *_ in lines}

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if homes[name] == ".":
            return import_module(f"{package}.{name}")
        value = getattr(import_module(homes[name], package), name)
        setattr(sys.modules[package], name, value)  # the next access does not come here again
        return value

    return get, sorted(homes)
