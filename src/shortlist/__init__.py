"""Cost-sensitive best-subset selection for logistic regression, to certified optimality.

Start with `SubsetProblem` and `solve`, or with the scikit-learn estimator `BestSubsetClassifier`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import datasets
    from .backends import available_backends, solve
    from .certificate import Certificate
    from .errors import (
        InfeasibleError,
        InvalidCertificateError,
        InvalidProblemError,
        ShortlistWarning,
    )
    from .estimators import BestSubsetClassifier, BestSubsetClassifierCV
    from .problem import SubsetProblem
    from .result import Solution, Status
    from .verify import Verdict, verify

__version__ = "0.1.0"

__all__ = [
    "BestSubsetClassifier",
    "BestSubsetClassifierCV",
    "Certificate",
    "InfeasibleError",
    "InvalidCertificateError",
    "InvalidProblemError",
    "ShortlistWarning",
    "Solution",
    "Status",
    "SubsetProblem",
    "Verdict",
    "__version__",
    "available_backends",
    "datasets",
    "solve",
    "verify",
]

# Where each public name lives. A module is imported when its first name is used, so that
# `import shortlist` costs milliseconds, not the seconds of scikit-learn and numba.
_HOMES = {
    "BestSubsetClassifier": ".estimators",
    "BestSubsetClassifierCV": ".estimators",
    "Certificate": ".certificate",
    "InfeasibleError": ".errors",
    "InvalidCertificateError": ".errors",
    "InvalidProblemError": ".errors",
    "ShortlistWarning": ".errors",
    "Solution": ".result",
    "Status": ".result",
    "SubsetProblem": ".problem",
    "Verdict": ".verify",
    "available_backends": ".backends",
    "solve": ".backends",
    "verify": ".verify",
}


def __getattr__(name: str) -> Any:
    if name == "datasets":
        return import_module(".datasets", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name], __name__), name)
    globals()[name] = value  # the next access does not come here again
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
