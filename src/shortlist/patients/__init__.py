"""Tables of patients, and prognostic models that are fitted to them, saved and proven."""

from .card import ModelCard
from .finding import check_fit
from .model import PrognosticModel
from .proof import is_proven, load_proof, problem_of, save_proof, verify_model
from .suspicion import Finding

__all__ = [
    "Finding",
    "ModelCard",
    "PrognosticModel",
    "check_fit",
    "is_proven",
    "load_proof",
    "problem_of",
    "save_proof",
    "verify_model",
]
