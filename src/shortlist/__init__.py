"""Cost-sensitive best-subset selection for logistic regression, to certified optimality.

Start with `SubsetProblem` and `solve`, with the scikit-learn estimator `BestSubsetClassifier`, or
with `PrognosticModel` for a table of patients as it is.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import datasets, evaluation, plots, report
    from .backends import available_backends, solve
    from .certificate import Certificate
    from .choice import near_optimal, price_ranges, solve_path, substitutes
    from .conic import export
    from .errors import (
        InfeasibleError,
        InvalidCertificateError,
        InvalidFileError,
        InvalidProblemError,
        MissingDependencyError,
        ShortlistWarning,
    )
    from .estimators import BestSubsetClassifier, BestSubsetClassifierCV
    from .evaluation import Experiment, evaluate
    from .problem import SubsetProblem
    from .prognostic import ModelCard, PrognosticModel
    from .result import Solution, Status
    from .verification import Verdict, verify

__version__ = "0.1.0"

__all__ = [
    "BestSubsetClassifier",
    "BestSubsetClassifierCV",
    "Certificate",
    "Experiment",
    "InfeasibleError",
    "InvalidCertificateError",
    "InvalidFileError",
    "InvalidProblemError",
    "MissingDependencyError",
    "ModelCard",
    "PrognosticModel",
    "ShortlistWarning",
    "Solution",
    "Status",
    "SubsetProblem",
    "Verdict",
    "__version__",
    "available_backends",
    "datasets",
    "evaluate",
    "evaluation",
    "export",
    "near_optimal",
    "plots",
    "price_ranges",
    "report",
    "solve",
    "solve_path",
    "substitutes",
    "verify",
]

# Where each public name lives. A module is imported when its first name is used, so that
# `import shortlist` costs milliseconds, not the seconds of scikit-learn and numba.
_HOMES = {
    "BestSubsetClassifier": ".estimators",
    "BestSubsetClassifierCV": ".estimators",
    "Certificate": ".certificate",
    "Experiment": ".evaluation",
    "InfeasibleError": ".errors",
    "InvalidCertificateError": ".errors",
    "InvalidFileError": ".errors",
    "InvalidProblemError": ".errors",
    "MissingDependencyError": ".errors",
    "ModelCard": ".prognostic",
    "PrognosticModel": ".prognostic",
    "ShortlistWarning": ".errors",
    "Solution": ".result",
    "Status": ".result",
    "SubsetProblem": ".problem",
    "Verdict": ".verification",
    "available_backends": ".backends",
    "evaluate": ".evaluation",
    "export": ".conic",
    "near_optimal": ".choice",
    "price_ranges": ".choice",
    "solve": ".backends",
    "solve_path": ".choice",
    "substitutes": ".choice",
    "verify": ".verification",
}
_MODULES = ("datasets", "evaluation", "plots", "report")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name], __name__), name)
    globals()[name] = value  # the next access does not come here again
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
