"""The page of `shortlist explore`: drag the budget, see the proven best model (extra `explore`)."""

from .prepared import PreparedPatients, example_patients

__all__ = ["PreparedPatients", "example_patients"]
