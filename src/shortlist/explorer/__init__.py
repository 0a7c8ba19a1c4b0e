"""A page on which budgets are dragged and the proven best model follows; extra `explore`."""

from .cohort import Cohort, embedded_cohort

__all__ = ["Cohort", "embedded_cohort"]
