"""Cost-sensitive best-subset selection for logistic regression, to certified optimality.

Start with `SubsetProblem` and `solve`, with the scikit-learn estimator `BestSubsetClassifier`, or
with `PrognosticModel` for a table of patients as it is.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the same names for type checkers and editors
    from . import datasets as datasets
    from . import evaluation as evaluation
    from . import plots as plots
    from . import report as report
    from .backends import available_backends as available_backends
    from .backends import solve as solve
    from .certificate import Certificate as Certificate
    from .choice import near_optimal as near_optimal
    from .choice import price_ranges as price_ranges
    from .choice import solve_path as solve_path
    from .choice import substitutes as substitutes
    from .conic import export as export
    from .errors import InfeasibleError as InfeasibleError
    from .errors import InvalidCertificateError as InvalidCertificateError
    from .errors import InvalidFileError as InvalidFileError
    from .errors import InvalidProblemError as InvalidProblemError
    from .errors import MissingDependencyError as MissingDependencyError
    from .errors import ShortlistWarning as ShortlistWarning
    from .estimators import BestSubsetClassifier as BestSubsetClassifier
    from .estimators import BestSubsetClassifierCV as BestSubsetClassifierCV
    from .evaluation import Experiment as Experiment
    from .evaluation import evaluate as evaluate
    from .patients import ModelCard as ModelCard
    from .patients import PrognosticModel as PrognosticModel
    from .problem import SubsetProblem as SubsetProblem
    from .result import Solution as Solution
    from .result import Status as Status
    from .verification import Verdict as Verdict
    from .verification import verify as verify

__version__ = "0.1.0"

# The public names of each module. A module is imported when its first name is used, so that
# `import shortlist` costs milliseconds, not the seconds of scikit-learn and numba.
_NAMES = {
    "backends": ("available_backends", "solve"),
    "certificate": ("Certificate",),
    "choice": ("near_optimal", "price_ranges", "solve_path", "substitutes"),
    "conic": ("export",),
    "errors": (
        "InfeasibleError", "InvalidCertificateError", "InvalidFileError", "InvalidProblemError",
        "MissingDependencyError", "ShortlistWarning",
    ),
    "estimators": ("BestSubsetClassifier", "BestSubsetClassifierCV"),
    "evaluation": ("Experiment", "evaluate"),
    "problem": ("SubsetProblem",),
    "patients": ("ModelCard", "PrognosticModel"),
    "result": ("Solution", "Status"),
    "verification": ("Verdict", "verify"),
}  # fmt: skip
_HOMES = {name: module for module, names in _NAMES.items() for name in names}
_MODULES = ("datasets", "evaluation", "plots", "report")

__all__ = sorted(["__version__", *_HOMES, *_MODULES])


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value  # the next access does not come here again
    return value


def __dir__() -> list[str]:
    return __all__
