"""From a table of patients to a fitted model that can be saved, read, proven and used."""

from .card import ModelCard
from .model import PrognosticModel
from .proof import is_proven, load_proof, problem_of, save_proof, verify_model

__all__ = [
    "ModelCard",
    "PrognosticModel",
    "is_proven",
    "load_proof",
    "problem_of",
    "save_proof",
    "verify_model",
]
