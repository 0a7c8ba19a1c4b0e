"""The paper's mixed-integer conic model: written once, for other solvers, files and checks."""

from .export import export
from .model import ConicModel, conic_model

__all__ = ["ConicModel", "conic_model", "export"]
