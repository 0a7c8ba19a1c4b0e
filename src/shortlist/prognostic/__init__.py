"""From a table of patients to a fitted model that can be saved, read and used."""

from .card import ModelCard
from .model import PrognosticModel

__all__ = ["ModelCard", "PrognosticModel"]
