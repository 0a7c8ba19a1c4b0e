"""Cost-sensitive best-subset selection for logistic regression, to certified optimality.

Start with `SubsetProblem` and `solve`, with the scikit-learn estimator `BestSubsetClassifier`, or
with `PrognosticModel` for a table of patients as it is.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.1.0"


def _public_names() -> dict[str, str]:
    """Return the module of each public name, "." for one that is a module itself.

    `__init__.pyi` lists them, a line each: `from .problem import SubsetProblem as SubsetProblem`. A
    module is imported when its first name is used, so that `import shortlist` costs milliseconds,
    not the seconds of pandas and scikit-learn.
    """
    stub = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    lines = (line.split() for line in stub.splitlines() if line.startswith("from ."))
    return {name: module for _, module, _, name, *_ in lines}


_HOMES = _public_names()
__all__ = sorted(["__version__", *_HOMES])


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if _HOMES[name] == ".":
        return import_module(f".{name}", __name__)
    value = getattr(import_module(_HOMES[name], __name__), name)
    globals()[name] = value  # the next access does not come here again
    return value


def __dir__() -> list[str]:
    return __all__
