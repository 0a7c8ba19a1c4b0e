"""Tables of patients, and prognostic models that are fitted to them, saved and proven.

A name is imported when it is first used: a prediction then loads neither scikit-learn nor SciPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .card import ModelCard as ModelCard
    from .finding import check_fit as check_fit
    from .model import PrognosticModel as PrognosticModel
    from .preparation import Preparation as Preparation
    from .proof import is_proven as is_proven
    from .proof import load_proof as load_proof
    from .proof import problem_of as problem_of
    from .proof import save_proof as save_proof
    from .proof import verify_model as verify_model
    from .suspicion import Finding as Finding

_HOMES = {
    "Finding": "suspicion",
    "ModelCard": "card",
    "Preparation": "preparation",
    "PrognosticModel": "model",
    "check_fit": "finding",
    "is_proven": "proof",
    "load_proof": "proof",
    "problem_of": "proof",
    "save_proof": "proof",
    "verify_model": "proof",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
