"""Prognostic models fitted to a table of patients, to be saved, loaded, proven and used."""

from .card import ModelCard
from .checks import Finding, check_fit
from .model import PrognosticModel
from .proof import is_proven, load_proof, problem_of, save_proof, verify_model

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
