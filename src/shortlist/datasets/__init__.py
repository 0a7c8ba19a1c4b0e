"""Synthetic data with known roles and costs; imports nothing else of shortlist."""

from .prognostic import PrognosticData, make_prognostic, paper_datasets
from .sample import sample_prognostic

__all__ = ["PrognosticData", "make_prognostic", "paper_datasets", "sample_prognostic"]
