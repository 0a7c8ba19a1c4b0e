"""A page on which budgets are dragged and the proven best model follows; extra `explore`."""

from .prepared import PreparedPatients, example_patients

__all__ = ["PreparedPatients", "example_patients"]
